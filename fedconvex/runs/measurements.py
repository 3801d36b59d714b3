"""What a run is measured by: quantities at the server's points, and of each round's answers and messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.lengths import lengths
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput, NoMinimizer
from fedconvex.names import suggestion
from fedconvex.participation import Draw
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.runs.rounds import RoundResult, Rounds
from fedconvex.validation import is_choice, members_of

POINT_COLUMNS = ("value", "gap", "distance", "gradient_norm", "dissimilarity", "gradient_variance")
ROUND_COLUMNS = ("inexactness", "drift", "control_error")
OF_CLIENTS = "client_inexactness"  # (m,): γ_k of every client, NaN for those who took no part
COUNTS = ("participants", "bytes_down", "bytes_up")
ENTRIES_AT_ONCE = 1_000_000  # of gradients held at a time
CANCELLING = 1e-3  # a gap above this part of f* keeps 12 digits when two values are subtracted


def round_columns(measure: "str | Sequence[str] | None") -> tuple[str, ...]:
    """The per-round columns to record, from the argument `measure`; raises InvalidInput for unknown names."""
    given = () if measure is None else ROUND_COLUMNS if is_choice(measure, ("all",)) else measure
    cure = f"choose 'all' or some of {', '.join(ROUND_COLUMNS)}"
    names = (given,) if isinstance(given, str) else tuple(members_of(given, "measure", cure))
    for name in names:
        if not is_choice(name, ROUND_COLUMNS):
            problem = "is recorded anyway: see to_frame()" if is_choice(name, POINT_COLUMNS) else "is unknown"
            raise InvalidInput("measure", name, problem, suggestion(name, ("all", *ROUND_COLUMNS)) + cure)
    return names


def recorded_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The names of everything that a run with these columns records in each round, counts included."""
    return (*COUNTS, *columns, *((OF_CLIENTS,) if "inexactness" in columns else ()))


def minimizer_of(problem: Problem | CompositeProblem) -> np.ndarray | None:
    """The certified minimiser's float64 point; None where there is none."""
    from fedconvex.ground_truths import ground_truth

    try:
        return np.asarray(ground_truth(problem).point)
    except NoMinimizer:
        return None


