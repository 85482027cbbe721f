"""Debian's Chromium by its own protocol (CDP) over a pipe: opens a page, asks it, clicks, and keeps what it complained about."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any

import pytest

SECONDS = 60
# As root there is no sandbox, and /dev/shm of a container is small.
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


def chromium() -> str:
    """The path of the browser; without one the test is skipped, and says what is missing."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium")
    if not _starts(found):
        pytest.skip("no chromium that starts here")
    return found


@cache
def _starts(path: str) -> bool:
    """Whether a browser that is installed can work: some containers leave it no place."""
    with tempfile.TemporaryDirectory(prefix="kanalyze-browser-", ignore_cleanup_errors=True) as folder:
        command = [path, *_FLAGS, f"--user-data-dir={folder}", "--dump-dom", "about:blank"]
        with suppress(subprocess.TimeoutExpired, OSError):
            return b"<html" in subprocess.run(command, capture_output=True, timeout=SECONDS, check=False).stdout
    return False


class Page:
    """A page in a browser of its own. `problems` are errors of script and console, `requests` the addresses it asked for."""

    def __init__(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._folder = tempfile.mkdtemp(prefix="kanalyze-browser-")
        told, self._to = os.pipe()
        self._from, tell = os.pipe()
        command = [chromium(), *_FLAGS, "--remote-debugging-pipe"]
        # Whatever a page asks for, no name is looked up.
        command += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        command += [f"--user-data-dir={self._folder}", "--force-prefers-reduced-motion", "about:blank"]
        shell = ["bash", "-c", f'exec "$@" 3<&{told} 4>&{tell}', "bash", *command]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(shell, pass_fds=(told, tell), stdin=quiet, stdout=quiet, stderr=quiet)
        os.close(told)
        os.close(tell)
        self._read, self._number, self._session, self._loaded = b"", 0, "", False
        targets = self._send("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._send("Emulation.setDeviceMetricsOverride", **screen)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])
        self._send("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._note(self._next())
        assert self.ask("Boolean(document.documentElement.dataset.ready)"), self.problems

    def ask(self, script: str) -> Any:
        """The value of an expression, or of the promise that it is."""
        words = {"expression": script, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self._send("Runtime.evaluate", **words)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def go(self, url: str) -> None:
        """Opens another page."""
        self._send("Page.navigate", url=url)

    def until(self, script: str) -> None:
        """Waits until an expression is true; fails when it has not become so in a minute."""
        last = monotonic() + SECONDS
        while not self.ask(f"Boolean({script})"):
            assert monotonic() < last, (script, self.problems)
            sleep(0.1)

    def settled(self) -> None:
        """Waits until what a change of the selection draws is drawn."""
        frames = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 20)))"
        self.ask(f"new Promise((done) => {frames})")

    def drag(self, selector: str, begin: float, end: float) -> None:
        """Draws the pointer over an element, from one share of its width to another."""
        script = f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{ block: 'center' }});
            const box = found.getBoundingClientRect();
            return [box.x, box.y, box.width, box.height];
        }})()"""
        x, y, width, height = self.ask(script)
        places = [x + width * (begin + (end - begin) * step / 4) for step in range(5)]
        mouse = {"y": y + height / 2, "button": "left", "buttons": 1, "clickCount": 1}
        self._send("Input.dispatchMouseEvent", type="mousePressed", x=places[0], **mouse)
        for place in places[1:]:
            self._send("Input.dispatchMouseEvent", type="mouseMoved", x=place, **mouse)
        self._send("Input.dispatchMouseEvent", type="mouseReleased", x=places[-1], **mouse)
        self.settled()

    def press(self, key: str, times: int = 1) -> None:
        """Presses a key, by its name in the DOM."""
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                self._send("Input.dispatchKeyEvent", type=kind, key=key, code=key)
        self.settled()

    def hide_scrollbars(self) -> None:
        """As browsers do whose scrollbars lie over the page."""
        self._send("Emulation.setScrollbarsHidden", hidden=True)
        self.settled()

    def picture(self, path: Path) -> None:
        """Keeps what is on the screen as PNG."""
        path.write_bytes(base64.b64decode(self._send("Page.captureScreenshot", format="png")["data"]))

    def paper(self) -> bytes:
        """The page as a PDF of A4, as the browser's own dialog prints it."""
        sheet = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
        return base64.b64decode(self._send("Page.printToPDF", printBackground=True, **sheet)["data"])

    def accessibility(self) -> Sequence[dict[str, Any]]:
        """The nodes that a screen reader is given."""
        nodes: list[dict[str, Any]] = self._send("Accessibility.getFullAXTree")["nodes"]
        return nodes

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._from], [], [], SECONDS)
            more = os.read(self._from, 1 << 20) if ready else b""
            assert more, "the browser does not answer"
            self._read += more
        line, _, self._read = self._read.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        method, given = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.problems.append(str(given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.problems.append(given["entry"]["text"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])

    def close(self) -> None:
        """Ends the browser."""
        os.close(self._to)
        os.close(self._from)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
