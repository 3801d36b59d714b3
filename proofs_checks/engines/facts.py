"""The facts that a proof may use: definitions, hypotheses in the form of their definition, and textbook inequalities.

The list is closed: proofs build every fact with a function of this module, or take it from a claim that has its own
proof (`proof.Relation.fact`). A fact is an expression that is ≥ 0, or = 0. Each function checks, by `require`, what
makes its fact true as far as it can be seen in its arguments: that vectors add up, that a fact is linear.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import sympy

from fedconvex.proofs_checks.engines.algebra import is_zero
from fedconvex.proofs_checks.engines.hilbert import (
    HilbertVector,
    Subspace,
    inner,
    is_product,
    mean,
    norm,
    require,
    square,
)


@final
@dataclass(frozen=True)
class Fact:
    """expression ≥ 0, or = 0 for an `equation`, with all that this depends on.

    Attributes:
        claims: the claims from which it was derived. Each must be proved before the fact is used.
        assumes: names of assumptions (`fedconvex.statements.assumptions`). The statement must make at least one of
            them, with this `constant` or with a stronger one.
        defines: symbols, or their squares, with their definitions. Within a proof a symbol has one definition.
        requires: relations between parameters without which the fact fails. They must follow from the domain of the
            claim that uses it.
        joins_rounds: whether the fact is about many rounds and was derived from one about each round. Assumptions at
            one point only, such as Dissimilarity, must not enter it.
        chosen: for a proved claim with particular parameters (`specialised`), the symbols and the values substituted
            for them. Such a symbol must have no definition in the proof: the claim was proved for every value of a
            free parameter, not for every value of a defined quantity.
    """

    expression: Any
    name: str
    equation: bool = False
    claims: tuple[Any, ...] = ()
    assumes: tuple[str, ...] = ()
    defines: tuple[tuple[Any, Any], ...] = ()
    requires: tuple[Any, ...] = ()
    joins_rounds: bool = False
    chosen: tuple[tuple[Any, Any], ...] = ()
    constant: Any = None


SMOOTH = ("Smooth", "SmoothObjective")


def smooth(value_y: Any, value_x: Any, gradient_x: HilbertVector, step: HilbertVector, L: Any) -> Fact:
    """f(y) ≤ f(x) + ⟨∇f(x), y − x⟩ + (L/2)‖y − x‖² for an L-smooth f (the descent lemma); `step` is y − x.

    For families (`hilbert`) this is the mean over the clients, the values being means as well.
    """
    right = value_x + inner(gradient_x, step) + L * square(step) / 2
    return Fact(right - value_y, "an L-smooth function lies below its quadratic", assumes=SMOOTH, constant=L)


def smooth_below(value_y: Any, value_x: Any, gradient_x: HilbertVector, step: HilbertVector, L: Any) -> Fact:
    """f(y) ≥ f(x) + ⟨∇f(x), y − x⟩ − (L/2)‖y − x‖² for an L-smooth f: the descent lemma of −f."""
    left = value_x + inner(gradient_x, step) - L * square(step) / 2
    return Fact(value_y - left, "an L-smooth function lies above its quadratic", assumes=SMOOTH, constant=L)


def convex(value_y: Any, value_x: Any, gradient_x: HilbertVector, step: HilbertVector, mu: Any = 0) -> Fact:
    """f(y) ≥ f(x) + ⟨∇f(x), y − x⟩ + (μ/2)‖y − x‖² for a μ-strongly convex f; μ = −L₋ where it is weakly convex."""
    left = value_x + inner(gradient_x, step) + mu * square(step) / 2
    kind = "Convex" if mu == 0 else "StronglyConvex" if sympy.sympify(mu).is_nonnegative else "BoundedNegativeCurvature"
    name = "a (strongly, weakly) convex function lies above its tangent"
    constant = {"Convex": None, "StronglyConvex": mu, "BoundedNegativeCurvature": -mu}[kind]
    return Fact(value_y - left, name, assumes=(kind, f"{kind}Objective"), constant=constant)


def lipschitz(gradients: HilbertVector, points: HilbertVector, L: Any) -> Fact:
    """‖∇f(x) − ∇f(y)‖² ≤ L²‖x − y‖², the definition of L-smoothness; the arguments are the two differences."""
    return Fact(L**2 * square(points) - square(gradients), "the gradient is L-Lipschitz", assumes=SMOOTH,
                constant=L)  # fmt: skip


def inexact(residual: HilbertVector, gradient: HilbertVector, gamma: Any) -> Fact:
    """‖∇h(w_k)‖² ≤ γ²‖∇F_k(w)‖² (FedProx paper, Definition 1)."""
    return Fact(
        gamma**2 * square(gradient) - square(residual),
        "the answers are γ-inexact",
        assumes=("Inexactness", "InexactnessOfEach"),
        constant=gamma,
    )


def dissimilar(gradients: HilbertVector, B: Any) -> Fact:
    """E_k‖∇F_k(w)‖² ≤ B²‖∇f(w)‖² (FedProx paper, Definition 3)."""
    return Fact(
        B**2 * square(mean(gradients)) - square(gradients), "the clients are B-dissimilar", assumes=("Dissimilarity",),
        constant=B,
    )  # fmt: skip


def bounded_variance(gradients: HilbertVector, sigma2: Any) -> Fact:
    """E_k‖∇F_k(w) − ∇f(w)‖² ≤ σ²."""
    return Fact(
        sigma2 - square(gradients - mean(gradients)), "the gradients' variance is bounded",
        assumes=("BoundedVariance",), constant=sigma2,
    )  # fmt: skip


def prox_error(errors: HilbertVector, b: Any) -> Fact:
    """‖prox_update_j(z) − prox_{sf_j}(z)‖² ≤ b², for one client or averaged over all (FedSplit paper, (15))."""
    return Fact(b**2 - square(errors), "the proximal steps err by at most b")


def cauchy_schwarz(u: HilbertVector, v: HilbertVector, sign: int = 1) -> Fact:
    """±⟨u, v⟩ ≤ ‖u‖‖v‖ for two basic vectors, whose norms are symbols."""
    require(sign in (1, -1), f"{sign} is no sign")
    return Fact(norm(u) * norm(v) - sign * inner(u, v), "the Cauchy-Schwarz inequality")


Length = tuple[Any, HilbertVector]
"""A number and the vector whose norm it is. The number is a symbol or a nonnegative multiple of one."""


def triangle(whole: Length, *parts: Length) -> Fact:
    """‖u + v + …‖ ≤ ‖u‖ + ‖v‖ + …; the vectors of the parts must add up to that of the whole."""
    _require_equal(whole[1], sum((v for _, v in parts), HilbertVector()), "the vectors do not add up")
    defines, requires = _definitions(whole, *parts)
    return Fact(sum(length for length, _ in parts) - whole[0], "the triangle inequality",
                defines=defines, requires=requires)  # fmt: skip


def norm_of_mean(whole: Length, *parts: Length) -> Fact:
    """‖E(u + v + …)‖ ≤ E‖u‖ + E‖v‖ + … for families; the numbers of the parts are the means of their norms."""
    _require_equal(
        whole[1], mean(sum((v for _, v in parts), HilbertVector())), "this is not the mean of the families' sum"
    )
    defines, requires = _definitions(whole)
    defines += tuple((number, _mean_length(v)) for number, v in parts)
    name = "the norm of a mean is at most the mean of the norms"
    return Fact(sum(number for number, _ in parts) - whole[0], name, defines=defines, requires=requires)


def jensen(root_of_mean_square: Length, mean_length: Any) -> Fact:
    """E‖u‖ ≤ √(E‖u‖²) for a family; `mean_length` is the mean of its norms."""
    defines, requires = _definitions(root_of_mean_square)
    defines += ((mean_length, _mean_length(root_of_mean_square[1])),)
    return Fact(root_of_mean_square[0] - mean_length, "Jensen's inequality", defines=defines, requires=requires)


def _require_equal(u: HilbertVector, v: HilbertVector, otherwise: str) -> None:
    require(all(is_zero(c) for c in (u - v).parts.values()), otherwise)


def _mean_length(u: HilbertVector) -> Any:
    """The symbol of the mean of a family's norms, the same for a family and its negative."""
    return sympy.Symbol(f"E‖{sorted((u, -u), key=str)[0]}‖", nonnegative=True)


