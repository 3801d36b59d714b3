"""The board: the meaning of the claim language's terms in one round of a setting.

A vector means a `vectors.Vec` of the round that the method's own code plays (`round`), a number a polynomial in unknown
inner products, lengths and function values. A quantity that depends on the draw has a meaning only inside `expected`.
"""

from copy import copy
from dataclasses import replace
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, parts
from fedconvex.proofs_checks.kernel.formulas import after_round, is_of_parameters
from fedconvex.proofs_checks.kernel.parameters import SettingParameters, small_integer
from fedconvex.proofs_checks.kernel.round import Round
from fedconvex.proofs_checks.kernel.scalars import Refused, require
from fedconvex.proofs_checks.kernel.vectors import (
    ANY,
    ANY_APART,
    APART,
    KEPT,
    NOISE,
    REPLACED,
    SAME,
    Monomial,
    Quantity,
    Unknown,
    Vec,
    inner,
)

# A part of the state, "server", "shared h" or "memory gradient", and what it always equals.
Invariant = tuple[str, Vector]
FIXED, IN_DRAW, AVERAGED = 0, 1, 2  # how a number depends on the draw
IN_ONE_DRAW, IN_MEAN = "‖ in a draw", "E‖"  # unknowns: a length in a draw, the expectation of such lengths' product
MOST_PRODUCTS = 5_000  # in the product of two sums of unknown numbers


