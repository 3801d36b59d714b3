"""Proximal points of the objective: what the kernel knows of them, and where it refuses them."""

from dataclasses import replace
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.terms import (
    Vector,
    family,
    free,
    gradient,
    mean,
    number,
    parameter,
    proximal,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Lower
from fedconvex.proofs_checks.library import by, concluding, squared, with_example

from .attacks import one_line, refused

c, v, x = parameter("c"), free("v"), free("x")
SETTING = with_example(ClaimSetting(curvature=(number(0), None), signs={"c": "positive"}))
p = proximal(c, v)


STATIONARY = equal(mean(gradient(p)), c * (v - p))
LEAST = at_most(value(p) + c / 2 * square(p - v), value(x) + c / 2 * square(x - v))
LEAST_PROOF = Derivation((concluding(LEAST, by(Lower(x, p)) + c / 2 * squared(x - p)),))


def test_it_is_stationary_and_minimises() -> None:
    theorem(SETTING, STATIONARY, one_line(STATIONARY))
    theorem(SETTING, LEAST, LEAST_PROOF)
    of_objective = replace(SETTING, curvature=(None, None), objective=(number(0), None))
    theorem(of_objective, LEAST, LEAST_PROOF)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("claim", [STATIONARY, LEAST], ids=["stationary", "least"])
def test_it_is_so_on_federations(claim: Claim) -> None:
    federations = random_federations(SETTING, claim)
    assert all(claim.on(next(federations)).holds is True for _ in range(50))


@pytest.mark.parametrize(
    "claim",
    [
        equal(gradient(p), c * (v - p)),  # of each client
        equal(mean(gradient(p)), v - p),
        equal(proximal(c, v), proximal(2 * c, v)),
        equal(proximal(c, v), proximal(c, x)),
        equal(p, v),
        at_most(value(p) + c / 2 * square(p - v), value(x)),
    ],
)
def test_nothing_else_is_known(claim: Claim) -> None:
    refused(SETTING, claim, one_line(claim))


def unknown(setting: ClaimSetting, point: Vector, reason: str, **about: Any) -> None:
    claim = at_most(0, square(point), **about)
    refused(setting, claim, Derivation((concluding(claim, squared(point)),)), reason)


def test_there_is_one_where_the_objective_is_convex_enough() -> None:
    weakly = with_example(replace(SETTING, curvature=(-c, None)))
    unknown(weakly, p, "no proximal point")
    theorem(weakly, at := equal(mean(gradient(q := proximal(2 * c, v))), 2 * c * (v - q)), one_line(at))
    unknown(replace(SETTING, curvature=(None, None)), p, "no proximal point")
    unknown(replace(SETTING, curvature=(None, number(1))), p, "no proximal point")
    unknown(SETTING, proximal(0, v), "no proximal point")
    unknown(SETTING, proximal(-c, v), "no proximal point")


def test_it_is_of_the_objective_and_of_one_centre() -> None:
    unknown(SETTING, proximal(c, family("z")), "a proximal point of one client")
    unknown(SETTING, p, "a proximal point of one client", of_client=True)
    drawing = with_example(ClaimSetting(
        method="FedProx", method_parameters={"mu": c}, curvature=(number(0), None),
        signs={"c": "positive", "P": "positive", "m": "positive"}, counts=frozenset({"P", "m"}),
        conditions=((parameter("m"), ">=", parameter("P")),),
        draws=DrawScheme("uniform", parameter("P"), parameter("m")),
    ))  # fmt: skip
    unknown(drawing, proximal(c, server(1)), "a proximal point of one client")
