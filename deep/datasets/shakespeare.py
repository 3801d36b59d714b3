"""Next-character prediction on Shakespeare's plays, one client per speaking role."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.characters import CHARACTERS, character_numbers, windows
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.dataset import Dataset, consecutive_rows
from fedconvex.deep.datasets.leaf import SUFFIXES, clients_of, json_files, read_leaf_json
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.plays import ORIGIN, read_plays
from fedconvex.deep.datasets.reading import Checksums, require_checksums
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least, random_seed

# Keys of independent random streams, so that drawing more windows for training leaves those for testing unchanged.
PARTS = {"train": 1, "test": 2}
CHOICE_OF_ROLES = 3


class RoleTexts(NamedTuple):
    """Names of roles, their texts as character numbers, and how many of each text's characters are for training."""

    names: list[str]
    texts: list[np.ndarray]
    borders: list[int]


def shakespeare(
    path: str | os.PathLike[str],
    split: str | None = None,
    *,
    seq_length: int = 80,
    min_characters: int = 0,
    samples_per_client: int | None = None,
    num_clients: int | None = None,
    test_fraction: float = 0.2,
    seed: int = 0,
    sha256: Checksums = None,
) -> Dataset:
    """Read plays as windows of character numbers, int64 (N, seq_length); labels are the next characters, 80 classes.

    Use it for FedProx's and FedDyn's experiments on text with natural clients, with the model `character_lstm`.

    The speeches of a role, joined, are one text, in which every run of white space is one space; each of its
    n − seq_length windows is a sample. Characters outside LEAF's alphabet of 80 become its last, see
    `character_numbers`. Clients are the roles, named play/ROLE.

    Args:
        path: plays as text, see `read_plays`; or LEAF's JSON files, see below.
        split: None: everything; `train`: the first 1 − test_fraction of every role's characters, `test`: the others. No
            window crosses the border. A role is kept if both parts have windows.
        min_characters: leave out roles with less text.
        samples_per_client: keep so many consecutive windows per role, from a random position, and test_fraction times
            as many of the test part; roles with too few are left out. FedDyn: 2000 (and 400 for testing).
        num_clients: keep so many roles, drawn at random. FedDyn: 100.
        seed: of the positions and the roles; the same roles are drawn for train and test.
        sha256: expected checksum of the file, or checksums by file name.

    LEAF's JSON contains the windows themselves; then split names a folder in `path`, seq_length must be that of the
    file, and all other arguments but sha256 are ignored.

    Raises InvalidInput. Source: Caldas et al., "LEAF" (2018), after McMahan et al. (2017); FedDyn, appendix A.2. The
    paper uses another edition of the plays, so its roles and counts are only similar.
    """
    seq_length = integer_at_least(seq_length, 1, "seq_length")
    place = Path(path)
    if place.name.lower().endswith(SUFFIXES) or _has_json(place, split):
        return _from_json(place, split, seq_length, sha256)
    if split is not None:
        one_of(split, PARTS, "split")
    if place.is_file() or sha256 is not None:
        require_checksums([place] if place.is_file() else sorted(place.glob("*.txt*")), sha256)
    min_characters = integer_at_least(min_characters, 0, "min_characters")
    roles = _roles(place, min_characters, None if split is None else test_fraction)
    train, test = _windows_needed(samples_per_client, split, test_fraction)
    roles = _with_enough(roles, split, seq_length, train, test)
    if not roles.names:
        problem = f"no role has the {max(train, 1)} windows of {seq_length} characters that are needed"
        raise bad_file(place, problem + (" and those for testing" if split else ""), "take fewer or shorter ones")
    if num_clients is not None:
        roles = _draw_roles(roles, integer_at_least(num_clients, 1, "num_clients"), seed)
    inputs, labels, counts = _samples(
        roles, split, seq_length, None if samples_per_client is None else (train, test), seed
    )
    clients = consecutive_rows(roles.names, counts)
    source = f"Shakespeare {place.name}" + (f" {split}" if split else "")
    return Dataset(inputs, labels, len(CHARACTERS), source, clients)


def _has_json(place: Path, split: str | None) -> bool:
    folder = place / split if split is not None and (place / split).is_dir() else place
    return folder.is_dir() and any(path.name.lower().endswith(SUFFIXES) for path in folder.iterdir())


def _roles(place: Path, min_characters: int, test_fraction: float | None) -> RoleTexts:
    roles = RoleTexts([], [], [])
    for (play, role), speeches in read_plays(place).items():
        numbers = character_numbers(" ".join(" ".join(speeches).split()))  # one space for every run of white space
        if len(numbers) >= min_characters:
            roles.names.append(f"{play}/{role}")
            roles.texts.append(numbers)
            held_out = 0 if test_fraction is None else _test_share(len(numbers), test_fraction)
            roles.borders.append(len(numbers) - held_out)
    return roles


