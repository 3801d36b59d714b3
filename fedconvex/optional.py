"""Optional libraries, each in an extra of the package: asked for before any work, and named where one is missing."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from fedconvex.errors import MissingLibrary

# Library -> extra; pyproject.toml says what each extra is for.
EXTRAS = {"pyarrow": "parquet", "numba": "compiled", "latex2mathml": "documents", "pylatexenc": "documents"}


def is_installed(library: str) -> bool:
    """Whether the library can be imported here."""
    try:
        import_module(library)
    except ImportError:
        return False
    return True


def version_of(library: str) -> str:
    """The installed version; "none" of a library that is not installed, which is as good a version to compare."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"


def require_library(library: str, purpose: str) -> None:
    """Raises MissingLibrary where the library is not installed; `purpose` begins its message, such as "a sweep"."""
    if not is_installed(library):
        raise MissingLibrary(library, purpose, EXTRAS[library])
