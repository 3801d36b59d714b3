"""FedDyn, convex devices: sharper forms of Theorems 2 and 3, from the sharper Lemmas 1 and 8 summed over the rounds."""

import sympy

from fedconvex.proofs_checks.builders import positive
from fedconvex.proofs_checks.engines.algebra import factored
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.feddyn.convex_rates import all_rounds, end_of_run, rearranged, summed
from fedconvex.proofs_checks.feddyn.convex_tightness import tightness
from fedconvex.proofs_checks.feddyn.notation import SCALE, T, alpha, least, mu, symbolic
from fedconvex.proofs_checks.feddyn.run_sums import D0, G, R, at_mean, jensen, last, start, sum_of_powers
from fedconvex.proofs_checks.feddyn.sharper_lemmas import with_scale
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn


@proves(feddyn.theorem2sharper)
def convex_rate(statement: Statement) -> Proof:
    domain = Domain.of(statement) & SCALE
    c = symbolic(feddyn.sharper_constants)
    kappa, kappa0 = factored(with_scale(c.kappa)), c.kappa0
    lemma = conclusion(feddyn.lemma1sharper)
    one = rearranged(lemma, kappa, kappa0)
    over_all_rounds = all_rounds(kappa, kappa0, domain)
    mean = jensen(T, domain, r"E\,\ell\Big(\tfrac1T\sum_{t<T}\gamma^t\Big)-\ell(\theta_*) \le "
                  r"\tfrac1T\sum_{t<T}E[\ell(\gamma^t)-\ell(\theta_*)]", "")  # fmt: skip
    bound = with_scale(symbolic(statement.calculator))
    return Proof((
        Step(r"\tfrac2\alpha E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le (E\|\gamma^{t-1}-\theta_*\|^2+\kappa C_{t-1})"
             r"-(E\|\gamma^t-\theta_*\|^2+\kappa C_t)", "Lemma 1, sharper", one,
             Combination(facts=((1, lemma.fact),))),
        start(),
        Step(r"\tfrac2\alpha\sum_{t=1}^TE[\ell(\gamma^{t-1})-\ell(\theta_*)] \le \|\theta^0-\theta_*\|^2+\kappa C_0"
             r"-(E\|\gamma^T-\theta_*\|^2+\kappa C_T)", "summed over the rounds", over_all_rounds,
             Combination(facts=((1, summed(one)),))),
        positive(r"\kappa > 0", "α ≥ 5L", kappa, domain, ""),
        mean,
        Step(r"E\,\ell\Big(\tfrac1T\sum_{t<T}\gamma^t\Big)-\ell(\theta_*) \le \tfrac1T\Big(\tfrac\alpha2"
             r"\|\theta^0-\theta_*\|^2+\tfrac mP\tfrac e{2(\alpha-2Le)}\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2\Big)",
             "what is left at the end is not negative", Relation(at_mean - least, "<=", bound, domain),
             Combination(facts=((1, mean.claim.fact), (1 / (kappa0 * T), over_all_rounds.fact)),
                         squares=end_of_run(1 / (kappa0 * T), kappa))),
    ), tightness=tightness(statement))  # fmt: skip


@proves(feddyn.theorem3sharper)
def strongly_convex_rate(statement: Statement) -> Proof:
    r = 1 + mu / alpha
    domain = Domain.of(statement) & SCALE & sympy.Ge(last, 1, evaluate=False)  # r^(T−1) ≥ 1
    c = symbolic(feddyn.sharper_strongly_convex_constants)
    kappa, kappa0 = factored(with_scale(c.kappa)), c.kappa0
    lemma = conclusion(feddyn.lemma8sharper)
    one = rearranged(lemma, kappa, kappa0, r)
    over_all_rounds = all_rounds(kappa, kappa0, domain, r * last)
    mean = jensen(R, domain, r"E\,\ell\Big(\tfrac1R\sum_{t<T}r^t\gamma^t\Big)-\ell(\theta_*) \le "
                  r"\tfrac1R\sum_{t<T}r^tE[\ell(\gamma^t)-\ell(\theta_*)]", "")  # fmt: skip
    powers = sum_of_powers(r, domain)
    exact = Relation(at_mean - least, "<=", (D0 + kappa * G) / (kappa0 * R), domain, "with 1/R")
    bound = with_scale(symbolic(statement.calculator)).subs(r**T, r * last)
    quotient = (r * last - 1) * R
    return Proof((
        Step(r"\kappa_0E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le (E\|\gamma^{t-1}-\theta_*\|^2+\kappa C_{t-1})"
             r"-r(E\|\gamma^t-\theta_*\|^2+\kappa C_t)", "Lemma 8, sharper", one,
             Combination(facts=((1, lemma.fact),))),
        start(),
        Step(r"\kappa_0\sum_{t=1}^Tr^{t-1}E[\ell(\gamma^{t-1})-\ell(\theta_*)] \le \|\theta^0-\theta_*\|^2+\kappa C_0"
             r"-r^T(E\|\gamma^T-\theta_*\|^2+\kappa C_T)", "summed over the rounds, with the weights r^{t−1}",
             over_all_rounds, Combination(facts=((1, summed(one, r, r * last)),))),
        positive(r"\kappa_0 > 0", "α ≥ 30L", kappa0, domain, ""),
        mean,
        Step(r"E\,\ell\Big(\tfrac1R\sum_{t<T}r^t\gamma^t\Big)-\ell(\theta_*) \le "
             r"\tfrac1R\tfrac1{\kappa_0}(\|\theta^0-\theta_*\|^2+\kappa C_0)",
             "what is left at the end is not negative", exact,
             Combination(facts=((1, mean.claim.fact), (1 / (kappa0 * R), over_all_rounds.fact)),
                         squares=end_of_run(r * last / (kappa0 * R), kappa))),
        *powers,
        Step(r"E\,\ell\Big(\tfrac1R\sum_{t<T}r^t\gamma^t\Big)-\ell(\theta_*) \le \tfrac{r-1}{r^T-1}"
             r"\tfrac{\alpha^2\|\theta^0-\theta_*\|^2+2\tfrac mPe\tfrac1m\sum_k\|\nabla L_k(\theta_*)\|^2}"
             r"{2(\alpha-4\mu)}", "R is the sum of the powers", Relation(at_mean - least, "<=", bound, domain),
             Combination(facts=((1, exact.fact), (-(D0 + kappa * G) / (kappa0 * quotient), powers[1].claim.fact)))),
    ), tightness=tightness(statement))  # fmt: skip
