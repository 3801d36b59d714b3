"""The grid of a sweep, methods × problems × seeds: checks the arguments and lists the runs before any starts."""

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, TypeVar, final

from fedconvex import arithmetic as arithmetics
from fedconvex.errors import InvalidInput
from fedconvex.fingerprints import fingerprint
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.names import suggestion
from fedconvex.optional import version_of
from fedconvex.participation import Participation, Stragglers
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.runs.checkpoints import libraries_of
from fedconvex.runs.simulation import simulate
from fedconvex.validation import instance_of, integer_at_least, random_seed

T = TypeVar("T")
LARGEST_SEED = 2**63 - 1  # the table has the seeds as a column of 64-bit integers
# Parameters of `simulate` that a sweep does not take as options, since it sets them itself or they fit one run only.
GIVEN_BY_THE_GRID = ("method", "problem", "rounds", "seed", "progress")
OF_SINGLE_RUNS = ("checkpoint", "checkpoint_every", "exactly")


@final
@dataclass(frozen=True)
class Setting:
    """A method with a participation scheme, local solver or stragglers of its own in a sweep.

    Use it to compare one method under several schemes, or methods each with its own solver. None: the sweep's option.

    Raises InvalidInput if `method` is not a method, or another field not what it says.
    """

    method: Method
    participation: Participation | None = None
    local_solver: LocalSolver | None = None
    stragglers: Stragglers | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise InvalidInput("method", self.method, "is not a method", "give for example fedconvex.FedProx(mu=1)")
        kinds = {"participation": Participation, "local_solver": LocalSolver, "stragglers": Stragglers}
        for name, kind in kinds.items():
            if (value := getattr(self, name)) is not None:
                instance_of(value, kind, name, f"a {kind.__name__}", "leave it out, or give one")

    @property
    def options(self) -> dict[str, Any]:
        """The options of `simulate` that this setting fixes."""
        return {f.name: v for f in fields(self) if f.name != "method" and (v := getattr(self, f.name)) is not None}


@final
@dataclass(frozen=True, eq=False)
class Cell:
    """One run of the grid: everything that determines it, except the problem itself, which `Grid.problems` has."""

    method: str  # its name in the table
    problem: str  # its name in the table
    seed: int
    algorithm: Method
    rounds: int
    options: Mapping[str, Any]
    key: str  # fingerprint of everything that the run depends on

    def __str__(self) -> str:
        return f"{self.method} on {self.problem}, seed {self.seed}"


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """All runs in the order of the table, and the problems by name."""

    cells: tuple[Cell, ...]
    problems: Mapping[str, Problem | CompositeProblem]
    problem_keys: Mapping[str, str]

    @cached_property
    def key(self) -> str:
        """Fingerprint of all runs and their order."""
        return fingerprint([cell.key for cell in self.cells])

    def by_problem(self, done: Iterable[str]) -> list[Cell]:
        """The cells whose keys are not in `done`, sorted by problem.

        Runs of the same problem follow one another, so that a process computes its minimiser and constants only once.
        """
        finished, place = set(done), {name: i for i, name in enumerate(self.problems)}
        return sorted((c for c in self.cells if c.key not in finished), key=lambda cell: place[cell.problem])


def make_grid(methods: Any, problems: Any, seeds: Any, rounds: Any, options: Mapping[str, Any]) -> Grid:
    """The grid of a sweep, see `fedconvex.sweep` for its arguments.

    Raises InvalidInput for an argument that is not a method, problem, seed or option, and for names that repeat.
    """
    rounds = integer_at_least(rounds, 0, "rounds")
    settings = {name: _setting(name, value) for name, value in _named(methods, "methods").items()}
    named_problems = _named(problems, "problems")
    for name, problem in named_problems.items():
        if not isinstance(problem, Problem | CompositeProblem) or not is_dataclass(problem):
            cure = "give for example fedconvex.LeastSquares(A=…, b=…); problems of your own are frozen dataclasses"
            raise InvalidInput(f"problems[{name!r}]", problem, "is not a problem", cure)
    numbers = _seeds(seeds)
    common = _options(options)
    # once per problem: hashing the data takes longer than the rest of the grid
    problem_keys = {name: fingerprint(problem, f"problems[{name!r}]") for name, problem in named_problems.items()}
    if any(isinstance(problem, CompositeProblem) for problem in named_problems.values()):
        for setting in settings.values():  # before any run, as for all arguments
            setting.method.require_prox(setting.options.get("local_solver") or setting.method.local_solver)
    cells = []
    for name, setting in settings.items():
        own = common | setting.options
        # library versions are part of the key: an upgrade may change the last digits of a run
        versions = {library: version_of(library) for library in libraries_of(own.get("arithmetic", "float"))}
        run = {"method": setting.method, "rounds": rounds, "options": _unlike_defaults(own), "versions": versions}
        run_key = fingerprint(run, f"methods[{name!r}]")
        for problem_name, problem_key in problem_keys.items():
            for seed in numbers:
                key = fingerprint([name, run_key, problem_name, problem_key, seed])
                cells.append(Cell(name, problem_name, seed, setting.method, rounds, own, key))
    return Grid(tuple(cells), named_problems, problem_keys)


