"""Chromium without a window, driven over its DevTools protocol on a pipe: pages are clicked as readers click them."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet.core.processes import start

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
_SECONDS = 60.0


class Page:
    """An open page. requests: addresses that it asked for; errors: exceptions of its scripts."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._rest, self._count = read, write, b"", 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol; its result."""
        self._count += 1
        told = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            told["sessionId"] = self._session
        os.write(self._write, json.dumps(told).encode() + b"\0")
        while (answer := self._message()).get("id") != self._count:
            pass
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._read], [], [], _SECONDS)[0], "the browser does not answer"
            more = os.read(self._read, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"]["exceptionDetails"]))
        return message

    def open(self, path: Path, width: int = 1300, height: int = 1000) -> None:
        """Opens a file in a window of this size (CSS pixels)."""
        self.resize(width, height)
        self.call("Page.navigate", url=path.absolute().as_uri())
        self.until("document.readyState === 'complete'")

    def resize(self, width: int, height: int = 1000) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def ask(self, expression: str) -> Any:
        """The value of an expression of JavaScript; a promise is awaited."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        end = time.monotonic() + _SECONDS
        while not self.ask(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Clicks with the mouse into the middle of the first element that the selector finds.

        A page may still scroll by itself (a changed hash does so in a later task): the point is taken when the element stays
        where it is for two frames.
        """
        x, y = self.ask(
            f"(async () => {{ const e = document.querySelector({json.dumps(selector)}); let x, y;"
            " const frame = () => new Promise(requestAnimationFrame);"
            " for (;;) { e.scrollIntoView({block: 'center', behavior: 'instant'}); await frame(); await frame();"
            " const r = e.getBoundingClientRect(); const still = x === r.x + r.width / 2 && y === r.y + r.height / 2;"
            " x = r.x + r.width / 2; y = r.y + r.height / 2; if (still) return [x, y]; } })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """Writes the whole page as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        made = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(made["data"]))


@contextmanager
def browser(folder: Path) -> Generator[Page]:
    """A browser that reaches nothing but files. folder: for its profile."""
    assert CHROMIUM is not None
    commands, answers = os.pipe(), os.pipe()
    shell = f'exec "$0" "$@" 3<&{commands[0]} 4>&{answers[1]}'
    options = [
        "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-first-run", "--disable-gpu",
        "--disable-dev-shm-usage", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
    ]  # fmt: skip
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    with start(
        ["/bin/bash", "-c", shell, CHROMIUM, *options, "about:blank"], stdout=-3, stderr=-3, pass_fds=[commands[0], answers[1]]
    ):
        os.close(commands[0])
        os.close(answers[1])
        try:
            yield Page(answers[0], commands[1])
        finally:
            os.close(commands[1])
            os.close(answers[0])
