"""The page in a real browser: find, choose, sort, open, point, tap, keys; phone and desktop, light and dark.

Pictures are left in $FEDCONVEX_SCREENSHOTS, where that is set.
"""

import pytest

from fedconvex.proofs_checks.reporting.recorded import recorded

from .chromium import MISSING, Chromium, chromium, pictures, program

FOUND = program()
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,  # makes the whole report
    pytest.mark.skipif(FOUND is None, reason=MISSING),
]
SHOWN = "[...document.querySelectorAll('.statement')].filter(one => !one.hidden).map(one => one.id)"


@pytest.fixture(scope="module")
def file(whole, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(whole, "utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    assert FOUND is not None
    with chromium(FOUND, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def picture(tmp_path):
    folder = pictures(tmp_path)
    return lambda browser, name: browser.picture(folder / f"report-{name}.png")


def write_into(browser: Chromium, selector: str, text: str) -> None:
    browser.point_at(selector, click=True)
    browser.write(text)


def choose(browser: Chromium, name: str, value: str) -> None:
    browser.value(f"{{ const s = part('{name}'); s.value = '{value}'; s.dispatchEvent(new Event('input')); }}")


@pytest.mark.parametrize("width", [360, 768, 1200])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_opens_without_a_network_or_a_complaint(browser, file, picture, width, dark):
    browser.open(file, width=width, dark=dark)
    assert browser.requests() == [file.as_uri()]
    assert browser.complaints() == []
    assert browser.value("document.documentElement.scrollWidth") <= width
    red, green, blue = map(int, browser.value("getComputedStyle(document.body).backgroundColor")[4:-1].split(","))
    assert (red + green + blue < 150) == dark
    picture(browser, f"top-{width}-{'dark' if dark else 'light'}")


def test_a_fault_of_the_script_would_be_noticed(browser, file, tmp_path):
    text = file.read_text("utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(text.replace('"use strict";', '"use strict"; setTimeout(() => missing(), 0);'), "utf-8")
    browser.open(broken)
    browser.value("new Promise(go => setTimeout(go, 20))")
    assert browser.complaints()
    fetching = tmp_path / "fetching.html"
    fetching.write_text(text.replace("</main>", '<img src="http://127.0.0.1:9/x.png" alt=""/></main>'), "utf-8")
    browser.open(fetching)
    assert browser.complaints()  # the page's policy refuses it


def test_statements_are_found_and_chosen(browser, file, picture):
    browser.open(file)
    everything = browser.value(SHOWN)
    write_into(browser, "#find", "lemma 10")
    found = browser.value(SHOWN)
    assert "feddyn.lemma10" in found
    assert "fedsplit.theorem1" not in found
    assert 0 < len(found) < len(everything)
    assert browser.value("part('count').value") == f"{len(found)} of {len(everything)} statements"
    picture(browser, "found")
    browser.value("part('find').value = ''")
    write_into(browser, "#find", "dissimilar inexact")  # not a phrase: both words
    assert "fedprox.theorem4" in browser.value(SHOWN)
    assert "feddyn.lemma10" not in browser.value(SHOWN)
    browser.value("part('find').value = ''")
    choose(browser, "verdict", "refuted")
    refuted = {name for name, entry in recorded().items() if entry["verdict"] == "refuted"}
    assert set(browser.value(SHOWN)) == refuted
    choose(browser, "paper", "FedSplit")
    assert set(browser.value(SHOWN)) == {name for name in refuted if name.startswith("fedsplit.")}
    choose(browser, "verdict", "")
    choose(browser, "paper", "")
    assert browser.value(SHOWN) == everything
    write_into(browser, "#find", "no statement has these words")
    assert browser.value(SHOWN) == []


def test_statements_are_sorted_both_ways(browser, file):
    browser.open(file)
    before = browser.value(SHOWN)
    used = "[...document.querySelectorAll('.statement')].map(one => one.dataset.used).filter(Boolean).map(Number)"
    browser.point_at("[data-sort=used]", click=True)
    falling = browser.value(used)
    assert falling == sorted(falling, reverse=True)
    assert browser.value("document.querySelector('[data-sort=used]').getAttribute('aria-pressed')") == "true"
    assert browser.value("document.querySelector('#list').firstElementChild.dataset.used") != ""
    browser.point_at("[data-sort=used]", click=True)
    assert browser.value(used) == falling[::-1] == sorted(falling)
    assert browser.value("document.querySelector('#list').firstElementChild.dataset.used") != ""  # without: last
    browser.point_at("[data-sort=place]", click=True)
    assert browser.value(SHOWN) == before


def test_a_statement_opens_and_its_formula_is_drawn(browser, file, picture):
    browser.open(file)
    browser.point_at("[id='fedprox.theorem4'] > summary", click=True)
    assert browser.value("document.getElementById('fedprox.theorem4').open")
    height = "document.querySelector('[id=\"fedprox.theorem4\"] mfrac').getBoundingClientRect().height"
    assert browser.value(height) > 20  # a fraction is higher than a line of text
    picture(browser, "opened")
    browser.press("Tab")
    browser.point_at("#open-all", click=True)
    assert browser.value("[...document.querySelectorAll('.statement')].every(one => one.open)")
    browser.point_at("#open-all", click=True)
    assert not browser.value("document.querySelectorAll('.statement[open]').length")


def test_a_link_opens_what_was_filtered_away(browser, file):
    browser.open(file)
    choose(browser, "verdict", "refuted")
    browser.point_at("a[href='#feddyn.lemma10']", click=True)
    browser.value("new Promise(go => setTimeout(go, 0))")
    assert browser.value("document.getElementById('feddyn.lemma10').open")
    assert not browser.value("document.getElementById('feddyn.lemma10').hidden")
    browser.open(file, hash="#feddyn.theorem2")
    assert browser.value("document.getElementById('feddyn.theorem2').open")


def test_nothing_that_opens_is_wider_than_a_phone(browser, file):
    browser.open(file, width=360)
    browser.value("{ for (const one of document.querySelectorAll('details')) one.open = true; }")
    assert browser.value("document.documentElement.scrollWidth") == 360
    browser.value("part('list').style.width = '361px'")
    assert browser.value("document.documentElement.scrollWidth") > 360  # would be noticed


@pytest.mark.parametrize("width", [360, 1200])
def test_a_point_tells_its_numbers(browser, file, picture, width):
    browser.open(file, width=width, hash="#feddyn.theorem2")
    said = "document.querySelector('[id=\"feddyn.theorem2\"] .pictures figure:last-child output').value"
    dot = "[id='feddyn.theorem2'] .pictures figure:last-child .s0 circle"
    assert "arrow keys" in browser.value(said)
    if width < 500:
        browser.tap(dot)
    else:
        browser.point_at(dot)
    told = browser.value(said)
    assert told == browser.value(f'document.querySelector("{dot} title").textContent')
    assert "T = 1: bound 250, exact worst case 0.5, looseness 500" in told
    picture(browser, f"pointed-{width}")


def test_the_arrow_keys_go_through_the_points(browser, file):
    browser.open(file, hash="#feddyn.theorem2")
    picture = "document.querySelector('[id=\"feddyn.theorem2\"] .pictures figure:last-child svg')"
    browser.value(f"{picture}.focus()")
    told = []
    for _ in range(5):
        browser.press("ArrowRight")
        told.append(browser.value(f"{picture}.closest('figure').querySelector('output').value"))
    assert len(set(told)) == 2  # bound and worst case say the same at each of two values of T
    assert told[0] == told[4]  # round and round
    browser.press("ArrowLeft")
    assert browser.value(f"{picture}.closest('figure').querySelector('output').value") == told[3]


def test_return_in_the_search_does_not_leave_the_page(browser, file):
    browser.open(file)
    write_into(browser, "#find", "lemma")
    browser.press("Enter")
    assert browser.value("part('find').value") == "lemma"


def test_in_print_nothing_is_cut_off(browser, file, picture):
    browser.open(file, width=720, hash="#fedprox.theorem4")
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.value("getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert browser.value("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    picture(browser, "print")
