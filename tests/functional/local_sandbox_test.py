"""`app check` and `run-local` of somebody else's bundle: its programs reach nothing of the person who runs them."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

from harness import AS_NOBODY, BUILD, SLOW, SQUARES, WITHOUT_BUBBLEWRAP, main

ADMIN = BUILD / "bin" / "gleaner-admin"
UNCONFINED = ("--unconfined", "I accept that the bundle's programs run with my rights")

# What kernel and manager do first: whatever of this works is their last word.
SPY = '''
import os as spy_os, socket as spy_socket
def spy():
    reached = []
    def attempt(what, act):
        try: act()
        except Exception: return
        reached.append(what)
    def connect():
        with spy_socket.socket() as probe:
            probe.settimeout(5)
            probe.connect(("127.0.0.1", {port}))
    attempt("the signer's key", lambda: open({key!r}).read())
    attempt("the key by the input's directory", lambda: open(spy_os.path.join(spy_os.path.dirname(spy_os.path.realpath({input!r})), "signer.key")).read())
    attempt("a file made", lambda: open({made!r}, "x").close())
    attempt("the input changed", lambda: open({input!r}, "a").close())
    attempt("the copy of the input changed", lambda: open("/problems/problem/inputs/seen", "a").close())
    attempt("the bundle changed", lambda: open(spy_os.path.abspath(__file__), "a").close())
    if {network}: attempt("the network", connect)
    attempt("an account's files", lambda: open("/etc/passwd").read())
    attempt("other processes", lambda: open("/proc/{pid}/cmdline").read())
    if reached:
        raise SystemExit("reached: " + ", ".join(reached))
spy()
'''


class LocalSandbox(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-local-sandbox-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)

    def spies(self, program, owner=None, network=False):
        """The bundle "squares" whose `program` (kernel.py or manager.py) looks around; and the arguments to run it with."""
        place = self.directory / f"{program}-{network}"
        shutil.copytree(SQUARES, place / "bundle")
        key, seen = place / "signer.key", place / "an-input"
        for file in (key, seen):
            file.write_text("secret")
            file.chmod(0o600)
        spy = SPY.format(port=self.listener.getsockname()[1], key=str(key), input=str(seen), made=str(place / "made"), pid=os.getpid(), network=network)
        path = place / "bundle" / program
        first, rest = path.read_text().split("\n", 1)
        path.write_text(f"{first}\n{spy}{rest}")
        if owner:
            self.directory.chmod(0o755)
            for file in (place, *place.rglob("*")):
                os.chown(file, owner, owner)
        return place, [place / "bundle", "--param", "count=20", "--input", f"seen={seen}"]

    def run_admin(self, place, *arguments, before=(), admin=ADMIN):
        return subprocess.run([*before, admin, *map(str, arguments)], cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=300 * SLOW, env={**os.environ, "TMPDIR": str(place)})

    def for_others(self):
        """gleaner-admin and its helper where every user can run them: the build may be out of others' reach."""
        self.directory.chmod(0o755)
        programs = self.directory / "bin"
        programs.mkdir(exist_ok=True)
        for name in ("gleaner-admin", "gleaner-sandbox"):
            shutil.copy(BUILD / "bin" / name, programs)
        return programs / "gleaner-admin"

    def assert_blind(self, program, before=(), owner=None, admin=ADMIN):
        place, bundle = self.spies(program, owner)
        for command in (["run-local", *bundle, "-o", place / "out"], ["app", "check", *bundle]):
            done = self.run_admin(place, *command, before=before, admin=admin)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("reached", done.stdout + done.stderr)
        self.assertEqual(sorted(path.name for path in place.iterdir()), ["an-input", "bundle", "out", "signer.key"])
        self.assertEqual([path.stat().st_uid for path in (place / "out").iterdir()], [owner or os.geteuid()])
        return done

    def test_kernel_and_manager_reach_nothing(self):
        for program in ("kernel.py", "manager.py"):
            with self.subTest(program):
                done = self.assert_blind(program)
                self.assertRegex(done.stdout, r"ok +sandbox +the programs are confined: namespaces")
                # Whoever tries the network is ended at once.
                place, bundle = self.spies(program, network=True)
                told = self.run_admin(place, "run-local", *bundle, "-o", place / "out")
                self.assertNotEqual(told.returncode, 0)
                self.assertIn("ended for trying the system call socket", told.stderr)
                self.assertNotIn("reached", told.stderr)
                # The same spy finds all of it where a person accepted that in words, and in nothing but those words.
                for word in ("yes", "I accept"):
                    self.assertEqual(self.run_admin(place, "run-local", *bundle, "--unconfined", word).returncode, 2)
                told = self.run_admin(place, "run-local", *bundle, *UNCONFINED)
                self.assertNotEqual(told.returncode, 0)
                for what in ("the signer's key", "the input changed", "the network"):
                    self.assertIn(what, told.stderr)
                self.assertIn("are not confined: they can read and change all that you can", told.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only the superuser can be another user")
    def test_of_a_user_without_rights(self):
        for program in ("kernel.py", "manager.py"):
            with self.subTest(program):
                self.assert_blind(program, AS_NOBODY, owner=65534, admin=self.for_others())

    @unittest.skipUnless(os.geteuid() == 0, "only the superuser can hide a program")
    def test_without_bubblewrap(self):
        """Landlock alone, which says what it leaves open."""
        place, bundle = self.spies("kernel.py")
        place.chmod(0o755)
        done = self.run_admin(place, "run-local", *bundle, "-o", place / "out", before=WITHOUT_BUBBLEWRAP, admin=self.for_others())
        self.assertIn("confined by Landlock alone: names, sizes and times of your files are not hidden", done.stderr)
        self.assertNotIn("reached", done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_where_nothing_confines_nothing_is_started(self):
        place, bundle = self.spies("kernel.py")
        (place / "bin").mkdir()
        alone = shutil.copy(ADMIN, place / "bin")  # without the helper beside it
        for command in (["run-local", *bundle, "-o", place / "out"], ["app", "check", *bundle]):
            done = self.run_admin(place, *command, admin=alone)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertNotIn("reached", done.stderr)
            self.assertRegex(done.stderr, r"cannot be confined on this computer \(.*\), so none is started: install bubblewrap, or accept "
                                          rf'the risk with --unconfined "{UNCONFINED[1]}"')


if __name__ == "__main__":
    main()
