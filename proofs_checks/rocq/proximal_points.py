"""Proximal points of the objective: minimisers of f + (c/2)‖· − v‖², of which the mean of the gradients is known."""

from typing import TYPE_CHECKING, Any

from fedconvex.claims.terms import Number, Vector, gradient, mean, parts
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.kernel.replay import _terms
from fedconvex.proofs_checks.rocq.terms import Missing, Writer

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.rounds import RoundTerms
    from fedconvex.proofs_checks.rocq.scripts import Script


def proximal_point(terms: "RoundTerms", weight: Number, center: Vector) -> Vector:
    """The variable for the minimiser of f + (weight/2)‖· − center‖²."""
    if terms.setting.draws.scheme != "everyone":
        raise Missing("a proximal point of the objective, in a round with drawn clients")
    meaning = terms.board.round.proximal(terms.board.parameters.value(weight), terms.meaning(terms.vector(center)))
    made = {k: terms.variables[terms.made[k].args[0]].meaning for k in terms.proximals}
    key = next((k for k, u in made.items() if u.key == meaning.key), f"proximal {len(made) + 1}")
    if key not in made or center.args[-1] == 0:  # rather than a center after the round that is the one before it
        terms.proximals[key] = Vector("proximal", (weight, center))
    return terms.variable(key, "prox", True, meaning)


def minimality(terms: "RoundTerms", write: Writer) -> list[tuple[str, str]]:
    """Of each proximal point, a name and the text: the mean of the gradients there is weight·(center − point)."""
    found = []
    for key, term in terms.proximals.items():
        weight, center = term.args
        at = terms.made[key]
        equals = weight * (terms.vector(center) - at)
        found.append((f"{at.args[0]}_nearest", f"{write.vector(mean(gradient(at)))} = ({write.vector(equals)})%V"))
    return found


def name_gradient(script: "Script", name: str, text: str, at: Vector) -> bool:
    """Names the gradients at a proximal point, as their mean plus deviations; False for another point."""
    if not any(script.round.made[key] == at for key in script.round.proximals):
        return False
    script.say(f"destruct (mean_and_rest ({text}) _ {at.args[0]}_nearest) as ({name}_d & {name}_is & {name}_dm).")
    script.apart.append(f"{name}_d")
    return True


def kept_parts(terms: "RoundTerms", derivation: Derivation, claim: Any) -> set[str]:
    """The server's vectors that every round leaves as they are, in a proof about proximal points with such centers."""
    proximal = any(part.head == "proximal" for term in _terms((claim, derivation)) for part in parts(term))
    first = terms.board.round.first.shared
    return {
        f"shared {name}" for name, u in first.items() if proximal and terms.board.round.played.shared[name].key == u.key
    }
