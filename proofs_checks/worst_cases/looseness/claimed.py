"""The worst-case question of a claim, read off the claim and its setting.

A claim about one round of a method without memory that bounds a decrease by ‖∇f(w)‖², and a claim about a whole run
from the method's own start, are questions of `worst_case` (`Played`). Other claims are compared side by side, over all
states that satisfy what is known of the method's states (`Compared`).
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import (
    Number,
    Term,
    answers,
    gradient,
    mean,
    norm,
    number,
    parts,
    server,
    square,
    value,
)
from fedconvex.errors import InvalidInput
from fedconvex.parameters import in_rationals
from fedconvex.proofs_checks.symbolic.randomness import EVERYONE, Draws, draws_of
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, Played
from fedconvex.proofs_checks.worst_cases.looseness.sums import (
    Addend,
    BoundedRatio,
    is_about_one_moment,
    merged,
    moved_back,
    ratio_of,
    rational,
    speaks_of,
    times,
)
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import mean as mean_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import square as square_of
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.form_arithmetic import Length
from fedconvex.proofs_checks.worst_cases.questions.histories import Histories
from fedconvex.proofs_checks.worst_cases.questions.question import MOST
from fedconvex.proofs_checks.worst_cases.questions.ratios import rounds_needed
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed
from fedconvex.proofs_checks.worst_cases.questions.settings import SettingAtNumbers
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import any_state, own_start
from fedconvex.proofs_checks.worst_cases.questions.terms import (
    DecidesWhere,
    TermsOnBoard,
)

DRAWN = "f at the drawn average is bounded by the descent lemma"
ANY_STATE = "over all states of which h is the mean of the memories"
OF_FEDSPLIT = "over all states of which x is the mean of the z_k"
SCALE = {"mu": Fraction(1), "num_clients": Fraction(4)}
"""Values of numbers on which a claim does not depend: curvatures scale, and any number of clients, with a rational
root, has the same worst case."""


# ---- which numbers a claim takes


def taken_by(claim: Claim, setting: ClaimSetting) -> tuple[str, ...]:
    """The numbers that the worst case of a claim takes."""
    known = [*_of_terms(_formulas(setting)), *sorted(claim.parameters), *([claim.rounds] if claim.rounds else [])]
    if draws_matter(claim, setting):
        known += [*_of_terms([x for x in (setting.draws.active, setting.draws.clients) if x is not None])]
    more = ["num_clients"] if setting.draws.scheme == "independent" else []
    more += ["L"] if setting.curvature == (None, None) else []  # of smooth clients only
    return tuple(dict.fromkeys([*known, *more]))


def needed_by(claim: Claim, setting: ClaimSetting) -> tuple[str, ...]:
    """Those without a default."""
    return tuple(name for name in taken_by(claim, setting) if name not in defaults(claim, setting))


def defaults(claim: Claim, setting: ClaimSetting) -> dict[str, Any]:
    """Values of numbers that need not be given: where they do not matter, or are the worst ones."""
    found: dict[str, Any] = {}
    if setting.curvature == (None, None) and "L" not in claim.parameters:
        found["L"] = None
    if setting.answers == "error" and setting.inexactness is not None:
        found |= dict.fromkeys(_of_terms([setting.inexactness]), Fraction(0))
    if setting.draws.scheme == "everyone":
        found["num_clients"] = SCALE["num_clients"]
    if setting.draws.scheme == "independent":
        found["num_clients"] = None  # any number
        # a claim for every number of draws holds for one, which has the largest variance
        active = _of_terms([setting.draws.active]) if setting.draws.active is not None else []
        found |= {name: Fraction(1) for name in active if name not in claim.parameters}
    if any("kappa" in _of_terms([x]) for x in setting.curvature if x is not None):
        found["mu"] = SCALE["mu"]
    return found


def draws_matter(claim: Claim, setting: ClaimSetting) -> bool:
    """Whether what the claim says depends on who is drawn."""
    if setting.draws.scheme == "everyone":
        return False
    if setting.draws.scheme == "independent" or claim.of_run:
        return True
    sides = (claim.left, claim.right)
    return not is_about_one_moment(claim) and any(1 in times(s) or speaks_of(s, "drawn") for s in sides)


def _formulas(setting: ClaimSetting) -> list[Number]:
    own = (x for x in setting.method_parameters.values() if type(x) is Number)
    possible = (*own, *setting.curvature, *setting.gradient_steps.values())
    possible += (setting.inexactness, setting.dissimilarity, setting.variance, setting.large_gradient)
    return [x for x in possible if x is not None]


def _of_terms(terms: Any) -> list[str]:
    return [p.args[0] for term in terms for p in reversed(list(parts(term))) if p.head == "parameter"]


# ---- the question


def question_of(claim: Claim, setting: ClaimSetting, numbers: Mapping[str, Any]) -> Played | Compared:
    """The claim's worst case at these numbers, by name. Raises NotPosed for what no such program can contain."""
    if claim.relation != "<=" or type(claim.left) is not Number:
        raise NotPosed("claim", claim.relation, "is no inequality of numbers", "give a claim left ≤ right")
    given = {**{n: x for n, x in defaults(claim, setting).items() if x is not None}, **numbers}
    at = SettingAtNumbers(setting, given)
    if is_about_one_moment(claim):
        claim = replace(claim, left=moved_back(claim.left), right=moved_back(claim.right))
    draws = draws_of(at.participation, at.num_clients or "any") if draws_matter(claim, setting) else EVERYONE
    ratio = ratio_of(claim, given)
    if (decrease := _decrease(ratio, draws)) is not None:
        return _played_descent(at, decrease, numbers)
    if claim.of_run and not _starts_anywhere(claim):
        return _played_run(claim, at, ratio, given)
    return _compared(claim, at, ratio, draws, given)


