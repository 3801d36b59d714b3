"""A FedProx as users wrap theirs for `fedconvex conform`: right as a class, wrong as another, in other shapes."""

import os

import numpy as np

import fedconvex as fc


class FedProx:
    method = "FedProx(mu=1/2)"
    local_solver = fc.GradientDescent(steps=2, stepsize=0.1)
    sign = 1

    def init(self, problem, x0):
        print("starts")  # noqa: T201 - that is what is tried
        return x0.copy()

    def round(self, problem, w, active):
        sent = [self.trained(problem.A[k], problem.b[k], w) for k in active]
        return np.average(sent, axis=0, weights=[len(problem.b[k]) for k in active])

    def trained(self, A, b, w):
        theta = w
        for _ in range(2):
            theta = theta - 0.1 * (A.T @ (A @ theta - b) + self.sign * 0.5 * (theta - w))
        return theta

    def server_model(self, w):
        return w


class Repelled(FedProx):
    sign = -1


class NeedsArguments(FedProx):
    def __init__(self, sign):
        self.sign = sign


class Leaves(FedProx):
    """Ends the program with the status of success."""

    def round(self, problem, w, active):
        raise SystemExit(0)


class Diverges(FedProx):
    """Its clients' models are not finite."""

    def client_models(self, w):
        return dict.fromkeys(range(3), np.array([np.nan, np.inf]))


class Static:
    """Functions without `self`, as `conforms_to` takes them; the method is given from outside."""

    @staticmethod
    def init(problem, x0):
        return x0.copy()

    @staticmethod
    def round(problem, w, active):
        return FedProx().round(problem, w, active)

    @staticmethod
    def server_model(w):
        return w


OBJECT = NeedsArguments(1)
DICTIONARY = {name: getattr(OBJECT, name) for name in ("init", "round", "server_model", "method", "local_solver")}


class WritesToTheDescriptor(FedProx):
    """Prints as compiled code and child processes do."""

    def server_model(self, w):
        os.write(1, b"raw\n")
        return w


class BrokenAttribute(FedProx):
    @property
    def method(self):
        raise RuntimeError("no method today")