def _definitions(*lengths: Length) -> tuple[tuple[tuple[Any, Any], ...], tuple[Any, ...]]:
    """The definitions symbol² = ‖vector‖² of the lengths, and the conditions that their factors are nonnegative."""
    defines, requires = [], []
    for length, vector in lengths:
        # The one symbol for a length in the number; its other symbols are parameters, which make up the factor.
        (symbol,) = (s for s in sympy.sympify(length).free_symbols if str(s).startswith(("‖", "√")))
        factor = sympy.cancel(length / symbol)
        if not is_zero(square(vector) - length**2):  # of a basic vector it needs no definition
            defines.append((symbol**2, square(vector) / factor**2))
        if not factor.is_nonnegative:
            requires.append(sympy.Ge(factor, 0, evaluate=False))
    return tuple(defines), tuple(requires)


def root_of(root: Any, radicand: Any) -> Fact:
    """The definition of a symbol for a square root: root² = radicand."""
    return Fact(root**2 - radicand, f"the definition of {root}", equation=True, defines=((root**2, radicand),))


def named(letter: Any, meaning: Any) -> Fact:
    """The definition of a symbol of the paper: letter = meaning, as in C_t = (1/m)Σ E‖θ_k^t − γ^t‖²."""
    return Fact(meaning - letter, f"the definition of {letter}", equation=True, defines=((letter, meaning),))


