"""A stand-in for xdg-open, and another user who looks at everything that runs meanwhile."""
import os
import pathlib
import subprocess
import sys

from harness import AS_NOBODY

OPENER = '''#!{python}
"""Waits, as a browser that starts; then asks for the address that it was given and tells where that led."""
import http.client, pathlib, sys, time, urllib.parse
here = pathlib.Path(__file__).parent
(here / "new").write_text(sys.argv[1])
(here / "new").rename(here / "told")
while not (here / "go").exists():
    if not here.exists():
        sys.exit()  # the test is over
    time.sleep(0.02)
place = urllib.parse.urlsplit(sys.argv[1])
connection = http.client.HTTPConnection(place.netloc, timeout=60)
connection.request("GET", place.path)
reply = connection.getresponse()
(here / "new").write_text(f"{{reply.status}} {{reply.headers['Location']}}")
(here / "new").rename(here / "got")
'''
# Every address on the loopback device or of a server in the arguments and the environment of a program; and what is at one of them.
LOOK = r'''
import http.client, os, re, sys, urllib.parse
seen = set()
for process in filter(str.isdigit, os.listdir("/proc")):
    for what in ("cmdline", "environ"):
        try:
            with open(f"/proc/{process}/{what}", "rb") as file:
                seen |= set(re.findall(rb"https?://127\.0\.0\.1:\d+[^\0\s]*", file.read()))
        except OSError:
            pass
for address in sorted(text.decode() for text in seen):
    print(address)
    place = urllib.parse.urlsplit(address)
    if address == sys.argv[1]:
        try:
            connection = http.client.HTTPConnection(place.netloc, timeout=60)
            connection.request("GET", place.path)
            reply = connection.getresponse()
            print(reply.status, reply.headers["Location"], reply.read()[:100])
        except (OSError, http.client.HTTPException) as error:
            print(repr(error))
'''


class Opener:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir()
        program = self.directory / "xdg-open"
        program.write_text(OPENER.format(python=sys.executable))
        program.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{self.directory}:{os.environ['PATH']}", "DISPLAY": ":99"}

    def told(self, grid):
        """The address that the browser was started with."""
        return grid.wait_until("a browser to be started", lambda: self.content("told"), 60)

    def got(self, grid):
        """Where that led, once it went on."""
        (self.directory / "go").touch()
        return grid.wait_until("the browser to get an answer", lambda: self.content("got"), 60)

    def content(self, name):
        return (self.directory / name).read_text() if (self.directory / name).exists() else ""

    @staticmethod
    def seen_by_another_user(address):
        """All that is to be seen, and what that user gets at `address`."""
        return subprocess.run([*AS_NOBODY, sys.executable, "-c", LOOK, address], capture_output=True, text=True, check=True, timeout=300).stdout
