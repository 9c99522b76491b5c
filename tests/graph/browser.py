"""A headless Chromium that is driven by its DevTools protocol, through pipes: no driver, no port, no library."""

from __future__ import annotations

import base64
import itertools
import json
import os
import selectors
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe", "about:blank",
)  # fmt: skip
_PATIENCE = 60.0


class Browser:
    """One window. `requests`: addresses that pages asked for; `errors`: what scripts and the page's policy complained about."""

    def __init__(self, profile: Path, size: tuple[int, int] = (1500, 950)) -> None:
        assert PROGRAM is not None
        to_chromium, self._out = os.pipe()
        self._in, from_chromium = os.pipe()
        # The protocol is spoken on the descriptors 3 and 4. First out of the way, for a pipe may have one of these numbers itself.
        script = f'exec 8<&{to_chromium} 9>&{from_chromium}; exec 3<&8 4>&9 8<&- 9>&-; exec "$@"'
        command = ["bash", "-c", script, "chromium", PROGRAM, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", *_FLAGS]
        self._process = subprocess.Popen(
            command, pass_fds=(to_chromium, from_chromium), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_chromium)
        os.close(from_chromium)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._in, selectors.EVENT_READ)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = next(t for t in self._call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the window answers to a method of the protocol."""
        return self._call(method, self._session, **parameters)

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a page anew and wait until it says that it is ready."""
        self.call("Page.navigate", url="about:blank")
        self.requests.clear()
        self.call("Page.navigate", url=path.as_uri() + (f"#{fragment}" if fragment else ""))
        end = time.monotonic() + _PATIENCE
        while self.run("document.documentElement?.dataset.ready ?? ''") != "yes":
            assert time.monotonic() < end, ("the page is not ready", self.errors)
            time.sleep(0.05)

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def centre(self, selector: str) -> tuple[float, float]:
        """The middle of an element on the screen."""
        x, y, width, height = self.boxes(selector)[0]
        return x + width / 2, y + height / 2

    def boxes(self, selector: str) -> list[list[float]]:
        """Left, top, width and height of elements on the screen."""
        boxes = f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.getBoundingClientRect())"
        found: list[list[float]] = self.run(f"{boxes}.map(b => [b.x, b.y, b.width, b.height])")
        return found

    def click(self, selector: str) -> None:
        x, y = self.centre(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def mouse(self, type: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=type, x=x, y=y, **more)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Enter": 13, "Escape": 27}.get(key, ord(key[0]))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        os.close(self._out)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        os.close(self._in)

    def _call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert self._selector.select(_PATIENCE), "chromium does not answer"
            data = os.read(self._in, 1 << 16)
            assert data, "chromium has ended"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(event["params"]["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(str(event["params"]["exceptionDetails"]))
            case "Log.entryAdded" if event["params"]["entry"]["level"] == "error":
                self.errors.append(event["params"]["entry"]["text"])
            case "Page.javascriptDialogOpening":
                self.errors.append(f"dialog: {event['params']['message']}")