def called(name: HilbertVector, meaning: HilbertVector) -> Fact:
    """A basic vector as the name of another vector: the fact that both have the same norm, and nothing more.

    Use it for an average over drawn clients beside other vectors that depend on the same draw: their inner products
    with the average are unknown, and remain free symbols.
    """
    require(
        all(atom.part is not Subspace.DEVIATION for atom in meaning.parts), f"{meaning} differs from client to client"
    )
    return Fact(square(meaning) - square(name), f"the definition of {name}", equation=True,
                defines=((norm(name) ** 2, square(meaning)),))  # fmt: skip


def square_of(number: Any) -> Fact:
    """x² ≥ 0: for a proof of a sign as a sum of squares, where neither coefficients nor z3 decide it."""
    return Fact(sympy.sympify(number) ** 2, "a square is not negative")


def minimal(value: Any, least: Any) -> Fact:
    """f(x) ≥ f*: the value at a point is at least the smallest."""
    return Fact(value - least, "the smallest value is below every value")


def mean_value(value_y: Any, value_x: Any, largest_slope: Any, distance: Any) -> Fact:
    """f(y) ≤ f(x) + ‖∇f(z)‖‖y − x‖, z being the point between x and y where the gradient is longest."""
    return Fact(value_x + largest_slope * distance - value_y, "the mean value inequality")


def telescoped(mean_next: Any, mean_now: Any, last: Any, first: Any, terms: Any) -> Fact:
    """(1/T)Σ_{t<T} a_{t+1} − (1/T)Σ_{t<T} a_t = (a_T − a_0)/T, in the symbols for these five numbers."""
    return Fact(mean_next - mean_now - (last - first) / terms, "the sum telescopes", equation=True, joins_rounds=True)


def rounded_up(integer: Any, number: Any) -> Fact:
    """⌈x⌉ ≥ x."""
    return Fact(integer - number, "a number rounded up is not smaller")


