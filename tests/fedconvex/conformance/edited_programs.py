"""Edits of the plain programs' text that plant faults.

Each edit replaces one piece of a program's text, as a slip of the hand would; `edits` has what the report must say.
"""

from dataclasses import dataclass
from typing import Any

from plain_programs import COMMON, PROGRAMS

from fedconvex.conformance import Report, check

# in the local work of every method …
IN_STEPS: dict[str, tuple[tuple[str, str], ...]] = {
    "clients take one local step too many": (("range(K):", "range(K + 1):"),),
    "clients take one local step too few": (("range(K):", "range(1, K):"),),
    "local gradients are all taken at the server's model": (("g = slope(data, theta)", "g = slope(data, start)"),),
    "the clients' functions are twice as large": (("[sum(gap * row[j] for", "[sum(2 * gap * row[j] for"),),
    "local steps have a weight decay of 0.03": (
        ("theta = plus(theta, g, -S)", "theta = plus(times(1 - 0.03 * S, theta), g, -S)"),
    ),
    "local steps have a momentum of 0.8": (
        ("theta = list(start)", "theta, v = list(start), [0.0] * len(start)"),
        ("theta = plus(theta, g, -S)", "v = plus(g, v, 0.8); theta = plus(theta, v, -S)"),
    ),
    "local gradients are clipped to a norm of 2": (
        ("theta = plus(theta, g, -S)", "theta = plus(theta, times(min(1, 2 / sqrt(dot(g, g) or 1)), g), -S)"),
    ),
    "the local stepsize is multiplied by 0.9 after every local step": (
        ("theta = plus(theta, g, -S)", "theta = plus(theta, g, -S * 0.9**i)"),
    ),
    "the targets are truncated to integers": (("dot(row, w) - target", "dot(row, w) - int(target)"),),
}


@dataclass(frozen=True)
class Edit:
    """Pieces of a program's text with what replaces them, and the names that the report must have."""

    kind: str
    pieces: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}: {' + '.join(self.names)}"


def edited(kind: str, old: str, new: str, *names: str) -> Edit:
    """An edit of one piece."""
    return Edit(kind, ((old, new),), names)


MEAN, ALL_ONES = "self.w = mean(list(sent.values()), [1] * len(sent))", "[1] * len(sent)"
WEIGHTED = "[self.n[k] for k in active]"
SHARES = (
    ("/ self.n[k]", "divided by the client's number of samples"),
    ("* self.n[k]", "multiplied by the client's number of samples"),
    ("* sum(self.n) / self.m / self.n[k]", "divided by the client's relative number of samples, m·n_k/Σn"),
    ("/ sum(self.n) * self.m * self.n[k]", "multiplied by the client's relative number of samples, m·n_k/Σn"),
)
NEWCOMERS = """
    def newcomers(self, active):
        seen = self.seen = getattr(self, "seen", set())
        new = {k: self.average for k in active if k not in seen} if seen else {}
        seen.update(active)
        return new

    def prepare(self):"""