def _test_share(total: int, test_fraction: float) -> int:
    """Return test_fraction · total, rounded to the nearest integer, halves up: exactly, so never one too many."""
    fraction = to_fraction(test_fraction, "test_fraction")
    if not 0 < fraction < 1:
        problem = "must leave every role text for training and for testing"
        raise InvalidInput("test_fraction", test_fraction, problem, "give 0 < test_fraction < 1")
    return int(total * fraction + to_fraction(0.5))


def _windows_needed(samples_per_client: int | None, split: str | None, test_fraction: float) -> tuple[int, int]:
    """Return how many windows the training and the test part of a role must have for it to be kept."""
    if samples_per_client is None:
        return 1, int(split is not None)
    train = integer_at_least(samples_per_client, 1, "samples_per_client")
    return train, 0 if split is None else max(_test_share(train, test_fraction), 1)


def _with_enough(roles: RoleTexts, split: str | None, seq_length: int, train: int, test: int) -> RoleTexts:
    kept = [
        (name, text, border)
        for name, text, border in zip(*roles, strict=True)
        if border - seq_length >= train and (split is None or len(text) - border - seq_length >= test)
    ]
    return RoleTexts(*(list(column) for column in zip(*kept, strict=True))) if kept else RoleTexts([], [], [])


def _draw_roles(roles: RoleTexts, num_clients: int, seed: int) -> RoleTexts:
    available = len(roles.names)
    if num_clients > available:
        problem = f"only {available} roles have enough text"
        raise InvalidInput("num_clients", num_clients, problem, f"give at most {available}, or take fewer samples")
    # The first entries of one permutation: a larger num_clients keeps the roles that a smaller one draws.
    chosen = np.sort(_stream(seed, CHOICE_OF_ROLES, 0).permutation(available)[:num_clients]).tolist()
    return RoleTexts(*([column[k] for k in chosen] for column in roles))


def _samples(
    roles: RoleTexts, split: str | None, seq_length: int, amounts: tuple[int, int] | None, seed: int
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return inputs and labels of all roles' windows, stacked role by role, and how many windows each role has."""
    part = 0 if split is None else PARTS[split]
    texts = [
        text[border:] if split == "test" else text[:border]
        for text, border in zip(roles.texts, roles.borders, strict=True)
    ]
    wanted = None if amounts is None else amounts[split == "test"]
    counts = [len(text) - seq_length if wanted is None else wanted for text in texts]
    # Each window is stored on its own, as int64: seq_length times the memory of the text, checked before it is taken.
    if sum(counts) * (seq_length + 1) * 8 > MAX_BYTES:
        size = f"{sum(counts)} windows take {sum(counts) * (seq_length + 1) * 8 / 2**30:.1f} GiB"
        cure = "give samples_per_client, or min_characters for fewer roles"
        raise InvalidInput("samples_per_client", wanted, f"{size}, the limit is {MAX_BYTES / 2**30:.0f}", cure)
    starts = [0] * len(texts)
    if wanted is not None:
        last_starts = [len(text) - seq_length - wanted for text in texts]
        starts = [int(_stream(seed, part, k).integers(last + 1)) for k, last in enumerate(last_starts)]
    found = [windows(text, seq_length, *where) for text, *where in zip(texts, starts, counts, strict=True)]
    inputs = np.concatenate([rows for rows, _ in found])
    labels = np.concatenate([following for _, following in found])
    return inputs, labels, counts


def _stream(seed: int, purpose: int, place: int) -> np.random.Generator:
    seed = random_seed(seed)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, place)))


def _from_json(place: Path, split: str | None, seq_length: int, sha256: Checksums) -> Dataset:
    files = json_files(place, split)
    require_checksums(files, sha256)
    data = read_leaf_json(files)
    inputs, labels = [], []
    for user in data["users"]:
        x, y = data["user_data"][user]["x"], data["user_data"][user]["y"]
        for values, length, name in ((x, seq_length, "x"), (y, 1, "y")):
            bad = [value for value in values if not isinstance(value, str) or len(value) != length]
            if bad:
                place_there = f"user_data[{user!r}][{name!r}]"
                problem = f"has an entry that is not a text of {length} characters"
                raise InvalidInput(place_there, bad[0], problem, "repair the file, or give seq_length")
        inputs.append(character_numbers("".join(x)).reshape(-1, seq_length))
        labels.append(character_numbers("".join(y)))
    if not any(map(len, labels)):
        raise bad_file(place, "has no samples", "give data with users")
    pooled = np.concatenate(inputs), np.concatenate(labels)
    return Dataset(*pooled, len(CHARACTERS), f"Shakespeare {place.name}", clients_of(data))


LOADERS = (Loader(shakespeare, "a folder or file of plays as text, or LEAF's JSON", ORIGIN),)
