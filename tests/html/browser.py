"""A real browser for tests of pages, and scripts that measure what it shows."""

import json
import os
import select
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: JavaScript: the contrast (WCAG 2.2) of every visible text with its background, ascending.
CONTRASTS = """
(() => {
  const parts = c => c.match(/[\\d.]+/g).map(Number);
  const over = (top, below) => { const a = top.length > 3 ? top[3] : 1; return [0,1,2].map(i => a*top[i] + (1-a)*below[i]); };
  const light = c => { const [r,g,b] = c.map(v => { v /= 255; return v <= .03928 ? v/12.92 : ((v+.055)/1.055)**2.4; }); return .2126*r+.7152*g+.0722*b; };
  const behind = e => { const all = []; for (; e; e = e.parentElement) all.push(parts(getComputedStyle(e).backgroundColor));
    return all.reverse().reduce((below, top) => over(top, below), [255,255,255]); };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, box = e.getBoundingClientRect();
    if (!walk.currentNode.textContent.trim() || !box.width || e.closest('title')) continue;
    const style = getComputedStyle(e), ground = behind(e);
    const ink = over(parts(e.closest('svg') ? style.fill : style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    found.push([(a+.05)/(b+.05), walk.currentNode.textContent]);
  }
  return found.sort((x, y) => x[0] - y[0]);
})()
"""
#: JavaScript: texts of charts that extend beyond their chart.
CUT_OFF = """
[...document.querySelectorAll('svg text')].filter(t => {
  const box = t.getBoundingClientRect(), frame = t.closest('svg').getBoundingClientRect();
  return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1);
}).map(t => t.textContent)
"""
#: JavaScript: the smallest font size in charts, in pixels.
SMALLEST = """
Math.min(...[...document.querySelectorAll('svg text')].filter(t => t.getBoundingClientRect().width)
  .map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))
"""


class Browser:
    """Headless Chromium, controlled through two pipes: it needs no driver and no port."""

    def __init__(self, program: str, profile: Path) -> None:
        flags = (
            "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
            "--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe"
        )
        browser_in, self._to = os.pipe()
        self._from, browser_out = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4; the pipes have other numbers in this process.
        start = f'exec "$@" 3<&{browser_in} 4>&{browser_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", start, "bash", program, *flags.split(), f"--user-data-dir={profile}"],
            pass_fds=(browser_in, browser_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(browser_in)
        os.close(browser_out)
        self._number, self._buffer, self._session = 0, b"", None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command of the DevTools protocol and return its result; events that arrive first are recorded."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _receive(self) -> Any:
        while b"\0" not in self._buffer:
            assert select.select([self._from], [], [], 60)[0], "the browser does not answer"
            piece = os.read(self._from, 1 << 20)
            assert piece, "the browser ended"
            self._buffer += piece
        first, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(first)

    def open(self, page: Path, width: int, scheme: str, media: str = "") -> list[dict[str, Any]]:
        """Load a page and return the events until it was loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())
        self.run("document.fonts.ready.then(() => 0)")
        return list(self.events)

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression, evaluated on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self) -> bytes:
        """Return the whole page as a PNG image."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return b64decode(answer["data"])

    def close(self) -> None:
        """End the browser."""
        os.close(self._to)
        self._process.terminate()
        self._process.wait(20)
        os.close(self._from)


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """Yield a browser with a profile folder of its own; skip the test on machines without Chromium."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine; Debian has it as the package chromium")
    browser = Browser(CHROMIUM, profile)
    try:
        yield browser
    finally:
        browser.close()


def console_messages(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of errors, warnings and console output."""
    kinds = {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"}
    return [event for event in events if event.get("method") in kinds]
