"""A strict reader of the report's page: its elements, and its faults."""

import re
from dataclasses import dataclass, field
from xml.etree import ElementTree

LOADING = ("src", "srcset", "data", "poster", "action", "formaction", "background", "manifest", "ping")


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
