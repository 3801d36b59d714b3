"""Signs of rational functions of the parameters, on the domain that a statement's assumptions define.

First method, by coefficients: each condition x ≥ a is used up by the substitution x = a + s, each condition x ≤ b by
x = b/(1 + s), with a slack s ≥ 0. A quotient of polynomials without negative coefficients is then not negative. This
proof is short, and `certificates` writes it down. Where it fails, z3 searches for a point of the domain with the wrong
sign: that there is none is the proof.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from time import monotonic
from typing import Any, final

import sympy

from fedconvex.proofs_checks.engines.algebra import Fraction, NotRational, fraction, one_meaning
from fedconvex.proofs_checks.engines.hilbert import Unsound, require
from fedconvex.statements.rendering import symbols
from fedconvex.statements.statement import Statement

TIME_LIMIT = 20.0  # seconds for z3


@final
@dataclass(frozen=True)
class Domain:
    """The set of admissible parameters: relations such as alpha >= 25*L, and the signs of the SymPy symbols."""

    relations: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        other = [r for r in self.relations if not isinstance(r, _KNOWN)]
        require(not other, f"{other} is none of the relations that are understood")

    def __and__(self, other: Any) -> "Domain":
        more = other.relations if isinstance(other, Domain) else (other,)
        return Domain(tuple(r for relation in (*self.relations, *more) for r in _split(relation)))

    @classmethod
    def of(cls, statement: Statement) -> "Domain":
        """The statement's conditions on its parameters, and those of its assumptions on parameters of its proof."""
        calculator = statement.calculator
        known = symbols({**statement.paper.notation, **calculator.parameters})
        relations = []
        assumed = (condition for assumption in statement.assumptions for condition in assumption.conditions)
        for condition in dict.fromkeys((*calculator.all_conditions, *assumed)):
            if isinstance(known[condition.argument], tuple):
                continue  # conditions on sequences are not relations between numbers
            if condition.by_definition and condition.bound == 0:
                continue  # the SymPy symbol already has this sign
            bound = condition.bound_at({name: known[name] for name in condition.names})
            relations.append(_RELATIONS[condition.relation](known[condition.argument], bound, evaluate=False))
        return cls() & cls(tuple(relations))

    def substituted(self, **values: Any) -> "Domain":
        """The same domain with expressions substituted for some symbols, by name."""
        chosen = {s: values[str(s)] for r in self.relations for s in r.free_symbols if str(s) in values}
        kept = (r.subs(chosen) for r in self.relations)
        return Domain(tuple(r for r in kept if r not in (True, sympy.true)))


_KNOWN = (sympy.Eq, sympy.Ge, sympy.Gt, sympy.Le, sympy.Lt, type(sympy.true), type(sympy.false), bool)
_RELATIONS = {">": sympy.Gt, ">=": sympy.Ge, "<=": sympy.Le, "<": sympy.Lt, "=": sympy.Eq}


def _split(relation: Any) -> Iterator[Any]:
    """The condition as conditions between rational functions: x ≥ max(a, b) is two, x ≥ √a becomes x² ≥ a.

    Squaring is an equivalence, because both sides are known to be nonnegative.
    """
    if relation in (True, sympy.true):
        return
    left, right = relation.lhs, relation.rhs
    lower = isinstance(right, sympy.Max) and isinstance(relation, sympy.Ge | sympy.Gt)
    upper = isinstance(right, sympy.Min) and isinstance(relation, sympy.Le | sympy.Lt)
    if lower or upper:
        for bound in right.args:
            yield from _split(type(relation)(left, bound, evaluate=False))
    elif right.atoms(sympy.Pow) and left.is_nonnegative and right.is_nonnegative and not _is_rational(relation):
        yield type(relation)(left**2, sympy.expand(right**2), evaluate=False)  # mu >= √(L²/2), say
    else:
        yield relation


