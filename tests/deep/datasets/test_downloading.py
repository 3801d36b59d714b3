"""Downloads from a local server: a file is complete and has the published checksum, or is not kept."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_makers import images, packed, real, refused, tarred
from typer.testing import CliRunner

from fedconvex.commands.main import app
from fedconvex.deep.datasets import checksum, downloading, load_dataset, names
from fedconvex.deep.datasets.downloading import REMOTES, NotDownloaded, Remote, download

pytestmark = pytest.mark.beyond_core  # serves files from a thread

ROOT = Path(__file__).parents[3]
Files = dict[str, bytes]  # content by name


@dataclass
class Server:
    """What it has under which path, what was asked for, and what it does wrong."""

    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    fault: str = ""
    address: str = ""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    state = Server()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            content = state.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            if state.fault != "size unknown":
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if state.fault == "cut off" else content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as running:
        state.address = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield state
        running.shutdown()
        thread.join()


@pytest.fixture
def mnist(server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Two pairs of files that are published, and what they hold."""
    found = {}
    for split, n in (("train", 3), ("t10k", 2)):
        found[f"{split}-images-idx3-ubyte"] = packed(images(n))
        found[f"{split}-labels-idx1-ubyte"] = packed(np.arange(n, dtype=np.uint8))
    server.files = {f"/some/where/{name}.gz": gzip.compress(content) for name, content in found.items()}
    remotes = tuple(
        replace(
            remote, base=f"{server.address}/some/where/", sha256=hashlib.sha256(found[remote.name[:-3]]).hexdigest()
        )
        for remote in REMOTES["mnist"]
    )
    monkeypatch.setitem(REMOTES, "mnist", remotes)
    return found


