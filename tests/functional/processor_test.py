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
            kernels = grid.kernels_of("victim")
            grid.wait_until("it to compute", lambda: used(kernels) > 0.2)
            time.sleep(0.5)
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


if __name__ == "__main__":
    main()
