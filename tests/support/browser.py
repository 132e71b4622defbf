"""A real Chromium without a window, driven by its debugging protocol over a pipe: no port, no driver, no package.

with Browser.start(profile) as browser:
    page = browser.open(path, width=390, dark=True)
    page.press("Tab"); page.value("document.activeElement.id")
"""

from __future__ import annotations

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

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
PATIENCE_S = 40
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe")  # fmt: skip
KEYS: dict[str, tuple[int, str]] = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), " ": (32, " ")}


class Browser:
    """One process."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._held = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    @classmethod
    @contextmanager
    def start(cls, profile: Path) -> Iterator[Browser]:
        """A browser with an empty profile."""
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        line = f"exec {CHROMIUM} {' '.join(FLAGS)} --user-data-dir={profile} 3<&{to_read} 4>&{from_write}"
        process = subprocess.Popen(
            ["/bin/bash", "-c", line],
            pass_fds=(to_read, from_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(profile)},
        )
        os.close(to_read)
        os.close(from_write)
        browser = cls(from_read, to_write)
        try:
            yield browser
            browser.send("Browser.close")
        finally:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
            os.close(from_read)
            os.close(to_write)

    def send(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """One command, and its answer; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method: str, session: str) -> dict[str, Any]:
        """The next event of this name that is not yet taken."""
        while True:
            for event in self.events:
                if event.get("method") == method and event.get("sessionId") == session and not event.get("taken"):
                    event["taken"] = True
                    return event["params"]
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser says nothing"
            data = os.read(self._read, 1 << 20)
            assert data, "the browser has gone"
            self._held += data
        message, _, self._held = self._held.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path | str, *, width: int = 1280, height: int = 1000, dark: bool = False) -> Page:
        """A page at this address, loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.send(f"{domain}.enable")
        page.size(width, height)
        page.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        page.send("Page.navigate", url=path if isinstance(path, str) else path.as_uri())
        self.wait_for("Page.loadEventFired", session)
        return page


class Page:
    """One tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **params)

    def size(self, width: int, height: int) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def value(self, expression: str) -> Any:
        """What an expression comes to."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str, times: int = 1) -> None:
        """Press and let go of a key."""
        code, text = KEYS[key]
        told = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code}
        for _ in range(times):
            self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **told)
            self.send("Input.dispatchKeyEvent", type="keyUp", **told)

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """A PNG of what is seen."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def told(self, method: str) -> list[dict[str, Any]]:
        """Events of this name so far."""
        self.value("1")
        return [
            one["params"]
            for one in self._browser.events
            if one.get("method") == method and one.get("sessionId") == self._session
        ]
