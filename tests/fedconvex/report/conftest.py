"""Pages that tests look at, and a strict reader of pages."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fedconvex.proofs_checks.reporting import cache
from fedconvex.report import contents, report

ASKED = [("feddyn.theorem2", {"alpha": 25, "L": 1, "num_clients": 10, "num_active": 10, "T": T}) for T in (1, 2)]
LOADING = ("src", "srcset", "data", "poster", "action", "formaction", "background", "manifest", "ping")


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the whole catalogue from recorded verdicts, with few pictures and few worst cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path_factory.mktemp("kept")))
        patch.setattr(contents, "SECONDS", 0.02)
        patch.setattr(contents, "played", lambda: iter(ASKED))
        patch.setattr(contents, "compared", lambda: iter(()))
        return report()[0]  # the real settings are back for the other tests


@dataclass
class Read:
    """A page, read as XML: strictly."""

    text: str
    root: ElementTree.Element = field(init=False)

    def __post_init__(self) -> None:
        assert self.text.startswith("<!DOCTYPE html>\n")
        plain = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", self.text, flags=re.DOTALL)
        self.root = ElementTree.fromstring(plain.removeprefix("<!DOCTYPE html>\n"))

    def all(self, name: str, **attributes: str) -> list[ElementTree.Element]:
        found = self.root.iter(name)
        return [one for one in found if all(one.get(key.rstrip("_")) == value for key, value in attributes.items())]

    def faults(self) -> list[str]:
        """Identifiers that are not unique, links to nowhere, whatever would be loaded, scripts in attributes."""
        found, known = [], set()
        for one in self.root.iter():
            identifier = one.get("id")
            if identifier is not None:
                found += [f"twice: {identifier}"] if identifier in known else []
                known.add(identifier)
        for one in self.root.iter():
            for name, value in one.attrib.items():
                if name == "href" and (not value.startswith("#") or value[1:] not in known):
                    found.append(f"leads to {value}")
                if name in LOADING and not (one.tag == "img" and value.startswith("data:image/png;base64,")):
                    found.append(f"loads {value}")
                if name.startswith("on") or "url(" in value:
                    found.append(f"{name} = {value}")
            found += [f"an element {one.tag}"] if one.tag in ("link", "iframe", "object", "embed", "base") else []
        raw = "".join(re.findall(r"<(?:style|script)>(.*?)</", self.text, re.DOTALL))
        found += re.findall(r"url\(|@import|https?:|fetch\(|import\(|innerHTML", raw)
        return found


def text_of(one: ElementTree.Element) -> str:
    return "".join(one.itertext())


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """What a small run of `fedconvex reproduce` leaves: one full experiment with a picture, one reduced."""
    import json

    from matplotlib.figure import Figure

    summary = {
        "id": "fedsplit.figure1", "title": "a < b", "source": "Figure 1", "quick": False, "note": "", "seeds": 1,
        "numbers": [{"what": "rounds", "source": "", "published": 400, "ours": 404.0, "released": None, "theory": 529.0,
                     "why": "", "agrees": True, "within": 2}],
        "claims": [
            {"claim": "it stops above", "source": "section 2", "note": "", "verdict": "reproduced", "cases": [],
             "number": "0.17 > 0.01"},
            {"claim": "it is fast", "source": "section 4", "note": "slow", "verdict": "contradicted", "cases": [],
             "number": "9 < 3"},
        ],
        "choices": [{"open": "stepsize", "choice": "1/L", "alternatives": "", "effect": {"1/(2L)": 0.5}}],
        "date": "2026-01-02T03:04:05+00:00", "processor": "one", "cores": 2, "versions": {},
    }  # fmt: skip
    folder = tmp_path / "reproduced"
    for place, content in (
        (folder / "fedsplit.figure1", summary),
        (folder / "quick" / "fedprox.figure9", {**summary, "id": "fedprox.figure9", "quick": True}),
    ):
        place.mkdir(parents=True)
        (place / "summary.json").write_text(json.dumps(content), "utf-8")
    figure = Figure(figsize=(8, 4))
    figure.subplots().plot([1, 2], [2, 1])
    figure.savefig(folder / "fedsplit.figure1" / "figure.png", dpi=150)
    return folder  # fmt: skip