def at_points(problem: Problem | CompositeProblem, points: np.ndarray, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """The named columns at float64 points (T, d); each point costs one evaluation of all values and gradients.

    value f(x); gap f(x) − f(x*) and distance ‖x − x*‖ to the certified minimiser (NaN where there is none);
    gradient_norm ‖∇f(x)‖, of a composite objective the length of the shortest subgradient; dissimilarity B(x) (FedProx,
    Definition 3); gradient_variance Σ_k p_k‖∇f_k(x) − ∇f(x)‖².
    """
    minimizer = minimizer_of(problem) if {"gap", "distance"} & set(columns) else None
    if isinstance(problem, CompositeProblem):
        return _of_composite(problem, points, columns, minimizer)
    return _of_smooth(problem, points, columns, minimizer)


def _of_composite(
    problem: CompositeProblem, points: np.ndarray, columns: Sequence[str], minimizer: np.ndarray | None
) -> dict[str, np.ndarray]:
    """The columns of f, with those that ψ changes replaced."""
    floats = arithmetics.get("float")
    found = _of_smooth(problem.problem, points, columns, minimizer)
    with np.errstate(over="ignore", invalid="ignore"):
        term = problem.regularizer.values(points, floats)
        if "value" in found:
            found["value"] = found["value"] + term
        if "gap" in found and minimizer is not None:
            found["gap"] = found["gap"] + (term - problem.regularizer.values(minimizer[None], floats))
        if "gradient_norm" in found:
            gradients = [problem.problem.weights @ problem.problem.clients("float").gradients(x) for x in points]
            found["gradient_norm"] = problem.shortest_subgradient(points, np.array(gradients))
    return found


def _of_smooth(
    problem: Problem, points: np.ndarray, columns: Sequence[str], minimizer: np.ndarray | None
) -> dict[str, np.ndarray]:
    found: dict[str, list[np.ndarray]] = {name: [] for name in POINT_COLUMNS}
    at_once = max(1, ENTRIES_AT_ONCE // (problem.num_clients * problem.dim))
    # a run that diverges leaves the range of floats: its infinities and NaN are the result, no warning
    with problem.clients("float").arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
        for begin in range(0, len(points), at_once):
            for name, values in _of_chunk(problem, points[begin : begin + at_once], minimizer).items():
                found[name].append(values)
    return {name: np.concatenate(found[name]) for name in columns}


def _of_chunk(problem: Problem, points: np.ndarray, minimizer: np.ndarray | None) -> dict[str, np.ndarray]:
    clients, weights = problem.clients("float"), problem.weights
    values, gradients = clients.values_and_gradients(points)
    result = {"value": values @ weights, "gap": np.full(len(points), np.nan), "distance": np.full(len(points), np.nan)}
    if minimizer is not None:
        least = float(weights @ clients.values(minimizer))
        result["distance"] = np.linalg.norm(points - minimizer, axis=-1)
        result["gap"] = result["value"] - least
        near = ~(result["gap"] > CANCELLING * abs(least))
        if near.any():  # f(x) − f(x*) cancels there: sum the samples' differences instead
            result["gap"][near] = clients.differences_from(points[near], minimizer) @ weights
    return result | _of_gradients(gradients, weights)


def _of_gradients(gradients: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """From (T, m, d): B² = E‖∇f_k‖²/‖∇f‖², relative to the largest entry because squares overflow."""
    largest = abs(gradients).max((1, 2))
    scaled = gradients / np.where(largest > 0, largest, 1)[:, None, None]
    mean = weights @ scaled
    deviations = scaled - mean[:, None, :]
    norm, mean_square = np.linalg.norm(mean, axis=-1), (scaled * scaled).sum(-1) @ weights
    with np.errstate(divide="ignore", over="ignore"):
        B = np.sqrt(mean_square) / np.where(norm > 0, norm, np.where(mean_square > 0, 0.0, 1.0))
        variance = (deviations * deviations).sum(-1) @ weights * largest * largest
    return {
        "gradient_norm": norm * largest,
        "dissimilarity": np.where((norm == 0) & (mean_square == 0), 1.0, B),
        "gradient_variance": variance,
    }


@dataclass(frozen=True, eq=False)
class RoundMeasurements:
    """Measures each round of a run: counts of participants and bytes, and the columns asked for."""

    rounds: Rounds
    columns: tuple[str, ...]
    gradients_at_minimizer: np.ndarray | None  # (m, d) ∇F_k(x*)

    @staticmethod
    def of(rounds: Rounds, columns: tuple[str, ...]) -> "RoundMeasurements":
        """Computes the clients' gradients at the minimiser once, where `control_error` compares with them."""
        gradients = None
        if "control_error" in columns and rounds.method.control_variate is not None:
            term = rounds.regularizer
            minimizer = minimizer_of(rounds.problem if term is None else CompositeProblem(rounds.problem, term))
            clients = rounds.problem.clients("float", rounds.method.scale(rounds.problem))
            if minimizer is not None:
                with clients.arithmetic.context():
                    gradients = clients.gradients(minimizer)
        return RoundMeasurements(rounds, columns, gradients)

    def record(self, asked: Draw, gradient_draw: Draw | None, draw: Draw, played: RoundResult | None) -> dict[str, Any]:
        """The columns of one round, from the clients that were drawn (`asked`) and those that answered (`draw`).

        * participants: the clients whose answers the server averages.
        * bytes_down, bytes_up: what the server sends and receives, 8 bytes a number (on torch, its dtype's size); 0 in
          local rounds. A dropped straggler received the model, so it counts downwards. Where clients compress, what
          they send is counted: of the largest entries their places, too.
        * inexactness: the largest γ_k = ‖∇φ_k(θ_k)‖/‖∇φ_k(start_k)‖ (FedProx, Definition 2); where the start already
          solves the local problem, a ratio of rounding errors, or inf. client_inexactness: every client's γ_k.
        * drift: √(average ‖θ_k − w‖²).
        * control_error: √((1/m) Σ_k ‖c_k − ∇F_k(x*)‖²) over all clients after the round, where c_k is the method's
          estimate of the client's gradient (FedDyn's √C_t where local solutions are exact).
        """
        method, m = self.rounds.method, self.rounds.problem.num_clients
        vector = (
            0
            if played is not None and not played.communicated
            else self.rounds.arithmetic.bytes_per_number * self.rounds.problem.dim
        )
        answering = _size(draw, m) if played is not None else 0
        gradients = 0
        if method.gradients_from != "nobody" and _size(asked, m) > 0:
            gradients = _size(gradient_draw, m) if gradient_draw is not None else m
        up = vector * method.vectors_up * answering
        if played is not None and played.compressed is not None:
            numbers, share = np.array([float(played.compressed)]), self.rounds.share
            up = (
                self.rounds.arithmetic.bytes_per_number
                * (numbers if share is None else share.total_numbers(numbers))[0]
            )
        found: dict[str, Any] = {
            "participants": float(answering),
            "bytes_down": float(vector * (method.vectors_down * _size(asked, m) + gradients)),
            "bytes_up": float(up + vector * gradients),
        }
        for name in self.columns:
            found[name] = np.nan
        if "inexactness" in self.columns:
            found[OF_CLIENTS] = np.full(m, np.nan)
        if played is not None:
            for name in self.columns:
                if name == "inexactness":
                    values = self.inexactness(draw, played)
                    found[name] = float(values.max())
                    found[OF_CLIENTS][slice(None) if draw.members is None else draw.members] = values
                else:
                    found[name] = getattr(self, f"_{name}")(played)
        return found

    def inexactness(self, draw: Draw, played: RoundResult) -> np.ndarray:
        """γ_k of every participant."""
        return self._of_all(self._inexactness(played), draw)

    def _of_all(self, values: np.ndarray, draw: Draw) -> np.ndarray:
        """The numbers of all participants, gathered from all processes."""
        share, m = self.rounds.share, self.rounds.problem.num_clients
        if share is None:
            return values
        here = self.rounds.here(draw).members
        assert here is not None
        whole = share.everyones(values, here, m)
        return whole if draw.members is None else whole[draw.members]

    def _inexactness(self, played: RoundResult) -> np.ndarray:
        left, first = (
            lengths(self._float(played.subproblem.add_gradients(theta, played.clients.gradients(theta))))
            for theta in (played.answers.points, played.subproblem.start)
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(first > 0, left / first, np.where(left > 0, np.inf, 0.0))

    def _drift(self, played: RoundResult) -> float:
        moved = played.answers.points - played.points
        size = 1.0
        if self.rounds.arithmetic.certainty is Certainty.NUMERIC:  # squares overflow
            size = float(abs(moved).max()) if len(moved) else 0.0
            size = (size if self.rounds.share is None else self.rounds.share.largest(size)) or 1.0
            moved = moved / size
        return size * float(self._float(played.average((moved * moved).sum(-1)[:, None]))[0] ** 0.5)

    def _control_error(self, played: RoundResult) -> float:
        name = self.rounds.method.control_variate
        if name is None or self.gradients_at_minimizer is None:
            return float("nan")
        errors = self._float(played.state.memory[name]) - self.gradients_at_minimizer
        return float(np.sqrt((errors * errors).sum() / len(errors)))

    def _float(self, values: Any) -> np.ndarray:
        arithmetic: Arithmetic = self.rounds.arithmetic
        return np.asarray(arithmetic.to_float(values))


def table(points: Mapping[str, np.ndarray], rounds: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """One column per quantity for rows 0, …, T: row t has the point after t rounds, and the columns of the t-th round.

    In row 0 no client has taken part and nothing was sent: counts are 0 there, the other columns of rounds NaN.
    """
    shown = {name: values for name, values in rounds.items() if name != OF_CLIENTS}
    return {**points, **{n: np.concatenate([[0.0 if n in COUNTS else np.nan], v]) for n, v in shown.items()}}


def _size(draw: Draw, population: int) -> int:
    return population if draw.members is None else len(draw.members)