SLOPE = (square(mean(gradient(server(0)))), norm(mean(gradient(server(0)))) ** 2)


def _decrease(ratio: BoundedRatio, draws: Draws) -> Any:
    """ρ, where the claim is that f decreases by ρ‖∇f(w)‖² or more in a round."""
    gained, rest = merged(ratio.left), merged(ratio.right)
    ends = (value(server(1)), value(mean(answers))) if draws.everyone else (value(server(1)),)
    if len(gained) != 1 or next(iter(gained)) not in SLOPE or rest.pop(value(server(0)), 0) != 1 or len(rest) != 1:
        return None
    ((end, coefficient),) = rest.items()
    return gained.popitem()[1] if end in ends and coefficient == -1 else None


def _played_descent(at: SettingAtNumbers, bound: Any, numbers: Mapping[str, Any]) -> Played:
    participation = at.participation
    clients = numbers.get("num_clients")
    question = {
        "method": at.method, "clients": at.clients, "metric": "descent", "dissimilarity": at.dissimilarity,
        "num_clients": "any" if clients is None else int(clients), "local_solver": at.solver,
        "participation": participation,
    }  # fmt: skip
    return Played(question, _exact(bound), remark=DRAWN if participation is not None and clients is None else "")


def _exact(x: Any) -> Any:
    return x if type(x).__name__ == "arb" else to_fraction(x)


def _starts_anywhere(claim: Claim) -> bool:
    """Whether a claim about a run speaks of the memory at the start, so that it is about any."""
    return any(p.head == "memory" and 0 in p.args for s in (claim.left, claim.right) for p in parts(s)
               if not speaks_of(s, "sum of rounds", "mean of rounds"))  # fmt: skip


def _played_run(claim: Claim, at: SettingAtNumbers, ratio: BoundedRatio, given: Mapping[str, Any]) -> Played:
    """The bound is the coefficient of the right side's first quantity, which is the unit of the ratio."""
    unit = ratio.right[0].coefficient
    scale = ratio.left[0].coefficient if len(ratio.left) == 1 else to_fmpq(1)
    if unit == 0:
        raise NotPosed("numbers", given, "make the bound 0, of which nothing is a multiple", "give others")
    question = {
        "method": at.method, "clients": at.clients, "num_clients": at.num_clients or "any",
        "rounds": int(given[claim.rounds]), "local_solver": at.solver, "participation": at.participation,
        "metric": tuple(_term(side, by, given) for side, by in ((ratio.left, scale), (ratio.right, unit))),
    }  # fmt: skip
    return Played(question, to_fraction(unit / scale))


def _term(side: tuple[Addend, ...], by: Any, given: Mapping[str, Any]) -> Number:
    """The sum, divided by a number, with numbers in the place of parameters."""
    whole = number(0)
    for a in side:
        c = to_fraction(rational(a) / by)
        quantity = at_numbers(a.quantity, given)
        term = quantity if abs(c) == 1 else number(abs(c)) * quantity
        whole = (term if c > 0 else -term) if whole == number(0) else (whole + term if c > 0 else whole - term)
    return whole


