"""What terms, and the board's vectors and quantities, are in one federation with exact numbers, over all its draws.

`Reality` reads terms off the package's own rounds and shares no code with the board; `Shadow` gives the board's basic
vectors the values that they have in that federation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
from flint import fmpq

import fedconvex
from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.methods import made
from fedconvex.claims.terms import Number, Vector
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.exact import Exact
from fedconvex.participation import Draw
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.scalars import Scalar
from fedconvex.proofs_checks.kernel.vectors import ANY, ANY_APART, APART, KEPT, NOISE, REPLACED, SAME, Quantity, Vec
from fedconvex.runs.rounds import rounds_of

DIM = 2


def exact(x: Any) -> fmpq:
    x = Fraction(x)
    return fmpq(x.numerator, x.denominator)


def vectors(random: Random, rows: int) -> np.ndarray:
    return np.array([[fmpq(random.randint(-9, 9), random.randint(1, 4)) for _ in range(DIM)] for _ in range(rows)])


def solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of two linear equations."""
    (a, b), (c, d) = matrix
    return np.array([d * right[0] - b * right[1], a * right[1] - c * right[0]]) / (a * d - b * c)


@dataclass(eq=False)
class Turn:
    """One draw of a round: its probability, how often each client is drawn, and what the package makes of it."""

    probability: fmpq
    times: np.ndarray
    draw: Draw


