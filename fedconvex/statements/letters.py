r"""A paper's letters for what its statements are about, as LaTeX: the server's point, the clients' functions, …

They are for display alone; `notation` has the letters of the parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, final

from fedconvex.symbols import require_notation


@final
@dataclass(frozen=True)
class Letters:
    """A paper's words for vectors, functions and averages.

    `@` stands for the time, as in `w^@`: of a vector that of the vector, else that after the round; `@-1` is one round
    before it. A vector of the state without it is the same at all times.
    """

    time: str = "t"
    before: int = 0  # the moment before a round is the time t plus this
    start: int = 0  # the number of the moment before the first round
    sums_of_powers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # R of r: R = Σ_t r^t
    server: str = "x^@"
    shared: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # by their names in the state
    memory: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    free: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # any vectors, by their names
    last_answers: str = r"\tilde x_k^@"
    answers: str = "x_k^@"
    solutions: str = r"\hat x_k^@"
    residuals: str = "e_k^@"
    local_gradients: str = r"\bar g_k^@"  # their sum over a client's gradient steps in a round
    before_last_step: str = r"\bar x_k^@"  # a client's point before the last of its gradient steps in a round
    local_step: str = "G_k^{@-1}"  # a client's gradient step on its subproblem, as a map
    minimiser: str = "x^*"
    function: str = "F_k"  # of a client
    objective: str = "f"
    share: str = ""  # the mean of the clients' functions is this times the objective, which may be their sum
    mean: str = r"\mathbb{E}_k"  # over all clients, with their weights
    drawn: str = r"\mathbb{E}_{k\in S_{@-1}}"  # over the clients that are drawn
    expectation: str = r"\mathbb{E}"  # over the draws of a round; those of a run have no index
    client: str = "k"

    def __post_init__(self) -> None:
        for one in fields(self):
            given = getattr(self, one.name)
            for latex in given.values() if isinstance(given, Mapping) else [given]:
                if isinstance(latex, str) and latex:
                    require_notation(one.name, latex)

    @classmethod
    def standard(cls, taken: frozenset[str]) -> "Letters":
        """The standard letters, where parameters of these names may have those of times and clients."""
        # where all are taken, the display refuses what it would show by one letter
        time, client = (next((x for x in letters if x not in taken), letters[0]) for letters in ("tnuvw", "kjipq"))
        changed: dict[str, Any] = {"time": time, "client": client}
        for one in fields(cls):
            if isinstance(one.default, str) and "k" in one.default:
                text = one.default.replace("_k", f"_{client}").replace("{k", f"{{{client}")
                changed.setdefault(one.name, text)
        return cls(**changed)
