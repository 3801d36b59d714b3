"""The user's guide builds without a warning, has no broken links, and is complete."""

import ast
import importlib
import inspect
import re
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import sympy
from documents import DOCS, ROOT, making
from processes import python, require

from .fedconvex.report.chromium import MISSING, Chromium, chromium, pictures, program

pytestmark = pytest.mark.beyond_core  # builds small guides, and the whole one, which takes a minute, if slow

SOURCES = sorted(path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
BUILD = ["-m", "mkdocs", "build", "--strict"]
NOTEBOOK = "01"
# A guide of two pages, with the real one's settings but without its plugins.
SMALL = """
INHERIT: {settings}
docs_dir: docs
nav: [index.md, other.md]
plugins: []
extra_css: []
exclude_docs: ""
extra: {{polyfills: []}}
hooks: ["{hooks}/mathematics.py", "{hooks}/stars.py"]
"""


def build(settings: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """With one notebook in the gallery: tests/test_notebooks.py runs them all."""
    words = (*BUILD, "--config-file", settings, "--site-dir", site)
    return python(*words, cwd=ROOT, NO_MKDOCS_2_WARNING="1", PYTHONWARNINGS="", FEDCONVEX_GALLERY=NOTEBOOK)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The whole guide, which the processes of one run of the tests share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "guide"
    with suppress(FileExistsError):
        folder.mkdir()  # whoever makes it builds the guide
        done = build(ROOT / "mkdocs.yml", folder / "site")
        (folder / "output").write_text(f"{done.returncode}\n{done.stdout}{done.stderr}", "utf-8")
        (folder / "output").rename(folder / "done")
    while not (folder / "done").exists():
        time.sleep(0.2)
    output = (folder / "done").read_text("utf-8")
    assert output.startswith("0\n"), output
    assert "WARNING" not in output, output
    return folder / "site"


class Page(HTMLParser):
    """What a page can be linked to by, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("img", "script", "iframe") and "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preconnect", "preload"):
            self.loads.append(given["href"])


@cache
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def dangling(found: dict[Path, Page]) -> Iterator[str]:
    """Every internal link or file that leads nowhere."""
    for path, page in found.items():
        for reference in [*page.links, *page.loads]:
            if urlsplit(reference).scheme in ("http", "https", "mailto"):
                continue
            file, anchor = urldefrag(unquote(reference))
            target = (path.parent / file).resolve() if file else path
            if not target.is_file():
                yield f"{path.name}: {reference}"
            elif anchor and target in found and anchor not in found[target].anchors:
                yield f"{path.name}: {reference} has no such place"


@pytest.mark.slow
def test_every_internal_link_leads_somewhere(site: Path) -> None:
    assert list(dangling(pages(site))) == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    page = (
        '<a href="there.html">a</a><a href="#here">b</a><a href="page.html#lost">c</a><img src="lost.png"><p id="here">'
    )
    (tmp_path / "page.html").write_text(page, "utf-8")
    assert len(list(dangling(pages(tmp_path)))) == 3


@pytest.mark.slow
def test_nothing_is_loaded_from_the_net(site: Path) -> None:
    assert [load for page in pages(site).values() for load in page.loads if urlsplit(load).netloc] == []
    styles = [path.read_text("utf-8") for path in site.rglob("*.css")]
    assert styles
    assert not [style for style in styles if re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", style)]


@pytest.mark.slow
def test_every_page_is_in_the_navigation(site: Path) -> None:
    home = Page((site / "index.html").read_text("utf-8"))
    linked = {urldefrag(link).url for link in home.links} | {"index.html"}
    assert {str(source.with_suffix(".html")) for source in SOURCES} <= linked


BROWSER = program()


def wait_for(browser: Chromium, condition: str) -> None:
    """Until it is so; the browser's patience is limited."""
    browser.value(f"new Promise(go => {{ const look = () => {condition} ? go() : setTimeout(look, 20); look(); }})")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    if BROWSER is None:
        pytest.skip(MISSING)
    with chromium(BROWSER, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["index", "methods/feddyn"])
def test_a_page_opens_from_disk(
    site: Path, browser: Chromium, tmp_path: Path, name: str, width: int, dark: bool
) -> None:
    browser.open(site / f"{name}.html", width=width, dark=dark)
    assert browser.complaints() == []
    assert {urlsplit(url).scheme for url in browser.requests()} <= {"file", "data"}
    assert browser.value("document.documentElement.scrollWidth") <= width
    wait_for(browser, f"document.body.dataset.mdColorScheme === '{'slate' if dark else 'default'}'")
    shown = f"guide-{Path(name).name}-{width}-{'dark' if dark else 'light'}"
    browser.picture(pictures(tmp_path) / f"{shown}.png")


@pytest.mark.slow
@pytest.mark.browser
def test_no_page_is_wider_than_a_phone(site: Path, browser: Chromium) -> None:
    wide = []
    for path in pages(site):
        browser.open(path, width=360)
        if browser.value("document.documentElement.scrollWidth") > 360:
            wide.append(path.name)
    assert wide == []
    browser.value("document.querySelector('article').style.width = '361px'")
    assert browser.value("document.documentElement.scrollWidth") > 360  # that would be noticed


@pytest.mark.slow
@pytest.mark.browser
def test_a_formula_scrolls_to_the_side_alone_and_its_subscripts_are_small(site: Path, browser: Chromium) -> None:
    browser.open(site / "methods/fedprox.html")
    formulas = "[...document.querySelectorAll('.formula')]"
    cut = f"{formulas}.filter(one => one.scrollHeight > one.clientHeight).length"
    scrolls = f"{formulas}.filter(one => getComputedStyle(one).overflowY !== 'hidden').length"
    size = "parseFloat(getComputedStyle(one.children[{}]).fontSize)"
    large = f"[...document.querySelectorAll('msub')].filter(one => {size.format(1)} > .8 * {size.format(0)}).length"
    assert [browser.value(one) for one in (cut, scrolls, large)] == [0, 0, 0]
    browser.value(f"{formulas}.forEach(one => Object.assign(one.style, {{ padding: 0, overflowY: 'auto' }}))")
    browser.value("document.querySelector('msub').children[1].style.fontSize = '1em'")
    assert [browser.value(one) > 0 for one in (cut, scrolls, large)] == [True, True, True]  # they would be noticed


@pytest.mark.slow
@pytest.mark.browser
def test_the_search_works_from_disk(site: Path, browser: Chromium) -> None:
    browser.open(site / "methods/fedgd.html")
    browser.point_at(".md-search__input", click=True)
    browser.write("dissimilarity")
    browser.press("End")  # it looks when a key is released
    wait_for(browser, "document.querySelector('.md-search-result__link')")
    links = "[...document.querySelectorAll('.md-search-result__link')].map(one => one.getAttribute('href'))"
    assert any("api/running.html" in link for link in browser.value(links))
    assert browser.complaints() == []


@pytest.mark.slow
def test_the_gallery_shows_a_notebook_with_its_pictures(site: Path) -> None:
    (source,) = (ROOT / "notebooks").glob(f"{NOTEBOOK}*.py")
    name = f"{source.stem.replace('_', '-')}.html"
    front, page = (Page((site / "gallery" / file).read_text("utf-8")) for file in ("index.html", name))
    assert name in front.links
    pictures = [load for load in page.loads if load.startswith(Path(name).stem) and load.endswith(".png")]
    assert len(pictures) == len(re.findall(r"\.figure(?:\(.*\))?$", source.read_text("utf-8"), re.MULTILINE)) > 0


@pytest.mark.slow
def test_formulas_are_mathml(site: Path) -> None:
    for name in ("statements.html", "verdicts.html", "methods/fedprox.html"):
        text = (site / name).read_text("utf-8")
        assert "<math" in text
        assert "arithmatex" not in text


def broken(tmp_path: Path, other: str) -> subprocess.CompletedProcess[str]:
    """A small guide whose second page is `other`."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Home\n\n[other](other.md)\n", "utf-8")
    (tmp_path / "docs/other.md").write_text(f"# Other\n\n{other}\n", "utf-8")
    settings = tmp_path / "mkdocs.yml"
    settings.write_text(SMALL.format(settings=ROOT / "mkdocs.yml", hooks=DOCS / "making"), "utf-8")
    return build(settings, tmp_path / "site")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        ("[gone](gone.md)", "gone.md"),
        ("[gone](index.md#gone)", "#gone"),
        ("![gone](gone.png)", "gone.png"),
        (r"$x + \nosuchcommand{y}$", "nosuchcommand"),
        (r"$x^2^3$", "not a formula"),
    ],
)
def test_a_broken_page_fails_the_build(tmp_path: Path, other: str, complaint: str) -> None:
    done = broken(tmp_path, other)
    assert done.returncode != 0
    assert complaint in done.stderr


def test_a_sound_page_does_not(tmp_path: Path) -> None:
    require(broken(tmp_path, r"[home](index.md#home), $\frac12$"))


def test_stars_of_names_are_no_emphasis(tmp_path: Path) -> None:
    broken(tmp_path, "f(x*) − B(x*) of *every* client, L^*/ℓ_*, ‖θ − θ_*‖², `2**3*4`, **both x* and y***")
    text = (tmp_path / "site/other.html").read_text("utf-8")
    for expected in ("f(x*) − B(x*) of <em>every</em> client, L^*/ℓ_*, ‖θ − θ_*‖²", "<code>2**3*4</code>"):
        assert expected in text


@pytest.mark.slow
def test_comparisons_in_docstrings_are_no_quotations(site: Path) -> None:
    text = "".join(path.read_text("utf-8") for path in (site / "api").glob("*.html"))
    assert "<blockquote" not in text
    assert "‖x − x*‖" in text
    assert "number(" not in text  # fields are shown with the defaults that a caller sees


def test_a_page_outside_the_navigation_fails_the_build(tmp_path: Path) -> None:
    require(broken(tmp_path, "nothing"))
    (tmp_path / "docs/lost.md").write_text("# Lost\n", "utf-8")
    again = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert again.returncode != 0
    assert "lost.md" in again.stderr


def test_every_command_is_among_the_ways_in() -> None:
    import typer

    from fedconvex.commands.main import app

    text = (DOCS / "ways-in.md").read_text("utf-8")
    assert [name for name in typer.main.get_command(app).commands if f"`fedconvex {name}" not in text] == []


# ------------------------------------------------------------------------------------------- the reference

PUBLIC = (
    "fedconvex", "fedconvex.conformance", "fedconvex.data", "fedconvex.errors", "fedconvex.local_solvers",
    "fedconvex.participation", "fedconvex.problems", "fedconvex.proofs_checks", "fedconvex.strategies",
    "fedconvex.testing", "fedconvex.deep.datasets",
)  # fmt: skip
FURTHER = (
    "fedconvex.theory.papers", "fedconvex.theory.statement", "fedconvex.theory.bounds.bounds_for",
    "fedconvex.verdicts.Verdict", "fedconvex.deep.runner.run", "fedconvex.deep.runner.DeepRun",
    "fedconvex.audit.measure.audit", "fedconvex.statements.statement.Statement",
)  # fmt: skip


def public_names(module: ModuleType) -> Iterator[str]:
    """Where the public classes and functions of a module are at home; without `__all__`, those that it defines."""
    for name in getattr(module, "__all__", None) or vars(module):
        value = getattr(module, name)
        home = getattr(value, "__module__", "")
        is_public = hasattr(module, "__all__") or (home == module.__name__ and not name.startswith("_"))
        if is_public and home.startswith("fedconvex") and (inspect.isclass(value) or inspect.isfunction(value)):
            yield f"{home}.{value.__qualname__}"


def in_reference(site: Path) -> set[str]:
    """The names of Sphinx's inventory, which mkdocstrings writes: four lines of text, then compressed lines."""
    content = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    return {line.split(" ")[0] for line in zlib.decompress(content).decode().splitlines()}


@pytest.mark.slow
def test_every_public_name_is_in_the_reference(site: Path) -> None:
    known = in_reference(site)
    wanted = {name for module in PUBLIC for name in public_names(importlib.import_module(module))} | set(FURTHER)
    assert "fedconvex.methods.fedpd.FedPD" in wanted
    assert wanted - known == set()
    assert "fedconvex.methods.fedprox.FedNothing" not in known


def documented_arguments(docstring: str) -> list[str]:
    """The names in the section "Args:"; "a, b: …" are two."""
    _, _, section = inspect.cleandoc(docstring).partition("\nArgs:\n")
    section = re.split(r"\n\S", section)[0]
    found = re.findall(r"^    ([A-Za-z_*][\w, *]*?)(?: and [^:\n]*)?:", section, re.MULTILINE)
    return [name.strip(" *") for names in found for name in names.split(",")]


Documented = ast.FunctionDef | ast.ClassDef


def arguments_of(node: Documented, classes: dict[str, ast.ClassDef]) -> set[str]:
    """Those of a function, or of a class's methods, its fields, and those of its bases."""
    if isinstance(node, ast.FunctionDef):
        return {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    has = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    own = [n for n in node.body if isinstance(n, ast.FunctionDef)]
    bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    return has.union(*(arguments_of(n, classes) for n in (*own, *bases)))


def unknown_arguments(node: Documented, classes: dict[str, ast.ClassDef]) -> list[str]:
    """Documented arguments that there are not."""
    has = arguments_of(node, classes)
    return [name for name in documented_arguments(ast.get_docstring(node) or "") if name not in has]


def test_documented_arguments_exist() -> None:
    nodes = [
        (file, node)
        for folder in ("fedconvex", "theory", "proofs_checks", "deep")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, Documented)
    ]
    classes = {node.name: node for _, node in nodes if isinstance(node, ast.ClassDef)}
    wrong = [f"{file}: {node.name}: {name}" for file, node in nodes for name in unknown_arguments(node, classes)]
    assert wrong == []


def test_an_argument_that_does_not_exist_is_noticed() -> None:
    docstring = "What.\n\n    Args:\n        a, c: two\n            lines: of text.\n        b: one.\n    "
    texts = (
        f'def f(a, b):\n    """{docstring}"""',
        f'class A:\n    a: int\n\nclass B(A):\n    """{docstring}"""\n    b: int',
    )
    for text in texts:
        body: Any = ast.parse(text).body
        assert unknown_arguments(body[-1], {"A": body[0]}) == ["c"]


# ------------------------------------------------------------------------------------------- made from the code


NAMES = {"θ": r"\theta_k", "old": r"\theta_k^{\mathrm{old}}", "e_k": r"\ell_k"}
GREEK = {"α": r"\alpha", "β": r"\beta", "η": r"\eta", "λ": r"\lambda", "ρ": r"\rho", "τ": r"\tau"}
NEAR_W = r"\frac{%s}{2} \left\|\theta - w\right\|^2"
# What a client's subproblem has beyond F_k(θ), and what is then stored, typed from the papers.
ROUNDS = {
    "FedGD": ("", "average(θ)"),
    "FedProx": (NEAR_W % r"\mu", "average(θ)"),
    "FedNova": ("", "w + average(e_k)*average((θ - w)/e_k)"),
    "FedAvgM": ("", "β*m + average(θ - w); η*m + w"),
    "FedAdagrad": ("", "β_1*m + (1 - β_1)*average(θ - w); v + average(θ - w)**2; w + η*m/(τ + sqrt(v))"),
    "FedAdam": ("", "β_1*m + (1 - β_1)*average(θ - w); β_2*v + (1 - β_2)*average(θ - w)**2; w + η*m/(τ + sqrt(v))"),
    "FedYogi": ("", "v - (1 - β_2)*average(θ - w)**2*sign(v - average(θ - w)**2); w + η*m/(τ + sqrt(v))"),
    "FedSplit": (r"\frac{1}{2 s} \left\|\theta - \left(2 x - z_{k}\right)\right\|^2", "z_k + 2*(θ - x); mean(z_k)"),
    "FedDyn": (NEAR_W % r"\alpha", "g_k - α*(θ - w); mean(g_k); mean(θ) - h/α"),
    "Scaffold": ("c - c_{k}", "c_k - c - (θ - w)/e_k; mean(c_k); w + η*mean(θ - w)"),
    "Scaffnew": ("- h_{k}", "mean(θ); h_k + p/s*(x_k - θ)"),
    "DANE": (NEAR_W % r"\mu", "average(θ)"),
    "FedLin": (r"- {\nabla F_k(w)} + {\nabla f(w)}", "mean(θ)"),
    "FedPD": (r"\lambda_{k}", "λ_k + (θ - w)/η; mean(θ + η*λ_k)"),
    "FedADMM": (NEAR_W % r"\rho", "λ_k + ρ*(θ - w); w + η*mean(2*θ - old - w)"),
    "PFedMe": (NEAR_W % r"\lambda", "θ; w + η*mean(-λ*s*(w - v_k))"),
    "DIANA": ("", "h_k + α*C_k((w - θ)/e_k - h_k); mean(h_k); w - s*(h + mean(C_k((w - θ)/e_k - h_k)))"),
    "EF21": ("", "h_k + C_k((w - θ)/e_k - h_k); mean(h_k); w - s*h"),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_a_round_on_symbols_is_the_papers(name: str) -> None:
    (subproblem, stored), method_pages = ROUNDS[name], making("method_pages")
    first, *rest = (line.strip("$ ") for line in method_pages.algebra([name]).splitlines() if line)
    assert subproblem in first.partition(r"F_k(\theta)")[2].partition(r"\qquad")[0]
    assert bool(subproblem) == (" + " in first)
    right = [line.partition(r" \leftarrow ")[2] for line in rest]
    letters = set(re.findall(r"[^\W\d]\w*", f"{stored} w")) - {"mean", "average", "sqrt", "sign"}
    symbols = {n: sympy.Symbol(NAMES.get(n) or GREEK.get(n[0], n[0]) + n[1:]) for n in letters}
    symbols |= {"mean": method_pages.Mean, "average": method_pages.Average, "C_k": sympy.Function("C_k")}
    for text in stored.split("; "):
        assert sympy.latex(sympy.sympify(text, symbols)) in right
        wrong = sympy.sympify(text, symbols | {"θ": symbols["w"], "w": symbols["θ"]})
        assert not {"θ", "w"} & set(text) or sympy.latex(wrong) not in right


def test_every_round_in_the_guide_is_checked() -> None:
    shown = "".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    assert set(re.findall(r"generated_pages\.py algebra (\w+)", shown)) == ROUNDS.keys()


@pytest.mark.parametrize("command", ["algebra FedNothing", "table nothing", "nothing", "statements fedprox.nothing"])
def test_a_part_that_cannot_be_made_fails_the_build(command: str) -> None:
    generated_pages = making("generated_pages")
    page = type("Page", (), {"file": type("File", (), {"src_uri": "here.md"})})
    text = f"a\n\n```sh generated\npython docs/making/generated_pages.py {command}\n```\n"
    with pytest.raises(generated_pages.PluginError, match=f"here.md: {command.split()[0]}"):
        generated_pages.on_page_markdown(text, page)


@pytest.mark.slow
def test_the_command_in_a_page_prints_its_part() -> None:
    program = DOCS / "making/generated_pages.py"
    assert require(python(program, "algebra", "FedProx")) == making("method_pages").algebra(["FedProx"])
    assert "give one of catalogue, landscape" in python(program, "algebr").stderr


def test_a_method_that_no_page_mentions_gets_one() -> None:
    generated_pages = making("generated_pages")
    assert generated_pages.unwritten() == []
    index = (DOCS / "methods/index.md").read_text("utf-8")
    assert generated_pages.unwritten(index.replace("FedPD", "")) == ["FedPD"]
    page = generated_pages.method_page("FedPD")
    assert "Zhang, Hong, Dhople, Yin and Liu (2020)" in page
    assert r"w \leftarrow \operatorname{mean}_k" in page


def test_a_parameter_without_a_letter_is_written_by_its_name() -> None:
    method_pages = making("method_pages")
    letters = [method_pages.letter(name, {"stepsize": "s"}) for name in ("stepsize", "rho", "my_weight")]
    assert letters == ["s", r"\rho", r"\mathrm{my\_weight}"]
    assert method_pages.letter("velocity", {}, "_k") == r"\mathrm{velocity}_k"


# A page of the guide -> what only the code or a record knows.
SHOWN = {
    "verdicts": ("<code>fedsplit.equation17corrected</code>",),
    "looseness": ("feddyn.lemma8sharper", "2.461 … 2.462", "x − L₋x²/2: the answer is"),
    "rates": ("0.792791 … 0.792792", "0.006666·σ²", "exact_rates.fedproxroundofpclients"),
    "reproduce": ("feddyn.table5_mnist", "SCAFFOLD"),
    "conformance": ("clients take one local step too many",),
    "frameworks": ("feddyn_trainer.py:75, 77",),
    "methods/fedprox": ("2.461 … 2.462", "fedprox.corollary9corrected", "argmin"),
}


@pytest.mark.slow
def test_what_is_made_from_the_code_is_in_the_guide(site: Path) -> None:
    from fedconvex.theory import papers

    statements = tuple(f"<code>{s.identifier}</code>" for paper in papers().values() for s in paper.everything)
    for page, parts in {**SHOWN, "statements": statements}.items():
        text = (site / f"{page}.html").read_text("utf-8")
        assert [part for part in parts if part not in text] == [], page
    assert [page for page in pages(site) if "generated_pages.py" in page.read_text("utf-8")] == []
