"""Desktop sessions for tests: an X server without a screen, input that nobody typed, D-Bus services that are none."""
import ctypes
import ctypes.util
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from harness import sandbox_arguments


class Desktop:
    """An X server of its own with nobody at it; ended with all that was started in it."""

    available = shutil.which("Xvfb") is not None

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-desktop-"))
        self.processes = []
        reader, writer = os.pipe()
        self.start("Xvfb", "-displayfd", str(writer), "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset",
                   pass_fds=(writer,))
        os.close(writer)
        with os.fdopen(reader) as pipe:
            self.display = ":" + pipe.readline().strip()
        if self.display == ":":
            self.__exit__(None, None, None)
            raise AssertionError("Xvfb did not start: " + (self.directory / "Xvfb.log").read_text()[-500:])
        self.env = {**os.environ, "DISPLAY": self.display}
        for name in ("WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
            self.env.pop(name, None)
        return self

    def __exit__(self, kind, value, trace):
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    pipe.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, name, *arguments, env=None, **options):
        log = open(self.directory / f"{pathlib.Path(name).name}.log", "a")
        options.setdefault("stdout", log)
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([name, *arguments], stderr=log, start_new_session=True, env=env, **options)
        log.close()
        self.processes.append(process)
        return process

    def bus(self):
        """A session bus with nobody on it; its address."""
        process = self.start("dbus-daemon", "--session", "--print-address", "--nofork", "--nopidfile", env=self.env,
                             stdout=subprocess.PIPE, text=True)
        self.env["DBUS_SESSION_BUS_ADDRESS"] = process.stdout.readline().strip()
        return self.env["DBUS_SESSION_BUS_ADDRESS"]


class Ear:
    """Where an agent speaks; the last thing that it said."""

    def __init__(self, path):
        self.path = str(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.listener.settimeout(30)
        self.connection, self.text, self.said = None, b"", []

    def hear(self, what, condition, timeout=30):
        end = time.monotonic() + timeout
        while True:
            for report in self.said[-1:]:
                if condition(report):
                    return report
            if time.monotonic() > end:
                raise AssertionError(f"the agent did not say {what}; it said {self.said[-3:]}")
            if self.connection is None:
                self.connection, _ = self.listener.accept()
                self.connection.settimeout(1)
            try:
                got = self.connection.recv(65536)
            except TimeoutError:
                continue
            if not got:
                raise AssertionError("the agent is gone")
            self.text += got
            *lines, self.text = self.text.split(b"\n")
            self.said += map(json.loads, lines)

    def close(self):
        for one in (self.connection, self.listener):
            if one:
                one.close()


class Typist:
    """Types keys by XTEST on a connection that is kept: an event is there within a fraction of a millisecond."""

    def __init__(self, display):
        self.x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
        self.xtest = ctypes.CDLL(ctypes.util.find_library("Xtst") or "libXtst.so.6")
        self.x11.XOpenDisplay.restype = ctypes.c_void_p
        self.display = ctypes.c_void_p(self.x11.XOpenDisplay(display.encode()))
        assert self.display.value, f"cannot open the display {display}"

    def press(self, keycode=38):
        """Presses and lets go; returns when the server has taken it, in nanoseconds of the monotonic clock."""
        for down in (1, 0):
            self.xtest.XTestFakeKeyEvent(self.display, keycode, down, ctypes.c_ulong(0))
        self.x11.XSync(self.display, 0)
        return time.monotonic_ns()

    def close(self):
        self.x11.XCloseDisplay(self.display)


def cpu_seconds(process):
    """Processor time of all threads of a process, to the nanosecond, running ones included; 0 if it is gone."""
    try:
        return time.clock_gettime_ns((~process << 3) | 2) / 1e9
    except OSError:
        return 0.0


class YieldTrial:
    """A client that computes while nobody uses a desktop of its own; input() measures how long it goes on when somebody
    comes: the processor time that the kernel that used most of it got after the event."""

    preferences = 'run = "when-idle"\nidle_minutes = 0.01\npause_minutes_min = 0\nload_max = 1\n'

    def __init__(self, grid, desktop, cores):
        self.grid, self.typist = grid, self.typist_of(desktop)
        computer = grid.directory / "computer"
        (computer / "tmp/.X11-unix").mkdir(parents=True)
        if "DISPLAY" in desktop.env:
            (computer / "tmp/.X11-unix" / desktop.display.replace(":", "X")).touch()
        grid.join("one")
        state = grid.state("one")
        (state / "preferences.toml").write_text(self.preferences)
        grid.start("one", "gleaner-client", "run", "--state", state, *sandbox_arguments(state), "--cores", cores,
                   "--benchmark-mflops", 1000, env={**desktop.env, "GLEANER_COMPUTER": str(computer)})
        grid.wait_until("the agents' socket", (state / "agent.sock").exists)
        desktop.start(grid.program("gleaner-agent"), "--socket", str(state / "agent.sock"), "--idle-seconds", "0.3",
                      env=desktop.env)

    def typist_of(self, desktop):
        return Typist(desktop.display)

    def used(self):
        return {process: cpu_seconds(process) for process in self.grid.kernels_of("one")}

    def wait_for_work(self, kernels, timeout=60):
        """Until as many kernels as that have all used the processor just now."""
        before = self.used()

        def working():
            nonlocal before
            now = self.used()
            busy = sum(now[process] - before.get(process, now[process]) > 0.005 for process in now)
            before = now
            return busy >= kernels

        self.grid.wait_until("kernels that compute", working, timeout)

    def settled(self, processes, patience=5):
        """Types on until they stand still, as somebody who has begun goes on: on a loaded machine the agent may see a key late. What
        processor time each has used then; raises if one still computes after `patience` seconds."""
        deadline = time.monotonic() + patience
        while True:
            time.sleep(0.3)
            used = [cpu_seconds(process) for process in processes]
            time.sleep(0.05)
            if [cpu_seconds(process) for process in processes] == used:
                return used
            if time.monotonic() > deadline:
                raise AssertionError(f"kernels go on computing while somebody has typed for {patience} s")
            self.typist.press()

    def input(self):
        """Seconds."""
        processes = list(self.used())
        before = [cpu_seconds(process) for process in processes]
        self.typist.press()
        return max(end - begin for begin, end in zip(before, self.settled(processes)))
