r"""A paper's letters for what its statements are about, as LaTeX: the server's point, the clients' functions, …

They are for display alone; `notation` has the letters of the parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final


@final
@dataclass(frozen=True)
class Letters:
    """A paper's words for vectors, functions and averages; `@` stands for the time, as in `w^@`."""

    before: str = "t"  # how the paper counts the moment before a round, and the one after it
    after: str = "t+1"
    start: str = "0"  # the moment before a run
    rounds: str = r"\sum_{t=0}^{T-1}"  # over the rounds of a run, T in number; the moment before each is `before`
    sums_of_powers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # R of r: R = Σ_t r^t
    server: str = "x^@"
    shared: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # by their names in the state
    memory: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    last_answers: str = "x_k^@"
    answers: str = "x_k^@"
    solutions: str = r"\hat x_k^@"
    residuals: str = "e_k^@"
    local_gradients: str = r"\sum_{i\le e}\nabla F_k(x_k^{(i)})"  # over a client's gradient steps in a round
    before_last_step: str = "x_k^{(e-1)}"  # a client's point before the last of its e gradient steps in a round
    local_step: str = "G_k"  # a client's gradient step on its subproblem, as a map
    minimiser: str = "x^*"
    function: str = "F_k"  # of a client
    objective: str = "f"
    share: str = ""  # the mean of the clients' functions is this times the objective, which may be their sum
    mean: str = r"\mathbb{E}_k"  # over all clients, with their weights
    drawn: str = r"\frac{1}{K}\sum_{k\in S_t}"  # over the clients that are drawn
    expectation: str = r"\mathbb{E}"
    client: str = "k"