def _setting(name: str, value: Any) -> Setting:
    if isinstance(value, Setting):
        return value
    if isinstance(value, Method):
        return Setting(value)
    cure = "give for example fedconvex.FedProx(mu=1), or a Setting of a method and its participation"
    if isinstance(value, Problem | CompositeProblem):
        cure = "the order is sweep(methods, problems, …)"
    raise InvalidInput(f"methods[{name!r}]", value, "is not a method", cure)


def _named(values: Any, argument: str) -> dict[str, Any]:
    """The values by name; the members of a list, or a single value, are named by their repr."""
    if isinstance(values, Method | Setting | Problem | CompositeProblem):
        values = [values]
    if isinstance(values, Mapping):
        for name in values:
            if not isinstance(name, str):
                raise InvalidInput(f"a name in {argument}", name, "is not text", f"give {argument} = {{'name': …}}")
        named = dict(values)
    elif isinstance(values, Sequence) and not isinstance(values, str):
        names = [repr(v.method if isinstance(v, Setting) and not v.options else v) for v in values]
        _require_unique(names, argument, f"give a mapping {argument} = {{'name': …}}")
        named = dict(zip(names, values, strict=True))
    else:
        raise InvalidInput(argument, values, "is no collection", f"give {argument} = {{'name': …}} or a list")
    if not named:
        raise InvalidInput(argument, values, "is empty", "give at least one")
    return named


def _seeds(seeds: Any) -> list[int]:
    try:
        given = list(seeds)
    except TypeError:
        raise InvalidInput("seeds", seeds, "is no collection", "give for example range(5)") from None
    numbers = [random_seed(seed, f"seeds[{i}]") for i, seed in enumerate(given)]
    for i, seed in enumerate(numbers):
        if seed > LARGEST_SEED:
            raise InvalidInput(f"seeds[{i}]", seed, "is too large for a table", f"give at most {LARGEST_SEED}")
    if not numbers:
        raise InvalidInput("seeds", seeds, "is empty", "give at least one, for example (0,)")
    _require_unique(numbers, "seeds", "give each seed once")
    return numbers


def _require_unique(values: Sequence[T], argument: str, cure: str) -> None:
    value, times = Counter(values).most_common(1)[0] if values else (None, 0)
    if times > 1:
        raise InvalidInput(argument, value, f"is there {times} times", cure)


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of all runs without those that are None, the default of every option of `simulate`."""
    for name in options:
        if name in OF_SINGLE_RUNS:
            raise InvalidInput(name, options[name], "belongs to a single run", "give out: a sweep resumes run by run")
        if name in GIVEN_BY_THE_GRID or name not in _parameters():
            known = [p for p in _parameters() if p not in GIVEN_BY_THE_GRID + OF_SINGLE_RUNS]
            guess = suggestion(name, (*known, "out", "jobs", "client", "progress"))
            cure = f"{guess}choose from {', '.join(known)}"
            raise InvalidInput(name, options[name], "is no option of a sweep's runs", cure)
    given = {name: value for name, value in options.items() if value is not None}
    if "arithmetic" in given:
        arithmetics.get(given["arithmetic"])
    return given


def _unlike_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the defaults: passing a default explicitly must not change a run's key."""

    defaults = {name: parameter.default for name, parameter in _parameters().items()}
    return {n: v for n, v in options.items() if fingerprint(v, n) != fingerprint(defaults[n], n)}


def _parameters() -> Mapping[str, inspect.Parameter]:
    return inspect.signature(simulate).parameters
