"""What `load_dataset` and its messages need to know about a data set beside the function that reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from fedconvex.deep.datasets.dataset import Dataset


@final
@dataclass(frozen=True)
class Loader:
    """A data set by name. A module of `fedconvex/deep/datasets` lists those that it reads in its tuple `LOADERS`.

    Args:
        load: reads the data set; its name is the data set's name, its first argument the folder or file to read. An
            argument `split` is the part to read, train or test.
        files: what the folder or file must be, for messages: "a LIBSVM file"; empty where `load` reads no files.
        origin: who publishes the files, for messages.
        has_test_files: whether `load(…, split="test")` reads test samples that the publisher has set apart.
    """

    load: Callable[..., Dataset]
    files: str
    origin: str
    has_test_files: bool = False

    @property
    def name(self) -> str:
        """The name that `load_dataset` takes."""
        return self.load.__name__
