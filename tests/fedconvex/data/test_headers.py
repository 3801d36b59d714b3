"""CSV files without a header line: no sample is lost, and the message or the note says what the columns are called."""

import csv
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.data.delimited import are_indices, holds_data
from fedconvex.errors import InvalidInput, UntidyTable

ROWS = "5.1,3.5,1\n4.9,3.0,0\n6.2,3.4,1\n"
NO_HEADER = "line 1 holds numbers, not names: the file has no header line, its columns are column1 to column3"


def file_of(folder: Path, text: str) -> Path:
    path = folder / "samples.csv"
    path.write_text(text)
    return path


def test_the_first_sample_is_kept_and_the_columns_are_numbered(tmp_path: Path) -> None:
    data = fc.data.load(file_of(tmp_path, ROWS), clients=1, target_column="column3")
    assert (data.features[0] == np.loadtxt(ROWS.splitlines(), delimiter=",")[:, :2]).all()
    assert data.targets[0].tolist() == [1, 0, 1]
    assert tuple(data.feature_names) == ("column1", "column2")
    assert NO_HEADER in data.notes


def test_the_error_says_it_and_its_options_read_every_sample(tmp_path: Path) -> None:
    path = file_of(tmp_path, ROWS)
    with pytest.raises(UntidyTable) as caught:
        fc.data.load(path)
    assert f"{NO_HEADER}; name the columns by these names, or add a header line to the file" in caught.value.problems
    data = fc.data.load(path, **caught.value.options)
    assert data.target_name == "column3"
    assert sum(data.sizes) == 3


@pytest.mark.parametrize("option", ["target_column", "client_column"])
def test_a_column_that_the_first_line_seems_to_name_is_refused(tmp_path: Path, option: str) -> None:
    options = {"target_column": "column3", option: "5.1"}
    with pytest.raises(InvalidInput, match=rf"^{option} = 5.1: .*samples.csv: {NO_HEADER}; name the columns by these"):
        fc.data.load(file_of(tmp_path, ROWS), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("5,1;3,5;1\n4,9;3,0;0\n", 2),
        ("NA,3.5,1\n4.9,3.0,0\n", 2),
        ("2024-01-31,3.5,1\n2024-02-01,3.0,0\n", 2),
        ("\ufeff5.1,3.5,1\n4.9,3.0,0\n", 2),  # the mark that Excel puts first
        ("5.1;3.5;1\n4.9;3.0;0\n", 2),
        ('"5.1","3.5","1"\n"4.9","3.0","0"\n', 2),
        ("\n5.1,3.5,1\n4.9,3.0,0\n", 2),
        ("1,200,true\n1,300,false\n", 2),
    ],
)
def test_first_lines_that_are_samples(tmp_path: Path, text: str, samples: int) -> None:
    options = {"drop": "column1"} if text.startswith("2024") else {"impute": "mean"} if text.startswith("NA") else {}
    data = fc.data.load(file_of(tmp_path, text), clients=1, target_column="column3", **options)  # type: ignore[arg-type]
    assert sum(data.sizes) == samples
    assert data.targets[0].tolist() == [1, 0]


def test_the_header_that_pandas_gives_a_matrix_is_a_header_and_said_to_be_one(tmp_path: Path) -> None:
    matrix = np.array([[5.1, 3.5, 1], [4.9, 3.0, 0]])
    path = tmp_path / "matrix.csv"
    pd.DataFrame(matrix).to_csv(path, index=False)
    data = fc.data.load(path, clients=1, target_column="2")
    assert (data.features[0] == matrix[:, :2]).all()
    assert "line 1 (0 to 2) is taken as the header" in data.notes


def test_a_header_with_a_number_among_texts_is_read_with_a_note(tmp_path: Path) -> None:
    path = file_of(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n6.2,3.4,virginica\n")
    data = fc.data.load(path, clients=1, target_column="setosa")
    assert "line 1 is taken as the header, although '5.1' is a number" in data.notes


def test_ordinary_headers_are_read_without_a_word(tmp_path: Path) -> None:
    for header in ("a,b,y", "1,2,y", "pixel0,pixel1,y", "x 1.5,nan,y"):
        data = fc.data.load(file_of(tmp_path, f"{header}\n5.1,3.5,1\n4.9,3.0,0\n"), clients=1)
        assert not any("line 1" in note for note in data.notes)
        assert sum(data.sizes) == 2


numbers = st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), st.integers(-999, 999).map(str))


@given(st.lists(numbers, min_size=1, max_size=6))
def test_every_line_of_numbers_is_a_sample_unless_it_counts(cells: list[str]) -> None:
    assert holds_data(cells) is not are_indices(cells)
    assert not holds_data([*cells, "age"])


def test_a_matrix_written_by_numpy_loses_no_row(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).standard_normal((20, 4)).round(3)
    matrix[:, -1] = np.arange(20) % 2
    path = tmp_path / "matrix.csv"
    np.savetxt(path, matrix, delimiter=",")
    data = fc.data.load(path, clients=1, target_column="column4")
    with path.open(newline="") as stream:
        assert sum(data.sizes) == len(list(csv.reader(stream)))
    assert (data.features[0] == matrix[:, :3]).all()


@pytest.mark.beyond_core  # a thread writes
def test_a_pipe_without_a_header_is_refused_with_its_columns(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(ROWS))
    writer.start()
    with pytest.raises(
        InvalidInput, match="line 1: no column is named target or label or y; the columns are 'column1', "
    ):
        fc.data.load(pipe, clients=1)
    writer.join()
