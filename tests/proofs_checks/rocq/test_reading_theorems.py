"""The theorem of a statement, read back from its text in Rocq, is the claim in its setting; an altered one is not."""

import re
from collections.abc import Iterator

import pytest
from slow_layer import some_of

from fedconvex.proofs_checks.rocq.accepted import accepted
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.theory import statement

from .theorem_comparison import differences
from .theorem_reader import Unreadable

pytestmark = pytest.mark.beyond_core

# Patterns and what is written in their place, at one place after the other.
ALTERATIONS = {
    # A multiple of w − w, and ⟨u + ū, u − ū⟩ for ‖u − ū‖², mean the same.
    "a sign": [(r" \+ (?!\w+ \* \(w - w\))", " - "), (r" - (?!mean)", " + ")],
    "a time": [
        (r"_next\b", ""), (r"\(S j\)", "j"), (r"\(next ", "(now "), (r" rounds\)(?= -)", " O)"), (r"\(S i\)", "i"),
        (r" O\)(?= -)", " rounds)"), (r" nil\)(?= -)", " past)"), (r"\^ rounds", "^ (rounds - 1)%nat"),
    ],
    "a name": [
        (r"\bxs\b", "w"), (r"\btheta\b", "w"), (r"\bmost\b", "least"), (r"\bmean_of_drawn d\b", "mean_of_all"),
        (r"\bnum_active\b", "num_clients"), (r"(?<!- )\bL\b(?! \*)", "mu"),
    ],
    "a factor": [
        (r"(?<=\()[2-9] \* ", ""), (r"\^ 2", "^ 3"), (r"\b(stepsize|L|eta) \* ", ""), (r"/ (alpha|stepsize|L)\b", ""),
        (r"\bsqrt ", ""),
    ],
    "a mean": [(r"= \(mean ", "= ("), (r"\bgradient E?F (w|xs|theta)\b", r"\1")],
    "a relation": [(r" <= ", " < "), (r" <= ", " = "), (r"(?<=0) < ", " <= ")],
    "a hypothesis": [(r"\n  \(.*\) ->(?=\n)", "")],
}  # fmt: skip
ALTERED = ("dane.similarclients", "feddyn.equation4", "feddyn.lemma10", "feddyn.theorem5convex", "fedprox.theorem4",
           "fedprox.theorem6", "fedsplit.theorem1", "fedsplit.theorem2", "scaffold.acceleration",
           "exact_rates.scaffoldconvexclientslocalsteps", "ghadimi_lan.corollary2_2convex")  # fmt: skip

EVERY = sorted(accepted()["theorems"])
# Classes of the objective alone, Γ, δ, single clients, infima, any number of local steps, lengths in draws, powers,
# exponentials, runs of drawn clients, claims that are refuted: the text of each is read in every run.
IN_EVERY_RUN = {
    "feddyn.equation5", "feddyn.theorem2", "feddyn.theorem3", "feddyn.theorem4", "feddyn.theorem1nonconvex",
    "feddyn.lemma21", "fedprox.corollary9", "fedprox.equation12", "fedprox.remark8sharper", "fedprox.theorem6",
    "fedsplit.corollary1", "fedsplit.equation17", "fedsplit.equation19", "fedsplit.equation22", "fedsplit.theorem2",
    "nesterov.gradientstep", "nesterov.corollary2_1_2", "li_fedavg.varianceattheminimiser", "li_fedavg.drawnclients",
    "li_fedavg.drawnclientstrounds", "dane.similarclients", "rockafellar.proximalstep", "rockafellar.convexfunctions",
    "scaffold.acceleration", "exact_rates.scaffoldconvexclientslocalsteps", *some_of(EVERY, 12),
}  # fmt: skip


@pytest.mark.parametrize(
    "identifier", [pytest.param(name, marks=() if name in IN_EVERY_RUN else pytest.mark.slow) for name in EVERY]
)
def test_the_theorem_is_the_claim_in_its_setting(identifier: str) -> None:
    of = statement(identifier)
    assert differences(of, exported(of).text) == []


def altered(text: str, kind: str) -> Iterator[str]:
    """The text with one change in its theorem, after the variables."""
    begin = text.index("\n  (", text.rindex("\nTheorem "))
    end = text.find("\nProof.", begin)
    for old, new in ALTERATIONS[kind]:
        for found in re.finditer(old, text[begin:end]):
            yield text[: begin + found.start()] + found.expand(new) + text[begin + found.end() :]


@pytest.mark.sample(4)
@pytest.mark.parametrize("identifier", ALTERED)
def test_an_altered_theorem_is_another_one(identifier: str) -> None:
    """At one place of each kind in three."""
    of, unnoticed, noticed = statement(identifier), list[str](), 0
    text = exported(of).text
    for changed in [t for kind in ALTERATIONS for t in [*altered(text, kind)][::3]]:
        try:
            same = differences(of, changed) == []
        except Unreadable:
            same = False
        noticed += not same
        unnoticed += [f"{old}\n{new}" for old, new in zip(text.splitlines(), changed.splitlines(), strict=False)
                      if old != new][:1] * same  # fmt: skip
    assert noticed >= 5
    assert unnoticed == []
