"""`gleaner top` in a terminal of its own, beside a client that only answers: keys, and the terminal as it was after each end."""
import json
import os
import pathlib
import pty
import select
import signal
import socket
import tempfile
import termios
import threading
import time
import unittest

from harness import built, main

STATUS = {"version": 1, "ok": True, "mode": "run", "reason": "computing is allowed", "slots": []}


class Client:
    """The control socket's other end."""

    def __init__(self, path):
        self.commands = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(8)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            caller, _ = self.listener.accept()
            with caller:
                self.commands.append(json.loads(caller.recv(65536))["command"])
                caller.sendall(json.dumps(STATUS).encode() + b"\n")


class Top(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.client = Client(self.directory / "control.sock")

    def watch(self, terminal, until, seconds=30):
        """Reads until the condition holds; whether it did."""
        end = time.monotonic() + seconds
        while not until() and time.monotonic() < end:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    self.shown += os.read(terminal, 65536)
                except OSError:  # the program is gone
                    time.sleep(0.05)
        return until()

    def ends_by(self, act):
        program = str(built("bin/gleaner"))
        process, terminal = pty.fork()
        if process == 0:
            os.execv(program, [program, "top", "--state", str(self.directory)])
        self.shown = b""
        echoes = lambda: bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
        self.assertTrue(self.watch(terminal, lambda: b"close this view" in self.shown and not echoes()), self.shown)
        act(process, terminal)
        ended = []

        def over():
            if not ended:
                number, status = os.waitpid(process, os.WNOHANG)
                ended.extend([status] if number else [])
            return bool(ended)

        self.assertTrue(self.watch(terminal, over))
        self.assertEqual(os.waitstatus_to_exitcode(ended[0]), 0)
        self.assertTrue(echoes(), "the terminal is not as it was")
        os.close(terminal)

    def test_keys(self):
        self.ends_by(lambda process, terminal: os.write(terminal, b"q"))

        def pause(process, terminal):
            os.write(terminal, b"p")
            self.assertTrue(self.watch(terminal, lambda: "pause" in self.client.commands))
            os.write(terminal, b"q")
        self.ends_by(pause)

    def test_requests_to_end(self):
        self.ends_by(lambda process, terminal: os.kill(process, signal.SIGTERM))
        self.ends_by(lambda process, terminal: os.write(terminal, b"\x03"))


if __name__ == "__main__":
    main()