@final
@dataclass(frozen=True)
class Substitution:
    """variable = bound + slack, or bound/(1 + slack), which for slack ≥ 0 covers all values that a condition admits.

    After the earlier substitutions the condition reads factor · (variable − bound) ≥ 0, or for an upper bound
    factor · (bound − variable) ≥ 0. The factor must be positive: where it is 0 the condition holds for every value of
    the variable, and the substitution would leave out a part of the domain.
    """

    variable: Any
    kind: str  # "lower" or "upper"
    bound: Any
    slack: Any
    condition: Any
    factor: Any

    @property
    def value(self) -> Any:
        return self.bound + self.slack if self.kind == "lower" else self.bound / (1 + self.slack)


@final
@dataclass(frozen=True)
class SignProof:
    """A proof that an expression is not negative (or positive, if `strictly`)."""

    expression: Any
    method: str  # "coefficients" or "z3"
    strictly: bool = False
    substitutions: tuple[Substitution, ...] = ()
    form: Fraction | None = None  # by coefficients: the expression after the substitutions


@final
@dataclass(frozen=True)
class NoSignProof:
    """No proof was found: the reason, and the point where the sign is wrong, where z3 found one."""

    expression: Any
    reason: str
    counterexample: dict[str, str] = field(default_factory=dict)


def prove_sign(expression: Any, domain: Domain, strictly: bool = False) -> SignProof | NoSignProof:
    """Whether the expression is >= 0 (or > 0) wherever the domain's relations hold and the expression is defined."""
    return _decided(sympy.sympify(expression), domain, strictly)


@lru_cache(maxsize=1 << 14)
def _decided(expression: Any, domain: Domain, strictly: bool) -> SignProof | NoSignProof:
    # Neither method knows integers. The only consequence of "positive integer" that they get is s ≥ 1.
    counts = (s for s in sorted(expression.free_symbols, key=str) if s.is_integer and s.is_positive)
    domain = Domain((*domain.relations, *(sympy.Ge(s, 1, evaluate=False) for s in counts)))
    try:
        one_meaning(expression.free_symbols.union(*(r.free_symbols for r in domain.relations)))
        names = frozenset(str(s) for s in expression.free_symbols if str(s).startswith("s"))
        # First without the conditions: most multipliers are visibly positive.
        form = fraction(expression)
        if _has_no_negative_coefficients(form, strictly):
            return SignProof(expression, "coefficients", strictly, (), form)
        substitutions = _substitutions(domain, strictly, names)
        form = fraction(_put_in(expression, substitutions))
        if _has_no_negative_coefficients(form, strictly):
            return SignProof(expression, "coefficients", strictly, substitutions, form)
    except NotRational as error:
        return NoSignProof(expression, str(error))
    return _by_z3(expression, domain, strictly)


def _put_in(expression: Any, substitutions: tuple[Substitution, ...]) -> Any:
    for s in substitutions:
        expression = expression.subs(s.variable, s.value)
    return expression


def _has_no_negative_coefficients(reduced: Fraction, strictly: bool) -> bool:
    """Whether all coefficients of numerator and denominator have one sign: the quotient is then ≥ 0 where defined.

    Strictly: some monomial of the numerator consists of positive symbols, so that the numerator is not 0.
    """
    if any(s.is_nonnegative is not True for s in _involved(reduced)):
        return False
    one_sign = len({c > 0 for part in (reduced.numerator, reduced.denominator) for c in part.coeffs()}) == 1
    return (one_sign or reduced.is_zero) and (not strictly or _some_monomial_is_positive(reduced))


def _involved(reduced: Fraction) -> list[Any]:
    used = [any(m[i] for part in (reduced.numerator, reduced.denominator) for m in part.monoms())
            for i in range(len(reduced.symbols))]  # fmt: skip
    return [s for s, is_used in zip(reduced.symbols, used, strict=True) if is_used]


def _some_monomial_is_positive(reduced: Fraction) -> bool:
    return any(
        all(not power or s.is_positive for s, power in zip(reduced.symbols, monomial, strict=True))
        for monomial in reduced.numerator.monoms()
    )


