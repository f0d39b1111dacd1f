"""Firefox as a person at a computer, by its Marionette protocol: what browser.py is for Chromium, as far as pages are tested with it."""
import base64
import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse

from browser import AXE, KEYS

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
CODES = {"Enter": "\ue007", "Tab": "\ue004", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "End": "\ue010", "Home": "\ue011"}
assert CODES.keys() == KEYS.keys()
# A window is 450 pixels wide at least; the page in it need not be. An empty `scheme` is the desktop's.
SCREEN = """(([width, height, scheme]) => {
  const place = gBrowser.selectedBrowser.closest('.browserStack');
  for (const [name, value] of Object.entries({minWidth: '0', width: `${width}px`, maxWidth: `${width}px`, height: `${height}px`, maxHeight: `${height}px`})) place.style[name] = value;
  Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', {dark: 0, light: 1}[scheme] ?? 2);
})(%s)"""
# Errors of pages, and what the content policy refused.
ERRORS = """Services.console.getMessageArray().filter(each => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag) && each.sourceName.startsWith('http'))
  .map(each => [each.errorMessage, each.sourceName])"""


class Firefox:
    """With no window, any certificate taken and little motion; `with` it the browser is open."""

    def __init__(self, profile):
        self.profile, self.downloads = profile, profile / "downloads"

    def __enter__(self):
        self.downloads.mkdir(parents=True)
        preferences = {"marionette.port": 0, "ui.prefersReducedMotion": 1, "browser.download.folderList": 2, "browser.download.alwaysOpenPanel": False, "browser.download.dir": str(self.downloads), "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
                       "app.update.disabledForTesting": True, "network.captive-portal-service.enabled": False, "browser.safebrowsing.downloads.enabled": False}
        (self.profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        self.process = subprocess.Popen([FIREFOX, "--headless", "--marionette", "--profile", str(self.profile), "--no-remote", "--remote-allow-system-access"], start_new_session=True,
                                        env={**os.environ, "HOME": str(self.profile)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.connection = self.connected()
            self.file, self.number = self.connection.makefile("rb"), 0
            self.message()  # who it is
            self.call("WebDriver:NewSession", acceptInsecureCerts=True, timeouts={"script": 60000, "pageLoad": 120000}, pageLoadStrategy="none")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def connected(self):
        said = self.profile / "MarionetteActivePort"
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", int(said.read_text())), timeout=120)
            except (OSError, ValueError):
                time.sleep(0.1)  # it starts
        raise AssertionError("firefox does not start")

    def message(self):
        length = b""
        while not length.endswith(b":"):
            length += self.file.read(1)
        return json.loads(self.file.read(int(length[:-1])))

    def call(self, command, **parameters):
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(text), text))
        while True:
            kind, number, error, result = self.message()
            if (kind, number) == (1, self.number):
                if error:
                    raise AssertionError(f"{command}: {error['error']}: {error['message']}")
                return result

    def open(self, address):
        self.call("WebDriver:Navigate", url=address)

    def reload(self):
        self.call("WebDriver:Refresh")

    def run(self, script):
        """The script's value, or what its promise comes to."""
        return self.call("WebDriver:ExecuteScript", script=f"return ({script});", args=[])["value"]

    def run_as_browser(self, script):
        """Not in the page: with all that the browser may."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.run(script)
        finally:
            self.call("Marionette:SetContext", value="content")

    def screen(self, width, height, scheme=""):
        self.call("WebDriver:SetWindowRect", width=max(width, 500), height=height + 200)
        self.run_as_browser(SCREEN % json.dumps([width, height, scheme]))

    def element(self, selector):
        return next(iter(self.call("WebDriver:FindElement", using="css selector", value=selector)["value"].values()))

    def click(self, selector):
        self.call("WebDriver:ElementClick", id=self.element(selector))

    def keys(self, values):
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": [
            {"type": kind, "value": value} for value in values for kind in ("keyDown", "keyUp")]}])

    def type(self, selector, text):
        """Replaces what a field has, by keys."""
        self.run(f"(field => {{ field.focus(); field.select && field.select(); }})(document.querySelector('{selector}'))")
        self.keys(text)

    def press(self, key):
        self.keys(CODES.get(key, key))

    def give(self, selector, paths):
        """Files to a field that takes them."""
        self.call("WebDriver:ElementSendKeys", id=self.element(selector), text="\n".join(map(str, paths)))

    def violations(self):
        """What axe finds wrong with the page as it is."""
        found = "axe.run().then(r => r.violations.map(v => v.id + ' ' + v.nodes.map(n => n.html + n.failureSummary).join('; ')))"
        return self.call("WebDriver:ExecuteScript", script=f"{gzip.decompress(AXE.read_bytes()).decode()};return {found};", args=[], sandbox=None)["value"]

    def complaints(self):
        """Errors that the page or the content policy made."""
        return [f"{message} {urllib.parse.urlsplit(address).path}" for message, address in self.run_as_browser(ERRORS)]

    def forget_complaints(self):
        self.run_as_browser("Services.console.reset()")

    def picture(self, whole=True):
        """A PNG of the page, or of what the screen shows of it."""
        return base64.b64decode(self.call("WebDriver:TakeScreenshot", full=whole)["value"])
