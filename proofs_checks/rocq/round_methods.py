"""The method of a setting, run on the variables of a theorem: its parameters, state, cohort and local steps."""

from typing import TYPE_CHECKING, Any

from fedconvex.claims.terms import Number, Vector, gradient, mean, parameter
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Cohort, State
from fedconvex.proofs_checks.kernel.parameters import any_steps, integer
from fedconvex.proofs_checks.rocq.terms import Missing, number_of

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.rounds import RoundTerms


def method_of(terms: "RoundTerms") -> Any:
    """The method, with formulas as parameters; the kernel has made it before, with its checks of them."""
    checked = terms.board.round.method
    made = object.__new__(type(checked))
    for name, value in vars(checked).items():
        given = terms.setting.method_parameters.get(name)
        if type(given) is Number:  # of whether it is 0 a method asks a constant alone; counts and options stay
            value = given if given.head != "constant" else value if type(value) is int else given.args[0]
        object.__setattr__(made, name, value)
    return made


def state_of(terms: "RoundTerms") -> State:
    """The state before the round."""
    first = terms.board.round.first
    return State(
        terms.vector(Vector("server", (0,))),
        {n: terms.vector(Vector("shared", (n, 0))) for n in first.shared},
        {n: terms.vector(Vector("memory", (n, 0))) for n in first.memory},
    )


def cohort_of(terms: "RoundTerms") -> Cohort:
    """The clients of the round, whose averages are terms."""
    w = terms.vector(Vector("server", (0,)))
    draws = terms.setting.draws
    everyone = draws.scheme == "everyone"

    def drawn(u: Vector) -> Vector:
        return mean(u) if everyone else Vector("drawn", (u,))

    def total(u: Vector) -> Vector:
        if draws.scheme == "independent":
            raise Missing("a sum over clients that are drawn independently")
        return mean(u) if everyone else (draws.active / draws.clients) * drawn(u)  # type: ignore[operator]

    return Cohort(
        points=w, population=1, everyone=everyone, communicates=True, average=drawn, gradients=lambda: gradient(w),
        sampled_gradient=lambda: mean(gradient(w)), full_gradient=lambda: mean(gradient(w)),
        objective=lambda: None, total=total,
    )  # fmt: skip


def stepsize_of(terms: "RoundTerms", own: Any) -> Number:
    """The local stepsize: as the method's parameters have it, where what is known of these would write it otherwise."""
    for given in terms.setting.method_parameters.values():
        if type(given) is not Number:
            continue
        value = terms.board.parameters.value(given)
        if given.head == "parameter" and value.above.total_degree() and value * own.stepsize == 1:
            return 1 / given
    return number_of(own.stepsize)


def path_length(terms: "RoundTerms") -> Number | None:
    """The sum of every client's local stepsizes; None where clients take no steps of known size."""
    own = terms.board.round.method.local_solver
    if not isinstance(own, GradientDescent):
        return None
    name = any_steps(terms.setting)
    count = parameter(name) if name else _count(terms)
    length: Number = stepsize_of(terms, own) * count
    return length


def descended(terms: "RoundTerms", own: Any) -> Vector:
    """The answers after gradient steps on the subproblem."""
    theta: Vector = terms.subproblem.start
    stepsize = stepsize_of(terms, own)
    for _ in range(_count(terms)):
        terms.before_last = theta
        theta = theta - stepsize * terms.subproblem.add_gradients(theta, gradient(theta))
    return terms.variable("answers", "theta", False, terms.board.round.answers.points, theta)


def stepped(terms: "RoundTerms") -> Vector:
    """The answers after any number of gradient steps: the last points of a path.

    Where the steps are gradient steps on the clients' own functions, the last points are the start less the stepsize
    times the sum of the gradients.
    """
    round_, key = terms.board.round, "answers"
    answers = round_.answers.points
    if terms.setting.gradient_steps or terms.subproblem.linear is not None:
        return terms.variable(key, "theta", False, answers)
    assert round_.local_gradients is not None
    own: Any = round_.method.local_solver
    passed = terms.variable("local gradients", "passed", False, round_.local_gradients)
    moved = terms.subproblem.start - stepsize_of(terms, own) * passed
    return terms.variable(key, "theta", False, answers, moved)


def local_step(terms: "RoundTerms", at: Vector) -> Vector:
    """The point after one more gradient step on the subproblem."""
    given = terms.setting.gradient_steps.get("stepsize")
    _ = terms.board.round.answers
    own: Any = terms.board.round.method.local_solver
    stepsize = stepsize_of(terms, own) if given is None else given
    moved: Vector = at - stepsize * terms.subproblem.add_gradients(at, gradient(at))
    return moved


def _count(terms: "RoundTerms") -> int:
    steps = terms.setting.method_parameters.get("local_steps")
    if type(steps) is not Number:
        return 1
    if steps.head != "constant":
        raise Missing("any number of local steps")
    return integer(terms.board.parameters.value(steps))
