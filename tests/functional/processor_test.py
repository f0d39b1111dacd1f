"""Processor time that nobody gave: hostile kernels and managers that continue themselves while they are paused, and kernels
that use more than their share or more processors than agreed. In every sandbox there is: as the superuser and as somebody,
with bubblewrap and without."""
import os
import pathlib
import shutil
import subprocess
import time
import unittest

from harness import AS_NOBODY, BUILD, NOBODY, SLOW, WITHOUT_BUBBLEWRAP, Grid, main
from kernels import KERNEL_LOOP, kernel_bundle
from managers_test import Server
from sandbox_attack_test import BUBBLEWRAP_WORKS, OTHERS_REACH, WEAK

# SIGCONT every 10 ms from a POSIX timer, by four processes that kill(2) each other awake as well.
WAKER = """
import ctypes, os, signal
def stay_awake(processes, ready=None):
    libc = ctypes.CDLL(None)
    class Event(ctypes.Structure):
        _fields_ = [("value", ctypes.c_long), ("signal", ctypes.c_int), ("how", ctypes.c_int), ("room", ctypes.c_char * 48)]
    for _ in range(processes - 1):
        if os.fork() == 0: break
    signal.signal(signal.SIGCONT, lambda *_: None)
    timer = ctypes.c_int()
    libc.syscall(222, 1, ctypes.byref(Event(0, signal.SIGCONT, 0)), ctypes.byref(timer))
    libc.syscall(223, timer, 0, (ctypes.c_long * 4)(0, 10_000_000, 0, 10_000_000), None)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.01, 0.01)
    signal.signal(signal.SIGVTALRM, lambda *_: None)
    if ready is not None: os.write(ready, b'.')
    while True:
        try: os.kill(0, signal.SIGCONT)
        except OSError: pass
"""
KERNEL = "#!/usr/bin/python3\nimport sys\n" + WAKER + """
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
""" + KERNEL_LOOP


def used(processes):
    """Seconds of processor time so far."""
    return sum(int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in processes) / 1e9


class Tiers:
    """Of both kernels and managers: once for each sandbox."""
    before = ()
    words = "namespaces"

    def uses(self, processes, seconds):
        """What these processes use in that time, and how long it really was."""
        start, begin = used(processes), time.monotonic()
        time.sleep(seconds)
        return used(processes) - start, time.monotonic() - begin

    def test_kernel(self):
        with Grid() as grid:
            grid.directory.chmod(0o755)
            programs = grid.directory / "bin"
            programs.mkdir()
            for program in ("gleaner-client", "gleaner", "gleaner-sandbox", "gleaner-unpack"):
                shutil.copy(BUILD / "bin" / program, programs)
            state = grid.state("victim")
            state.mkdir()
            if self.before:
                os.chown(state, NOBODY, NOBODY)
            grid.start_server()

            def as_owner(program, *arguments):
                return subprocess.run([str(part) for part in (*self.before, programs / program, *arguments)], check=True,
                                      capture_output=True, text=True, timeout=60 * SLOW).stdout

            as_owner("gleaner-client", "join", grid.join_code, "--state", state)
            grid.add_application(kernel_bundle(grid, "waker", "stay_awake(4)\n", before=KERNEL))
            grid.add_problem("waker", "waker", count=1)
            grid.start("victim", programs / "gleaner-client", "run", "--state", state, "--run", "always", "--cores", 1,
                       "--priority", "normal", "--benchmark-mflops", 1000, "--sandbox", WEAK, before=self.before)
            grid.wait_until("its processes", lambda: len(grid.kernels_of("victim")) >= 5)
            self.assertIn(f"confinement of kernels: {self.words}", grid.log("victim"))
            grid.wait_until("it to compute", lambda: used(grid.kernels_of("victim")) > 0.2)
            time.sleep(0.5)
            kernels = grid.kernels_of("victim")
            taken, passed = self.uses(kernels, 4)
            print(f"{self.words}: {taken / passed:.2f} processors of 1", flush=True)
            self.assertLess(taken, 1.1 * passed + 0.1)  # 1.98 of two
            as_owner("gleaner", "--state", state, "pause")
            time.sleep(0.3)
            taken, passed = self.uses(kernels, 3)
            print(f"{self.words}: {taken:.2f} s in a pause of {passed:.1f} s", flush=True)
            self.assertLess(taken, 0.05)  # nearly all of it
            self.assertEqual(set(kernels), set(grid.kernels_of("victim")))  # it could not even try
            as_owner("gleaner", "--state", state, "resume")
            before = used(kernels)
            grid.wait_until("it to go on", lambda: used(kernels) > before + 0.05)
            as_owner("gleaner", "--state", state, "prefs", "set", "cpu_share", "0.1")
            time.sleep(1.5)  # what it took in the moment before is paid back
            taken, passed = self.uses(kernels, 4)
            print(f"{self.words}: {taken / passed:.2f} processors of 0.10", flush=True)
            self.assertLess(taken, 0.15 * passed + 0.05)  # 0.8 to 1
            self.assertGreater(taken, 0)

    def test_manager(self):
        with Server(self.before) as grid:
            grid.start_server()
            self.assertIn(f"managers are confined by {self.words}", grid.log("server"))
            grid.add_application(grid.hostile("waker", f"""
                scope = {{}}
                exec({WAKER!r}, scope)
                ends = os.pipe()
                if os.fork() == 0:
                    for descriptor in range(3): os.close(descriptor)
                    scope["stay_awake"](3, ends[1])
                ready = 0
                while ready < 3: ready += len(os.read(ends[0], 3))  # its answer stops them
                """))
            grid.add_problem("waker", "waker", count=1000)
            time.sleep(1)
            managers = grid.managers()
            self.assertGreaterEqual(len(managers), 5)
            taken, passed = self.uses(managers, 4)
            print(f"{self.words}: a manager that nobody asks used {taken:.2f} s in {passed:.1f} s", flush=True)
            self.assertLess(taken, 0.05)


@unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights")
@unittest.skipUnless(BUBBLEWRAP_WORKS, "bubblewrap does not work here")
class Superuser(Tiers, unittest.TestCase):
    pass


@unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights, to become others")
@unittest.skipUnless(BUBBLEWRAP_WORKS and OTHERS_REACH, "bubblewrap does not work here")
class Somebody(Tiers, unittest.TestCase):
    before = AS_NOBODY


@unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights, to become others")
@unittest.skipUnless(OTHERS_REACH, "others cannot reach this root directory")
class LandlockAlone(Tiers, unittest.TestCase):
    before = [*WITHOUT_BUBBLEWRAP, *AS_NOBODY]
    words = "Landlock"


class ControlGroup:
    """One of version 1 with these settings, where the system has one: `self.join` is what starts a program in it."""

    def __init__(self, name, **settings):
        self.paths = {}
        for setting, value in settings.items():
            controller = setting.split("_")[0]
            path = pathlib.Path(f"/sys/fs/cgroup/{controller}/{name}-{os.getpid()}")
            path.mkdir(exist_ok=True)
            self.paths[controller] = path
            self.set(setting, value)

    def set(self, setting, value):
        controller, rest = setting.split("_", 1)
        (self.paths[controller] / f"{controller}.{rest}").write_text(str(value))

    @property
    def join(self):
        return ["/bin/sh", "-c", "".join(f"echo $$ >{path}/cgroup.procs; " for path in self.paths.values()) + 'exec "$@"', "sh"]

    def remove(self):
        for path in self.paths.values():
            for _ in range(100):
                try:
                    for below in path.iterdir():
                        if below.is_dir():
                            below.rmdir()
                    path.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)


@unittest.skipIf(os.geteuid() != 0 or not os.access("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", os.F_OK) and not
                 os.access("/sys/fs/cgroup/cpu/cpu.shares", os.F_OK), "needs control groups of version 1")
@unittest.skipUnless((os.cpu_count() or 1) >= 2, "needs two processors")
class Container(unittest.TestCase):
    def test_quota_and_limit_count_also_when_they_change(self):
        cores = os.cpu_count()
        group = ControlGroup("gleaner-test", cpu_cfs_period_us=100_000, cpu_cfs_quota_us=30_000, memory_limit_in_bytes=1 << 30)
        self.addCleanup(group.remove)
        with Grid() as grid:
            grid.start_server()
            subprocess.run([*group.join, grid.program("gleaner-client"), "join", grid.join_code, "--state", grid.state("box")],
                           check=True, capture_output=True, timeout=60 * SLOW)
            grid.start("box", "gleaner-client", "run", "--state", grid.state("box"), "--run", "always",
                       "--benchmark-mflops", 1000, before=group.join)

            def status():
                done = grid.control("box", "status", check=False)
                return done.stdout if done.returncode == 0 else ""

            grid.wait_until("the quota", lambda: f"0.3 of {cores} cores" in status(), 60)
            host = grid.admin_json("host", "list")["items"][0]
            self.assertEqual(host["cores"], 1)
            self.assertLessEqual(host["memory_bytes"], 1 << 30)
            self.assertIn(f"this client's control group allows it 0.3 of {cores} cores", grid.control("box", "why").stdout)
            group.set("cpu_cfs_quota_us", 150_000)
            grid.wait_until("more", lambda: f"1.5 of {cores} cores" in status(), 60)
            group.set("cpu_cfs_quota_us", -1)
            grid.wait_until("all", lambda: f", {cores} core" in status(), 60)


if __name__ == "__main__":
    main()