def large_gradient(gradient: HilbertVector, epsilon: Any) -> Fact:
    """‖∇f(w)‖² ≥ ε."""
    return Fact(
        square(gradient) - epsilon, "the squared norm of the gradient is at least ε", assumes=("LargeGradient",),
        constant=epsilon,
    )  # fmt: skip


def selected(after: Any, new: Any, old: Any, share: Any) -> Fact:
    """E[after] = share · new + (1 − share) · old, where each client is drawn with probability `share`.

    The numbers are means over the clients; a drawn client has its new number after the round, another its old one.
    """
    return Fact(
        share * new + (1 - share) * old - after, "every client is drawn with the same probability", equation=True
    )


def averaged(fact: Fact, means: Mapping[Any, Any], over: str = "the clients", fixed: tuple[Any, ...] = ()) -> Fact:
    """The mean over the clients (draws, rounds) of a fact about each of them.

    The fact must be linear in the numbers that differ from client to client, since only then does the mean of the
    inequality follow by replacing each number by its mean.

    Args:
        means: a client's numbers (its norms, or their squares) with their means.
        over: the clients, draws or rounds, for the fact's name; a name with "rounds" marks it as joining rounds.
        fixed: lengths that are the same for all, as ‖∇f(w)‖ is for every draw.
    """
    # Each of a client's numbers becomes a variable of its own; a fact that is linear in them equals the sum of
    # variable · derivative, which is what `rest` checks.
    dummies = {number: sympy.Dummy() for number in means}
    involved = set().union(*(sympy.sympify(number).free_symbols for number in means))
    expression = sympy.sympify(fact.expression).subs(dummies)
    if expression.free_symbols & involved:  # a product such as x·y is found in a sum only when it is expanded
        expression = sympy.expand(fact.expression).subs(dummies)
    slopes = {number: sympy.diff(expression, dummy) for number, dummy in dummies.items()}
    rest = expression - sum(dummies[number] * slope for number, slope in slopes.items())
    left = set().union(*(slope.free_symbols for slope in slopes.values()))
    require(not left & set(dummies.values()), f"{fact.name} is not linear in {list(means)}")
    require(is_zero(rest), f"{fact.name} is not linear in {list(means)}")
    require(not left & involved, f"{fact.name}: a client's number is left")
    # A coefficient with a norm or an inner product in it would not come out of the mean.
    products = [s for s in left if is_product(s) and s not in fixed]
    require(not products, f"{fact.name}: {products} may differ from client to client")
    expectation = sum(means[number] * slope for number, slope in slopes.items())
    name = f"{fact.name}, averaged over {over}"
    return replace(fact, expression=expectation, name=name, joins_rounds=fact.joins_rounds or "rounds" in over)


def over_rounds(
    fact: Fact, states: Mapping[tuple[Any, Any], tuple[Any, Any]], sums: Mapping[Any, Any],
    growth: Any = 1, power: Any = 1,
) -> Fact:  # fmt: skip
    """A fact about each of the rounds t = 1, …, T, times growth^(t−1), summed over the rounds.

    With S = Σ_t growth^(t−1) x_{t−1}, the sum of growth^(t−1) x_t is (S − x_0 + growth^T x_T)/growth. Where a state's
    terms telescope, the unknown S cancels.

    Args:
        states: quantities before and after a round, (x_{t−1}, x_t), with their values at the start and after T
            rounds, (x_0, x_T).
        sums: a round's other numbers y_t with the symbols of Σ_t growth^(t−1) y_t.
        power: growth^T.
    """
    require(sympy.sympify(growth).is_positive, f"{growth} may not be positive")
    means = dict(sums)
    for (before, after), (first, last) in states.items():
        # The unknown sum S of this state. It must cancel in what a proof concludes, since nothing else contains it.
        whole = sympy.Symbol(f"Σ {before}", real=True)
        means |= {before: whole, after: (whole - first + power * last) / growth}
    found = averaged(fact, means)
    name = f"{fact.name}, summed over the rounds"
    return replace(found, name=name, joins_rounds=True)