@lru_cache(maxsize=1 << 10)
def _substitutions(domain: Domain, strictly: bool, taken: frozenset[str]) -> tuple[Substitution, ...]:
    """Substitutions that use up the relations one after the other; relations that fit none are ignored.

    Ignoring a relation is sound: the sign is then proved on a larger domain. An upper bound makes the variable
    bound/(1 + slack), which never is 0. For a variable that may be 0, an inequality that is not strict extends to 0 by
    continuity, provided that no later condition contains the variable: at 0 such a condition might hold for more values
    of other variables than near 0, and those would be missed.
    """
    found: list[Substitution] = []
    waiting = list(dict.fromkeys(domain.relations))
    names = taken | {str(s) for r in waiting for s in r.free_symbols}
    progress = True
    while progress:
        progress = False
        for relation in waiting:
            others = {s for r in waiting if r is not relation for s in _put_in(r, tuple(found)).free_symbols}
            made = _solved(relation, tuple(found), others, strictly, _new_name(names, len(found) + 1))
            if made is not None:
                found.append(made)
                waiting.remove(relation)
                progress = True
                break
    return tuple(found)


def _new_name(names: frozenset[str], number: int) -> str:
    return next(name for k in range(len(names) + 1) if (name := f"s{number}" + "'" * k) not in names)


def _solved(
    relation: Any, before: tuple[Substitution, ...], others: set[Any], strictly: bool, slack: str
) -> Substitution | None:
    if isinstance(relation, sympy.Ge | sympy.Gt):
        difference = relation.lhs - relation.rhs
    elif isinstance(relation, sympy.Le | sympy.Lt):
        difference = relation.rhs - relation.lhs
    else:
        return None
    strict = isinstance(relation, sympy.Gt | sympy.Lt)
    try:
        reduced = fraction(_put_in(difference, before))
    except NotRational:
        return None
    numerator, denominator = (
        sympy.Poly(part.as_expr(), *reduced.symbols) for part in (reduced.numerator, reduced.denominator)
    )
    if not _all(denominator, 1):
        return None
    # A condition is used if it is linear in some variable, with a coefficient of one sign and a rest of the other:
    # it then bounds that variable by a quotient without negative coefficients.
    for kind, sign in (("lower", 1), ("upper", -1)):
        for variable in reduced.symbols:
            if numerator.degree(variable) != 1 or not variable.is_nonnegative:
                continue
            if kind == "upper" and not variable.is_positive and (strictly or variable in others):
                continue
            coefficient, rest = (
                sympy.Poly(c, *reduced.symbols) for c in sympy.Poly(numerator.as_expr(), variable).all_coeffs()
            )
            if _all(coefficient, sign) and _is_positive(coefficient) and _all(rest, -sign):
                bound = -sign * rest.as_expr() / (sign * coefficient.as_expr())
                factor = sign * coefficient.as_expr() / denominator.as_expr()
                new = sympy.Symbol(slack, **{"positive" if strict else "nonnegative": True})
                return Substitution(variable, kind, bound, new, relation, factor)
    return None


def _all(polynomial: Any, sign: int) -> bool:
    """Whether no coefficient has the opposite sign, and every variable is nonnegative."""
    return all(c * sign >= 0 for c in polynomial.coeffs()) and all(
        s.is_nonnegative for s in polynomial.as_expr().free_symbols
    )


def _is_positive(polynomial: Any) -> bool:
    """Whether a polynomial whose coefficients have one sign is nowhere 0: one term of positive symbols suffices."""
    return any(
        all(not power or s.is_positive for s, power in zip(polynomial.gens, monomial, strict=True))
        for monomial, coefficient in polynomial.terms()
        if coefficient
    )