class Reality:
    """One round of a setting's method in a random federation, from a state that the method reaches."""

    def __init__(self, setting: ClaimSetting, seed: int, clients: int = 3, weights: Any = None, rounds_before: int = 2):
        self.vector, self.number = cache(self.vector), cache(self.number)  # of most terms asked again and again
        random = Random(seed)
        self.setting, self.random = setting, random
        self.m, self.values = clients, {n: exact(x) for n, x in setting.example.items()}
        root = vectors(random, 2 * clients).reshape(clients, DIM, DIM)
        H = [(r @ r.T + fmpq(1, 2) * np.eye(DIM, dtype=int)).tolist() for r in root]
        c = vectors(random, clients).tolist()
        self.problem = fedconvex.Quadratic(H, c, weights=weights)
        given = setting.method_at(lambda x: self.number(x, None))
        own = made(setting.method, given)
        self.rounds = rounds_of(own, self.problem, "exact")
        self.scale = [Fraction(1)] * clients if (s := own.scale(self.problem)) is None else s
        self.H = np.array([np.array(h) * exact(s) for h, s in zip(H, self.scale, strict=True)])
        self.c = np.array([np.array(x) * exact(s) for x, s in zip(c, self.scale, strict=True)])
        self.weights = [exact(w) for w in own.average_weights(self.problem)]
        total = sum(w * h for w, h in zip(self.weights, self.H, strict=True))
        self.best = solved(total, sum(w * x for w, x in zip(self.weights, self.c, strict=True)))
        self.families: dict[str, np.ndarray] = {}
        self.turns = list(self._turns())
        self.before = self.rounds.start(vectors(random, 1)[0])
        for _ in range(rounds_before):
            self.before = self.rounds.play(self.before, random.choice(self.turns).draw).state
        everyone = self.rounds.play(self.before, Draw())
        self.subproblem, self.answers = everyone.subproblem, everyone.answers
        if setting.answers != "own":
            e = self.family("e")
            linear = 0 * e if self.subproblem.linear is None else self.subproblem.linear
            moved = replace(self.subproblem, linear=linear - e)
            here = self.solutions() + e if setting.answers == "error" else self.solve(moved)
            self.answers = Answers(here)

    def _turns(self) -> Iterator[Turn]:
        draws = self.setting.draws
        if draws.scheme == "everyone":
            yield Turn(fmpq(1), np.full(self.m, 1), Draw())
            return
        size = int(self.number(draws.active, None).p)
        if draws.scheme == "uniform":
            sets = list(combinations(range(self.m), size))
            for chosen in sets:
                times = np.array([int(k in chosen) for k in range(self.m)])
                yield Turn(fmpq(1, len(sets)), times, Draw(np.array(chosen)))
        else:
            chances = [exact(w) for w in self.problem.exact_weights]
            for chosen in product(range(self.m), repeat=size):
                members, counts = np.unique(chosen, return_counts=True)
                times = np.array([chosen.count(k) for k in range(self.m)])
                probability = fmpq(1)
                for k in chosen:
                    probability *= chances[k]
                yield Turn(probability, times, Draw(members, counts))

    def solve(self, subproblem: Any) -> np.ndarray:
        return np.array(Exact().solve(self.rounds.clients, subproblem).points)

    def solutions(self) -> np.ndarray:
        return self.solve(self.subproblem)

    def family(self, name: str) -> np.ndarray:
        """Random vectors of the clients; of "free" names the same for all."""
        if name not in self.families:
            made = vectors(self.random, 1 if name.startswith("free") else self.m)
            self.families[name] = made + 0 * vectors(self.random, self.m)
        return self.families[name]

    def gradients(self, at: np.ndarray) -> np.ndarray:
        return np.array([h @ x - c for h, x, c in zip(self.H, at, self.c, strict=True)])

    def mean(self, u: np.ndarray) -> Any:
        return sum(w * x for w, x in zip(self.weights, u, strict=True))

    def shared(self, u: np.ndarray) -> np.ndarray:
        return np.array([u] * self.m)

    def drawn(self, u: np.ndarray, turn: Turn) -> np.ndarray:
        if self.setting.draws.scheme == "everyone":
            return self.shared(self.mean(u))
        return self.shared(sum(int(n) * x for n, x in zip(turn.times, u, strict=True)) / fmpq(int(turn.times.sum())))

    def after(self, turn: Turn) -> Any:
        members = turn.draw.members
        answers = self.answers if members is None else self.answers.of(members)
        return self.rounds.play(self.before, turn.draw, answers=answers).state

    # ---- what terms mean

    def vector(self, term: Vector, turn: Turn) -> np.ndarray:
        match term.head, term.args:
            case "server", (time,):
                return self.shared((self.after(turn) if time else self.before).server)
            case "shared", (name, time):
                return self.shared((self.after(turn) if time else self.before).shared[name])
            case "memory", (name, time):
                return (self.after(turn) if time else self.before).memory[name]
            case "last answers", (time,):
                drawn = turn.times[:, None] > 0
                last = self.family("last")
                return np.where(drawn, self.answers.points, last) if time else last
            case "answers", ():
                return self.answers.points
            case "solutions", ():
                return self.solutions()
            case "residuals", ():
                return self.subproblem.add_gradients(self.answers.points, self.gradients(self.answers.points))
            case "minimiser", ():
                return self.shared(self.best)
            case "gradient", (at,):
                return self.gradients(self.vector(at, turn))
            case "mean", (u,):
                return self.shared(self.mean(self.vector(u, turn)))
            case "drawn", (u,):
                return self.drawn(self.vector(u, turn), turn)
            case "expected", (u,):
                return sum(t.probability * self.vector(u, t) for t in self.turns)
            case ("free" | "family") as sort, (name,):
                return self.family(f"{sort} {name}")
            case "named", (_, u):
                return self.vector(u, turn)
            case "+", (u, v):
                return self.vector(u, turn) + self.vector(v, turn)
            case "-", (u, v):
                return self.vector(u, turn) - self.vector(v, turn)
            case "*", (c, u):
                return self.number(c, turn) * self.vector(u, turn)
            case "/", (u, c):
                return self.vector(u, turn) / self.number(c, turn)
        raise AssertionError(term)

    def number(self, term: Number, turn: Any) -> Any:
        match term.head, term.args:
            case "constant", (c,):
                return exact(c)
            case "parameter", (name,):
                return self.values[name]
            case "named", (_, x):
                return self.number(x, turn)
            case "inner", (u, v):
                both = zip(self.vector(u, turn), self.vector(v, turn), strict=True)
                return self.mean(np.array([x @ y for x, y in both]))
            case "value", (u,):
                at = self.vector(u, turn)
                both = zip(self.H, self.c, at, strict=True)
                return self.mean(np.array([x @ h @ x / 2 - c @ x for h, c, x in both]))
            case "expected", (x,):
                return sum(t.probability * self.number(x, t) for t in self.turns)
            case "neg", (x,):
                return -self.number(x, turn)
            case "^", (x, n):
                return self.number(x, turn) ** int(self.number(n, turn).p)
            case "max", (x, y):
                return max(self.number(x, turn), self.number(y, turn))
            case head, (x, y):
                a, b = self.number(x, turn), self.number(y, turn)
                return {"+": a + b, "-": a - b, "*": a * b, "/": a / b if head == "/" else None}[head]
        raise AssertionError(term)