OWN_RULES = (
    edited("FedAvg", WEIGHTED, "[1] * len(sent)", "the average is not weighted"),
    edited(
        "FedAvg",
        "self.data[k], self.w,",
        "self.data[active[-1]], self.w,",
        "all clients train on the data of the last one",
    ),
    edited(
        "FedAvg",
        "def round(self, active):",
        "def round(self, _):\n        active = range(self.m)",
        "all clients take part in every round",
    ),
    edited("FedProx", "0.5, self.w)", "-0.5, self.w)", "the proximal gradient has the wrong sign"),
    edited("FedProx", "0.5, self.w)", "0.5, self.zero)", "the proximal term pulls to zero: this is weight decay"),
    edited("FedProx", "0.5, self.w)", "0.0, self.w)", "the proximal term is always zero"),
    edited("FedProx", "0.5, self.w)", "1.0, self.w)", "the proximal term is not halved"),
    edited("FedProx", "0.5, self.w)", "0.25, self.w)", "the proximal term is halved twice"),
    edited(
        "FedProx", "0.5, self.w)", "0.5 if self.t else 0.0, self.w)", "the proximal term is zero in the first round"
    ),
    edited(
        "FedProx",
        "sent[k] = descend(self.data[k], self.w,",
        "self.kept = getattr(self, 'kept', {})\n"
        "            self.kept[k] = sent[k] = descend(self.data[k], self.kept.get(k, self.w),",
        "clients start at their own last model, where they have one",
    ),
    edited(
        "SCAFFOLD",
        "plus(self.c, self.own[k], -1.0)",
        "plus(self.own[k], self.c, -1.0)",
        "the correction of the local gradient has the wrong sign",
    ),
    edited(
        "SCAFFOLD", "plus(self.c, self.own[k], -1.0)", "self.zero", "the correction of the local gradient is left out"
    ),
    edited(
        "SCAFFOLD",
        "plus(self.c, self.own[k], -1.0)",
        "self.c",
        "the client's control variate is left out of the correction",
    ),
    edited(
        "SCAFFOLD",
        "plus(self.c, self.own[k], -1.0)",
        "times(-1.0, self.own[k])",
        "the server's control variate is left out of the correction",
    ),
    edited("SCAFFOLD", "1 / self.m", "1 / len(sent)", "server memory is divided by |P_t| instead of m"),
    edited("SCAFFOLD", "1 / self.m", "1.0", "server memory is summed, not divided by m"),
    edited("SCAFFOLD", "self.own[k] = new", "pass", "the clients' memory is never stored"),
    edited(
        "SCAFFOLD",
        "change = plus(change, plus(",
        "change = plus(self.zero, plus(",
        "only the last client's change reaches the server's memory",
    ),
    edited(
        "SCAFFOLD",
        "new = self.gradient(k, self.w)",
        "new = plus(times(-1.0, tilt), plus(self.w, sent[k], -1.0), 1 / (K * S))",
        "option II is used instead of option I",
    ),
    edited("SCAFFOLD", ALL_ONES, WEIGHTED, "the average is weighted by samples"),
    edited(
        "FedLin", "plus(g, slopes[k], -1.0)", "plus(slopes[k], g, -1.0)", "the gradient correction has the wrong sign"
    ),
    edited("FedLin", "plus(g, slopes[k], -1.0)", "self.zero", "the gradient correction is left out: this is FedAvg"),
    edited("FedLin", "plus(g, slopes[k], -1.0)", "g", "the client's own gradient is left out of the correction"),
    edited(
        "FedLin",
        "plus(g, slopes[k], -1.0)",
        "times(-1.0, slopes[k])",
        "the averaged gradient is left out of the correction",
    ),
    edited(
        "FedLin",
        "g = mean(slopes, [1] * self.m)",
        "g = mean([slopes[k] for k in active], [1] * len(active))",
        "only the gradients of those who take part are averaged",
    ),
    edited("FedAvgM", "plus(step, self.v, 0.5)", "step", "the server's momentum is left out"),
    edited(
        "FedAvgM",
        "plus(step, self.v, 0.5)",
        "plus(times(0.5, step), self.v, 0.5)",
        "the server's momentum multiplies new progress by 1 − momentum",
    ),
    edited(
        "FedAvgM",
        "plus(self.w, self.v, 0.75)",
        "plus(self.w, plus(step, self.v, 0.5), 0.75)",
        "the server's momentum is Nesterov's",
    ),
    edited("FedAvgM", "plus(self.w, self.v, 0.75)", "plus(self.w, self.v)", "the server's stepsize is ignored"),
    edited(
        "FedAvgM",
        "plus(average, self.w, -1.0)",
        "plus(self.w, average, -1.0)",
        "the server moves against the clients' progress",
    ),
    edited("FedAdam", "sqrt(v) + 0.001", "sqrt(v + 0.001)", "tau is added under the root"),
    edited("FedAdam", "sqrt(v) + 0.001", "v + 0.001", "the second moment's root is not taken"),
    edited("FedAdam", "[1e-6 for _ in self.zero]", "self.zero", "the second moment starts at 0 instead of tau²"),
    edited("FedAdam", "0.1 * m / (", "0.1 * s / (", "the first moment is left out"),
    edited("FedAdam", "step, 1 - 0.9)", "step, 1.0)", "the first moment does not multiply new progress by 1 − beta1"),
    edited(
        "FedAdam",
        "plus(times(0.99, self.second), square, 1 - 0.99)",
        "[v - (1 - 0.99) * q * ((v > q) - (v < q)) for v, q in zip(self.second, square)]",
        "the second moment is FedYogi's",
    ),
    edited(
        "FedADMM", "1 / self.m", "1 / len(sent)", "the changes are divided by |P_t| instead of m: server_stepsize is 1"
    ),
    edited(
        "FedADMM",
        "self.dual[k], 2.0, self.w",
        "times(-1.0, self.dual[k]), 2.0, self.w",
        "the correction of the local gradient has the wrong sign",
    ),
    edited(
        "FedADMM",
        "before = plus(self.last[k],",
        "before = plus(self.w,",
        "changes are measured from the server's model instead of the client's last answer",
    ),
    edited("FedADMM", "self.dual[k] = dual", "pass", "the clients' memory is never stored"),
    edited(
        "FedADMM",
        "self.w = plus(self.w, moved, 1 / self.m)",
        MEAN,
        "the server averages the local models of those who take part",
    ),
    edited("FedDyn", "times(-1.0, self.g[k])", "self.g[k]", "the correction of the local gradient has the wrong sign"),
    edited(
        "FedDyn",
        "times(-1.0, self.g[k])",
        "times(-0.5, self.g[k])",
        "the correction of the local gradient is multiplied by alpha",
    ),
    edited(
        "FedDyn",
        "plus(self.g[k], away, -0.5)",
        "plus(self.g[k], away, 0.5)",
        "the clients' memory is updated with the wrong sign",
    ),
    edited("FedDyn", "-0.5 / self.m", "-0.5 / len(sent)", "server memory is divided by |P_t| instead of m"),
    edited("FedDyn", "-0.5 / self.m", "-1 / self.m", "server memory is updated without alpha"),
    edited("FedDyn", "self.h, -1 / 0.5)", "self.h, -1)", "server memory is not divided by alpha"),
    edited("FedDyn", "self.h, -1 / 0.5)", "self.zero, -1)", "server memory is not applied"),
    edited(
        "FedDyn",
        "self.w = plus(average, self.h, -1 / 0.5)",
        "self.w = plus(average, mean([self.g[k] for k in active], [1] * len(sent)))",
        "the server adds the mean memory of those who take part, instead of −h/alpha",
    ),
    edited(
        "FedDyn",
        "times(-1.0, self.g[k]), 0.5, self.w",
        "times(-1.0, self.g[k]), 0.5, self.zero",
        "the proximal term pulls to zero: this is weight decay",
    ),
    *(
        edited("FedProx", "0.5, self.w)", f"0.5 {how}, self.w)", f"the proximal term's weight is {name}")
        for how, name in SHARES
    ),
    *(
        Edit(
            "FedDyn",
            (
                ("0.5, self.w)", f"0.5 {how}, self.w)"),
                ("plus(self.g[k], away, -0.5)", f"plus(self.g[k], away, -0.5 {how})"),
                ("plus(drift, away)", f"plus(drift, away, 1.0 {how})"),
            ),
            (f"alpha is {name}",),
        )
        for how, name in SHARES
    ),
    Edit(
        "FedDyn",
        (
            (
                "theta = descend(self.data[k], self.w,",
                "start = starts.get(k, self.w); theta = descend(self.data[k], start,",
            ),
            ("0.5, self.w)", "0.5, start)"),
            ("away = plus(theta, self.w,", "away = plus(theta, start,"),
            ("sent, drift = {}, self.zero", "sent, drift, starts = {}, self.zero, self.newcomers(active)"),
            ("average = mean(", "average = self.average = mean("),
            ("    def prepare(self):", NEWCOMERS),
        ),
        ("clients that take part for the first time start at the mean of the local models, without −h/alpha",),
    ),
    edited(
        "Ditto",
        "self.personal[k], self.zero, 0.5, self.w",
        "self.w, self.zero, 0.5, self.w",
        "personal models start at the server's model in every round",
    ),
    edited(
        "Ditto",
        "self.personal[k], self.zero, 0.5, self.w",
        "self.personal[k], self.zero, 0.0, self.w",
        "personal models are not pulled to the server's model",
    ),
    edited(
        "Ditto",
        "self.personal[k], self.zero, 0.5, self.w",
        "self.personal[k], self.zero, 0.5, trained[k]",
        "personal models are pulled to the client's trained copy instead of the server's model",
    ),
    edited(
        "Ditto",
        "self.personal[k], self.zero, 0.5, self.w",
        "trained[k], self.zero, 0.5, self.w",
        "personal models start at the client's trained copy of the server's model",
    ),
    edited(
        "Ditto",
        "mean(list(trained.values())",
        "mean([self.personal[k] for k in active]",
        "the server averages the personal models",
    ),
    edited(
        "pFedMe",
        "self.w = plus(self.w, plus(average, self.w, -1.0), 0.75)",
        "self.w = mean(list(personal.values()), [1] * len(ends))",
        "the server goes to the mean of the personal models",
    ),
    edited("pFedMe", "-1.5 * 0.5)", "-1.5)", "local steps lack the factor regularization"),
    edited("pFedMe", "0.5, local)", "0.5, self.w)", "all proximal points of a round lie around the server's model"),
    edited("pFedMe", "range(2)", "range(1)", "clients take only one local step on their envelope"),
    edited(
        "pFedMe",
        "self.w = plus(self.w, plus(average, self.w, -1.0), 0.75)",
        "self.w = average",
        "server_stepsize is ignored: the server goes to the mean of the local models",
    ),
)


