"""The clients' local work of all candidates: exact solutions, or gradient steps with hooks between their parts."""

from dataclasses import replace
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.conformance.batches import Batches, ChosenBatches, Work
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.sgd import SGD
from fedconvex.problems.subproblem import Subproblem


def solve(play: Any, given: Subproblem, kind: str) -> np.ndarray:
    """(K, E, d): the ends of the clients' local work, one client after the other."""
    ends: list[Any] = []
    view = play.view
    view.prev, starts = None, []
    for i in play.participants():
        given_parts = (("start", given.start), ("center", given.center), ("linear", given.linear))
        parts: dict[str, Any] = {name: None if part is None else part[i] for name, part in given_parts}
        weight = None if given.center is None else given.weight[i]
        view.vectors = {name: part for name, part in (*parts.items(), ("weight", weight)) if part is not None}
        if ends:
            view.vectors["prev_end"] = ends[-1]
        view.prev = ends[-1] if ends else None
        if kind == "main":
            if "linear" in play.hooks and parts["linear"] is None:
                parts["linear"] = np.zeros_like(parts["start"])
            for name in ("start", "center", "linear"):
                if parts[name] is not None:
                    parts[name] = play.hooked(name, parts[name])
                    view.vectors[name] = parts[name]
            weight = None if weight is None else play.hooked("weight", weight)
        else:
            parts, weight = _personal(play, parts, weight)
        starts.append(parts["start"])
        end = _solved(play, view.k, parts["start"], parts["linear"], weight, parts["center"])
        view.vectors["theta"] = end
        ends.append(play.hooked("answer", end) if kind == "main" else end)
    if kind == "main":
        play.starts = np.stack(starts)
        play.main_ends = np.stack(ends)
    return np.stack(ends)


def _personal(play: Any, parts: dict[str, Any], weight: Any) -> tuple[dict[str, Any], Any]:
    """The subproblem of a personal model after its hooks, which get (start, center, weight)."""
    if "own" in play.hooks:
        parts = {name: None if part is None else part.copy() for name, part in parts.items()}
        weight, view = weight.copy(), play.view
        view.vectors["trained"] = play.main_ends[view.i]
        for e, hook in play.at("own"):
            start, center, pull = hook((parts["start"][e], parts["center"][e], weight[e]))
            parts["start"][e], parts["center"][e], weight[e] = start, center, pull
    return parts, weight


def _solved(play: Any, k: int, start: np.ndarray, linear: Any, weight: Any, center: Any) -> np.ndarray:
    solver = play.rounds.solver
    if isinstance(play.setup.solver, Exact):
        return _exact(play, k, start, linear, weight, center)
    inner: Any = solver.inner if isinstance(solver, ChosenBatches) else solver
    return _descend(play, k, inner, start, linear, weight, center)


