"""A conformance report as files for other programs: JSON, JUnit XML for CI servers, and an SVG badge."""

import xml.etree.ElementTree as ElementTree
from importlib.metadata import version

from fedconvex.conformance.report import Report
from fedconvex.json_files import to_json
from fedconvex.safe_text import one_line, printable

FONT = "Verdana,DejaVu Sans,sans-serif"
LETTER, MARGIN, HEIGHT = 6.6, 6, 20  # pixels; `textLength` fits the text to its box whatever the font
LONGEST_LABEL = 60  # characters
GREY = "#4a4a4a"  # like each of the verdicts' colours, with white text at a contrast of 5 or more
COLOURS = {"conforms": "#2a7f3f", "differs": "#b3261e", "undecided": "#7a5c00"}


def json_of(report: Report, target: str) -> bytes:
    """The report as JSON, with the implementation's name, fedconvex's version and the text for people.

    Numbers that are not finite are null.
    """
    content = {
        "implementation": target,
        "fedconvex": version("fedconvex"),
        **report.to_dict(),
        "report": report.report(),
    }
    return to_json(content).encode()


def junit_of(report: Report, target: str) -> bytes:
    """The report in the JUnit format: one test for the verdict, and one for each defining property of the method.

    The first one fails where the implementation differs, and is an error where that is undecided, with the report as
    its text. Properties that are undecided or not visible with these parameters are skipped tests.
    """
    statuses = [p.status for p in report.properties]
    broken, holding = statuses.count("broken"), statuses.count("holds")
    counts = {
        "tests": len(statuses) + 1,
        "failures": broken + (report.verdict == "differs"),
        "errors": int(report.verdict == "undecided"),
        "skipped": len(statuses) - broken - holding,
    }
    texts = {name: str(count) for name, count in counts.items()}
    suites = ElementTree.Element("testsuites", {"name": "fedconvex conform", **texts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": one_line(target), **texts})
    verdict = _case(suite, target, f"conforms to {report.method}")
    if not report.passed:
        said = (*(finding.name for finding in report.diagnosis), *report.covered.missing)
        tag, message = "failure" if report.verdict == "differs" else "error", "; ".join(map(one_line, said))
        ElementTree.SubElement(verdict, tag, message=message).text = printable(report.report())
    for p in report.properties:
        case = _case(suite, target, p.name)
        if p.status == "broken":
            ElementTree.SubElement(case, "failure", message="broken")
        elif p.status != "holds":
            ElementTree.SubElement(case, "skipped", message=p.status)
    ElementTree.indent(suites)
    return _written(suites)


def _case(suite: ElementTree.Element, target: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=one_line(target), name=one_line(name))


def badge_of(report: Report) -> bytes:
    """The verdict as a badge for a README: a small SVG picture, the method on the left, the verdict on the right."""
    label = one_line(report.method, LONGEST_LABEL)
    verdict, colour = report.verdict, COLOURS[report.verdict]
    widths = [round(len(text) * LETTER) + 2 * MARGIN for text in (label, verdict)]
    picture = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(sum(widths)),
            "height": str(HEIGHT),
            "role": "img",
            "aria-label": f"{label}: {verdict}",
        },
    )
    ElementTree.SubElement(picture, "title").text = f"{label}: {verdict}; checked by fedconvex {version('fedconvex')}"
    left = 0
    for text, width, fill in zip((label, verdict), widths, (GREY, colour), strict=True):
        box = {"x": str(left), "width": str(width), "height": str(HEIGHT), "fill": fill}
        ElementTree.SubElement(picture, "rect", box)
        place = {"x": str(left + MARGIN), "y": "14", "textLength": str(width - 2 * MARGIN)}
        style = {"fill": "#fff", "font-family": FONT, "font-size": "11"}
        ElementTree.SubElement(picture, "text", {**place, **style}).text = text
        left += width
    return _written(picture)


def _written(root: ElementTree.Element) -> bytes:
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content
