"""The user's guide builds without a warning, has no broken links, and is complete."""

import ast
import importlib
import inspect
import re
import subprocess
import zlib
from collections.abc import Iterator
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
    words = (*BUILD, "--config-file", settings, "--site-dir", site)
    return python(*words, cwd=ROOT, NO_MKDOCS_2_WARNING="1", PYTHONWARNINGS="")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guide") / "site"
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


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
    made = {f"{name}.html" for name in ("landscape", "sentences", "statements", "verdicts")}
    assert {str(source.with_suffix(".html")) for source in SOURCES} | made <= linked


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
def test_the_gallery_shows_every_notebook_with_its_pictures(site: Path) -> None:
    stored = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert stored
    front = Page((site / "gallery/index.html").read_text("utf-8"))
    for path in stored:
        name = f"{path.stem.replace('_', '-')}.html"
        loads = Page((site / "gallery" / name).read_text("utf-8")).loads
        pictures = [load for load in loads if load.startswith(Path(name).stem) and load.endswith(".png")]
        assert len(pictures) == path.read_text("utf-8").count('"image/png"')
        assert name in front.links


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


@pytest.fixture
def method_pages() -> ModuleType:
    return making("method_pages")


def test_the_methods_pages_are_what_the_code_makes(method_pages: ModuleType) -> None:
    """python docs/making/method_pages.py writes them."""
    changed = []
    for page in method_pages.PAGES:
        text = page.read_text("utf-8")
        if method_pages.renewed(text) != text:
            changed.append(page.name)
    assert changed == []


def test_a_page_with_an_older_formula_is_noticed(method_pages: ModuleType) -> None:
    page = (DOCS / "methods/fedprox.md").read_text("utf-8")
    older = page.replace(r"\frac{\mu}{2}", r"\mu")
    assert older != page
    assert method_pages.renewed(older) == page


# What the clients remember after a round, typed from the papers.
MOVES = {
    "FedSplit": lambda theta, x: sympy.Symbol("z_k") + 2 * (theta - x),
    "FedDyn": lambda theta, w: sympy.Symbol("g_k") - sympy.Symbol(r"\alpha") * (theta - w),
    "Scaffold": lambda theta, w: sympy.Symbol("c_k") - sympy.Symbol("c") - (theta - w) / sympy.Symbol(r"\ell_k"),
    "FedPD": lambda theta, w: sympy.Symbol(r"\lambda_k") + (theta - w) / sympy.Symbol(r"\eta"),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_round_on_symbols_is_the_papers(method_pages: ModuleType, name: str) -> None:
    server = sympy.Symbol("x" if name == "FedSplit" else "w")
    right = sympy.latex(MOVES[name](sympy.Symbol(r"\theta_k"), server))
    wrong = sympy.latex(MOVES[name](server, sympy.Symbol(r"\theta_k")))
    shown = method_pages.algebra([name])
    assert rf"\leftarrow {right} $$" in shown
    assert rf"\leftarrow {wrong} $$" not in shown


def test_a_method_that_no_page_mentions_gets_one() -> None:
    generated_pages = making("generated_pages")
    assert generated_pages.unwritten() == []
    index = (DOCS / "methods/index.md").read_text("utf-8")
    assert generated_pages.unwritten(index.replace("FedPD", "")) == ["FedPD"]
    page = generated_pages.method_page("FedPD")
    assert "Zhang, Hong, Dhople, Yin and Liu (2020)" in page
    assert r"w \leftarrow \operatorname{mean}_k" in page


def test_a_parameter_without_a_letter_is_written_by_its_name(method_pages: ModuleType) -> None:
    letters = [method_pages.letter(name, {"stepsize": "s"}) for name in ("stepsize", "rho", "my_weight")]
    assert letters == ["s", r"\rho", r"\mathrm{my\_weight}"]
    assert method_pages.letter("velocity", {}, "_k") == r"\mathrm{velocity}_k"


@pytest.mark.slow
def test_the_guide_shows_today_s_statements_and_verdicts(site: Path) -> None:
    statements, verdicts = ((site / f"{name}.html").read_text("utf-8") for name in ("statements", "verdicts"))
    from fedconvex.theory import papers

    for statement in (s for paper in papers().values() for s in paper.everything):
        assert f"<code>{statement.identifier}</code>" in statements
    assert "<code>fedsplit.equation17corrected</code>" in verdicts
