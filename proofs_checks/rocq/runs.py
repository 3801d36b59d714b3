"""The theorem of a statement about a run of many rounds: every vector is a sequence, or depends on the draws so far."""

from dataclasses import dataclass, replace
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, number
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.replay import _terms
from fedconvex.proofs_checks.rocq.proximal_points import kept_parts
from fedconvex.proofs_checks.rocq.run_terms import BEFORE, RunTerms
from fedconvex.proofs_checks.rocq.terms import Missing, Writer
from fedconvex.proofs_checks.rocq.theorems import INFIMUM, Conditions, TheoremText

FIXED = ("minimiser", "free ", "family ", "proximal ")


@final
@dataclass
class RunHypothesis:
    """A hypothesis of a run: its text at the moment `past`, and how it is used in a proof about that moment."""

    name: str
    text: str
    use: str


@final
class RunTheorem:
    """A statement's theorem about T rounds. `round` has the vectors of a round, and `lemma` makes lemmas about them.

    `under`: as for `TheoremText`.
    """

    def __init__(
        self, name: str, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation, under: Conditions = ()
    ):
        if derivation.cases is not None:
            raise Missing("Cases")
        self.name, self.count = name, claim.rounds
        terms = [*_terms(claim), *_terms(derivation)]
        read = replace(setting, conditions=(*setting.conditions, *under))
        self.terms = RunTerms(setting, SettingParameters(read, terms, claim.rounds), claim.rounds)
        self.printed = claim
        self.claim: Claim = self.terms.rewritten(replace(claim, rounds=""))
        self.derivation: proofs.Derivation = self.terms.rewritten(derivation)
        self.setting = setting
        self.drawn = setting.draws.scheme != "everyone"
        self.lemmas: list[TheoremText] = []
        self.begun = self._first_state()
        self.used: dict[str, RunHypothesis] = {}  # by text
        # of any round, with all vectors
        nothing = Claim(number(0), "<=", number(0))
        named = self.terms.setting_for(self.claim, self.derivation).signs
        signs = {**setting.signs, **({INFIMUM: "real"} if INFIMUM in named else {})}
        known = replace(setting, signs=signs)
        self.master = TheoremText(name, known, nothing, proofs.Derivation((), self._invariants), under=under)
        self.round = self.master.round
        self.kept = kept_parts(self.round, self.derivation, self.claim)  # by the keys of their variables
        self.rounds = "rounds"

    @property
    def _invariants(self) -> tuple[tuple[str, Vector], ...]:
        return self.derivation.invariants

    def _first_state(self) -> tuple[tuple[str, Vector], ...]:
        """What the method's state is made of before the first round, from the server's point."""
        if Method.named(self.setting.method) is None:
            raise Missing("a round without a method")
        board = RoundBoard(self.terms.parameters, self._invariants)
        begun = board.round.method.initial_state(Vector("server", (0,)), lambda row: row)
        return (
            *((f"shared {n}", u) for n, u in begun.shared.items()),
            *((f"memory {n}", u) for n, u in begun.memory.items()),
        )

    def lemma(self, name: str, claim: Claim, lines: tuple[Any, ...], when: str = "round") -> TheoremText:
        """A lemma about one round, or about the moment at the start or at the end of the run."""
        setting = self.terms.setting_for(claim, lines, self.setting.initial_gap if when == "start" else ())
        if when != "round":  # of rounds before which the server's point is assumed to be so
            setting = replace(setting, dissimilarity=None, variance=None, large_gradient=None)
        if when != "start" or INFIMUM not in setting.signs:
            setting = replace(setting, initial_gap=None)
        invariants = self.begun if when == "start" else self._invariants
        made = TheoremText(
            f"{self.name}_{name}", setting, claim, proofs.Derivation(lines, invariants), at_start=when == "start"
        )
        self.lemmas.append(made)
        return made

    # ---- vectors of the run

    def key_of(self, name: str) -> str:
        """What the variable is."""
        return next(key for key, made in self.round.made.items() if made == Vector("variable", (name,)))

    def is_fixed(self, name: str) -> bool:
        """Whether the vector is the same in all rounds."""
        key = self.key_of(name)
        return key.startswith(FIXED) or key.removeprefix("next ") in self.kept

    def process(self, name: str) -> tuple[str, bool]:
        """The name of the vector in the run, and whether it is taken after the round."""
        key = self.key_of(name)
        if not key.startswith("next "):
            return name, False
        before = key.removeprefix("next ")
        sort, _, part = before.partition(" ")
        if sort in ("shared", "memory"):
            made = self.round.vector(Vector(sort, (part, 0)))
        else:
            made = self.round.vector(Vector("server" if before == "w" else "last answers", (0,)))
        return str(made.args[0]), True

    def in_round(self, name: str, moment: str) -> str:
        """The vector as an argument of a lemma about the round that follows this moment."""
        if self.is_fixed(name):
            return f"(always {name})" if self.drawn else self.process(name)[0]
        of, later = self.process(name)
        if self.drawn:
            return f"({'next' if later else 'now'} {of} {moment})"
        return f"({of} {f'(S {moment})' if later else moment})"

    def path_in_round(self, moment: str) -> str:
        """The points of any number of local steps, in the round that follows this moment."""
        assert self.round.path is not None
        if self.drawn:
            raise Missing("any number of local steps of drawn clients in a run")
        return f"({self.round.path.name} {moment})"

    def at(self, name: str, moment: str) -> str:
        """The vector itself; after the round in the outcome `o`."""
        if self.is_fixed(name):
            return self.process(name)[0]
        of, later = self.process(name)
        if not later:
            return f"({of} {moment})"
        return f"({of} (o :: {moment}))" if self.drawn else f"({of} (S {moment}))"

    def plain(self, moment: str, variables: dict[str, str] | None = None) -> Writer:
        """Writes terms at a moment; `variables` are names of another round, with those here."""
        names = {v: v for v in self.round.variables} if variables is None else variables
        texts = {v: self.at(mine, moment) for v, mine in names.items()}
        return Writer(texts, {**self.master.parameters, INFIMUM: INFIMUM}, "everyone")

    def as_claimed(self, of: Any) -> Any:
        """A term in the run's vectors, in the language of claims."""
        if type(of) not in (Vector, Number):
            return of
        if of.head != "variable":
            return type(of)(of.head, tuple(map(self.as_claimed, of.args)))
        sort, _, name = self.key_of(of.args[0]).partition(" ")
        match sort:
            case "w":
                return Vector("server", (0,))
            case "last":
                return Vector("last answers", (0,))
            case "minimiser" | "answers" | "solutions":
                return Vector(sort)
            case "free" | "family":
                return Vector(sort, (name,))
            case "shared" | "memory":
                return Vector(sort, (name, 0))
            case "proximal":
                return self.round.proximals[self.key_of(of.args[0])]
        raise Missing(f"the vector {of.args[0]} at the start")

    # ---- hypotheses

    def hypotheses_of(self, lemma: TheoremText, moment: str) -> list[str]:
        """The tactics that discharge the hypotheses of a lemma, in their order."""
        names = {v: self.round.same_as(lemma.round, v) for v in list(lemma.round.variables)}
        vectors = {v: self.in_round(mine, moment) for v, mine in names.items()}
        if lemma.round.path is not None:
            vectors[lemma.round.path.name] = self.path_in_round(moment)
        writer = Writer(vectors, lemma.parameters, lemma.draws, function="EF" if self.drawn else "F")
        found = ["first [assumption | lra]"] * len(lemma.hypotheses)
        for of in lemma.round_hypotheses(writer):
            found.append(self._discharged(lemma, of.name, of.text, names, moment))
        return found

    def _discharged(self, lemma: TheoremText, name: str, text: str, names: dict[str, str], moment: str) -> str:
        mine = {f"{v}{end}": own for v, own in names.items() for end in ("_shared", "_fixed", "_is", "_nearest")}
        own = mine.get(name, "")
        past = "past" if self.drawn else "j"
        if name == "objective_gap":  # about the minimiser, at any moment
            self._use(name, text)
            return f"exact {name}"
        if name.endswith("_is") and own and self.key_of(own).removeprefix("next ") in self.kept and not lemma.at_start:
            return "reflexivity"
        if name.endswith("_fixed") and own:
            return "apply fixed_always" if self.is_fixed(own) else "apply fixed_now"
        if name.endswith("_shared") and own:
            if self.is_fixed(own):
                self._use(f"{own}_shared", f"shared {own}")
                known = f"{own}_shared"
            else:
                of, _ = self.process(own)
                self._use(f"{of}_shared", f"forall {past}, shared ({of} {past})")
                known = f"({of}_shared {moment})"
            return f"exact (fun _ => {known})" if self.drawn else f"exact {known}"
        key = self.key_of(own) if own else ""
        if lemma.at_start:
            if key in dict(self.begun) or name in ("own_minima", "initial_gap"):
                called = f"start_{own}" if own else name
                self._use(called, text)
                return f"exact {called}"
        elif key in dict(self._invariants) or (key == "w" and "server" in dict(self._invariants)):
            return f"exact (always_{own} {moment} known)"
        if name.endswith("_nearest") and own:
            self._use(f"{own}_nearest", text)
            return f"exact {own}_nearest"
        if name in ("stationary", "lowest", "steps_number"):
            self._use(name, text)
            return f"exact {name}"
        if lemma.at_start:
            raise Missing(f"{name} at the start")
        if lemma.name.endswith("_end"):
            raise Missing(f"{name} after the last round")
        called = f"{own}_is" if own else name
        length = f"length {past}" if self.drawn else past
        self._use(called, f"forall {past}, ({length} < rounds)%nat -> {text}")
        return f"exact ({called} {moment} short)"

    def _use(self, name: str, text: str) -> None:
        known = self.used.setdefault(text, RunHypothesis(name, text, name))
        if known.name != name:
            raise Missing(f"two names of the hypothesis {name}")

    def applied(self, lemma: TheoremText, moment: str, before: str = "") -> tuple[str, str]:
        """The lemma at the vectors of this moment, and the tactics for its hypotheses."""
        tactics = self.hypotheses_of(lemma, moment)
        numbers = [before if p == BEFORE else text for p, text in lemma.parameters.items()]
        vectors = [self.in_round(self.round.same_as(lemma.round, v), moment) for v in sorted(lemma.round.variables)]
        if (path := lemma.round.path) is not None:
            vectors += [path.steps, self.path_in_round(moment)]
        arguments = ["V", *self.master.sets, "f", *numbers, *self.master.draw_names, *vectors, *(["_"] * len(tactics))]
        return f"{lemma.name} {' '.join(arguments)}", "; [" + " | ".join(tactics) + "]"
