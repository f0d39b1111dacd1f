"""Hostile managers: what an application's manager, which parses what strangers deliver, may not do to the server. As the
superuser and as somebody. And a server that can confine none."""
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import textwrap
import time
import unittest

from harness import AS_NOBODY, BUILD, NOBODY, SLOW, SQUARES, WITHOUT_BUBBLEWRAP, Grid, main, managers_settings

OFF = "off: I accept that managers read this server's keys and everybody's results"

HEAD = """\
import os as attack_os, sys as attack_sys
def blocked(what, attempt):
    try: value = attempt()
    except Exception as error: return f"{what}: blocked: {type(error).__name__}"
    return f"{what}: ESCAPED: {value!r}"[:120]
def attack(parameters):
    import ctypes, os, signal, socket, sys, time
    tries = []
"""


# It ignores what asks it to end, and leaves a process behind that has nothing to do with it.
CLINGER = """
    for number in (1, 2, 3, 13, 15): signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        if os.fork() == 0:
            for descriptor in range(3): os.close(descriptor)
            while True: time.sleep(1)
        os._exit(0)
    """


def alive(grid, name):
    """Processes of that program out of the project's bundles."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (str(grid.project) + "/bundles").encode() in (entry / "cmdline").read_bytes() \
                    and name.encode() in (entry / "cmdline").read_bytes() \
                    and (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX":
                found.append(entry.name)
        except OSError:
            pass
    return found


class Server(Grid):
    """One whose processes are of `before`, with programs that they can start."""

    def __init__(self, before=(), settings=""):
        super().__init__(settings=settings)
        self.before = list(before)

    def __enter__(self):
        super().__enter__()
        self.directory.chmod(0o755)
        programs = self.directory / "bin"  # the build may be out of others' reach
        programs.mkdir()
        for name in ("gleaner-server", "gleaner-sandbox"):
            shutil.copy(BUILD / "bin" / name, programs)
        if AS_NOBODY[0] in self.before:
            for path in [self.project, *self.project.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
        return self

    def start_server(self):
        return super().start_server(program=self.directory / "bin" / "gleaner-server", before=self.before)

    def hostile(self, name, attack):
        """An application whose manager attacks when it is asked to accept the problem, and says what came of it."""
        path = self.directory / name
        shutil.copytree(SQUARES, path)
        manifest = path / "manifest.toml"
        manifest.write_text(manifest.read_text().replace('name = "squares"', f'name = "{name}"'))
        manager = path / "manager.py"
        text = manager.read_text().replace('answer("ok" if int', 'attack(parameters); answer("ok" if int')
        first, rest = text.split("\n", 1)
        manager.write_text(first + "\n" + HEAD + textwrap.indent(textwrap.dedent(attack), "    ")
                           + "\n    if tries: print('error ' + '; '.join(tries), flush=True)\n" + rest)
        manager.chmod(manager.stat().st_mode | stat.S_IXUSR)
        return path

    def attacked(self, name, attack):
        """What the administrator is told of a problem whose manager does this."""
        self.add_application(self.hostile(name, attack))
        done = self.admin("problem", "add", "--app", name, "--name", name, "--param", "count=3", check=False)
        return done.stdout + done.stderr

    def managers(self):
        return [pid for pid in self.kernels_of("server")]


class Hostile:
    before = ()

    def setUp(self):
        self.grid = Server(self.before)
        self.grid.__enter__()
        self.addCleanup(lambda: self.grid.__exit__(None, None, None))
        self.server = self.grid.start_server()
        self.assertIn("managers are confined by", self.grid.log("server"))

    def blocked(self, name, attack, count):
        said = self.grid.attacked(name, attack)
        self.assertNotIn("ESCAPED", said)
        self.assertEqual(said.count("blocked"), count, said)

    def test_files(self):
        project, home = self.grid.project, pathlib.Path.home()
        self.grid.add_application(SQUARES)
        other = self.grid.add_problem("squares", "other", count=5)
        secrets = [project / "keys/work.key", project / "keys/tls.key", project / "keys/enrolment.secret",
                   project / "admin/token", project / "server.toml", *project.glob("*.db"), *project.glob("store*"),
                   project / "blobs", project / "uploads", project / f"problems/{other}/problem/parameters.json",
                   "/etc/shadow", "/etc/passwd", home]
        secrets = [str(path) for path in secrets if pathlib.Path(path).exists()]
        self.assertGreaterEqual(len(secrets), 11)
        self.blocked("reader", f"""
            for path in {secrets!r}:
                tries.append(blocked("read", lambda: os.listdir(path) if os.path.isdir(path) else open(path).read()))
            """, len(secrets))
        program = str(project)
        self.blocked("writer", f"""
            for path in (__file__, {program!r} + "/here", "/here", "../here", "../problem/parameters.json", "../problem/here",
                         {program!r} + "/keys/here"):
                tries.append(blocked("write", lambda: open(path, "a")))
            tries.append(blocked("chmod", lambda: os.chmod(__file__, 0o777)))
            tries.append(blocked("remove", lambda: os.remove(__file__)))
            """, 9)

    def test_links_as_results(self):
        """A link to a key is named as a stage's input, which hosts would be given, and as hints."""
        key = str(self.grid.project / "keys/work.key")
        path = self.grid.hostile("linker", f"""
            os.symlink({key!r}, "link")
            """)
        manager = path / "manager.py"
        honest = manager.read_text()
        manager.write_text(honest.replace("\\nname squares\\n", "\\ninput mesh link\\n"))
        self.assertNotEqual(manager.read_text(), honest)
        self.grid.add_application(path)
        done = self.grid.admin("problem", "add", "--app", "linker", "--name", "linker", "--param", "count=3", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the path of a file in its working directory", done.stderr)

    def test_network(self):
        said = self.grid.attacked("caller", f"socket.create_connection(('127.0.0.1', {self.grid.port}))")
        self.assertIn("ended for trying the system call socket", said)
        self.blocked("whisperer", """
            tries.append(blocked("unix", lambda: socket.socket(socket.AF_UNIX)))
            tries.append(blocked("pair", lambda: socket.socketpair()))
            """, 2)
        self.assertIn("ptrace", self.grid.attacked("tracer", "ctypes.CDLL(None).syscall(101, 16, os.getppid(), 0, 0)"))

    def test_processes(self):
        most = []
        bomb = self.grid.hostile("bomb", """
            while True:
                try: os.fork()
                except OSError: pass
            """)
        self.grid.add_application(bomb)
        adding = subprocess.Popen([self.grid.program("gleaner-admin"), "--project", self.grid.project / "admin", "problem", "add",
                                   "--app", "bomb", "--name", "bomb", "--param", "count=3"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(adding.wait)
        self.addCleanup(adding.kill)
        for _ in range(30):
            most.append(len(self.grid.managers()))
            time.sleep(0.1)
        self.assertGreater(max(most), 20)
        self.assertLess(max(most), 80)
        self.assertEqual(self.grid.request("GET", "/v1/admin/status", None, self.grid.admin_token)[0], 200)  # others are served
        self.grid.kill("server")
        self.grid.wait_until("all to be gone", lambda: not alive(self.grid, "manager.py"), 15)

    @unittest.skipUnless(os.environ.get("GLEANER_LONG"), "takes minutes: GLEANER_LONG=1 has it run")
    def test_memory_and_disk(self):
        self.grid.kill("server", signal.SIGTERM)
        self.grid.change_settings("managers.memory_megabytes = 256\nmanagers.disk_megabytes = 16")
        self.grid.start_server()
        self.assertRegex(self.grid.attacked("glutton", "hold = bytearray(os.urandom(1 << 20) * 1024)"), "MemoryError")
        self.assertIn("256 MiB of memory", self.grid.attacked("gluttons", """
            for _ in range(8):
                if os.fork() == 0: break
            hold = bytearray(os.urandom(1 << 20) * 100)
            time.sleep(60)
            """))
        self.assertRegex(self.grid.attacked("filler", "open('x', 'wb').write(bytes(1 << 20) * 64)"), "File too large|signal 25")
        self.assertIn("more than the 16 MiB", self.grid.attacked("fillers", """
            for name in range(4): open(str(name), "wb").write(bytes(8 << 20))
            time.sleep(60)
            """))
        self.assertIn("more than the 16 MiB", self.grid.attacked("unlinker", """
            hold = []
            for name in range(4):
                hold.append(open("x", "wb"))
                os.remove("x")
                hold[-1].write(bytes(8 << 20))
                hold[-1].flush()
            time.sleep(60)
            """))

    def test_it_ends_with_the_server(self):
        said = self.grid.attacked("clinger", CLINGER)
        self.assertNotIn("Traceback", said)
        self.grid.wait_until("its processes", lambda: len(self.grid.managers()) >= 3)
        self.assertTrue(alive(self.grid, "manager.py"))
        self.grid.kill("server")
        self.grid.wait_until("all to be gone", lambda: not alive(self.grid, "manager.py"), 15)

    def test_honest(self):
        self.grid.add_application(SQUARES)
        identity = self.grid.add_problem("squares", "honest", count=60)
        self.grid.add_client("c")
        self.grid.wait_finished(identity)
        self.assertEqual(self.grid.results(identity)["sum.txt"], b"%d\n" % sum(i * i for i in range(60)))


def setUpModule():
    with Grid() as grid:
        if managers_settings(grid):
            raise unittest.SkipTest("this system cannot confine programs")


@unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights")
class Superuser(Hostile, unittest.TestCase):
    pass


class Somebody(Hostile, unittest.TestCase):
    before = AS_NOBODY if os.geteuid() == 0 else ()


@unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights, to become others")
class WithoutNamespaces(unittest.TestCase):
    def test_landlock_alone(self):
        with Server([*WITHOUT_BUBBLEWRAP, *AS_NOBODY]) as grid:
            grid.start_server()
            log = grid.log("server")
            if "Landlock without namespaces" not in log:
                self.assertIn("managers cannot be confined", log)  # an older kernel
                return
            keys = [str(grid.project / "keys/work.key"), str(grid.project / "admin/token")]
            said = grid.attacked("reader", f"""
                for path in {keys!r}: tries.append(blocked("read", lambda: open(path).read()))
                tries.append(blocked("write", lambda: open("../here", "w")))
                """)
            self.assertEqual(said.count("blocked"), 3, said)
            grid.add_application(SQUARES)
            grid.add_problem("squares", "honest", count=60)
            grid.attacked("clinger", CLINGER)
            grid.wait_until("its processes", lambda: len(alive(grid, "manager.py")) >= 3)
            grid.kill("server")
            grid.wait_until("all to be gone", lambda: not alive(grid, "manager.py"), 15)

    def test_nothing_to_confine_them(self):
        """Without its helper the server serves, but starts no manager, and says why; unless it is told in words."""
        with Server(AS_NOBODY) as grid:
            (grid.directory / "bin" / "gleaner-sandbox").unlink()
            grid.start_server()
            self.assertIn("managers cannot be confined on this computer", grid.log("server"))
            grid.add_application(SQUARES)
            done = grid.admin("problem", "add", "--app", "squares", "--name", "s", "--param", "count=3", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(OFF, done.stderr)
            grid.kill("server", signal.SIGTERM)
            grid.change_settings(f'managers.sandbox = "{OFF}"')
            grid.start_server()
            self.assertIn("managers are not confined", grid.log("server"))
            grid.add_problem("squares", "s", count=3)
            grid.kill("server", signal.SIGTERM)
            grid.change_settings('managers.sandbox = "off"')
            with self.assertRaisesRegex(AssertionError, "server.toml.*expected on, or"):
                grid.start_server()


if __name__ == "__main__":
    main()
