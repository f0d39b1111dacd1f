"""Hostile kernels: each tries one thing that a volunteer's computer must not suffer. Each is stopped, named where it can
be, reported to the server, and leaves nothing behind."""
import os
import pathlib
import signal
import socket
import subprocess
import textwrap
import time
import unittest

from harness import SANDBOX_OFF, SQUARES, Grid, main
from kernels import KERNEL_LOOP, kernel_bundle

KERNEL = """\
#!/usr/bin/python3
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
def blocked(what, attempt):
    try:
        value = attempt()
    except Exception as error:  # MemoryError too
        return f"{what}: blocked: {error}"
    return f"{what}: ESCAPED: {value!r}"
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 0
""" + KERNEL_LOOP + "        tries = []\n"


def hostile(grid, name, attack, memory=128, disk=4):
    return kernel_bundle(grid, name, textwrap.dedent(attack) + "\nsay('error ' + '; '.join(tries))\n",
                         ("memory_megabytes = 128", f"memory_megabytes = {memory}"),
                         ("disk_megabytes = 1", f"disk_megabytes = {disk}"), before=KERNEL)


class Sandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Grid() as grid:
            probe = grid.run("gleaner-client", "sandbox", "--state", grid.state("probe"), check=False)
        print(probe.stdout + probe.stderr, flush=True)
        if not probe.stdout.startswith("namespaces"):
            raise unittest.SkipTest("this system permits less: " + probe.stdout + probe.stderr)

    def attack(self, name, attack, expected, also=None, timeout=60, escapes=0, **limits):
        """The message of the server's report matches `expected`; `also` is called while it runs; `escapes`: that may succeed."""
        with Grid() as grid:
            grid.start_server()
            grid.add_application(hostile(grid, name, attack, **limits))
            grid.add_client("victim")
            identity = grid.add_problem(name, name, count=1)

            def reported():
                if also:
                    also(grid)
                found = grid.problem(identity)["set_aside"]
                return found and found[-1]["message"]

            message = grid.wait_until("the report", reported, timeout)
            self.assertRegex(message, expected)
            self.assertEqual(message.count("ESCAPED"), escapes)
            grid.wait_until("its processes to be gone", lambda: not self.survivors(grid), 15)

    def survivors(self, grid):
        """Processes that belong to a kernel of this grid, wherever they went."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and b"kernel.py" in (entry / "cmdline").read_bytes() and \
                        str(grid.directory).encode() in (entry / "environ").read_bytes() + self.command_above(entry):
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    @staticmethod
    def command_above(entry):
        """Command lines of all its ancestors."""
        text, pid = b"", entry.name
        while pid not in ("0", "1"):
            text += pathlib.Path("/proc", pid, "cmdline").read_bytes()
            pid = pathlib.Path("/proc", pid, "stat").read_text().rsplit(")", 1)[1].split()[1]
        return text

    def test_files(self):
        secret = pathlib.Path.home() / ".gleaner-test-secret"
        secret.write_text("secret")
        self.addCleanup(secret.unlink)
        self.attack("reader", f"""
            for path in ("/etc/shadow", "/etc/passwd", {str(secret)!r}, "/root", "/home", "/var", "/proc/1/environ"):
                tries.append(blocked(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read()))
            os.symlink({str(secret)!r}, "link")
            tries.append(blocked("symlink", lambda: open("link").read()))
            os.symlink("/", "top")
            tries.append(blocked("symlink and back", lambda: open("top/" + {str(secret)!r}).read()))
            tries.append(blocked("write", lambda: open("/gleaner-was-here", "w")))
            tries.append(blocked("write to the application", lambda: open(__file__, "a")))
            tries.append(blocked("chmod", lambda: os.chmod(__file__, 0o777)))
            tries.append(blocked("execute what it wrote", lambda: (open("x", "w").write("#!/bin/true"), os.chmod("x", 0o700),
                                                                   os.execv("./x", ["x"]))))
            """, "kernel-error.*shadow: blocked.*secret: blocked")

    def test_other_problems(self):
        """Of another application, on the same computer, in the same project: its parameters and input."""
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_application(hostile(grid, "reader", """
                seen = []
                for top in ("/problem", "/problems", os.path.dirname(os.path.dirname(problem)), "/slot"):
                    for directory, _, files in os.walk(top):
                        for name in files: seen.append(open(os.path.join(directory, name), "rb").read())
                tries.append("its own parameters: " + str(any(b"717171" in text for text in seen)))
                tries.append("other problems: " + ("ESCAPED" if any(b"4242" in text for text in seen) else "blocked"))
                """))
            grid.add_client("victim")
            secret = grid.add_problem("squares", "secret", count=3, pause=0.04242)
            grid.wait_finished(secret)
            self.assertTrue(list(grid.state("victim").glob("**/problems/**/parameters.json")))
            reader = grid.add_problem("reader", "reader", count=1, pause=717171)
            message = grid.wait_until("the report", lambda: (grid.problem(reader)["set_aside"] or [{"message": ""}])[-1]["message"], 60)
            self.assertIn("its own parameters: True; other problems: blocked", message)

    def test_what_honest_programs_need(self):
        """Finding itself, the processor's facts, other programs of its own, threads; but no name of this computer."""
        self.attack("honest", f"""
            import subprocess, threading
            tries.append(os.readlink("/proc/self/exe"))
            tries.append("processor" if "processor" in open("/proc/cpuinfo").read() else "no facts")
            tries.append(str(os.cpu_count() == len(os.sched_getaffinity(0)) or os.cpu_count()))
            tries.append(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout.strip())
            thread = threading.Thread(target=lambda: tries.append("a thread")); thread.start(); thread.join()
            tries.append(os.uname().nodename)
            tries.append("its user: " + ("ESCAPED" if os.getuid() == {os.geteuid()} else "another"))
            """, "/usr/bin/python3[.0-9]*; processor; True; 42; a thread; gleaner; its user: another")

    def test_crashes_feed_no_pipe(self):
        """RLIMIT_CORE of 0 would not stop core dumps that go through a pipe; 1 does, and stays."""
        self.attack("crasher", """
            import resource
            tries.append(str(resource.getrlimit(resource.RLIMIT_CORE)))
            tries.append(blocked("lower", lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 1))))
            tries.append(blocked("others", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32)) or "may be lowered"))
            """, r"\(1, 1\); lower: blocked.*others: ESCAPED: 'may be lowered'", escapes=1)

    def test_environment_and_descriptors(self):
        os.environ["GLEANER_TEST_SECRET"] = "open sesame"
        self.addCleanup(os.environ.pop, "GLEANER_TEST_SECRET")
        self.attack("snooper", """
            tries.append("environment: " + ("ESCAPED" if "GLEANER_TEST_SECRET" in os.environ else "blocked"))
            more = [fd for fd in range(3, 256) if not blocked("", lambda: os.fstat(fd)).startswith(": blocked")]
            tries.append("descriptors: " + ("ESCAPED " + str(more) if len(more) > 1 else "blocked"))
            """, "environment: blocked; descriptors: blocked")

    def test_network(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            listener.setblocking(False)
            port = listener.getsockname()[1]
            self.attack("caller", f"import socket; socket.create_connection(('127.0.0.1', {port}))",
                        "ended for trying the system call socket")
            with self.assertRaises(BlockingIOError):
                listener.accept()
        self.attack("whisperer", "import socket; tries.append(blocked('unix', lambda: socket.socket(socket.AF_UNIX)))",
                    "unix: blocked")

    def test_forbidden_system_calls(self):
        self.attack("tracer", "call(101, 16, os.getppid(), 0, 0)", "ended for trying the system call ptrace")
        self.attack("mounter", "call(165, b'x', b'/tmp', b'tmpfs', 0, 0)", "ended for trying the system call mount")
        self.attack("namespacer", "call(272, 0x10000000)", "ended for trying the system call unshare")
        self.attack("quiet", """
            tries.append(blocked("io_uring", lambda: call(425, 1, 0)))
            tries.append(blocked("memfd", lambda: call(319, b"x", 0)))
            tries.append(blocked("setsid", os.setsid))
            tries.append(blocked("setpgid", lambda: os.setpgid(0, 0)))
            tries.append(blocked("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, 0)))
            tries.append(blocked("scheduler", lambda: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))))
            os.setuid(os.getuid())  # as programs that give up rights which they lack: no error, and nothing done
            os.setgid(os.getgid())
            tries.append(blocked("setuid", lambda: os.setuid(0)))
            """, "io_uring: blocked.*setuid: blocked")

    def test_signals(self):
        bystander = subprocess.Popen(["sleep", "600"])
        self.addCleanup(bystander.wait)
        self.addCleanup(bystander.kill)
        self.attack("killer", f"""
            for pid in ({os.getpid()}, {bystander.pid}, *range(3, 400)):
                if pid in (os.getpid(), os.getppid()): continue
                tries.append(blocked(str(pid), lambda: os.kill(pid, 9)))
            tries = [t for t in tries if "ESCAPED" in t] or ["signals: blocked"]
            """, "signals: blocked")
        self.assertIsNone(bystander.poll())

    def test_fork_bomb(self):
        most = []

        def count(grid):
            most.append(len(grid.kernels_of("victim")))

        self.attack("bomb", """
            while True:
                try: os.fork()
                except OSError: pass
            """, "resource-limit.*too many processes|killed by signal 9", also=count)  # or its copies used up the memory first
        self.assertLess(max(most), 60)

    def test_memory(self):
        self.attack("glutton", """
            hold = []
            while True: hold.append(bytearray(os.urandom(1 << 20) * 16))
            """, "MemoryError|resource-limit|signal 9")
        # Many processes, each below its own limit.
        self.attack("gluttons", """
            for _ in range(8):
                if os.fork() == 0:
                    hold = bytearray(os.urandom(1 << 20) * 150)
                    break
            while True: time.sleep(1)
            """, "resource-limit.*[MG]iB of memory|signal 9")

    def test_disk(self):
        self.attack("writer", """
            with open("file", "wb") as file:
                while True: file.write(bytes(1 << 20))
            """, "signal 25|File too large|resource-limit|No space left on device")
        self.attack("writers", """
            for name in range(100000):
                with open(str(name), "wb") as file: file.write(bytes(1 << 20))
            """, "resource-limit.*bytes in|No space left on device")
        self.attack("litterer", """
            for name in range(10 ** 9): open(str(name), "w").close()
            """, "resource-limit.*files|No space left on device")
        self.attack("tmp-writer", """
            for name in range(10 ** 6):
                with open("/tmp/" + str(name), "wb") as file: file.write(bytes(1 << 20))
            """, "resource-limit.*bytes in|Permission denied|No such file|No space left on device")
        self.attack("shm-writer", """
            tries.append(blocked("shared memory", lambda: open("/dev/shm/x", "wb")))
            """, "shared memory: blocked")

    def test_descriptors_run_out(self):
        self.attack("opener", """
            files = []
            try:
                while True: files.append(open("/dev/null"))
            except OSError as error: tries.append(f"descriptors: {len(files)}: {error}")
            if len(files) > 64: tries.append("ESCAPED")
            """, "descriptors: [0-9]+: .*Too many open files")

    def test_it_dies_with_the_client(self):
        attack = """
            for number in (1, 2, 3, 13, 15): signal.signal(number, signal.SIG_IGN)
            if os.fork() == 0:
                if os.fork() == 0:
                    for fd in range(3): os.close(fd)
                    while True: time.sleep(1)
                os._exit(0)
            while True: time.sleep(0.1)
            """
        for how in ("quit", "kill", "kill in a pause"):
            with Grid() as grid:
                grid.start_server()
                grid.add_application(hostile(grid, "clinger", attack))
                grid.add_client("victim")
                grid.add_problem("clinger", "clinger", count=1)
                grid.wait_until("its processes", lambda: len(self.survivors(grid)) >= 2)
                time.sleep(0.5)
                pids = grid.kernels_of("victim")
                self.assertGreaterEqual(len(pids), 3)
                if how == "quit":
                    grid.control("victim", "quit")
                    grid.processes["victim"].wait(timeout=60)
                else:
                    if how == "kill in a pause":
                        grid.control("victim", "pause", "1h")
                        time.sleep(2)
                    grid.kill("victim")
                grid.wait_until("all to be gone", lambda: not any(self.runs(pid) for pid in pids), 15)

    @staticmethod
    def runs(pid):
        try:
            text = pathlib.Path(f"/proc/{pid}/stat").read_text()
            return text.rsplit(")", 1)[1].split()[0] not in "ZX" and "kernel.py" in \
                pathlib.Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            return False

    def test_a_pause_holds_all_of_it(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(hostile(grid, "spinner", """
                for number in (18, 20, 21, 22): signal.signal(number, signal.SIG_IGN)
                os.fork()
                while True: pass
                """))
            grid.add_client("victim")
            grid.add_problem("spinner", "spinner", count=1)
            grid.wait_until("its processes", lambda: len(self.survivors(grid)) >= 2)

            def used():
                return sum(int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])
                           for pid in grid.kernels_of("victim"))

            grid.control("victim", "pause")
            time.sleep(0.3)
            before = used()
            time.sleep(0.5)
            self.assertLess(used() - before, 2_000_000)  # a starved process takes the signal as soon as it gets a processor
            grid.control("victim", "resume")
            grid.wait_until("it to go on", lambda: used() > before + 20_000_000)

    def test_a_look_from_a_container_leaves_control_groups_alone(self):
        """`gleaner-client sandbox` in another process-id namespace, which sees the same control groups and not this client."""
        if os.geteuid() != 0:
            self.skipTest("needs the superuser's rights, to make the namespace")

        def groups():
            # Not by glob: other clients' groups vanish meanwhile.
            return sorted(f"{place}/{name}" for place, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith("gleaner-"))

        with Grid() as grid:
            if "control groups" not in grid.run("gleaner-client", "sandbox", "--state", grid.state("probe")).stdout:
                self.skipTest("no control group can be made here")
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_client("victim")
            grid.wait_until("the client", lambda: "confinement of kernels" in grid.log("victim"))
            mine = [path for path in groups() if f"-{grid.processes['victim'].pid}-" in path]
            self.assertTrue(mine)
            subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", str(grid.program("gleaner-client")), "sandbox", "--state",
                            str(grid.directory / "container")], check=True, capture_output=True)
            self.assertEqual([path for path in mine if path not in groups()], [])
            # And if somebody removes them all the same, the next kernel has its own again, and nothing failed.
            for path in mine:
                if path.endswith("-kernels"):
                    # The last of them holds the script that asks for the versions of interpreters, for a moment.
                    grid.wait_until("all slots are idle", lambda slots=pathlib.Path(path): not any((slot / "cgroup.procs").read_text() for slot in slots.glob("slot-*")), 30)
                    for slot in pathlib.Path(path).glob("slot-*"):
                        slot.rmdir()
                    os.rmdir(path)
            grid.wait_finished(grid.add_problem("squares", "squares", count=3))
            self.assertEqual([path for path in mine if path not in groups()], [])
            self.assertEqual(sum(host["failures"] for host in grid.admin_json("host", "list")["items"]), 0)

    def test_a_state_directory_without_programs_is_told(self):
        """On a mount with noexec: found at start and by `sandbox`; no kernel is tried, and nothing is reported."""
        if os.geteuid() != 0:
            self.skipTest("needs the superuser's rights, to mount")
        with Grid() as grid:
            state = grid.state("victim")
            state.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "gleaner-test", str(state)], check=True)
            try:
                probe = grid.run("gleaner-client", "sandbox", "--state", state, check=False)
                self.assertEqual(probe.returncode, 1)
                self.assertIn("mounted with noexec; mount it with exec, or choose another directory with --state", probe.stderr)
                grid.start_server()
                grid.add_application(SQUARES)
                grid.join("victim")
                for sandbox in ("on", SANDBOX_OFF):
                    grid.start("victim", "gleaner-client", "run", "--state", state, "--run", "always", "--cores", 1, "--priority", "normal",
                               "--benchmark-mflops", 1000, "--sandbox", sandbox)
                    grid.wait_until("the reason", lambda: "mounted with noexec" in grid.control("victim", "why", check=False).stdout)
                    grid.kill("victim")
                self.assertEqual(sum(host["failures"] for host in grid.admin_json("host", "list")["items"]), 0)
            finally:
                subprocess.run(["umount", "-l", str(state)], check=True)

    def test_other_programs_come_first(self):
        """Also where each session has its part of the processor, whatever runs in it (autogroups, as desktops have them)."""
        with Grid() as grid:
            if "the processor" not in grid.run("gleaner-client", "sandbox", "--state", grid.state("probe")).stdout:
                self.skipTest("no control group can be made for the processor")
            grid.start_server()
            grid.add_application(hostile(grid, "spinner", "while True: pass"))
            cores = os.cpu_count()
            grid.join("victim")
            grid.start("victim", "gleaner-client", "run", "--state", grid.state("victim"), "--run", "always", "--cores", cores,
                       "--benchmark-mflops", 1000)
            grid.add_problem("spinner", "spinner", count=1000)
            grid.wait_until("its kernels", lambda: len(self.survivors(grid)) >= cores)
            others = [subprocess.Popen(["/usr/bin/python3", "-c", "while True: pass"], start_new_session=True)
                      for _ in range(cores)]
            try:
                def used(pids):
                    return sum(int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids)

                time.sleep(0.5)
                kernels = grid.kernels_of("victim")
                before = used(kernels), used(other.pid for other in others)
                time.sleep(3)
                after = used(kernels), used(other.pid for other in others)
            finally:
                for other in others:
                    other.kill()
                    other.wait()
            theirs, ours = after[1] - before[1], after[0] - before[0]
            self.assertLess(ours, 0.2 * (ours + theirs))


if __name__ == "__main__":
    main()
