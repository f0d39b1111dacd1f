"""Chromium as a person at a computer, for tests of pages."""
import base64
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import urllib.parse

AXE = pathlib.Path(__file__).resolve().parent / "axe" / "axe.min.js.gz"
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "End": 35, "Home": 36}  # beside those of letters
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """Chromium by its DevTools protocol over a pipe: no driver, no port."""

    def __init__(self, profile, *arguments):
        self.profile, self.arguments = profile, arguments
        self.downloads = profile / "downloads"

    def __enter__(self):
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        arguments = [CHROMIUM, "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
                     "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={self.profile}",
                     "--window-size=1000,1400", *self.arguments, *(["--no-sandbox"] if os.geteuid() == 0 else [])]

        def place():  # the protocol's pipes are descriptors 3 and 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.out, self.read_end = ours_out, ours_in
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.out)
        os.close(self.read_end)

    def message(self):
        while b"\0" not in self.buffer:
            data = os.read(self.read_end, 1 << 16)
            if not data:
                raise AssertionError("the browser ended")
            self.buffer += data
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, address):
        self.call("Page.navigate", url=address)

    def run(self, script):
        """The script's value, or what its promise comes to."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def click(self, selector):
        self.run(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
        x, y = self.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('{selector}')"
                        ".getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        """Replaces what a field has, by keys."""
        self.run(f"(field => {{ field.focus(); field.select && field.select(); }})(document.querySelector('{selector}'))")
        self.call("Input.insertText", text=text)

    def press(self, key):
        text = {"text": "\r"} if key == "Enter" else {}
        code = {"code": key, "windowsVirtualKeyCode": KEYS[key]} if key in KEYS else {}
        text = text or ({} if code else {"text": key})
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def screen(self, width, height, scheme=""):
        """An empty `scheme` is the desktop's."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def give(self, selector, paths):
        """Files to a field that takes them."""
        node = self.call("DOM.querySelector", nodeId=self.call("DOM.getDocument")["root"]["nodeId"], selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def violations(self):
        """What axe finds wrong with the page as it is."""
        self.run(gzip.decompress(AXE.read_bytes()).decode() + ";0")
        return self.run("axe.run().then(r => r.violations.map(v => v.id + ' ' + v.nodes.map(n => n.html + n.failureSummary).join('; ')))")

    def complaints(self):
        """Errors that the page or the content policy made."""
        self.run("0")
        found = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                entry = event["params"]["entry"]
                path = urllib.parse.urlsplit(entry.get("url", "")).path
                # A problem may end while the page asks for its live picture, or another is being made: the page shows it, or asks again.
                meant = path.endswith("/picture") and any(status in entry["text"] for status in ("409", "503"))
                if "favicon" not in path and not meant:
                    found.append(f"{entry['text']} {path}".strip())
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(event["params"]))
        return found

    def forget_complaints(self):
        self.events.clear()

    def picture(self, whole=True):
        """A PNG of the page, or of what the screen shows of it."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])
