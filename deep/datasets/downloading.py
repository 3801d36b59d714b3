"""Fetching the files of a data set on request: `fedconvex deep download` calls this, and nothing else fetches anything.

A file is written beside its place, compared with the published sum, and renamed: what is there is whole and right.
"""

import hashlib
import os
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from fedconvex.atomic_files import write_atomically
from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.checksums import checksum
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.mnist import MNIST_SUMS
from fedconvex.deep.datasets.reading import CHUNK
from fedconvex.deep.datasets.registry import DATASETS, WITHOUT_FILES
from fedconvex.errors import FedconvexError, InvalidInput

SECONDS = 60.0  # without a byte

Tell = Callable[[str, int, int | None], None]


class NotDownloaded(FedconvexError):
    """A file could not be fetched, or what came is not the published file; nothing of it was kept."""


@final
@dataclass(frozen=True)
class Remote:
    """A published file: where it is, how it is called here, its sum, and the size in bytes that it cannot have.

    sha256 is of the uncompressed content, md5 (as its authors publish it) of the file itself. What has `members` is a
    tar archive, which stays in the folder as what its members are compared with.
    """

    base: str
    path: str
    name: str
    too_large: int
    sha256: str | None = None
    md5: str | None = None
    members: tuple[str, ...] = ()

    def sum_of(self, file: Path) -> tuple[str, str]:
        """The kind of sum that is published, and the file's."""
        if self.sha256 is not None:
            return "SHA-256", checksum(file)
        with file.open("rb") as stream:
            return "MD5", hashlib.file_digest(stream, "md5").hexdigest()

    def require(self, file: Path) -> None:
        """Raises NotDownloaded where the file is another one."""
        kind, found = self.sum_of(file)
        wanted = self.sha256 or self.md5
        if found != wanted:
            raise NotDownloaded(f"its {kind} is {found}, that of the published file is {wanted}")


MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
CIFAR = "https://www.cs.toronto.edu/~kriz/"
CHAR_RNN = "https://raw.githubusercontent.com/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/"
REMOTES: dict[str, tuple[Remote, ...]] = {
    "mnist": tuple(Remote(MNIST, f"{name}.gz", f"{name}.gz", 2**24, sha256=sum) for name, sum in MNIST_SUMS.items()),
    "cifar10": (
        Remote(
            CIFAR, "cifar-10-binary.tar.gz", "cifar-10-binary.tar.gz", 2**28, md5="c32a1d4ab5d03f1284b67883e8d87530",
            members=tuple(f"cifar-10-batches-bin/{batch}.bin" for batch in (
                *(f"data_batch_{i}" for i in range(1, 6)), "test_batch"
            )),
        ),
    ),
    "cifar100": (
        Remote(
            CIFAR, "cifar-100-binary.tar.gz", "cifar-100-binary.tar.gz", 2**28, md5="03b5dce01913d631647c71ecec9e9cb8",
            members=("cifar-100-binary/train.bin", "cifar-100-binary/test.bin"),
        ),
    ),
    "shakespeare": (
        Remote(
            CHAR_RNN, "data/tinyshakespeare/input.txt", "tinyshakespeare.txt", 2**22,
            sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        ),
    ),
}  # fmt: skip


def download(
    name: str, folder: Path, mirror: str | None = None, tell: Tell = lambda name, done, size: None
) -> list[str]:
    """Puts the files of a data set into the folder, and says of each what was done.

    Args:
        folder: made where it is not there. Files that are there and right are left as they are.
        mirror: the address of a folder that has the files under their own names, instead of the usual one.
        tell: is called with a file's name, the bytes so far, and how many it has if that is known.

    Raises:
        InvalidInput: a data set that has no stable address (saying where its files can be had), another file under the
            name of a published one, a mirror that is no address, a folder that is none.
        NotDownloaded: no connection, an answer that is no file, a file that is not the published one.
    """
    one_of(name, DATASETS, "name")
    if name in WITHOUT_FILES:
        raise InvalidInput("name", name, "needs no files", "use it as it is")
    if name not in REMOTES:
        cure = f"get {DATASETS[name].files} from {DATASETS[name].origin}, and give that as data_dir"
        raise InvalidInput("name", name, "has no stable address that its files could be fetched from", cure)
    if mirror is not None and not _is_address(mirror):
        raise InvalidInput("mirror", mirror, "is no address", "give such as https://example.org/mnist")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise bad_file(folder, f"is no folder and cannot be made: {error.strerror}", "give another folder") from None
    done = []
    for remote in REMOTES[name]:
        here = folder / remote.name
        if _is_there(remote, here):
            done.append(f"{here} was there already")
        else:
            _fetch(remote, _address(remote, mirror), here, tell)
            done.append(f"{here} has the published sum")
        done += _unpack(here, folder, remote.members)
    return done