def _by_z3(expression: Any, domain: Domain, strictly: bool) -> SignProof | NoSignProof:
    """z3 searches the domain for a point where the expression is negative; that none exists is the proof."""
    import z3

    # Only relations that are connected with the expression by common symbols; others cannot change its sign.
    involved = set(expression.free_symbols)
    relations = [relation for relation in domain.relations if _is_rational(relation)]
    while more := {s for r in relations if r.free_symbols & involved for s in r.free_symbols} - involved:
        involved |= more
    variables = {s: z3.Real(str(s)) for s in sorted(involved, key=str)}
    solver = z3.SolverFor("QF_NRA")
    solver.set("timeout", int(TIME_LIMIT * 1000))
    for s, variable in variables.items():
        if s.is_positive:
            solver.add(variable > 0)
        elif s.is_nonnegative:
            solver.add(variable >= 0)
    reduced = fraction(expression)
    for relation in relations:
        if relation.free_symbols <= involved:
            solver.add(_relation(relation, variables))
    numerator, denominator = (
        _polynomial(part, reduced.symbols, variables) for part in (reduced.numerator, reduced.denominator)
    )
    product = numerator * denominator  # has the quotient's sign where the denominator is not 0
    solver.add(denominator != 0, product <= 0 if strictly else product < 0)
    start = monotonic()
    answer = solver.check()
    # z3 treats real numbers exactly; `unknown` means that it gave up or ran out of time.
    if answer == z3.unsat:
        return SignProof(expression, "z3", strictly)
    if answer == z3.sat:
        point = _rational_point(solver.model(), variables)
        if _fails_at(point, expression, domain, strictly):
            return NoSignProof(expression, "z3 has found a point where it fails", {str(s): str(x) for s, x in point})
        return NoSignProof(
            expression, "z3 has found a point where it fails, which is not a rational point of the domain"
        )
    return NoSignProof(expression, f"z3 gave up after {monotonic() - start:.1f} s: {solver.reason_unknown()}")


def _is_rational(relation: Any) -> bool:
    try:
        fraction(relation.lhs - relation.rhs)
    except (NotRational, AttributeError):
        return False
    return True


def _rational_point(model: Any, variables: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """z3's point with rational approximations of its algebraic numbers; `_fails_at` checks it exactly."""
    values = {s: model.eval(v, model_completion=True) for s, v in variables.items()}
    rational = {
        s: x.as_fraction() if hasattr(x, "as_fraction") else x.approx(20).as_fraction() for s, x in values.items()
    }
    return [(s, sympy.Rational(x.numerator, x.denominator)) for s, x in rational.items()]


def _fails_at(point: list[tuple[Any, Any]], expression: Any, domain: Domain, strictly: bool) -> bool:
    """Whether the point is in the domain and the expression has the wrong sign there, in exact arithmetic."""
    known = dict(point)
    for s, x in point:
        if (s.is_positive and x <= 0) or (s.is_nonnegative and x < 0) or (s.is_integer and not x.is_integer):
            return False
    inside = [r for r in domain.relations if getattr(r, "free_symbols", set()) & known.keys()]
    value = expression.subs(known)
    wrong = value.is_Rational and (value <= 0 if strictly else value < 0)
    try:
        return bool(wrong) and all(r.subs(known) == sympy.true for r in inside)
    except TypeError:  # a condition is not defined there
        return False


def _relation(relation: Any, variables: dict[Any, Any]) -> Any:
    """The relation for z3, multiplied by the square of its denominator, which is positive."""
    reduced = fraction(relation.lhs - relation.rhs)
    over = _polynomial(reduced.numerator, reduced.symbols, variables) * _polynomial(
        reduced.denominator, reduced.symbols, variables
    )
    match relation:
        case sympy.Ge():
            return over >= 0
        case sympy.Gt():
            return over > 0
        case sympy.Le():
            return over <= 0
        case sympy.Lt():
            return over < 0
        case sympy.Eq():
            return over == 0
    raise Unsound(f"{relation} is none of the relations that are understood")


def _polynomial(polynomial: Any, symbols: tuple[Any, ...], variables: dict[Any, Any]) -> Any:
    import z3

    total = z3.RealVal(0)
    for monomial, coefficient in polynomial.terms():
        term = z3.Q(int(coefficient.numerator), int(coefficient.denominator))
        for symbol, power in zip(symbols, monomial, strict=True):
            for _ in range(power):
                term = term * variables[symbol]
        total = total + term
    return total
