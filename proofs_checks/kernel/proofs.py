"""Proofs as data: lines that the kernel replays. Nothing here is believed; every class is plain data of exact types.

A line concludes a relation between two terms. It rests on facts: inequalities of the function class between two points,
the setting's assumptions, textbook inequalities, earlier lines, and other statements.
"""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, number

ZERO, ONE = number(0), number(1)
ROUND = "τ"  # in a proof about a run: the parameter that is the number of rounds before any one round
STEP = "ι"  # in a proof about clients' gradient steps: the parameter that is the number of steps before any one step


@final
@dataclass(frozen=True)
class Lower:
    """F(b) ≥ F(a) + ⟨∇F(a), b − a⟩ + (ℓ/2)‖b − a‖² for functions with least curvature ℓ, or a given smaller one."""

    b: Vector
    a: Vector
    least: Number | None = None


@final
@dataclass(frozen=True)
class Upper:
    """F(b) ≤ F(a) + ⟨∇F(a), b − a⟩ + (L/2)‖b − a‖² for functions with largest curvature L, or a given larger one."""

    b: Vector
    a: Vector
    most: Number | None = None


@final
@dataclass(frozen=True)
class Between:
    """⟨g − ℓd, Ld − g⟩ ≥ 0 for d = b − a, g = ∇F(b) − ∇F(a), and functions with all curvatures in [ℓ, L], or in a
    given larger interval.
    """

    b: Vector
    a: Vector
    least: Number | None = None
    most: Number | None = None


@final
@dataclass(frozen=True)
class Hypothesis:
    """An assumption of the setting: "inexactness", "error", "dissimilarity", "variance", "large gradient", at a run's
    start "initial gap"; or "scale", the equation σP(m − 1) = m − P of the number that draws without replacement
    multiply variances by; where the conditions show m ≤ 1, σP = m − P.
    """

    what: str


@final
@dataclass(frozen=True)
class CauchySchwarz:
    """‖u‖‖v‖ − sign·⟨u, v⟩ ≥ 0."""

    u: Vector
    v: Vector
    sign: int = 1


@final
@dataclass(frozen=True)
class Triangle:
    """E‖times‖(‖u‖ + ‖v‖ − ‖u + v‖) ≥ 0, of the lengths in every draw."""

    u: Vector
    v: Vector
    times: Vector


@final
@dataclass(frozen=True)
class MeanLength:
    """E‖u‖ ≤ √(E‖u‖²)."""

    u: Vector


@final
@dataclass(frozen=True)
class Idle:
    """The mean of ‖u_k‖² over all clients, with 0 for those that are drawn, is ≥ 0. Clients are drawn uniformly."""

    u: Vector


@final
@dataclass(frozen=True)
class Infimum:
    """The objective's value at a point that all clients share is at least its infimum."""

    at: Vector


@final
@dataclass(frozen=True)
class ClientInfima:
    """The mean of F_k at any points of the clients is at least f_* − Γ, of the setting's `objective_gap`."""

    at: Vector


@final
@dataclass(frozen=True)
class Similar:
    """‖h‖² ≤ δ²‖b − a‖² for h = (∇F_k − ∇f)(b) − (∇F_k − ∇f)(a), of the setting's `similarity`."""

    b: Vector
    a: Vector


@final
@dataclass(frozen=True)
class Nonnegative:
    """The number is ≥ 0: a polynomial in lengths whose coefficients the conditions show to be ≥ 0."""

    of: Number


@final
@dataclass(frozen=True)
class Earlier:
    """The relation of an earlier line, by name."""

    line: str


@final
@dataclass(frozen=True)
class Product:
    """(right − left)(right′ − left′) ≥ 0 of two earlier lines, by name."""

    line: str
    other: str


@final
@dataclass(frozen=True)
class BernoulliPower:
    """1 − T(1 − r) ≤ r^T, of order 1; r^T ≤ 1 − T(1 − r) + (1 − r)²T(T − 1)/2, of order 2: for 0 ≤ r ≤ 1 and the
    number T of rounds or of local steps.
    """

    ratio: Number
    order: int


@final
@dataclass(frozen=True)
class Proved:
    """The claim of another statement, by identifier, whose setting must follow from this one."""

    identifier: str


@final
@dataclass(frozen=True)
class During:
    """In a proof about a run: the sum of these facts and squares is ≥ 0 at the "start", at the "end" (after T rounds),
    or in all "rounds", added up with weights ratio^t ≥ 0. What the setting assumes at the server's points before rounds
    (dissimilarity, variance, large gradient) is not assumed at the end.
    """

    when: str
    facts: "tuple[tuple[Number, Fact], ...]" = ()
    squares: tuple[tuple[Number, Vector], ...] = ()
    ratio: Number = ONE


@final
@dataclass(frozen=True)
class Jensen:
    """F at the mean of the u_t over the rounds, with weights ratio^t, is at most the mean of the F(u_t), F convex."""

    vector: Vector
    ratio: Number = ONE


