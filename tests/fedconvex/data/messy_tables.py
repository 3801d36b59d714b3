"""Eight tables as people have them, each with something that no reader of numbers accepts, as files and as frames."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 60
HOSPITALS = ["north", "south", "east"]


def _patients(seed: int) -> pd.DataFrame:
    """Sixty patients of three hospitals whose readmission depends on age and weight, with noise."""
    rng = np.random.default_rng(seed)
    age, weight = rng.integers(20, 90, ROWS), rng.normal(70, 12, ROWS).round(1)
    risk = (age - 55) / 20 + (weight - 70) / 12 + rng.normal(0, 2, ROWS)
    frame = {"hospital": [HOSPITALS[i % 3] for i in range(ROWS)], "age": age, "weight": weight}
    return pd.DataFrame({**frame, "readmitted": (risk > 0).astype(int)})


def ids() -> pd.DataFrame:
    """A text and a whole number that only name the rows."""
    frame = _patients(0)
    frame.insert(0, "patient_id", [f"P{i:05d}" for i in range(ROWS)])
    frame.insert(1, "case_no", 70_000 + np.random.default_rng(1).permutation(ROWS))
    return frame


def dates() -> pd.DataFrame:
    """Two dates, written in two ways."""
    frame, days = _patients(2), pd.date_range("2021-01-30", periods=ROWS, freq="3D")
    frame.insert(0, "admitted", days.strftime("%Y-%m-%d %H:%M"))
    frame.insert(1, "born", days.strftime("%d.%m.%Y"))
    return frame


def missing() -> pd.DataFrame:
    """Numbers, a text and a target that are missing in some rows."""
    frame = _patients(3)
    frame["sex"] = ["f", "m", None][:2] * (ROWS // 2)
    frame.loc[[4, 9, 11], "weight"] = np.nan
    frame.loc[[7], "sex"] = None
    frame["outcome"] = frame.pop("readmitted").astype(float).mask(frame.index == 20)
    return frame


def semicolons() -> pd.DataFrame:
    """Only the separator is another one."""
    return _patients(4)


def decimal_commas() -> pd.DataFrame:
    """Numbers written with decimal commas, thousands grouped with points."""
    frame = _patients(5)
    cost = np.random.default_rng(6).lognormal(8, 1, ROWS)
    frame["weight"] = [f"{value:.1f}".replace(".", ",") for value in frame["weight"]]
    frame["cost"] = [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in cost]
    return frame[["hospital", "weight", "cost", "readmitted"]]


def text_labels() -> pd.DataFrame:
    """Texts of few values as features and as labels, and one of many values."""
    frame, rng = _patients(7), np.random.default_rng(8)
    frame["smoker"] = rng.choice(["never", "once", "now"], ROWS)
    frame["ward"] = [f"ward {i}" for i in rng.integers(0, 14, ROWS)]
    frame["result"] = np.where(frame.pop("readmitted") == 1, "readmitted", "well")
    return frame


def three_classes() -> pd.DataFrame:
    """Three classes as texts, and a client column among the features."""
    frame, rng = _patients(9), np.random.default_rng(10)
    frame["age"] = frame["age"] / 10
    frame["weight"] = frame["weight"] / 10
    frame["stage"] = rng.choice(["I", "II", "III"], ROWS)
    return frame.drop(columns="readmitted")


def unscaled_costs() -> pd.DataFrame:
    """A regression on costs in cents beside rates below one."""
    rng = np.random.default_rng(11)
    rate, cost = rng.uniform(0, 0.2, ROWS), rng.normal(5e6, 2e6, ROWS).round()
    days = 30 * rate + cost / 2e6 + rng.normal(0, 0.5, ROWS)
    site = [["a", "b", "c", "d"][i % 4] for i in range(ROWS)]
    return pd.DataFrame({"site": site, "rate": rate, "cost": cost, "days": days.round(2)})


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    maker.__name__: maker
    for maker in (ids, dates, missing, semicolons, decimal_commas, text_labels, three_classes, unscaled_costs)
}


def write(name: str, folder: Path) -> Path:
    """The table as a CSV file in the folder."""
    path = folder / f"{name}.csv"
    separator = ";" if name in ("semicolons", "decimal_commas") else ","
    TABLES[name]().to_csv(path, index=False, sep=separator)
    return path