@final
class RoundBoard:
    """The terms of one round, from any state that the method can reach as far as invariants tell, or from its first.

    Args:
        parameters: those of the setting.
        invariants: what parts of the state always equal; the caller proves them (`replay`).
        at_start: the round is the first one, from the method's own first state.
        one_client: there is one client, and nothing is known of the others.
    """

    def __init__(
        self, parameters: SettingParameters, invariants: tuple[Invariant, ...] = (), *,
        at_start: bool = False, one_client: bool = False,
    ):  # fmt: skip
        self.parameters, self.setting, self.field = parameters, parameters.setting, parameters.field
        at_start = at_start or self.setting.first_round
        known = {what for what, _ in invariants}
        self.round = Round(parameters, at_start=at_start, one_client=one_client, known=known)
        self.lengths: list[Vec] = []
        self.points: dict[Any, str] = {self.round.minimiser.key: "*"}  # names of the points of function values
        if not at_start:
            self._assume(invariants)
            if self.setting.rests:
                self.round.rest()

    def at_its_start(self) -> "RoundBoard":
        """The first round, from the method's own start, with the same parameters."""
        return RoundBoard(self.parameters, at_start=True)

    def one_round_later(self) -> "RoundBoard":
        """The round after this one: the same functions and points."""
        later = copy(self)
        later.round = self.round.next
        return later

    def after_the_last(self) -> "RoundBoard":
        """The state after the last round of a run, where no assumption about points before its rounds holds."""
        free = replace(self.setting, dissimilarity=None, variance=None, large_gradient=None)
        if free == self.setting:
            return self
        ended = copy(self)
        ended.setting = free
        return ended

    def _assume(self, invariants: tuple[Invariant, ...]) -> None:
        """Writes what the invariants say into the state before the round."""
        for what, term in invariants:
            # A vector of the round is not known yet, and an expectation after a round is not the vector itself later.
            after_round(term)
            require(all(p.head != "expected" for p in parts(term)), f"the invariant of {what} has an expectation")
            first = self.round.first
            if what == "server":  # its own vector stays unknown wherever an invariant before this one has used it
                self.round.first = replace(first, server=self.vector(term))
                continue
            require(what in self.round.names, f"{what} is no part of the state")
            sort, _, name = what.partition(" ")
            require(name not in getattr(first, sort), f"{what} is given twice")
            self.round.first = replace(first, **{sort: {**getattr(first, sort), name: self.vector(term)}})

    # ---- the meaning of terms

    def vector(self, term: Vector) -> Vec:
        """The vector that the term means here. Raises Refused."""
        return self.round.put(self._vector(term))

    def _vector(self, term: Vector) -> Vec:
        match term.head, term.args:
            case "server", (time,):
                point: Vec = (self.round.played if time else self.round.first).server
                return point
            case ("shared" | "memory") as sort, (name, time):
                known = getattr(self.round.played if time else self.round.first, sort)
                require(name in known, f"{self.setting.method} keeps no {sort} {name!r}")
                found: Vec = known[name]
                return found
            case "last answers", (0,):
                if self.round.earlier is not None:  # everyone took part
                    return self.round.earlier.answers.points  # type: ignore[no-any-return]
                last = self.round.of_clients("last")
                if self.round.at_start and self.setting.starts_at_own_minima:
                    self.round.gradients[last.key] = Vec()
                return last
            case "last answers", (_,):
                return self.round.kept(self.vector(Vector("last answers", (0,))), self.round.answers.points)
            case "answers", ():
                answered: Vec = self.round.answers.points
                return answered
            case "solutions", ():
                _ = self.round.answers
                return self.round.solutions(self.round.subproblem)
            case "local gradients", ():
                _ = self.round.answers
                require(self.round.local_gradients is not None, "no gradient steps")
                return self.round.local_gradients  # type: ignore[return-value]
            case "before last step", ():
                _ = self.round.answers
                require(self.round.before_last_step is not None, "no gradient steps")
                return self.round.before_last_step  # type: ignore[return-value]
            case "local step", (u,):
                _ = self.round.answers
                return self.round.local_step(self.vector(u))
            case "residuals", ():
                found = self.round.answers.points
                return self.round.subproblem.add_gradients(found, self.round.gradient(found))  # type: ignore[no-any-return]
            case "minimiser", ():
                require(self.setting.minimiser, "the setting has no minimiser")
                return self.round.minimiser
            case "proximal", (c, at):
                return self.round.proximal(self.parameters.value(c), self.vector(at))
            case "gradient", (at,):
                return self.round.gradient(self.vector(at))
            case "objective gradient", (at,):
                return self.round.objective_gradient(self.vector(at))
            case "mean", (u,):
                return self.round.mean(self.vector(u))
            case "drawn", (u,):
                made = self.round.drawn(self.vector(u))
                assert isinstance(made, Vec)
                return made
            case "expected", (u,):
                return self.round.expected(self.vector(u))
            case "next round", (u,):
                return self.one_round_later().vector(u)
            case "free", (name,):
                return self.round.basic(f"free {name}", SAME)
            case "family", (name,):
                return self.round.of_clients(f"family {name}")
            case "named", (_, u):
                return self.vector(u)
            case "+", (u, v):
                return self.vector(u) + self.vector(v)
            case "-", (u, v):
                return self.vector(u) - self.vector(v)
            case "*", (c, u):
                return self.vector(u) * self.parameters.value(c)
            case "/", (u, c):
                return self.vector(u) * (1 / self.parameters.value(c))
        raise Refused(f"{term.head} has no meaning in a round")

    def number(self, term: Number) -> Quantity:
        """The number that the term means here, which must not depend on the draw. Raises Refused."""
        found, random = self._number(term)
        require(not random, "a number that depends on the draw, outside an expectation")
        return found

    def _number(self, term: Number) -> tuple[Quantity, int]:
        """The quantity, and how it depends on the draw: FIXED, IN_DRAW (the quantity has the lengths of every draw), or
        AVERAGED (of what depends on the draw otherwise, the quantity has the expectation).
        """
        match term.head, term.args:
            case "named", (_, x):
                return self._number(x)
            case "inner", (u, v):
                one, other = self.vector(u), self.vector(v)
                return self.inner(one, other), AVERAGED if one.is_random or other.is_random else FIXED
            case "norm", (u,):
                at = self.vector(u)
                return self.length_in_draw(at), IN_DRAW if at.is_random else FIXED
            case "value", (u,):
                at = self.vector(u)
                return self.value(at), AVERAGED if at.is_random else FIXED
            case "infimum", ():
                return self.infimum, FIXED
            case "expected", (x,):
                return self.averaged(self._number(x)[0]), FIXED
            case ("+" | "-") as sign, (x, y):
                (a, r), (b, s) = self._number(x), self._number(y)
                return (a + b if sign == "+" else a - b), max(r, s)
            case "neg", (x,):
                a, r = self._number(x)
                return a * -1, r
            case "*", (x, y):
                (a, r), (b, s) = self._number(x), self._number(y)
                require(FIXED in (r, s) or r == s == IN_DRAW, "the product of two numbers that depend on the draw")
                return self.product(a, b), max(r, s)
            case "/", (x, y):
                a, r = self._number(x)
                return a * (1 / self.parameters.value(y)), r
            case "^", (x, Number("constant", (n,))) if n > 0 and not is_of_parameters(x):
                return self._power(x, small_integer(n)), FIXED
            case "root", (Number("inner", (u, v)),) if u == v:
                return self._number(Number("norm", (u,)))
            case "root", (Number("expected", (Number("inner", (u, v)),)),) if u == v:
                return self.length(self.vector(u)), FIXED
        return self.constant(self.parameters.value(term)), FIXED

    def _power(self, x: Number, n: int) -> Quantity:
        base, random = self._number(x)
        require(not random, "a power of a number that depends on the draw")
        found = self.constant(1)
        for _ in range(n):
            found = self.product(found, base)
        return found

    def constant(self, c: Any) -> Quantity:
        """A number of parameters as a quantity."""
        return Quantity({(): self.field.scalar(c)})

    def inner(self, u: Vec, v: Vec) -> Quantity:
        """The expected mean inner product."""
        return inner(self.round.put(u), self.round.put(v), self.parameters.chances)

    def idle_square(self, u: Vec) -> Quantity:
        """The expected mean over all clients of (1 − 1_k)‖u_k‖²: of u_k = a_k + n with an average n over the drawn.

        The mean of 1_k⟨u_k, a_k⟩ is that of ⟨u_k, 1_k a_k⟩, and the mean of 1_k⟨u_k, n⟩ is ⟨mean 1_k a_k + πn, n⟩.
        """
        require(self.setting.draws.scheme == "uniform", "clients are not drawn without replacement")
        require(not u.only(KEPT, REPLACED, ANY, ANY_APART).parts, "the idle clients' part of a vector of two draws")
        seen, noise = u.only(SAME, APART).renamed({SAME: KEPT, APART: REPLACED}), u.only(NOISE)
        active = self.inner(u, seen) + self.inner(self.round.mean(seen) + noise * self.parameters.chance("π"), noise)
        return self.inner(u, u) - active

    def value(self, at: Vec) -> Quantity:
        """The expected mean of the function values at a point."""
        if at.only(KEPT, REPLACED).parts and not at.only(NOISE, ANY, ANY_APART).parts:
            old, new = self.round.both(at)
            return self.value(old) * (1 - self.parameters.chance("π")) + self.value(new) * self.parameters.chance("π")
        return Quantity({self.name_of_value(at): self.field.scalar(1)})

    def length_in_draw(self, u: Vec) -> Quantity:
        """The length of a vector that may depend on the draw, in any one draw."""
        if not u.is_random:
            return self.length(u)
        require(u.is_shared, "the length, in a draw, of the clients' vectors")
        return self.length(u, IN_ONE_DRAW)

    def averaged(self, of: Quantity) -> Quantity:
        """The expectation, where it is about lengths in a draw: E‖u‖², which is ⟨u, u⟩, or E‖u‖‖v‖…, an unknown."""
        found = Quantity()
        for m, c in of.terms.items():
            places = tuple(x[1] for x in m if x[0] == IN_ONE_DRAW)
            others = Quantity({tuple(x for x in m if x[0] != IN_ONE_DRAW): c})
            if len(places) == 2 and places[0] == places[1]:
                u = self.lengths[int(places[0])]
                others = self.product(others, self.inner(u, u))
            elif places:
                others = others.times(Quantity({((IN_MEAN, *places),): self.field.scalar(1)}))
            found = found + others
        return found

    def length(self, u: Vec, kind: str = "‖") -> Quantity:
        """The root mean square length, as an unknown number >= 0 whose square is ⟨u, u⟩."""
        if not u.parts:
            return Quantity()
        key = min(u.parts)
        first = u.parts[key]
        if self.field.is_nonzero(first):  # ‖cu‖ = |c|‖u‖
            size = first if self.field.is_positive(first) else -first
            return Quantity({(self._length(u / first, kind),): size})
        return Quantity({(self._length(u, kind),): self.field.scalar(1)})

    def _length(self, u: Vec, kind: str) -> Unknown:
        known = [k for k, v in enumerate(self.lengths) if v.key == u.key]
        if not known:
            self.lengths.append(u)
        return (kind, str(known[0] if known else len(self.lengths) - 1))

    def name_of_value(self, at: Vec) -> Monomial:
        """The unknown value at a point."""
        return (("F", self.points.setdefault(at.key, str(len(self.points)))),)

    @property
    def infimum(self) -> Quantity:
        """The objective's infimum."""
        require(self.setting.bounded_below, "the objective may have no infimum")
        return Quantity({(("F", "infimum"),): self.field.scalar(1)})

    def require_convex(self, at: Vec) -> None:
        """Refuses where the functions, at such points, are not known to be convex."""
        least, of_objective = self.setting.curvature[0], self.setting.objective[0]
        require(least is not None or at.is_shared, "the objective is convex, but the points differ between clients")
        known = of_objective if least is None else least
        require(known is not None and self.field.is_nonnegative(self.parameters.value(known)), "functions not convex")

    def product(self, a: Quantity, b: Quantity) -> Quantity:
        """The product, with the square of a length replaced by the inner product."""
        require(len(a.terms) * len(b.terms) <= MOST_PRODUCTS, "a product of too many terms")
        found = Quantity()
        for m, c in a.terms.items():
            for n, d in b.terms.items():
                factors = sorted((*m, *n))
                term = Quantity({(): c * d})
                while factors:
                    name = factors.pop()
                    if factors and factors[-1] == name and name[0] == "‖":
                        factors.pop()
                        u = self.lengths[int(name[1])]
                        term = term.times(self.inner(u, u))
                    else:
                        term = term.times(Quantity({(name,): self.field.scalar(1)}))
                found = found + term
        return found
