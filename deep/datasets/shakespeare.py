"""Next-character prediction on Shakespeare's plays, one client for each speaking role."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.characters import CHARACTERS, character_numbers, windows
from fedconvex.deep.datasets.checksums import Sums, require_sums
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.dataset import Dataset, below_one_another
from fedconvex.deep.datasets.leaf import SUFFIXES, clients_of, json_files, read_leaf_json
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.plays import ORIGIN, read_plays
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least

PARTS = {"train": 1, "test": 2}  # what the streams of random numbers are named by
CHOICE = 3


class RoleTexts(NamedTuple):
    """The text of each role as character numbers, and what goes before the part for testing."""

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
    sha256: Sums = None,
) -> Dataset:
    """Inputs int64 (N, seq_length): character numbers; labels: the character that comes next; 80 classes.

    Characters that are not among LEAF's 80 become the last of them, see `character_numbers`. A role's speeches are one
    text, newlines are spaces, and several spaces are one; each of its windows is a sample, n − seq_length of n
    characters. Clients are the roles, named play/ROLE.

    Args:
        path: plays as text, see `read_plays`; or LEAF's JSON files, for which see below.
        split: None: all; `train`: the first 1 − test_fraction of the characters of every role, `test`: the others. No
            window reaches over the border. A role takes part where both parts have windows.
        min_characters: leave out roles with less text.
        samples_per_client: as many consecutive windows of each role, from a place at random, and of the test part
            test_fraction of that; roles that do not have both are left out. FedDyn: 2000 (and 400 for testing).
        num_clients: as many roles, drawn at random. FedDyn: 100.
        seed: of the places and the draw; the same roles are drawn for train and test.
        sha256: sum of the file, or sums of files by their names.

    LEAF's JSON has the windows themselves; split then names a folder in `path`, and of the other arguments only
    seq_length, which must be that of the file, and sha256 mean anything.

    Raises InvalidInput. Source: Caldas et al., "LEAF" (2018), after McMahan et al. (2017); FedDyn, appendix A.2. The
    paper's roles and counts come from another edition, so these are only similar.
    """
    seq_length = integer_at_least(seq_length, 1, "seq_length")
    place = Path(path)
    if place.name.lower().endswith(SUFFIXES) or _has_json(place, split):
        return _from_json(place, split, seq_length, sha256)
    if split is not None:
        one_of(split, PARTS, "split")
    if place.is_file() or sha256 is not None:
        require_sums([place] if place.is_file() else sorted(place.glob("*.txt*")), sha256)
    min_characters = integer_at_least(min_characters, 0, "min_characters")
    roles = _roles(place, min_characters, None if split is None else test_fraction)
    train, test = _amounts(samples_per_client, split, test_fraction)
    roles = _with_enough(roles, split, seq_length, train, test)
    if not roles.names:
        problem = f"no role has the {max(train, 1)} windows of {seq_length} characters that are asked for"
        raise bad_file(place, problem + (" and those for testing" if split else ""), "ask for fewer or shorter ones")
    if num_clients is not None:
        roles = _drawn(roles, integer_at_least(num_clients, 1, "num_clients"), seed)
    inputs, labels, rows = _samples(
        roles, split, seq_length, None if samples_per_client is None else (train, test), seed
    )
    clients = below_one_another(list(zip(roles.names, rows, strict=True)), np.cumsum([len(row) for row in rows]))
    source = f"Shakespeare {place.name}" + (f" {split}" if split else "")
    return Dataset(inputs, labels, len(CHARACTERS), source, clients)


def role_text(speeches: list[str]) -> str:
    """A role's speeches as one text in which the only white space is single spaces."""
    return " ".join(" ".join(speeches).split())


def _has_json(place: Path, split: str | None) -> bool:
    folder = place / split if split is not None and (place / split).is_dir() else place
    return folder.is_dir() and any(path.name.lower().endswith(SUFFIXES) for path in folder.iterdir())


