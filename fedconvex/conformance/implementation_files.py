"""Implementations in Python files: `path/to/file.py:NAME`, loaded and checked.

The file is run, as Python runs any module that is imported: give only files that you trust.
"""

import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from fedconvex.conformance.check import check
from fedconvex.conformance.decorator import OPTIONS, functions_of
from fedconvex.conformance.guard import SECONDS, Guard, TimeIsUp, no_exit, seconds_of
from fedconvex.conformance.report import Report
from fedconvex.conformance.shapes import FUNCTIONS
from fedconvex.discovery import run_file
from fedconvex.errors import InvalidInput, short_text
from fedconvex.expressions import evaluate
from fedconvex.local_solvers import LOCAL_SOLVERS
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods import METHODS
from fedconvex.methods.base import Method
from fedconvex.names import suggestion

KINDS: dict[str, Any] = {
    **dict.fromkeys(("loss", "weights", "precision"), str),
    "shuffled": bool,
    "time_limit": (int, float),
}
SHAPE = "write FILE.py:NAME, the name of a class, object or function in the file"


def check_file(target: str, method: Any = None, **options: Any) -> Report:
    """Check the implementation that a Python file holds; what `fedconvex conform` and `pytest --conform` do.

    Use it in scripts that check many files; for functions that you have at hand, `check`.

    The class, object, dict or function has the functions of `check`, as for `conforms_to`. A class whose functions take
    `self` is called without arguments first. Its attributes `method` and `local_solver`, objects or
    text such as "FedDyn(alpha=0.1)", and those with the names of other options count where the arguments are None.

    Args:
        target: `path/to/file.py:NAME`. The file is run; its folder and the current one are searched for its imports.
        method, options: as in `check`; methods and local solvers also as text.

    Raises:
        InvalidInput: no such file or name; a file that cannot be run, with its error; no method; what `check` refuses.
    """
    if unknown := sorted(set(options) - set(OPTIONS)):
        raise InvalidInput(unknown[0], options[unknown[0]], "is no option of the check", f"give {', '.join(OPTIONS)}")
    path, name = _file_and_name(target)
    # the given texts are read first: the file may take long to run
    method, solver = _method(method), _solver(options.pop("local_solver", None))
    limit = options.get("time_limit")
    guard = Guard(seconds_of(SECONDS if limit is None else limit))
    with _importing_from(path.parent):
        found = _implementation(_module(path, guard), name, target, guard)
        functions = functions_of(found)
        chosen = {
            key: _of_kind(value, key) for key in OPTIONS if (value := _first(options.get(key), found, key)) is not None
        }
        chosen["local_solver"] = _solver(_first(solver, found, "local_solver"))
        method = _method(_first(method, found, "method"))
        if method is None:
            raise InvalidInput("method", None, f"is given neither with {name} nor in it", "pass --method METHOD(…)")
        return check(method, **functions, **chosen)


def _method(given: Any) -> Any:
    return method_from_text(given) if isinstance(given, str) else given


def _solver(given: Any) -> Any:
    return solver_from_text(given) if isinstance(given, str) else given


def _first(given: Any, implementation: Any, name: str) -> Any:
    """The given value; where it is None, that of the implementation."""
    if given is not None:
        return given
    if isinstance(implementation, Mapping):
        return implementation.get(name)
    try:
        return getattr(implementation, name, None)
    except (Exception, SystemExit) as error:  # a property of the user's
        problem = f"cannot be read: {type(error).__name__}: {short_text(str(error), 160)}"
        raise InvalidInput(name, type(implementation).__name__, problem, "assign the value") from error


def _of_kind(value: Any, name: str) -> Any:
    """The option, refused unless it is of its kind: an implementation may have something else under this name."""
    if isinstance(value, KINDS.get(name, object)):
        return value
    raise InvalidInput(name, value, "is no value of that option", f"rename that attribute, or pass {name}")


