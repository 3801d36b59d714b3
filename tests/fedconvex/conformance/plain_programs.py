"""Ten methods as plain Python on lists: no code of the package's."""

from typing import Any

import fedconvex as fc
from fedconvex.methods.base import Method

STEPS = fc.GradientDescent(steps=4, stepsize=0.1)

COMMON = """
from math import sqrt

S, K = 0.1, 4

def dot(u, v):
    return sum(a * b for a, b in zip(u, v))

def plus(u, v, c=1.0):
    return [a + c * b for a, b in zip(u, v)]

def times(c, u):
    return [c * a for a in u]

def mean(rows, weights):
    return [sum(p * row[j] for p, row in zip(weights, rows)) / sum(weights) for j in range(len(rows[0]))]

def slope(data, w):
    gaps = [dot(row, w) - target for row, target in zip(*data)]
    return [sum(gap * row[j] for gap, row in zip(gaps, data[0])) for j in range(len(w))]

def descend(data, start, tilt, pull, center):
    theta = list(start)
    for i in range(K):
        g = slope(data, theta)
        g = plus(g, tilt)
        g = plus(g, plus(theta, center, -1.0), pull)
        theta = plus(theta, g, -S)
    return theta

class Federation:
    def __init__(self, problem, x0):
        self.data = [([list(map(float, row)) for row in A], list(map(float, b))) for A, b in zip(problem.A, problem.b)]
        self.m = len(self.data)
        self.n = [len(b) for A, b in self.data]
        self.w = list(map(float, x0))
        self.zero = [0.0] * len(self.w)
        self.t, self.sent = 0, {}
        self.prepare()

    def gradient(self, k, w):
        return slope(self.data[k], w)

    def prepare(self):
        pass
"""

FEDAVG = """
    def round(self, active):
        sent = {k: descend(self.data[k], self.w, self.zero, 0.0, self.zero) for k in active}
        self.w = mean(list(sent.values()), [self.n[k] for k in active])
        self.sent = sent
"""

SCAFFOLD1 = """
    def prepare(self):
        self.c = self.zero
        self.own = [self.zero] * self.m

    def round(self, active):
        sent, change = {}, self.zero
        for k in active:
            tilt = plus(self.c, self.own[k], -1.0)
            sent[k] = descend(self.data[k], self.w, tilt, 0.0, self.zero)
            new = self.gradient(k, self.w)
            change = plus(change, plus(new, self.own[k], -1.0))
            self.own[k] = new
        self.c = plus(self.c, change, 1 / self.m)
        self.w = mean(list(sent.values()), [1] * len(sent))
        self.sent = sent
"""

FEDLIN = """
    def round(self, active):
        slopes = [self.gradient(k, self.w) for k in range(self.m)]
        g = mean(slopes, [1] * self.m)
        sent = {}
        for k in active:
            tilt = plus(g, slopes[k], -1.0)
            sent[k] = descend(self.data[k], self.w, tilt, 0.0, self.zero)
        self.w = mean(list(sent.values()), [1] * len(sent))
        self.sent = sent
"""

FEDAVGM = """
    def prepare(self):
        self.v = self.zero

    def round(self, active):
        sent = {k: descend(self.data[k], self.w, self.zero, 0.0, self.zero) for k in active}
        average = mean(list(sent.values()), [self.n[k] for k in active])
        step = plus(average, self.w, -1.0)
        self.v = plus(step, self.v, 0.5)
        self.w = plus(self.w, self.v, 0.75)
        self.sent = sent
"""

FEDADAM = """
    def prepare(self):
        self.first, self.second = self.zero, [1e-6 for _ in self.zero]

    def round(self, active):
        sent = {k: descend(self.data[k], self.w, self.zero, 0.0, self.zero) for k in active}
        average = mean(list(sent.values()), [self.n[k] for k in active])
        step = plus(average, self.w, -1.0)
        self.first = plus(times(0.9, self.first), step, 1 - 0.9)
        square = [s * s for s in step]
        self.second = plus(times(0.99, self.second), square, 1 - 0.99)
        self.w = [w + 0.1 * m / (sqrt(v) + 0.001) for w, m, v in zip(self.w, self.first, self.second)]
        self.sent = sent
"""

