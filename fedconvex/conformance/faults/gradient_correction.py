"""Faults of DANE and FedDANE: in the correction g − ∇f_k(w) of the clients' gradients."""

from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import CORRECTION, Rule
from fedconvex.conformance.faults.building_blocks import negated_linear_term, of_method, other_than, with_subproblem
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.dane import DANE, FedDANE, FedLin, GradientCorrected
from fedconvex.problems.base import Subproblem

CORRECTED = Rule(CORRECTION, of_method(GradientCorrected), "minimise f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (mu/2)‖θ − w‖²")
without_term = with_subproblem(lambda subproblem, state: replace(subproblem, linear=None))


def with_correction(gradient: Any) -> Any:
    """The subproblem with `gradient(correct g, cohort)` in place of g; rows instead of a vector differ by client."""

    def subproblem(method: Method, state: State, cohort: Cohort) -> Subproblem:
        correct = method.subproblem(state, cohort)
        own = cohort.gradients()
        if correct.linear is None:  # another fault of a pair has left the term out
            return correct
        g: Array = (correct.linear + own)[0]  # the same in every row
        return replace(correct, linear=gradient(g, cohort) - own)

    return subproblem


FAULTS = (
    CORRECTED.broken(
        "the gradient correction is left out: this is FedProx",
        where=of_method(DANE, FedDANE),
        subproblem=without_term,
    ),
    CORRECTED.broken(
        "the gradient correction is left out: this is FedAvg",
        "take steps along ∇F_k(θ) − ∇F_k(w) + ∇f(w)",
        where=of_method(FedLin),
        subproblem=without_term,
    ),
    CORRECTED.broken("the gradient correction has the wrong sign", subproblem=with_subproblem(negated_linear_term)),
    *CORRECTED.each(
        "subproblem",
        with_correction,
        {
            "the client's own gradient is left out of the correction": lambda g, cohort: g + cohort.gradients(),
            "the averaged gradient is left out of the correction": lambda g, cohort: 0 * g,
        },
    ),
    CORRECTED.broken(
        "the averaged gradient is not weighted",
        "weight client k's gradient by its number of samples",
        where=of_method(FedDANE),
        subproblem=with_correction(lambda g, cohort: cohort.gradients().sum(0) / len(cohort.points)),
    ),
    CORRECTED.broken(
        "the gradients are summed, not averaged",
        "divide by the sum of the weights of the clients that send one",
        where=of_method(FedDANE),
        subproblem=with_correction(lambda g, cohort: cohort.gradients().sum(0)),
    ),
    CORRECTED.broken(
        "the gradient of all clients is used instead of that of the sample",
        "average the gradients of the clients that take part",
        where=of_method(FedDANE),
        subproblem=with_correction(lambda g, cohort: cohort.full_gradient()),
    ),
    CORRECTED.broken(
        "only the gradients of those who take part are averaged",
        "ask every client for its gradient",
        where=of_method(DANE, FedLin),
        subproblem=with_correction(lambda g, cohort: cohort.sampled_gradient()),
    ),
    Rule(CORRECTION, of_method(DANE)).broken(
        "eta is ignored",
        "multiply the gradient of all clients by eta",
        where=other_than(eta=1),
        subproblem=with_correction(lambda g, cohort: cohort.full_gradient()),
    ),
)