def _file_and_name(target: Any) -> tuple[Path, str]:
    file, separator, name = target.rpartition(":") if isinstance(target, str) else ("", "", "")
    if not separator or not name.isidentifier():
        raise InvalidInput("implementation", target, "names no implementation", SHAPE)
    try:
        is_file = Path(file).is_file()
    except ValueError:  # a null character
        is_file = False
    if not is_file or Path(file).suffix != ".py":
        raise InvalidInput("implementation", target, f"{short_text(file)} is no Python file", SHAPE)
    return Path(file).absolute(), name


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Run the block with imports from the folder and the current one, as a script has them.

    Modules that the block loads from the folder are forgotten after it: the next file may have a namesake beside it.
    """
    path, modules = list(sys.path), set(sys.modules)
    sys.path[:0] = [str(folder), str(Path.cwd())]
    try:
        with no_exit():
            yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).parent == folder:
                del sys.modules[name]


def _module(path: Path, guard: Guard) -> ModuleType:
    """The file, run as a module. Raises InvalidInput with the last line of the file's traceback."""
    try:
        with guard.watching():
            return run_file(path, f"conform_{path.stem}")
    except (Exception, SystemExit, TimeIsUp) as error:  # whatever the user's file raises is wrong input
        problem = f"cannot be run: {_last_line(error, path)}"
        raise InvalidInput("implementation", path, problem, "run it with Python alone first") from error


def _implementation(module: ModuleType, name: str, target: str, guard: Guard) -> Any:
    """The object of this name; of a class whose functions take `self`, an instance."""
    if not hasattr(module, name):
        known = [n for n, value in vars(module).items() if not n.startswith("_") and _can_be_checked(value, module)]
        cure = f"{suggestion(name, known)}name one of {', '.join(known)}"
        cure = cure if known else "assign the implementation to that name"
        raise InvalidInput("implementation", target, f"the file has no {name}", cure)
    found = getattr(module, name)
    if not isinstance(found, type) or not _takes_self(found):
        return found
    try:
        with guard.watching():
            return found()
    except (Exception, SystemExit, TimeIsUp) as error:
        problem = f"{name}() fails: {_last_line(error, Path(str(module.__file__)))}"
        cure = "give it defaults, or assign an object to a name in the file and name that"
        raise InvalidInput("implementation", target, problem, cure) from error


def _takes_self(kind: type) -> bool:
    functions = [inspect.getattr_static(kind, name, None) for name in FUNCTIONS]
    return any(next(iter(inspect.signature(f).parameters), "") == "self" for f in functions if inspect.isfunction(f))


def _can_be_checked(value: Any, module: ModuleType) -> bool:
    """Whether the value has the functions, or is a function of the file itself."""
    if isinstance(value, Mapping):
        return any(name in value for name in FUNCTIONS)
    own = inspect.isfunction(value) and value.__module__ == module.__name__
    return own or (not isinstance(value, ModuleType) and any(hasattr(value, name) for name in FUNCTIONS))


def _last_line(error: BaseException, path: Path) -> str:
    """The error as the last line of its traceback, with the line of the file where it comes from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines = [error.lineno]
    where = f" (line {lines[-1]})" if lines else ""
    if isinstance(error, TimeIsUp):
        return f"it takes longer than its time limit{where}"
    return f"{type(error).__name__}: {short_text(str(error), 160)}{where}"


LONGEST_TEXT = 2000  # characters; Python's parser needs much memory for long nested texts
METHOD_EXAMPLE, SOLVER_EXAMPLE = "FedDyn(alpha=0.1)", "GradientDescent(steps=5, stepsize=0.1)"


def method_from_text(text: Any, argument: str = "method") -> Method:
    """The method that a text such as `Scaffold(stepsize=1/10, local_steps=5)` names.

    Use it for texts from the command line and from files: Python's parser reads them, and only the package's methods
    and local solvers are called, with numbers and words.

    Raises:
        InvalidInput: another expression, an unknown method, missing or wrong parameters.
    """
    found = _value(text, argument, METHOD_EXAMPLE)
    if not isinstance(found, Method):
        raise InvalidInput(argument, text, "is not a method with its parameters", f"write such as {METHOD_EXAMPLE}")
    return found


def solver_from_text(text: Any, argument: str = "local_solver") -> LocalSolver:
    """The local solver that a text such as `GradientDescent(steps=5, stepsize=0.1)` names; as `method_from_text`."""
    found = _value(text, argument, SOLVER_EXAMPLE)
    if not isinstance(found, LocalSolver):
        raise InvalidInput(argument, text, "is not a local solver", f"write such as {SOLVER_EXAMPLE}")
    return found


def _value(text: Any, argument: str, example: str) -> Any:
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise InvalidInput(argument, text, "is not a short text", f"write such as {example}")
    return evaluate(text.strip(), {**METHODS, **LOCAL_SOLVERS}, argument, example)
