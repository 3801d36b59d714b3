"""The theorem of a statement in Rocq: hypotheses from its setting, conclusion from its claim."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, gradient, mean, number, parts, value
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.replay import _terms
from fedconvex.proofs_checks.rocq.objective import require_written
from fedconvex.proofs_checks.rocq.proximal_points import minimality
from fedconvex.proofs_checks.rocq.round_methods import local_step
from fedconvex.proofs_checks.rocq.rounds import RoundTerms
from fedconvex.proofs_checks.rocq.terms import RESERVED, Missing, Writer, name_in_rocq

AT_SERVER = ("dissimilarity", "variance", "large gradient")
INFIMUM = "infimum"  # the parameter that stands for the objective's infimum
Conditions = tuple[tuple[Number, str, Number], ...]  # left, relation, right
RELATIONS = {">=": "<=", ">": "<", "=": "="}


@final
@dataclass
class TheoremHypothesis:
    """A hypothesis of a theorem: its name in the proof, its text, and what it means to a reader."""

    name: str
    text: str
    comment: str = ""


class TheoremText:
    """A statement's theorem: its variables, hypotheses and conclusion; `proof` adds the script.

    `under`: conditions of a case, which only decide how its formulas are read. They are no hypotheses.
    """

    def __init__(
        self, name: str, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation, at_start: bool = False,
        under: Conditions = (), of_last_step: bool = False,
    ):  # fmt: skip
        if derivation.cases is not None:
            raise Missing("Cases")
        if setting.first_round:  # that runs start at the clients' own minima is used at a run's start alone
            raise Missing("a first round")
        self.cited: dict[str, TheoremText] = {}  # by identifier, as it is found
        self.name, self.setting, self.claim, self.derivation = name, setting, claim, derivation
        self.one = claim.of_client
        terms = [*_terms(claim), *_terms(derivation)]
        parameters = SettingParameters(replace(setting, conditions=(*setting.conditions, *under)), terms)
        self.board = RoundBoard(parameters, () if at_start else derivation.invariants, at_start=at_start,
                                one_client=self.one)  # fmt: skip
        self.at_start = at_start
        self.draws = setting.draws.scheme
        self.drawn = self.draws != "everyone"
        if self.drawn and self.one:
            raise Missing("one client in a round with drawn clients")
        self.parameters = {p: name_in_rocq(p) for p in sorted(setting.signs)}
        self.round = RoundTerms(setting, self.board, RESERVED | frozenset(self.parameters.values()),
                                dict(derivation.invariants), of_last_step=of_last_step)  # fmt: skip
        require_written(setting, self.one)
        if setting.rests and self.one:
            raise Missing("a fixed point of which one client is looked at")
        self.left, self.right = self._side(claim.left), self._side(claim.right)
        self.rests = self.round.moves if setting.rests else []
        self.hypotheses: list[TheoremHypothesis] = []
        self.bernoulli: dict[int, Number] = {}  # what Bernoulli's inequalities say is >= 0, by their order
        self._assumptions()

    def _side(self, side: Any) -> Any:
        return self.round.vector(side) if type(side) is Vector else self.round.number(side)

    @property
    def writer(self) -> Writer:
        """Writes terms as the theorem has them."""
        return self.writer_of({name: name for name in self.round.variables})

    def writer_of(self, variables: Mapping[str, str]) -> Writer:
        """Writes terms with other texts for the vectors."""
        path = self.round.path
        counts = {} if path is None else {path.count: path.steps}
        return Writer(variables, {**self.parameters, "σ": "sg"}, self.draws, counts=counts)

    def _assumptions(self) -> None:
        """The setting's assumptions, but not what a variable of the round means, which `statement` adds."""
        setting = self.setting
        for name, sign in sorted(setting.signs.items()):
            if sign != "real":
                relation = "<" if sign == "positive" else "<="
                self._assume(f"{name_in_rocq(name)}_sign", f"0 {relation} {self.parameters[name]}")
        if self.draws == "independent" and setting.draws.active is not None:
            self._assume("draws_number", f"{self.writer.number(setting.draws.active)} = INR n")
        known: set[str] = set()
        for place, (left, relation, right) in enumerate(setting.conditions):
            text = f"{self.writer.number(right)} {RELATIONS[relation]} {self.writer.number(left)}"
            if text not in known:
                self._assume(f"condition_{place + 1}", text)
            known.add(text)
        for name in sorted(setting.counts):
            if f"1 <= {self.parameters[name]}" not in known:
                self._assume(f"{name_in_rocq(name)}_count", f"1 <= {self.parameters[name]}")
        for place, kind in ((0, "least"), (1, "most")):
            given, of_objective = setting.curvature[place], setting.objective[place]
            if of_objective is not None and given is None:
                self._assume(
                    f"objective_{kind}", f"curvature_at_{kind} {self.writer.factor(of_objective)} (objective f)"
                )
            if given is not None:
                of = "f" if self.one else "(f k)"
                every = "" if self.one else "forall k, "
                self._assume(kind, f"{every}curvature_at_{kind} {self.writer.factor(given)} {of}")

        if setting.similarity is not None:
            self._assume("similar_clients", f"similar {self.writer.factor(setting.similarity)} f")
        if setting.single_client:
            self._assume("one_client", "single C")

    def _assume(self, name: str, text: str, comment: str = "") -> None:
        self.hypotheses.append(TheoremHypothesis(name, text, comment))

    def assumed(self, what: str) -> Any:
        """The vectors in an assumption of the setting at the server's point, and its bound."""
        server = self.round.vector(Vector("server", (0,)))
        g = gradient(server)
        match what:
            case "inexactness" if self.setting.answers == "inexact":
                _ = self.round.answers
                return self.round.made["left"], self._start_gradient(), self.setting.inexactness
            case "error" if self.setting.answers == "error":
                _ = self.round.answers
                return self.round.made["e"], None, self.setting.inexactness
            case "dissimilarity":
                return g, mean(g), self.setting.dissimilarity
            case "variance":
                return g, mean(g), self.setting.variance
            case "large gradient":
                return mean(g), None, self.setting.large_gradient
        raise Missing(f"the hypothesis {what}")

    def _start_gradient(self) -> Vector:
        start = self.round.subproblem.start
        return self.round.subproblem.add_gradients(start, gradient(start))  # type: ignore[no-any-return]

    def round_hypotheses(self, writer: Writer | None = None) -> list[TheoremHypothesis]:
        """What the vectors of the round are; with a writer, of the vectors that it writes."""
        w = self.writer if writer is None else writer
        found: list[TheoremHypothesis] = []
        least = None if self.setting.objective_gap is None else value(self.round.vector(Vector("minimiser")))
        found += [
            TheoremHypothesis(f"{v.name}_shared", f"{'common' if self.drawn else 'shared'} {w.of_vector[v.name]}")
            for v in self.round.variables.values()
            if v.shared and v.equals is None and not self.one
        ]
        if self.drawn:
            free = [v for v in self.round.variables.values() if v.equals is None]
            found += [TheoremHypothesis(f"{v.name}_fixed", f"fixed {w.of_vector[v.name]}") for v in free]
        if self.setting.minimiser and not self.one and "minimiser" in self.round.made:
            xs = self.round.made["minimiser"]
            found.append(TheoremHypothesis("stationary", f"{w.vector(mean(gradient(xs)))} = zero"))
        found += [TheoremHypothesis(name, text) for name, text in minimality(self.round, w)]
        if least is not None:
            bound = w.factor(number(self.setting.objective_gap))
            found.append(TheoremHypothesis("objective_gap", f"gap_at_most {bound} f ({w.number(least)})"))
        if INFIMUM in self.setting.signs:
            of, lowest = "mean_of_all" if self.drawn else "mean", self.parameters[INFIMUM]
            found.append(TheoremHypothesis("lowest", f"forall u, {of} u = u -> {lowest} <= value {w.function} u"))
        for name, at, equals in self.round.gradients:
            found.append(TheoremHypothesis(name, f"{w.vector(gradient(at))} = ({w.vector(equals)})%V"))
        if "left" in self.round.made:
            found.append(self._inexact("inexactness", w))
        if "e" in self.round.made and self.setting.answers == "error":
            found.append(self._inexact("error", w))
        if self.at_start and self.setting.initial_gap is not None:
            server, most = self.round.vector(Vector("server", (0,))), w.number(self.setting.initial_gap)
            gap = f"{w.number(value(server))} - {self.parameters[INFIMUM]}"
            found.append(TheoremHypothesis("initial_gap", f"{gap} <= {most}"))
        assumed = [what for what in AT_SERVER if getattr(self.setting, what.replace(" ", "_")) is not None]
        stepped = self.round.made.get("answers") if self.round.path is not None else None
        defined = [(v, v.equals) for v in self.round.variables.values() if v.equals is not None
                   and (stepped is None or stepped.args[0] != v.name)]  # fmt: skip
        return [
            *found,
            *self._of_path(w),
            *(self._at_server(what, w) for what in assumed),
            *(TheoremHypothesis(f"{v.name}_is", f"{w.of_vector[v.name]} = ({w.vector(u)})%V") for v, u in defined),
            *(TheoremHypothesis(f"rests_{n}", f"{w.vector(new)} = {w.vector(old)}") for n, (new, old) in
              enumerate(self.rests, 1)),
        ]  # fmt: skip

    def _of_path(self, w: Writer) -> list[TheoremHypothesis]:
        """That the answers are where any number of local steps lead."""
        if (path := self.round.path) is None:
            return []
        theta = w.of_vector[self.round.made["answers"].args[0]]
        y = w.of_vector.get(path.name, path.name)  # in a run they are those of a round
        at = Vector("variable", (f"{y} i",))
        inside = Writer({**w.of_vector, f"{y} i": f"({y} i)"}, w.of_parameter, w.draws, function=w.function)
        one = inside.vector(local_step(self.round, at))
        found = [
            ("steps_number", f"{self.parameters[path.count]} = INR {path.steps}"),
            ("path_start", f"{y} O = ({w.vector(self.round.subproblem.start)})%V"),
            ("path_step", f"forall i, (i < {path.steps})%nat -> {y} (S i) = ({one})%V"),
            ("path_end", f"{theta} = {y} {path.steps}"),
        ]  # fmt: skip
        if "local gradients" in self.round.made:
            passed = w.of_vector[self.round.made["local gradients"].args[0]]
            each = inside.vector(gradient(at))
            found.append(("passed_is", f"{passed} = sum_of_steps (fun i => ({each})%V) {path.steps}"))
        return [TheoremHypothesis(name, text) for name, text in found]

    def _inexact(self, what: str, w: Writer) -> TheoremHypothesis:
        left, first, bound = self.assumed(what)
        place = "" if self.one else " o k" if self.drawn else " k"
        right = w.factor(bound)
        if first is not None:
            right += f" * norm ({w.operand(first)}{place})" if place else f" * norm {w.operand(first)}"
        of_left = f"({w.operand(left)}{place})" if place else w.operand(left)
        return TheoremHypothesis(what, f"{f'forall{place}, ' if place else ''}norm {of_left} <= {right}")

    def _at_server(self, what: str, w: Writer) -> TheoremHypothesis:
        u, v, bound = self.assumed(what)
        match what:
            case "dissimilarity":
                square = f"inner {w.operand(v)} {w.operand(v)}"
                text = f"inner {w.operand(u)} {w.operand(u)} <= {w.factor(bound)} ^ 2 * {square}"
            case "variance":
                apart = w.operand(u - v)
                text = f"inner {apart} {apart} <= {w.number(bound)}"
            case _:
                text = f"{w.number(bound)} <= inner {w.operand(u)} {w.operand(u)}"
        return TheoremHypothesis(what.replace(" ", "_"), text)

    def assume_bernoulli(self, order: int, known: Number) -> None:
        """Makes Bernoulli's inequality of this order, for a number that a sum of powers stands for, a hypothesis."""
        self.bernoulli[order] = known
        self._assume(f"bernoulli_{order}", f"0 <= {self.writer.number(known)}")

    def conclusion(self) -> str:
        w = self.writer
        if type(self.left) is Vector:
            return f"({w.vector(self.left)})%V = ({w.vector(self.right)})%V"
        return f"{w.number(self.left)} {'<=' if self.claim.relation == '<=' else '='} {w.number(self.right)}"

    def statement(self) -> str:
        """The theorem without its proof."""
        space = "V" if self.one else "(random W C V)" if self.drawn else "(families C V)"
        extra = self.round_hypotheses()
        plain = sorted(self.round.variables)
        sets = "" if self.one else " (C W : weighted_set)" if self.drawn else " (C : weighted_set)"
        functions = "function V" if self.one else "C -> function V"
        together = "f" if self.one else "together (fun _ : W => together f)" if self.drawn else "together f"
        typed = " : function (random W C V)" if self.drawn else ""
        lines = [
            f"Theorem {self.name} :",
            f"  forall (V : space){sets} (f : {functions}),",
            f"  let F{typed} := {together} in",
        ]
        if self.parameters:
            lines.append(f"  forall {' '.join(self.parameters.values())} : R,")
        if self.drawn:
            lines.append(f"  forall {self._draw()},")
        if plain:
            lines.append(f"  forall {' '.join(plain)} : {space},")
        if (path := self.round.path) is not None:
            lines.append(f"  forall ({path.steps} : nat) ({path.name} : nat -> {space}),")
        lines += [f"  ({h.text}) ->" for h in (*self.hypotheses, *extra)]
        return "\n".join([*lines, f"  {self.conclusion()}."])

    @property
    def introduced(self) -> list[str]:
        """The names of everything before the conclusion, as they are introduced."""
        hypotheses = [*self.hypotheses, *self.round_hypotheses()]
        return ["V", *self.sets, "f", "F", *self.parameters.values(), *self.draw_names, *sorted(self.round.variables),
                *self.path_names, *(h.name for h in hypotheses)]  # fmt: skip

    @property
    def path_names(self) -> list[str]:
        """The names of what any number of local steps adds to the variables."""
        return [] if self.round.path is None else [self.round.path.steps, self.round.path.name]

    @property
    def sets(self) -> list[str]:
        """The names of the sets of clients and of outcomes."""
        return [] if self.one else ["C", "W"] if self.drawn else ["C"]

    @property
    def draw_names(self) -> list[str]:
        """The names of the draw's variables."""
        return ["n", "d"] if self.draws == "independent" else ["d"] if self.drawn else []

    def _draw(self) -> str:
        """The draw of the round."""
        active, clients = self.setting.draws.active, self.setting.draws.clients
        if self.draws == "independent":
            return "(n : nat) (d : independent_draws W C n)"
        assert active is not None
        assert clients is not None
        return f"d : draw_without_replacement W C {self.writer.factor(active)} {self.writer.factor(clients)}"


def divisors(terms: Any) -> list[Number]:
    """The divisors in these terms, each once, those inside others first."""
    found: dict[Number, None] = {}
    for term in terms:
        for part in reversed(list(parts(term))):
            match part.head, part.args:
                case "/", (_, Number() as below):
                    found.setdefault(below)
                case "^", (below, Number("constant", (n,))) if n < 0:
                    found.setdefault(below)
    return [d for d in found if d.head != "constant"]