def _is_address(text: str) -> bool:
    """Of the web: others, such as file:, would be opened too."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _address(remote: Remote, mirror: str | None) -> str:
    return remote.base + remote.path if mirror is None else f"{mirror.rstrip('/')}/{remote.path.rpartition('/')[2]}"


def _is_there(remote: Remote, here: Path) -> bool:
    """Raises InvalidInput for another file: it is not for us to replace."""
    plain = here.with_name(here.name.removesuffix(".gz"))
    for place in (plain, plain.with_name(f"{plain.name}.gz")) if remote.sha256 else (here,):
        if place.exists():
            try:
                remote.require(place)
            except NotDownloaded as error:
                raise _another(place, str(error)) from None
            return True
    return False


def _another(place: Path, problem: str) -> InvalidInput:
    return bad_file(place, f"is there already, and {problem}", "move it away, and try again")


def _fetch(remote: Remote, address: str, here: Path, tell: Tell) -> None:
    try:
        with tempfile.TemporaryDirectory(dir=here.parent, prefix=f".{here.name}.") as beside:
            file = Path(beside, here.name)
            _receive(address, file, remote.too_large, lambda so_far, size: tell(here.name, so_far, size))
            try:
                remote.require(file)
            except InvalidInput:
                raise NotDownloaded("is no gzip file, or a damaged one") from None
            os.replace(file, here)
    except NotDownloaded as error:
        raise NotDownloaded(f"{address}: {error}; nothing was kept. {_by_hand(remote, here)}") from None
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        reason = error.reason if isinstance(error, URLError) and not isinstance(error, HTTPError) else error
        raise NotDownloaded(f"{address} could not be fetched: {reason}. {_by_hand(remote, here)}") from None


def _by_hand(remote: Remote, here: Path) -> str:
    further = ", and run this once more to unpack it" if remote.members else ""
    return f"Fetch {remote.base}{remote.path} by hand, or from a mirror, and put it at {here}{further}"


def _receive(address: str, file: Path, too_large: int, tell: Callable[[int, int | None], None]) -> None:
    with urlopen(address, timeout=SECONDS) as answer, file.open("wb") as out:
        said = answer.headers.get("Content-Length", "")
        size, done = int(said) if said.isdecimal() else None, 0
        tell(0, size)
        while piece := answer.read(CHUNK):
            done += len(piece)
            if done >= too_large:
                raise NotDownloaded(f"is larger than the published file, which has less than {too_large} bytes")
            out.write(piece)
            tell(done, size)
        if size is not None and done < size:
            raise NotDownloaded(f"ended after {done} of {size} bytes")
        out.flush()
        os.fsync(out.fileno())


def _unpack(archive: Path, folder: Path, members: Sequence[str]) -> list[str]:
    """Writes those members of the archive to the folder that are not there."""
    done = []
    if members:
        with tarfile.open(archive, "r:gz") as packed:
            for name in members:  # these names alone, whatever others the archive has
                stream = packed.extractfile(name)
                assert stream is not None  # an archive with this sum has them
                content, place = stream.read(), folder / name
                if place.exists():
                    if not place.is_file() or place.read_bytes() != content:
                        raise _another(place, f"it is not as in {archive.name}")
                    continue
                place.parent.mkdir(exist_ok=True)
                write_atomically(place, content)
                done.append(f"{place} was unpacked")
    return done
