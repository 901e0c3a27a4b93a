"""A real Chromium, driven through a pipe as its developer tools do: keys, clicks, reloads, downloads, screenshots.

With `--remote-debugging-pipe` it reads JSON messages that end with a zero byte from file 3 and answers on file 4, so no
package is needed.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120  # seconds, on a busy machine
CODES = {
    "Enter": 13,
    "Escape": 27,
    "Home": 36,
    "End": 35,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Tab": 9,
}


class Browser:
    """One page in a headless Chromium; `downloads` is where its files arrive, `events` what it reported."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.downloads = folder / "downloads"
        self.events: list[dict[str, Any]] = []
        self._number, self._rest = 0, b""
        ours, theirs = os.pipe(), os.pipe()
        read, write = (fcntl.fcntl(number, fcntl.F_DUPFD, 20) for number in (theirs[0], ours[1]))

        def connect() -> None:
            os.dup2(read, 3)
            os.dup2(write, 4)

        command = [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={folder / 'profile'}",
        ]
        self._process = subprocess.Popen(
            [*command, "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking", *options],
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for number in (theirs[0], ours[1], read, write):
            os.close(number)
        self._in, self._out = theirs[1], ours[0]
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        answer = self._answer(method, parameters)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _answer(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._in, data) :]
        while (answer := self._receive()).get("id") != self._number:
            self.events.append(answer)
        return answer

    def _receive(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._out], [], [], max(0.0, until - time.monotonic()))
            assert ready, "Chromium does not answer"
            part = os.read(self._out, 1 << 20)
            assert part, "Chromium ended"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path: Path) -> None:
        self._load("Page.navigate", url=path.as_uri())

    def reload(self) -> None:
        self._load("Page.reload")

    def _load(self, method: str, **parameters: Any) -> None:
        self.js("window.stale = true")
        self.call(method, **parameters)
        self.wait("!window.stale && document.readyState === 'complete' && location.protocol === 'file:'")

    def js(self, code: str) -> Any:
        """Return the value of an expression, or of a promise."""
        done = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, (code, done)
        return done["result"].get("value")

    def wait(self, code: str) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            done = self._answer("Runtime.evaluate", {"expression": code, "returnByValue": True})
            if done.get("result", {}).get("result", {}).get("value") is True:  # an error while a page is being left
                return
            assert time.monotonic() < until, f"never true: {code}"
            time.sleep(0.02)

    def press(self, *keys: str, modifiers: int = 0) -> None:
        """Press keys one after the other, as a keyboard does; 2 is Ctrl among the modifiers."""
        for key in keys:
            about: dict[str, Any] = {"key": key, "modifiers": modifiers}
            about["windowsVirtualKeyCode"] = CODES.get(key) or ord(key.upper())
            if len(key) == 1 or key == "Enter":
                about["text"] = "\r" if key == "Enter" else key
            self.call("Input.dispatchKeyEvent", type="keyDown", **about)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, selector: str, touch: bool = False) -> None:
        """Click with the mouse in the middle of an element, so that one that is covered is missed."""
        code = f"""(() => {{ const at = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
          return [at.x + at.width / 2, at.y + at.height / 2]; }})()"""
        x, y = self.js(code)
        if touch:
            self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
            self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            return
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def text(self, selector: str) -> str:
        return self.js(f"document.querySelector({json.dumps(selector)}).innerText.trim()")

    def window(self, width: int, height: int, phone: bool = False, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def downloaded(self, name: str) -> Path:
        """Wait for a file that the page saves."""
        until = time.monotonic() + PATIENCE
        while not (self.downloads / name).is_file() or list(self.downloads.glob("*.crdownload")):
            assert time.monotonic() < until, f"{name} was not saved"
            self.call("Browser.getVersion")
            time.sleep(0.02)
        return self.downloads / name

    def upload(self, selector: str, path: Path) -> None:
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def problems(self) -> list[str]:
        """Return errors of scripts, what the policy blocked, and requests other than for the page itself."""
        self.call("Browser.getVersion")
        found = []
        for event in self.events:
            method, about = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(about["exceptionDetails"]["exception"].get("description", "error"))
            elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
                found.append(about["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not about["request"]["url"].startswith(
                ("data:", "file:", "blob:")
            ):
                found.append(about["request"]["url"])
        return found
