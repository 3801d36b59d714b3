"""Headless Chromium, driven over a pipe by its DevTools protocol, with the standard library alone."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FETCHED = Path(__file__).resolve().parents[3] / ".browser" / "chromium"  # by .ci/browser
NAMES = ("chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable", "chrome")
VARIABLE = "FEDCONVEX_BROWSER"
MISSING = f"there is no Chromium: run .ci/browser, or name one in ${VARIABLE}"
PATIENCE = 60  # seconds for an answer
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--no-zygote", "--remote-debugging-pipe", "--force-color-profile=srgb",
)  # fmt: skip


def program() -> str | None:
    """Where Chromium is: $FEDCONVEX_BROWSER, else what .ci/browser has fetched, else one of its names on the PATH."""
    places = (os.environ.get(VARIABLE), shutil.which(FETCHED), *map(shutil.which, NAMES))
    return next((place for place in places if place), None)


def pictures(otherwise: Path) -> Path:
    """The folder that pictures are left in: $FEDCONVEX_SCREENSHOTS, where that is set."""
    folder = Path(os.environ.get("FEDCONVEX_SCREENSHOTS", otherwise))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Chromium:
    """A running browser with one page. `events` are the notices that came so far, by method."""

    def __init__(self, process: "subprocess.Popen[bytes]", to: int, back: int) -> None:
        self.process, self.to, self.back = process, to, back
        self.number, self.received, self.session = 0, b"", ""
        self.events: list[tuple[str, dict[str, Any]]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])
            self.events.append((answer["method"], answer.get("params", {})))

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.back], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self.back, 1 << 20)
            assert piece, "the browser has stopped"
            self.received += piece
        message, _, self.received = self.received.partition(b"\0")
        return dict(json.loads(message))

    def open(self, file: Path, width: int = 1200, height: int = 1000, dark: bool = False, hash: str = "") -> None:
        """A new page with the file, loaded."""
        self.session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events.clear()
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setTouchEmulationEnabled", enabled=width < 500)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=file.as_uri() + hash)
        self.value("new Promise(go => document.readyState === 'complete' ? go() : addEventListener('load', go))")

    def value(self, expression: str) -> Any:
        """What JavaScript gives for the expression; a promise is waited for."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def place_of(self, selector: str) -> tuple[float, float]:
        """The middle of an element, which is brought into sight."""
        x, y = self.value(
            f"""(() => {{ const one = document.querySelector({json.dumps(selector)});
            one.scrollIntoView({{block: "center"}}); const box = one.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        )
        return x, y

    def point_at(self, selector: str, click: bool = False) -> None:
        """Moves the mouse to an element, and clicks if asked."""
        x, y = self.place_of(selector)
        for kind in ("mouseMoved", *(("mousePressed", "mouseReleased") if click else ())):
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def tap(self, selector: str) -> None:
        """Touches an element with a finger."""
        x, y = self.place_of(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key: str) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def requests(self) -> list[str]:
        """Everything that was asked for since the page was opened."""
        self.value("1")
        return [e["request"]["url"] for method, e in self.events if method == "Network.requestWillBeSent"]

    def complaints(self) -> list[Any]:
        """Errors of the script and of the browser."""
        self.value("1")
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [e for method, e in self.events if method in kinds]


@contextmanager
def chromium(path: str, folder: Path) -> Iterator[Chromium]:
    """Starts the browser with a profile of its own, and ends it."""
    theirs_in, to = os.pipe()
    back, theirs_out = os.pipe()
    there = f'exec "$0" "$@" 3</dev/fd/{theirs_in} 4>/dev/fd/{theirs_out}'  # it reads from 3 and writes to 4
    process = subprocess.Popen(
        ["sh", "-c", there, path, *FLAGS, f"--user-data-dir={folder}"], pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Chromium(process, to, back)
    finally:
        process.kill()
        process.wait()
        os.close(to)
        os.close(back)
