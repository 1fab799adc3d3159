"""A headless Chromium, if there is one, driven over a pipe: no package is needed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from time import monotonic
from typing import Any

NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell", "headless_shell"),
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
)
"""The names of browsers, as distributions and their makers call them."""

SECONDS = 60.0
"""The time within which a browser must answer."""


def browser() -> str | None:
    """Return the path of a browser: that in `XRELAY_BROWSER`, or the first one on PATH."""
    given = os.environ.get("XRELAY_BROWSER")
    return given or next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass
class Page:
    """An open page."""

    to: int
    back: int
    session: str = ""
    number: int = 0
    pending: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol, and return its result."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self.number:
                assert "error" not in found, found["error"]
                return found["result"]
            self.events.append(found)

    def _next(self) -> dict[str, Any]:
        end = monotonic() + SECONDS
        while b"\0" not in self.pending:
            ready, _, _ = select([self.back], [], [], max(0.0, end - monotonic()))
            assert ready, f"the browser does not answer within {SECONDS:.0f} s"
            data = os.read(self.back, 1 << 16)
            assert data, "the browser has ended"
            self.pending += data
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def wait_for(self, event: str) -> None:
        while not any(found.get("method") == event for found in self.events):
            self.events.append(self._next())

    def open(self, file: Path) -> None:
        self.events.clear()
        self.send("Page.navigate", url=file.as_uri())
        self.wait_for("Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, which must be JSON."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def prefer(self, scheme: str) -> None:
        """Prefer `light` or `dark`, as the reader's system does."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    def screenshot(self, file: Path) -> None:
        size = self.evaluate("[document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": 1240, "height": min(size[0], 4000), "scale": 1}
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(b64decode(found["data"]))

    def complaints(self) -> list[str]:
        """Return errors of scripts, and of what the page's policy refused."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(found) for found in self.events if found.get("method") in kinds]


@contextmanager
def opened(path: str, folder: Path) -> Generator[Page]:
    """Start the browser at `path`, with its profile in `folder`, and yield an empty page."""
    read_here, write_there = os.pipe()
    read_there, write_here = os.pipe()
    # The browser reads commands from 3 and writes to 4: descriptors above those can be moved there.
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (read_there, write_there)]
    os.close(read_there)
    os.close(write_there)
    move = (
        f"import os, sys; os.dup2({high[0]}, 3); os.dup2({high[1]}, 4); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [
        *(sys.executable, "-c", move, path),
        *("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
        *("--no-first-run", "--disable-dev-shm-usage", "--window-size=1240,1000"),
        f"--user-data-dir={folder}",
    ]
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command, pass_fds=high, stdout=silent, stderr=silent)
    for fd in high:
        os.close(fd)
    page = Page(write_here, read_here)
    try:
        target = page.send("Target.createTarget", url="about:blank")["targetId"]
        attached = page.send("Target.attachToTarget", targetId=target, flatten=True)
        page.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            page.send(f"{domain}.enable")
        yield page
    finally:
        process.kill()
        process.wait()
        os.close(write_here)
        os.close(read_here)
