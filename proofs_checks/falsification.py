"""`falsify`: federations of a statement's setting, random ones and ones climbed to, tried before a proof is believed.

Every federation is built from a sequence of choices. The search changes a few of them and keeps the change if the
claim's sides come closer, or cross. Floats only guide it: a counterexample is a federation that satisfies every
assumption and breaks the claim in exact arithmetic.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from math import inf
from random import Random
from typing import final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.on_runs.choices import GRID, Choices
from fedconvex.claims.on_runs.evaluation import NotOnThisRun
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.on_runs.findings import Found
from fedconvex.claims.on_runs.random_federations import federation_of
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.statements import without_claim
from fedconvex.errors import InvalidInput, SearchCutShort
from fedconvex.shown import on_screen
from fedconvex.statements.statement import Statement
from fedconvex.validation import in_floats, integer_at_least, positive, random_seed

SAMPLES = 20  # random federations before each climb
PATIENCE = 40  # changes without success that end a climb
TRIES = 500  # federations in all, unless the caller says otherwise: about five seconds for a claim about one round


@final
@dataclass(frozen=True, eq=False)
class Counterexample:
    """A federation of the setting in which the claim is false, with both sides; `tried` federations came before it."""

    federation: ExactFederation
    found: Found
    tried: int

    def __str__(self) -> str:
        return on_screen(f"{self.found}\n{self.federation}")


@final
@dataclass(frozen=True, eq=False)
class CounterexampleSearch:
    """What came of a search: a counterexample or None, and how many of the `tries` federations were `tried`.

    A limit of `seconds` may have ended it before the others, on a slow machine sooner than on a fast one.
    """

    counterexample: Counterexample | None
    tried: int
    tries: int
    seconds: float | None

    @property
    def cut_short(self) -> bool:
        """Whether the limit of seconds kept it from trying all federations."""
        return self.counterexample is None and self.tried < self.tries

    def __str__(self) -> str:
        if self.counterexample is not None:
            return "a federation breaks it"
        return "no federation breaks it" + (f"; {self.limit}" if self.cut_short else "")

    @property
    def limit(self) -> str:
        """How far the search came before the limit of seconds, in words."""
        return f"the search was cut short after {self.seconds:g} s and {self.tried} of {self.tries} federations"


def falsify(statement: Statement, seconds: float | None = None, *, tries: int = TRIES, seed: int = 0) -> (
    Counterexample | None
):  # fmt: skip
    """A federation that satisfies the statement's setting and breaks its claim, or None if none was found.

    Use it before proving: None proves nothing, a counterexample refutes. Same seed, same federations, of which `tries`
    are tried, so that the same call gives the same result on every machine. `seconds` limits the time for whoever
    waits; where it ends the search first, the warning `SearchCutShort` says so.

    Raises:
        InvalidInput: a statement without a claim, numbers out of range.
        NotASetting: an assumption that has no meaning in a setting.
        NoFederation: no federation satisfies the setting, as far as was searched.
    """
    if not isinstance(statement, Statement):
        raise InvalidInput("statement", statement, "is no statement", "give one such as fedconvex.theory.feddyn.lemma1")
    claim = statement.claim
    if claim is None:
        problem = f"makes no claim in the claim language: {without_claim(statement)}"
        raise InvalidInput("statement", statement, problem, "give one that does")
    return _counterexample(search(claim, statement.setting, seconds, tries=tries, seed=seed))


def falsify_claim(
    claim: Claim, setting: ClaimSetting, seconds: float | None = None, *, tries: int = TRIES, seed: int = 0
) -> Counterexample | None:
    """The same for a claim in a setting."""
    return _counterexample(search(claim, setting, seconds, tries=tries, seed=seed))


def _counterexample(found: CounterexampleSearch) -> Counterexample | None:
    if found.cut_short:
        warnings.warn(f"{found.limit}; give more seconds, or none", SearchCutShort, stacklevel=3)
    return found.counterexample


def search(
    claim: Claim, setting: ClaimSetting, seconds: float | None = None, *, tries: int = TRIES, seed: int = 0
) -> CounterexampleSearch:
    """The same, with how far the search came, and without a warning."""
    claim = replace(claim, within=None)  # every federation is checked where it is made
    limit = None if seconds is None else in_floats(positive(seconds, "seconds"), "seconds")
    seed, tries = random_seed(seed), integer_at_least(tries, 1, "tries")
    if unknown := sorted(claim.parameters - set(setting.signs)):
        raise InvalidInput("claim", unknown, "are parameters that the setting does not have", "add them to the setting")
    begun, reason, built, tried = time.monotonic(), "", 0, 0
    for attempt in islice(_search(claim, setting, seed), min(tries, sys.maxsize)):
        if isinstance(attempt, str):
            reason = attempt
        elif attempt.found.holds is False:
            found = Counterexample(attempt.federation, attempt.found, tried)
            return CounterexampleSearch(found, tried + 1, tries, limit)
        built += isinstance(attempt, _Attempt)
        tried += 1
        if limit is not None and time.monotonic() - begun > limit:
            break
    ended = CounterexampleSearch(None, tried, tries, limit)
    if not built:
        so_far = f"; {ended.limit}" if ended.cut_short else ""
        none = f"none of {tried} federations satisfies the setting and gives the claim a value"
        raise NoFederation(f"{none}: {reason}{so_far}")
    return ended


@dataclass(frozen=True, eq=False)
class _Attempt:
    choices: list[int]
    federation: ExactFederation
    found: Found

    def score(self, start: int) -> float:
        """How close the sides are, by one of two measures in turn; where both sides are 0 nothing is near."""
        measure = self.found.sharpness if start % 2 == 0 else self.found.excess
        return measure if measure != 0 or _nonzero(self.found) else -inf


def _search(claim: Claim, setting: ClaimSetting, seed: int) -> Iterator[_Attempt | str]:
    """Some random federations, then a climb from the best of them, again and again."""
    random = Random(f"{seed}/climb")
    for start in count():
        best: _Attempt | None = None
        for number in range(SAMPLES):
            attempt = _attempt(claim, setting, [], f"{seed}/{start}/{number}")
            yield attempt
            best = _better(best, attempt, start)
        failures = 0
        while best is not None and failures < PATIENCE:
            attempt = _attempt(claim, setting, _changed(best.choices, random), f"{seed}/{start}/more")
            yield attempt
            higher = _better(best, attempt, start)
            assert higher is not None
            failures = 0 if higher.score(start) > best.score(start) else failures + 1
            best = higher


def _attempt(claim: Claim, setting: ClaimSetting, given: list[int], seed: str) -> _Attempt | str:
    """What the choices lead to; the reason where it is no federation, or one where the claim has no value."""
    choices = Choices(seed, given)
    try:
        federation = federation_of(setting, claim, choices)
        return _Attempt(choices.made, federation, claim.on(federation))
    except (NoFederation, NotOnThisRun) as error:
        return str(error)


def _better(best: _Attempt | None, other: _Attempt | str, start: int) -> _Attempt | None:
    if isinstance(other, str):
        return best
    if best is None:
        return other
    return other if other.score(start) >= best.score(start) else best


def _changed(choices: list[int], random: Random) -> list[int]:
    changed = list(choices)
    for _ in range(random.choice((1, 1, 2, 3))):
        place = random.randrange(len(changed))
        step = random.choice((-30, -10, -3, -1, 1, 3, 10, 30))
        nudged = min(max(changed[place] + step, 0), GRID)
        changed[place] = random.choice((nudged, nudged, nudged, 0, GRID, random.randint(0, GRID)))
    return changed


def _nonzero(found: Found) -> bool:
    from numpy import ravel

    return bool(any(x != 0 for side in (found.left, found.right) for x in ravel(side)))
