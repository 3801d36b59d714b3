"""Attacks on the kernel: a setting, a claim and a proof that it must refuse, with words of the reason."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.methods import METHODS, every_parameter
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.terms import Number, Vector, number, parameter
from fedconvex.proofs_checks.kernel import Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Nonnegative, facts, squares

a, L, mu = parameter("a"), parameter("L"), parameter("mu")
ONE, ZERO = number(1), number(0)
UNIFORM = DrawScheme("uniform", parameter("P"), parameter("m"))
NOTHING, TRUE, FALSE = ClaimSetting(), at_most(0, 1), at_most(1, 0)
POSITIVE = ((1, Nonnegative(ONE)),)


def some(*names: str, sign: str = "positive", **more: Any) -> ClaimSetting:
    """A setting with these parameters, each 1 in the example."""
    given = {"signs": dict.fromkeys(names, sign), "example": dict.fromkeys(names, Fraction(1))}
    return ClaimSetting(**(given | more))


def drawing(method: str = "", *, draws: DrawScheme = UNIFORM, **more: Any) -> ClaimSetting:
    """A setting in which P of m clients are drawn, with the method's first parameter a."""
    names = {"FedDyn": "alpha", "FedProx": "mu", "FedDANE": "mu", "DANE": "mu", "FedPD": "eta", "": ""}
    given = {
        "method": method, "method_parameters": with_defaults(method, {names.get(method, "stepsize"): a}),
        "draws": draws,
        "counts": frozenset({"P", "m"}), "conditions": ((parameter("m"), ">=", parameter("P")),),
        "example": {"a": Fraction(1), "P": Fraction(2), "m": Fraction(3)},
    }  # fmt: skip
    return some("a", "P", "m", **(given | more))


def with_defaults(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """All parameters of the method, if there is such a one; what is given stays as it is."""
    return {**every_parameter(method), **given} if method in METHODS else given if method else {}


def run(left: Any, right: Any) -> Claim:
    return at_most(left, right, rounds="T")


def line(claim: Claim, *used: Any, **more: Any) -> Combine:
    """The line of a proof that is the claim, from facts with multipliers."""
    return Combine(claim.left, claim.right, facts(*used), relation=claim.relation, **more)


def one_line(claim: Claim, used: Any = (), weighed: Any = (), invariants: Any = ()) -> Derivation:
    """The claim, from facts and squares with multipliers."""
    return Derivation((line(claim, *used, squares=squares(*weighed)),), invariants)


def by_sign(left: Any, right: Any) -> tuple[Claim, Derivation]:
    """The claim left ≤ right, by the sign of the difference."""
    claim = at_most(left, right)
    return claim, one_line(claim, ((1, Nonnegative(claim.right - claim.left)),))


def same(left: Any, right: Any, invariants: Any = ()) -> tuple[Claim, Derivation]:
    """That two numbers or vectors are one, which the board alone knows."""
    claim = equal(left, right)
    return claim, one_line(claim, invariants=invariants)


def refused(setting: ClaimSetting, claim: Claim, proof: Any, reason: str = ".", known: Any = None) -> None:
    with pytest.raises(Refused, match=reason):
        theorem(setting, claim, proof, known)


def proof(*lines: Any, **more: Any) -> Derivation:
    return Derivation(lines, **more)


def is_false(setting: ClaimSetting, claim: Claim, tried: int = 30) -> bool:
    """Whether an exact run of an admissible federation breaks the claim."""
    federations = random_federations(setting, claim)
    return any(claim.on(next(federations)).holds is False for _ in range(tried))


@dataclass(frozen=True)
class Attack:
    """What is proved by one line, unless the proof is given."""

    reason: str
    setting: ClaimSetting
    claim: Claim
    facts: Any = ()
    squares: Any = ()
    invariants: Any = ()
    proof: Any = None
    known: Any = None

    def replayed(self) -> Theorem:
        proof = self.proof or one_line(self.claim, self.facts, self.squares, self.invariants)
        return theorem(self.setting, self.claim, proof, self.known)

    def is_refused(self) -> None:
        with pytest.raises(Refused, match=self.reason):
            self.replayed()


def parametrised(attacks: dict[str, Attack]) -> Any:
    return pytest.mark.parametrize("attack", attacks.values(), ids=list(attacks))


def changed(of: Any, **values: Any) -> Any:
    """A frozen object with other attributes, which its class would not admit."""
    made = object.__new__(type(of))
    made.__dict__.update(of.__dict__, **values)
    return made


def called(of: Any, name: str) -> Any:
    """A parameter or vector with a name that its class would not admit."""
    return changed(of, args=(name, *of.args[1:]))


def with_signs(*names: str, sign: str = "positive", **more: Any) -> ClaimSetting:
    """A setting whose parameters have names that its class would not admit."""
    of_all = {"signs": dict.fromkeys(names, sign), "example": dict.fromkeys(names, Fraction(1))}
    return changed(some(), **(of_all | more))


def accepted(setting: ClaimSetting, claim: Claim, used: Any = (), weighed: Any = (), **more: Any) -> bool:
    """That nearby true claims are accepted shows that attacks fail for their own reason."""
    made = Attack("", setting, claim, used, weighed, **more).replayed()
    return made.claim == claim and made.setting == setting


def chain(of: Vector | Number, times: int) -> Any:
    """A tree of this depth."""
    for _ in range(times):
        of = of * -1 if type(of) is Vector else -of
    return of