def edits() -> list[Edit]:
    """All edits: those of every method's own rules, those of local work in turn, and pairs of both."""
    found = list(OWN_RULES)
    found.append(
        Edit(
            "FedAvg",
            (("self.sent = sent", "self.w = times(0.97, self.w); self.sent = sent"),),
            ("the server's new model is multiplied by 0.97",),
        )
    )
    kinds = list(PROGRAMS)
    for i, (name, pieces) in enumerate(IN_STEPS.items()):
        found += [Edit(kinds[j % len(kinds)], pieces, (name,)) for j in (i, i + 3, i + 7)]
    local = list(IN_STEPS.items())
    for i, one in enumerate(list(found)[: len(OWN_RULES)]):
        name, pieces = local[i % len(local)]
        clashes = one.kind == "pFedMe" or one.pieces[0][0] in ("self.data[k], self.w,", WEIGHTED)
        if i % 2 == 0 and not clashes:
            found.append(Edit(one.kind, (*one.pieces, *pieces), (*one.names, name)))
    return found


def program(edit: Edit | str) -> Any:
    """The class of an edited program, or of one as it should be."""
    kind = edit if isinstance(edit, str) else edit.kind
    text = COMMON + PROGRAMS[kind][0]
    for old, new in () if isinstance(edit, str) else edit.pieces:
        assert text.count(old) >= 1, (kind, old)
        head, _, tail = text.rpartition(old)
        text = head + new + tail
    if kind == "FedAdam" and "0.1 * s / (" in text:
        text = text.replace(
            "for w, m, v in zip(self.w, self.first, self.second)", "for w, s, v in zip(self.w, step, self.second)"
        )
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - the texts of our own programs
    return names["Federation"]


def report_on(edit: Edit | str, clients_known: bool = True) -> Report:
    """What `check` says of a program."""
    kind = edit if isinstance(edit, str) else edit.kind
    _, method, solver = PROGRAMS[kind]
    class_ = program(edit)

    def play(problem: Any, state: Any, active: Any) -> Any:
        state.round(list(active))
        state.t += 1
        return state

    known = {"client_models": lambda state: state.sent} if clients_known or kind in ("Ditto", "pFedMe") else {}
    return check(method, init=class_, round=play, server_model=lambda state: state.w, local_solver=solver, **known)