@pytest.fixture
def cifar(server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """An archive with its members, and others that nobody asked for."""
    (remote,) = REMOTES["cifar10"]
    found = {name: bytes([i]) + images(3, 32, 32, seed=i).tobytes() for i, name in enumerate(remote.members)}
    packet = tarred({**found, "cifar-10-batches-bin/readme.html": b"x", "../../evil.txt": b"x"}, "w:gz")
    server.files = {"/cifar-10-binary.tar.gz": packet}
    md5 = hashlib.md5(packet).hexdigest()
    monkeypatch.setitem(REMOTES, "cifar10", (replace(remote, base=f"{server.address}/", md5=md5),))
    return found


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_what_is_fetched_is_loaded(mnist: Files, server: Server, tmp_path: Path) -> None:
    told: list[Any] = []
    done = download("mnist", tmp_path / "new" / "folder", progress=lambda *given: told.append(given))
    assert files(tmp_path / "new" / "folder") == {f"{name}.gz" for name in mnist}
    assert all("has the published checksum" in line for line in done)
    assert load_dataset("mnist", tmp_path / "new" / "folder", "test").labels.tolist() == [0, 1]
    size = len(server.files["/some/where/train-images-idx3-ubyte.gz"])
    assert told[:2] == [("train-images-idx3-ubyte.gz", 0, size), ("train-images-idx3-ubyte.gz", size, size)]


@pytest.mark.parametrize("kind", ["as fetched", "unpacked", "packed otherwise"])
def test_what_is_there_and_right_is_left_alone(mnist: Files, kind: str, server: Server, tmp_path: Path) -> None:
    for name, content in mnist.items():
        packing = {"as fetched": gzip.compress(content), "packed otherwise": gzip.compress(content, 1)}.get(
            kind, content
        )
        (tmp_path / (name if kind == "unpacked" else f"{name}.gz")).write_bytes(packing)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = download("mnist", tmp_path)
    assert all("was there already" in line for line in done)
    assert server.asked == []
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_only_what_is_missing_is_fetched(mnist: Files, server: Server, tmp_path: Path) -> None:
    name = next(iter(mnist))
    (tmp_path / name).write_bytes(mnist[name])
    download("mnist", tmp_path)
    assert len(server.asked) == 3
    assert not any(name in path for path in server.asked)


def test_another_file_under_the_name_is_not_replaced(mnist: Files, server: Server, tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"mine")
    with refused("train-images-idx3-ubyte", "is there already, and its SHA-256 is"):
        download("mnist", tmp_path)
    assert (tmp_path / "train-images-idx3-ubyte").read_bytes() == b"mine"
    assert server.asked == []


FAULTS = {
    "changed": "its SHA-256 is",
    "no gzip": "is not a gzip file, or a damaged one",
    "cut off": "ended after",
    "cut off, size unknown": "is not a gzip file, or a damaged one",
    "too large": "is larger than the published file",
    "missing": "HTTP Error 404: Not Found",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_the_published_file_is_not_kept(mnist: Files, fault: str, server: Server, tmp_path: Path) -> None:
    path = "/some/where/train-images-idx3-ubyte.gz"
    whole = server.files[path]
    if fault == "missing":
        del server.files[path]
    elif fault == "cut off":
        server.fault = fault
    else:
        changed = gzip.compress(gzip.decompress(whole)[:-1] + b"!")
        server.files[path] = {"changed": changed, "no gzip": b"<html>", "too large": bytes(2**24)}.get(
            fault, whole[:-9]
        )
        server.fault = "size unknown" if "unknown" in fault else ""
    with pytest.raises(NotDownloaded) as caught:
        download("mnist", tmp_path)
    assert FAULTS[fault] in str(caught.value)
    here = tmp_path / "train-images-idx3-ubyte.gz"
    assert f"Download {server.address}{path} by hand, or from a mirror, and put it at {here}" in str(caught.value)
    assert files(tmp_path) == set()


def test_an_interrupted_download_leaves_nothing(mnist: Files, tmp_path: Path) -> None:

    def interrupt(name: str, done: int, size: int | None) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download("mnist", tmp_path, progress=interrupt)
    assert files(tmp_path) == set()


def test_no_connection(mnist: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    remotes = tuple(replace(remote, base="http://127.0.0.1:9/") for remote in REMOTES["mnist"])  # nobody listens
    monkeypatch.setitem(REMOTES, "mnist", remotes)
    with pytest.raises(NotDownloaded, match=r"could not be downloaded: .*refused.*Download .* by hand.* put it at "):
        download("mnist", tmp_path)
    assert files(tmp_path) == set()


def test_an_archive_is_kept_and_its_members_unpacked(cifar: Files, server: Server, tmp_path: Path) -> None:
    download("cifar10", tmp_path / "a")
    assert files(tmp_path) == {"a", "a/cifar-10-binary.tar.gz", "a/cifar-10-batches-bin"} | {f"a/{n}" for n in cifar}
    for name, content in cifar.items():
        assert (tmp_path / "a" / name).read_bytes() == content
    assert load_dataset("cifar10", tmp_path / "a", "test").labels.tolist() == [5]
    again = download("cifar10", tmp_path / "a")
    assert len(again) == len(server.asked) == 1


def test_an_archive_that_was_fetched_by_hand_is_unpacked(cifar: Files, server: Server, tmp_path: Path) -> None:
    (tmp_path / "cifar-10-binary.tar.gz").write_bytes(server.files["/cifar-10-binary.tar.gz"])
    done = download("cifar10", tmp_path)
    assert server.asked == []
    assert len(done) == 1 + len(cifar)
    batch = tmp_path / next(iter(cifar))
    batch.write_bytes(b"mine")
    with refused("data_batch_1.bin", "it is not as in cifar-10-binary.tar.gz"):
        download("cifar10", tmp_path)
    assert batch.read_bytes() == b"mine"
    batch.unlink()
    assert len(download("cifar10", tmp_path)) == 2


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_mirror(mnist: Files, slash: str, server: Server, tmp_path: Path) -> None:
    server.files = {f"/other/{path.rpartition('/')[2]}": content for path, content in server.files.items()}
    download("mnist", tmp_path, f"{server.address}/other{slash}")
    assert len(files(tmp_path)) == 4
    assert all(path.startswith("/other/") for path in server.asked)


@pytest.mark.parametrize(
    "mirror", ["file:///etc", "/tmp", "ftp://example.org", "https://", "example.org", "http://[::1"]
)
def test_mirrors_that_are_no_addresses(mirror: str, tmp_path: Path) -> None:
    with refused(f"mirror = {mirror}", "is not a web address"):
        download("mnist", tmp_path, mirror)


@pytest.mark.parametrize("name", sorted(set(names()) - REMOTES.keys()))
def test_data_sets_without_an_address(name: str, tmp_path: Path) -> None:
    with refused(f"name = {name}", "needs no files" if name == "digits" else "has no stable address"):
        download(name, tmp_path / "folder")
    assert files(tmp_path) == set()


def test_wrong_names_and_folders(tmp_path: Path) -> None:
    with refused("name = minst", "did you mean mnist?"):
        download("minst", tmp_path)
    (tmp_path / "file").write_text("")
    with refused("file", "is not a folder and cannot be created"):
        download("mnist", tmp_path / "file")


def test_the_command(mnist: Files, tmp_path: Path) -> None:
    words = ["deep", "download", "mnist", "--data-dir", str(tmp_path)]
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    assert first.stdout.count("has the published checksum") == 4
    assert "train-images-idx3-ubyte.gz: 0.0 of 0.0 MB" in first.stderr
    assert CliRunner().invoke(app, words).stdout.count("was there already") == 4


@pytest.mark.parametrize(("name", "folder", "file"), [
    *(("mnist", "mnist", remote.name) for remote in REMOTES["mnist"]),
    ("shakespeare", "shakespeare", "tinyshakespeare.txt.gz"),
])  # fmt: skip
def test_published_sums_are_those_of_the_real_files(name: str, folder: str, file: str) -> None:
    (remote,) = (remote for remote in REMOTES[name] if remote.name in (file, file.removesuffix(".gz")))
    assert checksum(real(folder, file)) == remote.sha256


def test_nothing_else_can_fetch_anything() -> None:
    """No other module of the project imports a library that opens connections."""
    import ast

    opening = {"urllib.request", "urllib3", "http.client", "requests", "httpx", "socket", "ftplib", "aiohttp"}

    def found(text: str) -> set[str]:
        names: set[str] = set()
        if not any(name.partition(".")[0] in text for name in opening):
            return names  # parsing takes seconds
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return names & opening

    modules = [path for top in ("fedconvex", "theory", "deep", "proofs_checks") for path in (ROOT / top).rglob("*.py")]
    assert len(modules) > 100
    assert {path.resolve() for path in modules if found(path.read_text("utf-8"))} == {
        Path(downloading.__file__).resolve()
    }


def test_a_published_file_has_one_sum() -> None:
    remotes: list[Remote] = [remote for several in REMOTES.values() for remote in several]
    assert all((remote.sha256 is None) != (remote.md5 is None) for remote in remotes)
    assert all(remote.base.startswith("https://") and remote.base.endswith("/") for remote in remotes)