def _roles(place: Path, min_characters: int, test_fraction: float | None) -> RoleTexts:
    roles = RoleTexts([], [], [])
    for (play, role), speeches in read_plays(place).items():
        numbers = character_numbers(role_text(speeches))
        if len(numbers) >= min_characters:
            roles.names.append(f"{play}/{role}")
            roles.texts.append(numbers)
            held_out = 0 if test_fraction is None else _test_share(len(numbers), test_fraction)
            roles.borders.append(len(numbers) - held_out)
    return roles


def _test_share(total: int, test_fraction: float) -> int:
    """test_fraction of the total, rounded to the nearest (half up)."""
    fraction = to_fraction(test_fraction, "test_fraction")
    if not 0 < fraction < 1:
        problem = "must leave every role text of both kinds"
        raise InvalidInput("test_fraction", test_fraction, problem, "give 0 < test_fraction < 1")
    return int(total * fraction + to_fraction(0.5))


def _amounts(samples_per_client: int | None, split: str | None, test_fraction: float) -> tuple[int, int]:
    """How many windows each part must have."""
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


def _drawn(roles: RoleTexts, num_clients: int, seed: int) -> RoleTexts:
    there = len(roles.names)
    if num_clients > there:
        problem = f"only {there} roles have enough text"
        raise InvalidInput("num_clients", num_clients, problem, f"give at most {there}, or ask for fewer samples")
    chosen = np.sort(_stream(seed, CHOICE, 0).permutation(there)[:num_clients]).tolist()
    return RoleTexts(*([column[k] for k in chosen] for column in roles))


def _samples(
    roles: RoleTexts, split: str | None, seq_length: int, amounts: tuple[int, int] | None, seed: int
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    part = 0 if split is None else PARTS[split]
    texts = [
        text[border:] if split == "test" else text[:border]
        for text, border in zip(roles.texts, roles.borders, strict=True)
    ]
    wanted = None if amounts is None else amounts[split == "test"]
    counts = [len(text) - seq_length if wanted is None else wanted for text in texts]
    if sum(counts) * (seq_length + 1) * 8 > MAX_BYTES:
        size = f"{sum(counts)} windows take {sum(counts) * (seq_length + 1) * 8 / 2**30:.1f} GiB"
        cure = "give samples_per_client, or min_characters for fewer roles"
        raise InvalidInput("samples_per_client", wanted, f"{size}, the limit is {MAX_BYTES / 2**30:.0f}", cure)
    places = [0] * len(texts)
    if wanted is not None:
        room = [len(text) - seq_length - wanted for text in texts]
        places = [int(_stream(seed, part, k).integers(more + 1)) for k, more in enumerate(room)]
    found = [windows(text, seq_length, *where) for text, *where in zip(texts, places, counts, strict=True)]
    inputs = np.concatenate([rows for rows, _ in found])
    labels = np.concatenate([following for _, following in found])
    return inputs, labels, [np.arange(count) for count in counts]


def _stream(seed: int, purpose: int, place: int) -> np.random.Generator:
    seed = integer_at_least(seed, 0, "seed")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, place)))


def _from_json(place: Path, split: str | None, seq_length: int, sha256: Sums) -> Dataset:
    files = json_files(place, split)
    require_sums(files, sha256)
    data = read_leaf_json(files)
    inputs, labels = [], []
    for user in data["users"]:
        x, y = data["user_data"][user]["x"], data["user_data"][user]["y"]
        for values, length, name in ((x, seq_length, "x"), (y, 1, "y")):
            bad = [value for value in values if not isinstance(value, str) or len(value) != length]
            if bad:
                place_there = f"user_data[{user!r}][{name!r}]"
                problem = f"has an entry that is no text of {length} characters"
                raise InvalidInput(place_there, bad[0], problem, "repair the file, or give seq_length")
        inputs.append(character_numbers("".join(x)).reshape(-1, seq_length))
        labels.append(character_numbers("".join(y)))
    if not any(map(len, labels)):
        raise bad_file(place, "has no samples", "give data with users")
    pooled = np.concatenate(inputs), np.concatenate(labels)
    return Dataset(*pooled, len(CHARACTERS), f"Shakespeare {place.name}", clients_of(data))


LOADERS = (Loader(shakespeare, "a folder or file of plays as text, or LEAF's JSON", ORIGIN),)