class Shadow:
    """The values of the board's vectors and quantities in a federation."""

    def __init__(self, board: RoundBoard, reality: Reality):
        self.board, self.reality = board, reality
        self._unknown, self.gradient_in = cache(self._unknown), cache(self.gradient_in)
        m, draws = reality.m, board.setting.draws
        self.values = dict(reality.values)
        if draws.scheme == "uniform":
            active = int(reality.number(draws.active, None).p)
            self.values["σ"] = fmpq(m - active, active * (m - 1)) if m > 1 else fmpq(1, 3)
        before = reality.before
        self.basics = {"w": reality.shared(before.server), "x*": reality.shared(reality.best)}
        self.basics |= {f"shared {n}": reality.shared(v) for n, v in before.shared.items()}
        self.basics |= {f"memory {n}": v for n, v in before.memory.items()}
        self.basics["g*"] = reality.gradients(reality.shared(reality.best))

    def scalar(self, of: Scalar) -> fmpq:
        return self._polynomial(of.above) / self._polynomial(of.below)

    def _polynomial(self, of: Any) -> fmpq:
        total = fmpq(0)
        for powers, c in of.to_dict().items():
            term = fmpq(int(c))
            for name, n in zip(self.board.field.signs, powers, strict=False):
                term *= self.values[name] ** int(n) if n else 1
            total += term
        return total

    def basic(self, name: str) -> np.ndarray:
        if name not in self.basics:
            self.basics[name] = self._gradient(name) if name.startswith("∇") else self.reality.family(name)
        return self.basics[name]

    def _gradient(self, name: str) -> np.ndarray:
        """∇F_k at the point that the board recorded, which may itself be given by this gradient."""
        key = next(k for k, v in self.board.round.gradients.items() if (SAME, name) in v.parts)
        parts = dict(key)
        own = parts.pop((SAME, name), None)
        assert (own is None) == (parts.pop((APART, name), None) is None)
        share = fmpq(0) if own is None else self.scalar(own)
        rest = self.vector(Vec(parts), None)
        # g = H(rest + share·g) − c
        real, one = self.reality, np.eye(DIM, dtype=int)
        triples = zip(real.H, rest, real.c, strict=True)
        return np.array([solved(one - share * h, h @ x - c) for h, x, c in triples])

    def vector(self, of: Vec, turn: Turn | None) -> np.ndarray:
        real = self.reality
        found = 0 * real.shared(real.best)
        for (kind, name), c in of.parts.items():
            random = kind in (ANY, ANY_APART)  # a gradient at a point that depends on the draw
            u = self.gradient_in(name, turn) if random else self.basic(name)
            mean = real.shared(real.mean(u))
            part = mean if kind in (SAME, KEPT, ANY) else u - mean
            if kind in (KEPT, REPLACED):
                part = np.where(turn.times[:, None] > 0, part, 0 * part)
            if kind == NOISE:
                part = real.drawn(part, turn)
            found = found + self.scalar(c) * part
        return found

    def gradient_in(self, name: str, turn: Turn | None) -> np.ndarray:
        at = next(k for k, v in self.board.round.gradients.items() if (ANY, name) in v.parts)
        return self.reality.gradients(self.vector(Vec(dict(at)), turn))

    def quantity(self, of: Quantity) -> fmpq:
        total = fmpq(0)
        for monomial, c in of.terms.items():
            term = self.scalar(c)
            for unknown in monomial:
                term *= self._unknown(*unknown)
            total += term
        return total

    def _unknown(self, kind: str, *names: str) -> fmpq:
        real = self.reality
        if kind == "F":
            key = next(k for k, name in self.board.points.items() if name == names[0])
            points = Vec(dict(key))
            total = fmpq(0)
            for turn in real.turns:
                both = zip(real.H, real.c, self.vector(points, turn), strict=True)
                total += turn.probability * real.mean(np.array([x @ h @ x / 2 - c @ x for h, c, x in both]))
            return total
        if kind == ANY:
            one, other = (Vec({(names[i], names[i + 1]): self.board.field.scalar(1)}) for i in (0, 2))
            total = fmpq(0)
            for turn in real.turns:
                both = zip(self.vector(one, turn), self.vector(other, turn), strict=True)
                total += turn.probability * real.mean(np.array([x @ y for x, y in both]))
            return total
        u, v = (self.basic(n) for n in names)
        if kind == SAME:
            return real.mean(u) @ real.mean(v)
        a, b = u - real.mean(u), v - real.mean(v)
        return real.mean(np.array([x @ y for x, y in zip(a, b, strict=True)]))