def at_numbers(term: Any, given: Mapping[str, Any]) -> Any:
    """The term with numbers in the place of parameters."""
    if not hasattr(term, "head"):
        return term
    if term.head == "parameter":
        return number(Fraction(given[term.args[0]]))
    return type(term)(term.head, tuple(at_numbers(a, given) for a in term.args))


def _compared(
    claim: Claim, at: SettingAtNumbers, ratio: BoundedRatio, draws: Draws, given: Mapping[str, Any]
) -> Compared:
    """The two sides on a board; with every draw where functions are evaluated at a point that depends on it."""
    try:
        return _on(_small_board(claim, at, draws, given), claim, at, ratio, draws, given)
    except DecidesWhere:
        clients = draws.clients
        if not clients or clients * draws.number > MOST:
            raise InvalidInput("num_clients", clients or None, f"leaves too many ways to draw {draws.K} of them",
                               "give few clients, or use full participation") from None  # fmt: skip
        board = EnumeratedBoard.of(clients, at.clients, at.setting.minimiser)
        return _on(board, claim, at, ratio, draws, given)


def _small_board(claim: Claim, at: SettingAtNumbers, draws: Draws, given: Mapping[str, Any]) -> Board:
    most = at.num_clients or 2 if draws_matter(claim, at.setting) else 2
    return Board(1 if claim.of_client else min(most, 2), at.clients, at.setting.minimiser)


def _on(
    board: Any, claim: Claim, at: SettingAtNumbers, ratio: BoundedRatio, draws: Draws, given: Mapping[str, Any]
) -> Compared:
    method, setting = in_rationals(at.method), at.setting
    solver = in_rationals(at.solver or method.local_solver)
    sides = [a.quantity for a in (*ratio.left, *ratio.right)]
    if not setting.minimiser and any(speaks_of(s, "infimum") for s in sides):
        raise NotPosed("term", "infimum", "need not be attained, and no instance would attain the ratio",
                       "assume a minimiser, or claim it of a whole run")  # fmt: skip
    models = None
    if any(speaks_of(s, "last answers") for s in sides):
        models = board.vectors("models")
    start = any_state(method, board) if setting.method else own_start(method)
    if models is not None and setting.starts_at_own_minima and "gradient" in start.memory:
        board.record(models, start.memory["gradient"])  # what a client remembers is its gradient at its last answer
    rounds = int(given[claim.rounds]) if claim.of_run else 1
    histories = Histories(board, method, solver, draws, start, lambda: models)
    exact = {name: to_fmpq(x) for name, x in given.items() if x is not None}
    terms = TermsOnBoard(histories, rounds, rounds_needed(sides, rounds), exact)
    if setting.method:
        next(terms.histories)  # rounds are played before functions are evaluated elsewhere
    left, right = (_sum(terms, side) for side in (ratio.left, ratio.right))
    power = 1
    if isinstance(left, Length) or isinstance(right, Length):
        left, right, power = _squared(left, claim.left), _squared(right, claim.right), 2
    more = []
    if at.dissimilarity is not None:
        slopes = board.gradient(terms.vector(server(0)))
        more = [("dissimilarity", square_of(mean_of(slopes)) * at.dissimilarity**2 - square_of(slopes))]
    has_memory = bool(start.memory) and not claim.of_run
    return Compared(
        board, left, right, tuple(more), power, (ANY_STATE if start.shared else OF_FEDSPLIT) * has_memory, has_memory
    )


def _squared(side: Any, term: Term) -> Form:
    if isinstance(side, Length):
        return side.squared
    if isinstance(side, Form) and not (side.products or side.values):
        return side
    raise NotPosed("term", term, "is compared with a length that is not squared", "give squares on both sides")


def _sum(terms: TermsOnBoard, side: tuple[Addend, ...]) -> Any:
    found: Any = Form()
    for a in side:
        x = terms.number(a.quantity)
        if not isinstance(x, Form | Length):
            raise NotPosed("claim", f"… + {a.coefficient}", "has a side with a constant, so that no ratio is invariant "
                           "under scaling", "leave the constant out")  # fmt: skip
        if isinstance(x, Length) and len(side) > 1:
            raise NotPosed("term", a.quantity, "is a length that is not squared, in a sum",
                           "give squares of lengths: square(u) for norm(u)")  # fmt: skip
        x = x * rational(a)
        found = x if isinstance(x, Length) else found + x
    return found
