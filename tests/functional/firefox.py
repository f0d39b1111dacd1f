"""Firefox as a person at a computer, by its Marionette protocol: what browser.py is for Chromium, as far as pages are tested with it."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """With no window, and any certificate taken; `with` it the browser is open."""

    def __init__(self, profile):
        self.profile = profile

    def __enter__(self):
        self.profile.mkdir(parents=True)
        preferences = {"marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
                       "app.update.disabledForTesting": True, "network.captive-portal-service.enabled": False, "browser.safebrowsing.downloads.enabled": False}
        (self.profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        self.process = subprocess.Popen([FIREFOX, "--headless", "--marionette", "--profile", str(self.profile), "--no-remote"], start_new_session=True,
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
        """The script's value."""
        return self.call("WebDriver:ExecuteScript", script=f"return ({script});", args=[])["value"]
