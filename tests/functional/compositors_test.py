"""Wayland compositors, run without a screen: the first key pauses kernels at once. One test each, where it is installed."""
import os
import pathlib
import pwd
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

from harness import MANDELBROT, Grid, main
from sessions import Desktop, YieldTrial, cpu_seconds


class Sway(Desktop):
    """sway with its headless backend; it does not run as the superuser."""

    available = shutil.which("sway") is not None and shutil.which("wtype") is not None

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-sway-"))
        self.processes = []
        runtime = self.directory / "runtime"
        runtime.mkdir(mode=0o700)
        other = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            other = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(runtime, nobody.pw_uid, nobody.pw_gid)
            os.chmod(self.directory, 0o755)
        self.env = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "HOME": str(runtime)}
        for name in ("WAYLAND_DISPLAY", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
            self.env.pop(name, None)
        self.start("sway", "-c", "/dev/null", cwd="/", **other, env={
            **self.env, "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"})
        end = time.monotonic() + 30
        while not (sockets := [path for path in runtime.glob("wayland-*") if path.suffix != ".lock"]):
            if time.monotonic() > end:
                self.__exit__(None, None, None)
                raise AssertionError("sway did not start")
            time.sleep(0.05)
        self.env["WAYLAND_DISPLAY"] = sockets[0].name
        return self


class Keyboard:
    """Types by wtype. Its own trace says when the key left it, to the microsecond."""

    def __init__(self, desktop):
        self.env = {**desktop.env, "WAYLAND_DEBUG": "1"}

    def press(self):
        """When the key was sent, in nanoseconds of the real-time clock."""
        done = subprocess.run(["wtype", "-k", "a"], env=self.env, check=True, capture_output=True, text=True, timeout=60)
        sent = re.search(r"\[ *(\d+)\.(\d+)\].* -> zwp_virtual_keyboard_v1@\d+\.key\(", done.stderr)
        now = time.time_ns() // 1000
        return 1000 * (now - (now - (1000 * int(sent.group(1)) + int(sent.group(2)))) % (1 << 32))


class Mutter(Desktop):
    """mutter with a virtual monitor, and a session bus of its own: GNOME's idle monitor, and its way to type."""

    available = shutil.which("mutter") is not None and shutil.which("dbus-daemon") is not None and subprocess.run(
        ["/usr/bin/python3", "-c", "import dbus"], capture_output=True).returncode == 0

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-mutter-"))
        self.processes = []
        self.env = {**os.environ, "XDG_RUNTIME_DIR": str(self.directory), "HOME": str(self.directory)}
        for name in ("WAYLAND_DISPLAY", "DISPLAY"):
            self.env.pop(name, None)
        self.bus()
        self.start("mutter", "--headless", "--wayland", "--no-x11", "--virtual-monitor", "640x480", env=self.env)
        self.typist = self.start("/usr/bin/python3", "-c", MUTTER_TYPIST, env=self.env, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        if self.typist.stdout.readline() != "ready\n":
            self.__exit__(None, None, None)
            raise AssertionError("mutter did not start")
        return self

    def press(self):
        self.typist.stdin.write("press\n")
        self.typist.stdin.flush()
        return int(self.typist.stdout.readline())


# A session of remote control lasts as long as the connection that asked for it.
MUTTER_TYPIST = """
import dbus, sys, time
bus = dbus.SessionBus()
name, end = "org.gnome.Mutter.RemoteDesktop", time.monotonic() + 60
while not bus.name_has_owner(name):
    if time.monotonic() > end: sys.exit("no mutter")
    time.sleep(0.1)
control = dbus.Interface(bus.get_object(name, "/org/gnome/Mutter/RemoteDesktop"), name)
session = dbus.Interface(bus.get_object(name, control.CreateSession()), name + ".Session")
session.Start()
print("ready", flush=True)
for line in sys.stdin:
    sent = time.time_ns()
    session.NotifyKeyboardKeycode(dbus.UInt32(30), True)
    session.NotifyKeyboardKeycode(dbus.UInt32(30), False)
    print(sent, flush=True)
"""


class WaylandTrial(YieldTrial):
    def typist_of(self, desktop):
        return desktop if isinstance(desktop, Mutter) else Keyboard(desktop)

    def input(self, settle=0.5):
        """As there; processor time is sampled meanwhile, for wtype takes its time before the key."""
        processes = list(self.used())
        samples, over = [], threading.Event()

        def sample():
            while not over.is_set():
                samples.append((time.time_ns(), [cpu_seconds(process) for process in processes]))
                time.sleep(0.0005)

        watcher = threading.Thread(target=sample)
        watcher.start()
        try:
            key = self.typist.press()
            time.sleep(settle)
        finally:
            over.set()
            watcher.join()
        before = [used for at, used in samples if at <= key][-1]
        after = samples[-1][1]
        time.sleep(0.05)
        later = [cpu_seconds(process) for process in processes]
        if any(end > middle for middle, end in zip(after, later)):
            raise AssertionError(f"kernels go on computing {settle} s after input")
        return max(end - begin for begin, end in zip(before, after))


class Compositors(unittest.TestCase):
    def yields(self, compositor, source, trials=int(os.environ.get("GLEANER_TRIALS", "8"))):
        with compositor() as desktop, Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_problem("mandelbrot", "long", width=300, height=4000, iterations=200000)
            trial = WaylandTrial(grid, desktop, 2)
            used = []
            for _ in range(trials):
                trial.wait_for_work(2)
                used.append(trial.input())
            print(f"{compositor.__name__}: processor time used after input, ms:", sorted(round(1e3 * one, 2) for one in used))
            self.assertRegex(grid.control("one", "why").stdout, rf"{source}: last input .* \(told at once\)")
            # Loose, for machines under load.
            self.assertLess(statistics.median(used), 0.05)
            self.assertLess(max(used), 1)

    @unittest.skipUnless(Sway.available, "sway and wtype are not installed")
    def test_sway(self):
        self.yields(Sway, "Wayland")

    @unittest.skipUnless(Mutter.available, "mutter, dbus-daemon and Debian's python3-dbus are not all installed")
    def test_mutter(self):
        self.yields(Mutter, "GNOME")


if __name__ == "__main__":
    main()
