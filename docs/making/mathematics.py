"""Turns the guide's formulas into MathML while it is built, so that readers need neither script nor network."""

import html
import logging
import re
from typing import Any

from latex2mathml.converter import convert

LOG = logging.getLogger("mkdocs.hooks.mathematics")  # below "mkdocs": warnings count in strict builds
# What pymdownx.arithmatex leaves of $…$ and $$…$$.
FORMULA = re.compile(
    r'<span class="arithmatex">\\\((?P<inline>.*?)\\\)</span>'
    r'|<div class="arithmatex">\s*\\\[(?P<block>.*?)\\\]\s*</div>',
    re.DOTALL,
)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Replaces every formula of a page; warns of one that cannot be converted and shows its LaTeX."""

    def replaced(found: re.Match[str]) -> str:
        latex = html.unescape(found["inline"] or found["block"]).strip()
        try:
            return mathml(latex, block=found["inline"] is None)
        except ValueError as error:
            LOG.warning("%s: %s", page.file.src_uri, error)
            return f"<code>{html.escape(latex)}</code>"

    return FORMULA.sub(replaced, content)


def mathml(latex: str, block: bool = False) -> str:
    """The formula as MathML. Raises ValueError for what latex2mathml rejects or passes through as it is."""
    if block:  # text style saves lines of print; here it would shrink all that stands after it
        latex = re.sub(r"\\textstyle\s*", "", latex)
    known = latex.replace(r"\arg\min", r"\operatorname{arg}\,\min")  # latex2mathml does not know \arg
    try:
        made = str(convert(known, display="block" if block else "inline"))
    except Exception as error:  # it raises many kinds
        raise ValueError(f"not a formula: {latex} ({error!r})") from error
    if unknown := re.search(r"\\[A-Za-z]+", made):
        raise ValueError(f"{unknown[0]} is unknown in {latex}")
    return f'<div class="formula">{made}</div>' if block else made
