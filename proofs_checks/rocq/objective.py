"""Assumptions about the objective, about how far the clients are from it, or that there is only one client.

Each lemma is in `FedConvex/Objective.v`. A fact is what is >= 0, and the tactic that proves it.
"""

from typing import TYPE_CHECKING, Any

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, Vector, gradient, inner, number, objective_gradient, value
from fedconvex.proofs_checks.rocq.terms import Missing

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.scripts import Script
    from fedconvex.proofs_checks.rocq.theorems import TheoremText

ENDS = ("least", "most")


def curvature(setting: ClaimSetting, end: int) -> Number:
    """The least (0) or largest (1) curvature, of all clients or else of the objective. Raises Missing without one."""
    of_clients, of_objective = setting.curvature[end], setting.objective[end]
    known = of_objective if of_clients is None else of_clients
    if known is None:
        raise Missing("a curvature that is not assumed")
    return known


def class_of_objective(setting: ClaimSetting) -> tuple[bool, bool]:
    """Whether the least and the largest curvature are assumed of the objective alone."""
    least, most = (setting.curvature[end] is None and setting.objective[end] is not None for end in (0, 1))
    return least, most


def assumes_of_objective(setting: ClaimSetting) -> bool:
    """Whether the setting has an assumption of `FedConvex/Objective.v`."""
    given = setting.objective_gap is not None or setting.similarity is not None
    return given or setting.single_client or any(class_of_objective(setting))


def require_written(setting: ClaimSetting, of_client: bool) -> None:
    """Refuses what the export cannot write of these assumptions. Raises Missing."""
    if of_client and assumes_of_objective(setting):
        raise Missing("what is assumed of the objective, in a claim about one client")
    if setting.similarity is not None and setting.draws.scheme != "everyone":
        raise Missing("similar clients in a round with drawn clients")
    if setting.objective_gap is not None and not setting.minimiser:
        raise Missing("Γ of an objective without a minimiser")
    if setting.single_client and setting.rests:
        raise Missing("a fixed point of a single client")


def objective_lemmas(theorem: "TheoremText") -> list[str]:
    """The tactics that add what the assumptions say of the function of all clients; before F is only a name."""
    setting, drawn = theorem.setting, theorem.drawn
    sets, prefix = ("W C", "drawn") if drawn else ("C", "objective")
    found = [
        f"pose proof (@{prefix}_{end} {sets} V f) as of_objective_{end}. cbv zeta in of_objective_{end}. "
        f"fold F in of_objective_{end}."
        for end, given in zip(("lower", "upper"), class_of_objective(setting), strict=True)
        if given
    ]
    if not drawn and (setting.similarity is not None or any(class_of_objective(setting))):
        found.append("pose proof (everywhere_at_shared f) as of_everywhere. fold F in of_everywhere.")
    if setting.objective_gap is not None:
        infima = f"@{'drawn' if drawn else 'clients'}_infima {sets} V f"
        found.append(
            f"pose proof ({infima} _ _ objective_gap) as of_infima. cbv zeta in of_infima. fold F in of_infima."
        )
    if setting.similarity is not None:
        found.append("pose proof (fun sign => similar_in_mean f _ sign similar_clients) as of_similar.")
        found.append("fold F in of_similar.")
    return found


def objective_quadratic(end: int, equal: str) -> str:
    """The tactic for an objective above (0) or below (1) its quadratics, up to the order of two curvatures.

    `equal`, here and below, is the tactic that shows that vectors are equal: all clients share the points.
    """
    lemma = f"of_objective_{('lower', 'upper')[end]}"
    return f"apply ({lemma} _ _ _ _ objective_{ENDS[end]}); [| {equal} | {equal}]"


def _slope(equal: str) -> str:
    """The tactic that shows what the objective's gradients are."""
    return f"first [reflexivity | apply of_everywhere; {equal}]"


def objective_between(theorem: "TheoremText", b: Vector, a: Vector, equal: str) -> tuple[Vector, str]:
    """How the objective's gradient changes from a to b, and the tactic for an objective between two quadratics."""
    if theorem.drawn or class_of_objective(theorem.setting) != (True, True):
        raise Missing("both curvatures of the objective, where not both are assumed of it alone")
    slope = _slope(equal)
    tactic = "apply (objective_between f _ _ _ _ _ _ _ _ objective_least objective_most)"
    change = theorem.round.of_objective(b) - theorem.round.of_objective(a)
    return change, f"{tactic}; [| | {slope} | {slope}]"


def clients_infima(theorem: "TheoremText", at: Vector) -> tuple[Number, str]:
    """The mean of F_k at any points is at least f_* less Γ."""
    gap = theorem.setting.objective_gap
    assert gap is not None
    least = value(theorem.round.vector(Vector("minimiser")))
    return value(at) - least + gap, "apply of_infima"


def clients_similarity(theorem: "TheoremText", b: Vector, a: Vector, equal: str) -> tuple[Number, str]:
    """‖h‖² ≤ δ²‖b − a‖² for the change h of ∇F_k − ∇f."""
    delta, slope = theorem.setting.similarity, _slope(equal)
    if delta is None:
        raise Missing("similar clients")
    at_b, at_a = (gradient(u) - theorem.round.of_objective(u) for u in (b, a))
    change = at_b - at_a
    difference = inner(b - a, b - a) * number(delta) ** 2 - inner(change, change)
    return difference, f"apply of_similar; [sign | {slope} | {slope}]"


def name_objective_gradients(script: "Script") -> None:
    """A name for the objective's gradients at points that differ between clients."""
    known: dict[Any, str] = {}
    for at in dict.fromkeys(u.args[0] for u in script.vectors() if u.head == "objective gradient"):
        text, key = script.within.vector(objective_gradient(at)), script.round.meaning(at).key
        if known.setdefault(key, text) != text:
            raise Missing("two terms for one point of an objective's gradient")
        name = f"o{len(known)}"
        if (text, f"{name}_is") in script.rewrites:
            continue
        script.say(script.split_tactic(name, f"({text})", ""))
        script.rewrites.append((text, f"{name}_is"))
        script.same.append(f"{name}_b")
        script.apart.append(f"{name}_d")