Fact = (
    Lower
    | Upper
    | Between
    | Hypothesis
    | CauchySchwarz
    | Triangle
    | MeanLength
    | Idle
    | Infimum
    | ClientInfima
    | Similar
    | Nonnegative
    | Earlier
    | Product
    | BernoulliPower
    | Proved
    | During
    | Jensen
)


@final
@dataclass(frozen=True)
class Combine:
    """left ≤ right (or =), because right − left = Σ multiplier · fact + Σ weight · ‖vector‖², multipliers, weights ≥ 0.

    Facts that are equations may have multipliers of any sign. An equation rests on equations alone.
    """

    left: Any
    right: Any
    facts: tuple[tuple[Number, Fact], ...] = ()
    squares: tuple[tuple[Number, Vector], ...] = ()
    relation: str = "<="
    name: str = ""


@final
@dataclass(frozen=True)
class Root:
    """left ≤ right, because an earlier line has left² ≤ right², and right ≥ 0."""

    left: Number
    right: Number
    of: str
    name: str = ""


@final
@dataclass(frozen=True)
class Telescope:
    """r^T E V_T + Σ_{t<T} r^t E G_t ≤ V_0 + e Σ_{t<T} r^t, because r·V⁺ + G ≤ V + e in every round, r ≥ 0.

    V⁺ is the potential V one round later. The facts and squares show the inequality of one round. V may depend on
    `ROUND`, the number τ of the rounds before: V⁺ has τ + 1, V_0 has 0 and V_T has T. Expectations in V and G are only
    added up with weights, since (E x)² after a round is not E x².
    """

    potential: Number
    gain: Number
    ratio: Number = ONE
    error: Number = ZERO
    facts: tuple[tuple[Number, Fact], ...] = ()
    squares: tuple[tuple[Number, Vector], ...] = ()
    name: str = ""


@final
@dataclass(frozen=True)
class Iterate:
    """E V_T ≤ q^T V_0 + e Σ_{t<T} q^t, because V⁺ ≤ qV + e in every round, q ≥ 0. V may depend on `ROUND`, as above."""

    potential: Number
    ratio: Number
    error: Number = ZERO
    facts: tuple[tuple[Number, Fact], ...] = ()
    squares: tuple[tuple[Number, Vector], ...] = ()
    name: str = ""


@final
@dataclass(frozen=True)
class LocalSteps:
    """‖u_e − v‖ ≤ q^e‖u_0 − v‖ for the clients' e gradient steps from u_0 to their answers u_e, q ≥ 0, because
    ‖u⁺ − v‖ ≤ q‖u − v‖ for the step u⁺ from any points u: the family of this name, on which v does not depend.
    """

    to: Vector
    ratio: Number
    family: str
    facts: tuple[tuple[Number, Fact], ...] = ()
    squares: tuple[tuple[Number, Vector], ...] = ()
    name: str = ""


@final
@dataclass(frozen=True)
class AlongSteps:
    """V_{e−1}(u_{e−1}) ≤ V_0(u_0) for the clients' e gradient steps from u_0, where u_{e−1} is `before_last_step`,
    because V_{ι+1}(u⁺) ≤ V_ι(u) for the step u⁺ from any points u: the family of this name.

    V may depend on `STEP`, the number ι of the steps before, on u, and on the gradients and values there. `start` is
    u_0.
    """

    potential: Number
    family: str
    start: Vector
    facts: tuple[tuple[Number, Fact], ...] = ()
    squares: tuple[tuple[Number, Vector], ...] = ()
    name: str = ""


Line = Combine | Root | Telescope | Iterate | LocalSteps | AlongSteps


@final
@dataclass(frozen=True)
class Cases:
    """`above` proves the claim where more ≥ less, `below` where less ≥ more: two numbers of parameters.

    Where `more` is a parameter that counts something and `less` an integer, `below` may use less − 1 ≥ more.
    """

    more: Number
    less: Number
    above: "Derivation"
    below: "Derivation"


@final
@dataclass(frozen=True)
class Derivation:
    """Lines, of which the last has the claim; and invariants of the method's state that the kernel checks.

    An invariant is a part of the state ("server", "shared h", "memory z") with the term that it always equals. In a
    proof about a run, `of_round` are lines about any one round, which the facts about rounds may use. A proof by cases
    has nothing else.
    """

    lines: tuple[Line, ...] = ()
    invariants: tuple[tuple[str, Vector], ...] = ()
    of_round: tuple[Line, ...] = ()
    cases: Cases | None = None


def facts(*pairs: tuple[Any, Fact]) -> tuple[tuple[Number, Fact], ...]:
    """Facts with their multipliers, as `Combine` takes them; multipliers may be integers and fractions."""
    return tuple((number(multiplier), fact) for multiplier, fact in pairs)


def squares(*pairs: tuple[Any, Vector]) -> tuple[tuple[Number, Vector], ...]:
    """Vectors with the weights of their squared lengths."""
    return tuple((number(weight), vector) for weight, vector in pairs)