FEDADMM = """
    def prepare(self):
        self.dual = [self.zero] * self.m
        self.last = [self.w] * self.m

    def round(self, active):
        sent, moved = {}, self.zero
        for k in active:
            theta = descend(self.data[k], self.w, self.dual[k], 2.0, self.w)
            dual = plus(self.dual[k], plus(theta, self.w, -1.0), 2.0)
            before = plus(self.last[k], self.dual[k], 1 / 2.0)
            after = plus(theta, dual, 1 / 2.0)
            moved = plus(moved, plus(after, before, -1.0))
            self.dual[k] = dual
            self.last[k] = theta
            sent[k] = theta
        self.w = plus(self.w, moved, 1 / self.m)
        self.sent = sent
"""

FEDDYN = """
    def prepare(self):
        self.h = self.zero
        self.g = [self.zero] * self.m

    def round(self, active):
        sent, drift = {}, self.zero
        for k in active:
            theta = descend(self.data[k], self.w, times(-1.0, self.g[k]), 0.5, self.w)
            away = plus(theta, self.w, -1.0)
            self.g[k] = plus(self.g[k], away, -0.5)
            drift = plus(drift, away)
            sent[k] = theta
        self.h = plus(self.h, drift, -0.5 / self.m)
        average = mean(list(sent.values()), [1] * len(sent))
        self.w = plus(average, self.h, -1 / 0.5)
        self.sent = sent
"""

DITTO = """
    def prepare(self):
        self.personal = [self.w] * self.m

    def round(self, active):
        trained = {}
        for k in active:
            trained[k] = descend(self.data[k], self.w, self.zero, 0.0, self.zero)
            own = descend(self.data[k], self.personal[k], self.zero, 0.5, self.w)
            self.personal[k] = own
        self.w = mean(list(trained.values()), [self.n[k] for k in active])
        self.sent = {k: self.personal[k] for k in active}
"""

FEDPROX = """
    def round(self, active):
        sent = {}
        for k in active:
            sent[k] = descend(self.data[k], self.w, self.zero, 0.5, self.w)
        self.w = mean(list(sent.values()), [self.n[k] for k in active])
        self.sent = sent
"""

PFEDME = """
    def round(self, active):
        ends, personal = [], {}
        for k in active:
            local, own = self.w, self.w
            for _ in range(2):
                own = descend(self.data[k], own, self.zero, 0.5, local)
                local = plus(local, plus(local, own, -1.0), -1.5 * 0.5)
            ends.append(local)
            personal[k] = own
        average = mean(ends, [1] * len(ends))
        self.w = plus(self.w, plus(average, self.w, -1.0), 0.75)
        self.sent = personal
"""

PROGRAMS: dict[str, tuple[str, Method, Any]] = {
    "FedAvg": (FEDAVG, fc.FedGD(stepsize=0.1, local_steps=4), None),
    "FedProx": (FEDPROX, fc.FedProx(mu=0.5), STEPS),
    "SCAFFOLD": (SCAFFOLD1, fc.Scaffold(stepsize=0.1, local_steps=4, option=1), None),
    "FedLin": (FEDLIN, fc.FedLin(stepsize=0.1, local_steps=4), None),
    "FedAvgM": (FEDAVGM, fc.FedAvgM(stepsize=0.1, local_steps=4, momentum=0.5, server_stepsize=0.75), None),
    "FedAdam": (FEDADAM, fc.FedAdam(stepsize=0.1, local_steps=4), None),
    "FedADMM": (FEDADMM, fc.FedADMM(rho=2), STEPS),
    "FedDyn": (FEDDYN, fc.FedDyn(alpha=0.5), STEPS),
    "Ditto": (DITTO, fc.Ditto(stepsize=0.1, local_steps=4, regularization=0.5), None),
    "pFedMe": (PFEDME, fc.PFedMe(regularization=0.5, stepsize=1.5, local_steps=2, server_stepsize=0.75), STEPS),
}
