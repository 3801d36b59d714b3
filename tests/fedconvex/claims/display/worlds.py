"""Made-up worlds in which terms have values: random vectors for each client, round and outcome, arbitrary functions.

Nothing holds in them but what vectors, means over clients, expectations and sums over rounds are, so that two terms
with one value in a few worlds mean the same.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import numpy as np

ROUNDS, HERE = 2, 1  # HERE: the round that claims about one round are about
EXPONENTS = ("T", "t", "N", "local_steps")
IN_A_ROUND = ("answers", "solutions", "residuals", "local gradients", "before last step")


@dataclass(frozen=True)
class Place:
    """Where a term is read: at a round, in an outcome, for a client; `t` is the time in words of a display."""

    round: int = HERE
    outcome: int = 0
    client: int = 0
    t: int = 0


@cache  # to make a generator takes longer than all else
def between(low: float, high: float, count: int, *key: Any) -> list[float]:
    """Random numbers that depend on the key alone."""
    random = Random(repr(key))
    return [random.uniform(low, high) for _ in range(count)]


@dataclass(frozen=True)
class World:
    """The values; `outcomes`: how many, all equally likely; `rounds`: the parameter that counts the rounds of a run."""

    seed: int
    outcomes: int = 3
    rounds: str = ""
    clients: int = 3

    def drawn_at_random(self, *key: Any) -> Random:
        return Random(repr((self.seed, *key)))

    def number(self, name: str) -> float:
        if name == self.rounds:
            return ROUNDS
        random = self.drawn_at_random("number", name)
        return random.randint(2, 4) if name in EXPONENTS else random.uniform(0.5, 2)

    def vector(self, *key: Any) -> np.ndarray:
        return np.array(between(-1, 1, 2, self.seed, "vector", *key))

    def function(self, *key: Any) -> Callable[[np.ndarray], float]:
        """A smooth function of no special kind."""
        a, b, c, d = self.vector(*key, 1), self.vector(*key, 2), *self.vector(*key, 3)
        return lambda x: math.sin(a @ x + c) + (b @ x) ** 2 + d * x[0] * x[1]

    def map(self, *key: Any) -> Callable[[np.ndarray], np.ndarray]:
        first, second = self.function(*key, "first"), self.function(*key, "second")
        return lambda x: np.array([first(x), second(x)])

    def proximal(self, weight: float, center: np.ndarray) -> np.ndarray:
        return self.map("proximal")(center + weight * self.vector("weight"))

    # over clients and outcomes

    def mean(self, of: Callable[[Place], Any], at: Place) -> Any:
        weights = [between(0.2, 1, 1, self.seed, "weight", k)[0] for k in range(self.clients)]
        return sum(p * of(replace(at, client=k)) for k, p in enumerate(weights)) / sum(weights)

    def drawn(self, of: Callable[[Place], Any], at: Place) -> Any:
        chosen = self.drawn_at_random("draw", at.round, at.outcome).sample(range(self.clients), min(2, self.clients))
        return sum(of(replace(at, client=k)) for k in chosen) / len(chosen)

    def expected(self, of: Callable[[Place], Any], at: Place) -> Any:
        return sum(of(replace(at, outcome=o)) for o in range(self.outcomes)) / self.outcomes

    def atom(self, head: str, name: str, at: Place, time: int) -> np.ndarray:
        """A vector at the time of a place, one for all clients or the client's own."""
        own = at.client if head in ("memory", "last answers", *IN_A_ROUND) else None
        return self.vector(head, name, at.round + time, at.outcome, own)


@dataclass(frozen=True)
class Meaning:
    """What terms of the claim language are in a world; `each`: in a claim about each client."""

    world: World
    each: bool = False

    def __call__(self, term: Any, at: Place) -> Any:
        world = self.world
        match term.head, term.args:
            case "constant", (c,):
                return float(c)
            case "parameter", (name,):
                return world.number(name)
            case ("server" | "last answers") as head, (time,):
                return world.atom(head, "", at, time)
            case ("shared" | "memory") as head, (name, time):
                return world.atom(head, name, at, time)
            case head, () if head in IN_A_ROUND:
                return world.atom(head, "", at, 0)
            case "minimiser", ():
                return world.vector("minimiser")
            case "free", (name,):
                return world.vector("free", name)
            case "family", (name,):
                return world.vector("family", name, at.client)
            case "local step", (u,):
                return world.map("step", at.round, at.outcome, at.client)(self(u, at))
            case "proximal", (weight, u):
                return world.proximal(self(weight, at), self(u, at))
            case "gradient", (u,):
                return world.map("gradient", at.client)(self(u, at))
            case "objective gradient", (u,):
                return world.mean(lambda p: world.map("gradient", p.client)(self(u, at)), at)
            case "mean", (u,):
                return world.mean(lambda p: self(u, p), at)
            case "drawn", (u,):
                return world.drawn(lambda p: self(u, p), at)
            case "expected", (x,):
                return world.expected(lambda p: self(x, p), at)
            case "after", (x,):
                return world.expected(lambda p: self(x, p), replace(at, round=ROUNDS))
            case "next round", (u,):
                return self(u, replace(at, round=at.round + 1))
            case "named", (_, x):
                return self(x, at)
            case "inner", (u, v):
                return self._over_clients(lambda p: self(u, p) @ self(v, p), at)
            case "norm", (u,):
                return math.sqrt(self._over_clients(lambda p: self(u, p) @ self(u, p), at))
            case "value", (u,):
                return self._over_clients(lambda p: world.function("value", p.client)(self(u, p)), at)
            case "infimum", ():
                return world.number("the infimum")
            case ("sum of rounds" | "mean of rounds") as head, (ratio, x):
                r, places = self(ratio, at), [replace(at, round=t) for t in range(ROUNDS)]
                is_number = type(x).__name__ == "Number"
                one = (lambda p: world.expected(lambda q: self(x, q), p)) if is_number else (lambda p: self(x, p))
                total = sum(r**t * one(place) for t, place in enumerate(places))
                return total / sum(r**t for t in range(ROUNDS)) if head == "mean of rounds" else total
            case head, (x,):
                return FUNCTIONS[head](self(x, at))
            case head, (x, y):
                return OPERATIONS[head](self(x, at), self(y, at))
        raise AssertionError(term)

    def _over_clients(self, of: Callable[[Place], float], at: Place) -> float:
        return of(at) if self.each else float(self.world.mean(of, at))


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "neg": lambda x: -x, "root": math.sqrt, "exp": math.exp, "log": math.log, "ceil": math.ceil,
}  # fmt: skip
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x * (1 / y),
    "^": lambda x, y: x**y, "max": max,
}  # fmt: skip


def evaluated(term: Any, values: Mapping[str, Any]) -> float:
    """A formula in floats, at these values of its parameters."""
    match term.head, term.args:
        case "constant", (c,):
            return float(c)
        case (("parameter" | "variable"), (name,)):
            return float(values[name])
        case "named", (_, inside):
            return evaluated(inside, values)
        case head, (x,):
            return FUNCTIONS[head](evaluated(x, values))
    x, y = (evaluated(part, values) for part in term.args)
    return float(OPERATIONS[term.head](x, y))
