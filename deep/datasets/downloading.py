"""Download of data sets with a stable address: for `fedconvex deep download`; no other module opens a connection.

A file is received beside its destination, compared with the published checksum, and only then renamed: a file in place
is complete and is the published one. A file of the user's is never replaced.

Python's own `urllib` does this, rather than the library pooch, for four reasons. pooch compares the bytes of the
downloaded file, but copies of MNIST differ in their compression, and only their content has a published checksum. pooch
replaces an existing file that differs. It has no limit on the size that a server may send. And it leaves files
readable for their owner alone, which is wrong for a shared data folder.
"""

import hashlib
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO, final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from fedconvex.atomic_files import remove_leftovers, replacing, write_atomically
from fedconvex.data.file_contents import CHUNK
from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.mnist import MNIST_SUMS
from fedconvex.deep.datasets.reading import checksum
from fedconvex.deep.datasets.registry import DATASETS, WITHOUT_FILES
from fedconvex.errors import FedconvexError, InvalidInput

TIMEOUT = 60.0  # seconds without a byte

Progress = Callable[[str, int, int | None], None]


class NotDownloaded(FedconvexError):
    """A file could not be downloaded, or is not the published one; nothing of it was kept."""


@final
@dataclass(frozen=True)
class Remote:
    """A published file: its address base + path, its name here, its checksum, and a bound that its size is below.

    sha256 is of the uncompressed content; md5, where the authors publish no better checksum, is of the file itself. A
    file with `members` is a tar archive; it is kept beside its members, which are compared with it in later calls.
    """

    base: str
    path: str
    name: str
    too_large: int
    sha256: str | None = None
    md5: str | None = None
    members: tuple[str, ...] = ()

    def require(self, file: Path) -> None:
        """Raise NotDownloaded if the file's checksum is not the published one."""
        if self.sha256 is not None:
            kind, published, found = "SHA-256", self.sha256, checksum(file)
        else:
            with file.open("rb") as stream:
                kind, published, found = "MD5", str(self.md5), hashlib.file_digest(stream, "md5").hexdigest()
        if found != published:
            raise NotDownloaded(f"its {kind} is {found}, that of the published file is {published}")


MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
CIFAR = "https://www.cs.toronto.edu/~kriz/"
# A commit, not a branch: the file at this address never changes.
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
    name: str, folder: Path, mirror: str | None = None, progress: Progress = lambda name, done, size: None
) -> list[str]:
    """Download the files of a data set into the folder, and return one line per file that says what was done.

    Use it once per data set, before `load_dataset`, which never downloads. Data sets without a stable address must be
    fetched by hand.

    Args:
        folder: created if it does not exist. Files in it that are the published ones are left as they are.
        mirror: the address of a folder with the same file names, instead of the usual one.
        progress: called with a file's name, the number of bytes received, and its size if the server announces one.

    Raises:
        InvalidInput: a data set without a stable address (the error says from where to get its files), another file
            under the name of a published one, a mirror that is not a web address, a folder that cannot be created.
        NotDownloaded: no connection, an answer that is not a file, a file that is not the published one.
    """
    one_of(name, DATASETS, "name")
    if name in WITHOUT_FILES:
        raise InvalidInput("name", name, "needs no files", "use it as it is")
    if name not in REMOTES:
        cure = f"get {DATASETS[name].files} from {DATASETS[name].origin}, and give that as data_dir"
        raise InvalidInput("name", name, "has no stable address to download its files from", cure)
    if mirror is not None and not _is_address(mirror):
        raise InvalidInput("mirror", mirror, "is not a web address", "give one such as https://example.org/mnist")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
    except OSError as error:
        raise bad_file(
            folder, f"is not a folder and cannot be created: {error.strerror}", "give another folder"
        ) from None
    done = []
    for remote in REMOTES[name]:
        here = folder / remote.name
        if _is_there(remote, here):
            done.append(f"{here} was there already")
        else:
            _fetch(remote, _address(remote, mirror), here, progress)
            done.append(f"{here} has the published checksum")
        done += _unpack(here, folder, remote.members)
    return done


def _is_address(text: str) -> bool:
    """Return whether the text is an address of the web; `urlopen` would also open others, such as file:."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _address(remote: Remote, mirror: str | None) -> str:
    return remote.base + remote.path if mirror is None else f"{mirror.rstrip('/')}/{remote.path.rpartition('/')[2]}"


def _is_there(remote: Remote, here: Path) -> bool:
    """Return whether the file exists; raise InvalidInput for another file of that name, which must not be replaced."""
    # The checksum of uncompressed content holds for the plain and the gzipped file alike; the loaders read either.
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


def _fetch(remote: Remote, address: str, here: Path, progress: Progress) -> None:
    try:
        with replacing(here) as file:
            _receive(address, file, remote.too_large, lambda received, size: progress(here.name, received, size))
            try:
                remote.require(Path(file.name))
            except InvalidInput:
                raise NotDownloaded("is not a gzip file, or a damaged one") from None
    except NotDownloaded as error:
        raise NotDownloaded(f"{address}: {error}; nothing was kept. {_by_hand(remote, here)}") from None
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        reason = error.reason if isinstance(error, URLError) and not isinstance(error, HTTPError) else error
        raise NotDownloaded(f"{address} could not be downloaded: {reason}. {_by_hand(remote, here)}") from None


def _by_hand(remote: Remote, here: Path) -> str:
    further = ", and run this once more to unpack it" if remote.members else ""
    return f"Download {remote.base}{remote.path} by hand, or from a mirror, and put it at {here}{further}"


def _receive(address: str, out: BinaryIO, too_large: int, progress: Callable[[int, int | None], None]) -> None:
    with urlopen(address, timeout=TIMEOUT) as answer:
        announced = answer.headers.get("Content-Length", "")
        size, done = int(announced) if announced.isdecimal() else None, 0
        progress(0, size)
        while piece := answer.read(CHUNK):
            done += len(piece)
            if done >= too_large:
                raise NotDownloaded(f"is larger than the published file, which has less than {too_large} bytes")
            out.write(piece)
            progress(done, size)
        if size is not None and done < size:  # http.client ends a shortened answer without an error
            raise NotDownloaded(f"ended after {done} of {size} bytes")
        out.flush()  # for whoever reads the file by its name


def _unpack(archive: Path, folder: Path, members: Sequence[str]) -> list[str]:
    """Write the members of the archive to the folder, except those that exist with the same content."""
    done = []
    if members:
        with tarfile.open(archive, "r:gz") as packed:
            for name in members:  # only these names: others could lead outside the folder
                stream = packed.extractfile(name)
                assert stream is not None  # an archive with this checksum contains them
                content, place = stream.read(), folder / name
                if place.exists():
                    if not place.is_file() or place.read_bytes() != content:
                        raise _another(place, f"it is not as in {archive.name}")
                    continue
                place.parent.mkdir(exist_ok=True)
                write_atomically(place, content)
                done.append(f"{place} was unpacked")
    return done
