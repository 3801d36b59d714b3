"""Settings with a single client: its function is the objective, and nothing is apart from the mean."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import pytest

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.terms import (
    answers,
    gradient,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    proximal,
    server,
    square,
)
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Proved

from .attacks import UNIFORM, changed, one_line, refused

ONE = ClaimSetting(
    method="FedProx", method_parameters={"mu": parameter("a")}, signs={"a": "positive"}, example={"a": Fraction(2)},
    curvature=(number(0), None), minimiser=True, single_client=True,
)  # fmt: skip
MANY = replace(ONE, single_client=False)
ALIKE = {
    "the answer is the server's next point": equal(answers, server(1)),
    "the gradient is the objective's": equal(gradient(server(0)), mean(gradient(server(0)))),
    "it vanishes at the minimiser": equal(gradient(minimiser), 0 * minimiser),
    "and at a proximal point it is known": equal(gradient(proximal(parameter("a"), server(0))),
                                                 parameter("a") * (server(0) - proximal(parameter("a"), server(0)))),
    "a memory is the same for all": equal(memory("gradient", 1), mean(memory("gradient", 1))),
}  # fmt: skip


@pytest.mark.parametrize("claim", ALIKE.values(), ids=list(ALIKE))
def test_what_is_true_of_one_client_alone(claim) -> None:
    proof = one_line(claim)
    method = {"method": "FedDyn", "method_parameters": {"alpha": parameter("a")}} if "memory" in repr(claim) else {}
    proved = theorem(replace(ONE, **method), claim, proof)
    assert proved.claim == claim
    assert str(proved) == str(claim)
    refused(replace(MANY, **method), claim, proof, "differ")


def test_no_draw_from_one_client() -> None:
    with pytest.raises(InvalidInput, match="draws from one client"):
        replace(ONE, draws=DrawScheme("independent", parameter("a")))
    drawn = changed(ONE, draws=UNIFORM, counts=frozenset({"P", "m"}), signs=dict.fromkeys("aPm", "positive"),
                    example=dict.fromkeys("aPm", Fraction(1)))  # fmt: skip
    refused(drawn, at_most(0, 1), one_line(at_most(0, 1)), "draws from one client")


def test_it_is_not_cited_for_many() -> None:
    claim = at_most(square(answers - server(1)), 0)
    alone = one_line(claim)
    cites = one_line(claim, ((1, Proved("alone")),))

    def known(identifier: str):
        return ONE, claim, alone

    assert theorem(ONE, claim, cites, known).claim == claim
    refused(MANY, claim, cites, "its single_client", known)


def test_random_federations_have_one_client() -> None:
    claim = at_most(square(server(1) - minimiser), square(server(0) - minimiser))
    for federation in islice(random_federations(ONE, claim), 20):
        assert federation.problem.num_clients == 1
        assert not offences(ONE, federation)
    several = next(f for f in random_federations(MANY, claim) if f.problem.num_clients > 1)
    assert any("more than one client" in offence for offence in offences(ONE, several))