def _exact(play: Any, k: int, start: np.ndarray, linear: Any, weight: Any, center: Any) -> np.ndarray:
    A, b, factor = play.data[k]
    targets = b if play.targets is None else play.targets[k]
    scale = factor * play.scale[k][:, None]
    own = k
    H = np.repeat((A.T @ A)[None], play.count, 0) * scale[:, :, None]
    c = scale * np.broadcast_to(targets @ A, (play.count, play.dim))
    for e, hook in play.at("data"):
        if (k := hook(own)) != own:
            A, b, factor = play.data[k]
            H[e], c[e] = factor * play.scale[k][e] * A.T @ A, factor * play.scale[k][e] * b @ A
    if weight is not None:
        H = H + np.einsum("ed,dc->edc", weight, np.eye(play.dim))
        c = c + weight * center
    if linear is not None:
        c = c - linear
    try:
        return np.linalg.solve(H, c[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full_like(c, np.nan)


def _batches(play: Any, k: int, solver: Any) -> tuple[Batches | None, dict[int, Batches]]:
    """The client's mini-batches, and those of the candidates that have others; None: full batches."""
    chosen = play.rounds.solver
    if not isinstance(chosen, ChosenBatches) or getattr(solver, "batch_size", None) is None:
        return None, {}
    view = play.view
    work = Work(k, view.t, play.sizes[k], view.work)
    batches, others = chosen.choose(work), dict[int, Batches]()
    for e, hook in play.at("count"):
        others[e] = chosen.choose(replace(work, amount=max(0, hook(view.work))))
    view.local = {"solver": solver, "work": work}
    for e, hook in play.at("batches"):
        others[e] = hook(others.get(e, batches))
    return batches, others


def _descend(play: Any, k: int, solver: Any, start: np.ndarray, linear: Any, weight: Any, center: Any) -> np.ndarray:
    view, momentum, decay, clip = play.view, 0.0, 0.0, None
    stepsize = nearest_float(solver.stepsize)
    if isinstance(solver, SGD):
        momentum, decay = nearest_float(solver.momentum), nearest_float(solver.weight_decay)
        clip = None if solver.clip is None else float(solver.clip)
        stepsize *= nearest_float(solver.decay) ** view.t
    batches, others = _batches(play, k, solver)
    view.local = {"stepsize": stepsize}
    counts = np.full((play.count, 1), float(view.work))
    if batches is not None:
        counts[:] = len(batches)
        for e, own in others.items():
            counts[e] = len(own)
    else:
        counts = play.hooked("count", counts)
    sources = np.full(play.count, k)
    for e, hook in play.at("data"):
        sources[e] = hook(k)
    elsewhere = np.flatnonzero(sources != k)
    theta, velocity = start, np.zeros_like(start)
    view.vectors |= {"start": start, "previous": start}
    memos: dict[int, dict[str, Any]] = {}
    for j in range(int(np.nan_to_num(counts.max(initial=0)))):
        view.j, view.vectors["theta"], working = j, theta, counts > j
        play.working = working[:, 0]
        at = _local(play, "point", theta, memos)
        rows = None if batches is None else (list(batches[j]) if j < len(batches) else [0])
        own = play.gradient(k, at, slice(None), rows)
        for e, others_own in others.items():
            if j < len(others_own):
                own[e] = play.gradient(k, at[e : e + 1], [e], list(others_own[j]))[0]
        for e in elsewhere.tolist():
            source = int(sources[e])
            here = rows
            if rows is not None:  # a batch of all samples is one of all of the other's
                whole = len(rows) >= play.sizes[k]
                here = None if whole else [i for i in rows if i < play.sizes[source]] or [0]
            own[e] = play.gradient(source, at[e : e + 1], [e], here)[0]
        gradient = _local(play, "gradient", own, memos)
        view.vectors["gradient_now"] = gradient
        if linear is not None:
            gradient = gradient + linear
        if weight is not None:
            view.vectors |= {"weight_now": weight, "center": center}
            gradient = gradient + _local(play, "pull", weight * (theta - center), memos)
        gradient = _local(play, "whole", gradient, memos)
        if clip is not None:
            sizes = np.linalg.norm(gradient, axis=1)[:, None]
            gradient = gradient * np.where(sizes > clip, clip / np.where(sizes > 0, sizes, 1), 1.0)
        gradient = _local(play, "decayed", gradient + decay * theta, memos)
        view.vectors["plain_direction"] = gradient
        if momentum:
            moving = momentum * velocity + gradient
            gradient = moving
        direction = _local(play, "direction", gradient, memos)
        sizes_of_step = _local(play, "stepsize", np.full((play.count, 1), stepsize), memos)
        view.vectors |= {"direction_now": direction}
        new = _local(play, "moved", theta - sizes_of_step * direction, memos)
        view.vectors["previous"] = np.where(working, theta, view.vectors["previous"])
        theta = np.where(working, new, theta)
        if momentum:
            velocity = np.where(working, moving, velocity)
    return theta


def _local(play: Any, site: str, found: np.ndarray, memos: dict[int, dict[str, Any]]) -> np.ndarray:
    """As `_hooked`, with a memo of each candidate for this client's local work."""
    if site in play.hooks:
        found, view, common = found.copy(), play.view, play.view.local
        for e, hook in play.at(site):
            if play.working[e]:  # else it has taken its steps: what it keeps stays as it is
                view.local = memos.setdefault(e, dict(common))
                found[e] = hook(found[e])
        view.local = common
    return found
