"""Correct implementations with random methods, parameters, local work and precision."""

from typing import Any

import numpy as np
import plain_methods as plain
from checking import report_of

import fedconvex as fc
from fedconvex.conformance import Report


def random_report(seed: int) -> Report:
    """The check of a right implementation: the same for the same seed."""
    draw = np.random.default_rng(seed)

    def number(low: float, high: float) -> float:
        return float(10 ** draw.uniform(low, high))

    stepsize, steps = number(-3, 1), int(draw.integers(1, 11))
    descent = {"stepsize": stepsize, "steps": steps}
    strength = number(-2, 1)  # of a proximal term
    exact = bool(draw.integers(2))
    # local steps that feel the term and stay stable with it
    work = {} if exact else {"stepsize": number(-2, 0) / strength, "steps": steps}
    solver = None if exact else fc.GradientDescent(**work)
    weighted = {"weights": str(draw.choice(["samples", "equal"]))}
    kinds: list[tuple[Any, Any, dict[str, Any], Any]] = [
        (fc.FedGD(stepsize=stepsize, local_steps=steps), plain.FedProx, descent, None),
        (fc.FedAvg(stepsize=stepsize, epochs=steps, batch_size=None), plain.FedProx, descent, None),
        (fc.FedSGD(stepsize=stepsize), plain.FedProx, {"stepsize": stepsize}, None),
        (fc.FedNova(stepsize=stepsize, local_steps=steps), plain.FedNova, descent, None),
        (
            fc.FedAvgM(stepsize=stepsize, local_steps=steps, momentum=0.5),
            plain.FedAvgM,
            {**descent, "momentum": 0.5},
            None,
        ),
        (
            fc.FedAdam(stepsize=stepsize, local_steps=steps),
            plain.Adaptive,
            {**descent, "server_stepsize": 0.1},
            None,
        ),
        (fc.FedProx(mu=strength), plain.FedProx, {"mu": strength, **work}, solver),
        (fc.FedDANE(mu=strength), plain.Dane, {"mu": strength, **work}, solver),
        (fc.DANE(mu=strength), plain.Dane, {"mu": strength, "all_gradients": True, **work}, solver),
        (fc.FedDyn(alpha=strength), plain.FedDyn, {"alpha": strength, **work}, solver),
        (fc.FedDynOneGD(alpha=strength), plain.FedDyn, {"alpha": strength, "stepsize": 1 / strength}, None),
        (fc.FedSplit(stepsize=1 / strength), plain.FedSplit, {"s": 1 / strength, **work}, solver),
        (fc.FedADMM(rho=strength), plain.FedADMM, {"rho": strength, **work}, solver),
        (fc.FedPD(eta=1 / strength), plain.FedPD, {"eta": 1 / strength}, None),
    ]
    for option in (1, 2):
        options = {"option": option, "server_stepsize": number(-1, 0.3)}
        scaffold = fc.Scaffold(stepsize=stepsize, local_steps=steps, **options)
        kinds.append((scaffold, plain.Scaffold, {**descent, **options}, None))
    method, kind, parameters, local_solver = kinds[int(draw.integers(len(kinds)))]
    equal = not method.plain and weighted["weights"] == "equal" and kind is not plain.Dane
    made = kind(dtype=draw.choice([np.float64, np.float32]), **parameters, **({"equal": True} if equal else {}))
    options = {"local_solver": local_solver, "weights": "equal" if equal else None}
    return report_of(method, made, bool(draw.integers(2)), **options)