def specialised(fact: Fact, values: Mapping[Any, Any]) -> Fact:
    """A proved claim for particular values of some of its parameters.

    The values must have the signs of the symbols and lie in the claim's domain (`requires`). Inner products and
    lengths cannot be chosen: for arbitrary numbers there might be no vectors with these inner products.
    """
    values = {symbol: sympy.sympify(value) for symbol, value in values.items()}
    require(fact.claims and not fact.assumes, f"{fact.name} is no proved claim")
    require(not any(map(is_product, values)), "inner products and lengths cannot be chosen")
    require(all(v.is_integer for s, v in values.items() if s.is_integer), "an integer is wanted")
    needed = [relation for claim in fact.claims for relation in claim.domain.relations]
    needed += [sympy.Gt(s, 0, evaluate=False) for s in values if s.is_positive]
    needed += [sympy.Ge(s, 0, evaluate=False) for s in values if s.is_nonnegative]
    requires = [*fact.requires, *(r.subs(values, simultaneous=True) for r in needed)]
    chosen = sympy.sympify(fact.expression).subs(values, simultaneous=True)
    requires = [relation for relation in requires if relation != sympy.true]
    return replace(fact, expression=chosen, requires=tuple(requires), chosen=(*fact.chosen, *values.items()))


def iterated(step: Fact, not_negative: Fact, after: Any, now: Any, first: Any, last: Any, shrunk: Any) -> Fact:
    """a_t ≤ ρ^t a_0 + c(1 − ρ^t)/(1 − ρ), if a_{k+1} ≤ ρa_k + c in every step and 0 ≤ ρ ≠ 1.

    Args:
        step: the fact ρ · now + c − after ≥ 0.
        not_negative: the fact ρ ≥ 0, without which the recurrence cannot be iterated.
        after, now: the symbols of a_{k+1} and a_k in `step`.
        first, last: a_0 and a_t.
        shrunk: the symbol for ρ^t.
    """
    # Coefficients of a polynomial in the two symbols: ρ in front of `now`, c alone, and −1 in front of `after`.
    recurrence = sympy.Poly(sympy.sympify(step.expression), after, now)
    factor, added = recurrence.coeff_monomial(now), recurrence.coeff_monomial(1)
    require(is_zero(recurrence.as_expr() - (factor * now + added - after)), "no recurrence")
    require(is_zero(factor - not_negative.expression), "of another factor")
    bound = shrunk * first + (added * (1 - shrunk) / (1 - factor) if added != 0 else 0)
    require(not step.assumes and not not_negative.assumes, "the recurrence must be a proved claim")
    return Fact(
        bound - last, "a linear recurrence", claims=(*step.claims, *not_negative.claims),
        defines=((shrunk, sympy.cancel(factor) ** sympy.Symbol("t")),),
        requires=(*step.requires, *not_negative.requires), joins_rounds=True,
    )  # fmt: skip


def decayed(enough: Fact, rounds: Any, logarithm: Any, small: Any, factor: Any, shrunk: Any, times: int = 1) -> Fact:
    """ρ^{kt} ≤ δ for t ≥ log(1/δ)/(k(1 − ρ)) and 0 ≤ ρ < 1, since ρ ≤ e^{ρ−1}.

    Args:
        enough: the fact `rounds` ≥ log(1/δ)/(k(1 − ρ)); t is any number of at least `rounds` rounds.
        logarithm: the symbol for log(1/δ); δ is `small`.
        factor: ρ; `shrunk` is the symbol for ρ^t.
        times: k.
    """
    needed = logarithm / (times * (1 - factor))
    require(is_zero(enough.expression - (rounds - needed)), "another number of rounds")
    return Fact(
        small - shrunk**times, "1 + x is at most the exponential of x", claims=enough.claims,
        defines=((shrunk, sympy.cancel(factor) ** sympy.Symbol("t")),),
        requires=(*enough.requires, sympy.Ge(factor, 0, evaluate=False), sympy.Lt(factor, 1, evaluate=False)),
    )  # fmt: skip
