"""Every program in surroundings that nobody tests: it says a sentence and ends with a status of its own, never by a signal."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import BUILD, SLOW, SQUARES, Grid, main

BIN = BUILD / "bin"
PATIENCE = 2 * SLOW  # then what may serve does, and is asked to end
SERVES = {("gleaner-server", "run"), ("gleaner-server", "front"), ("gleaner-relay", "run"), ("gleaner-client", "run"),
          ("gleaner-agent", "--state"), ("gleaner-agent", ""), ("gleaner-screensaver", "")}
READ_ONLY = 'mount --bind "$PLACE" "$PLACE" && mount -o remount,bind,ro "$PLACE" && exec "$@"'
FULL = ('mount -t tmpfs -o size=64k none "$PLACE/tmp" && (cat /dev/zero > "$PLACE/tmp/filled" 2>/dev/null; true) && exec "$@"')
LONG = "/".join(["x" * 200] * 25)


def may_mount():
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


def commands(place, code):
    """Of each program some that read, write, start others or serve."""
    project, state, out = place / "project", place / "state", place / "out"
    return {
        "gleaner-server": [["--version"], ["init", out, "--port", "4711"], ["run", project], ["check", project], ["join-code", project],
                           ["backup", project, out], ["front", out]],
        "gleaner-relay": [["--help"], ["run", out], ["join", code, out]],
        "gleaner-client": [["--version"], ["join", code, "--state", state], ["run", "--state", state], ["leave", "--state", state],
                           ["sandbox", "--state", state], ["run"], ["join", code]],
        "gleaner": [["--help"], ["status"], ["status", "--state", state], ["prefs", "set", "cores", "1", "--state", state], ["top", "--state", state],
                    ["prefs", "show"]],
        "gleaner-admin": [["--version"], ["--project", project, "status"], ["keys", "create", "--out", out], ["app", "new", "primes", "--out", out],
                          ["app", "check", SQUARES, "--param", "count=3"], ["run-local", SQUARES, "--param", "count=3", "-o", out]],
        "gleaner-agent": [["--version"], ["--state", state], []],
        "gleaner-screensaver": [["--version"], []],
        "gleaner-unpack": [[], [out, "0" * 64, out]],
        "gleaner-sandbox": [[], ["confine", "--write", out, "--", "/bin/true"]],
        "gleaner-attack": [[]],
        "gleaner-sim": [["--version"], ["run", out], ["strategies"]],
        "gleaner-loadgen": [["--version"], ["--hosts", "1", code]],
        "../bundles/mandelbrot/bin/mandelbrot-kernel": [[]],
        "../bundles/mandelbrot/bin/mandelbrot-manager": [[]],
    }


class Surroundings(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-surroundings-"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        for name in ("home", "tmp", "state"):
            (self.place / name).mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.place / "home"), "TMPDIR": str(self.place / "tmp"),
                            "PLACE": str(self.place), "LANG": "C.UTF-8"}
        with Grid() as grid:
            shutil.copytree(grid.project, self.place / "project")
            self.code = grid.join_code

    def end_of(self, program, arguments, environment, before, silent):
        with tempfile.TemporaryFile() as words:
            process = subprocess.Popen([*before, BIN / program, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL,
                                       stdout=words, stderr=words, cwd=self.place, preexec_fn=silent)
            served = False
            try:
                serves = (program, str([*arguments, ""][0])) in SERVES
                status = process.wait(PATIENCE if serves else 120 * SLOW)
            except subprocess.TimeoutExpired:
                self.assertTrue(serves, f"{program} {arguments} does not end")
                served = True
                process.terminate()
                status = process.wait(60 * SLOW)
            words.seek(0)
            return status, served, words.read().decode(errors="replace")

    def check_all(self, environment=None, before=(), prepare=None, heard=True, place=None):
        environment = self.environment if environment is None else environment
        for program, all_arguments in commands(place or self.place, self.code).items():
            if not (BIN / program).exists():
                self.assertIn(program, ("gleaner-screensaver",), "a program that is not built is not tested")
                continue
            for arguments in all_arguments:
                with self.subTest(program=program, arguments=list(map(str, arguments))[:3]):
                    status, served, words = self.end_of(program, arguments, environment, before, prepare)
                    about = f"{program} {arguments[:3]}: {status}: {words[-500:]}"
                    self.assertTrue(0 <= status <= 125 or (served and program in ("gleaner-agent", "gleaner-screensaver")), about)
                    for crash in ("terminate called", "what():", "assertion failed", "core dumped"):
                        self.assertNotIn(crash, words, about)
                    if status and heard and not served:
                        self.assertRegex(words, r"\w+ \w+", about)  # a sentence

    def test_good_ones(self):
        self.check_all()

    def test_no_home(self):
        self.check_all({"PATH": os.environ["PATH"]})

    def test_an_empty_path_and_a_language_of_nowhere(self):
        self.check_all({**self.environment, "PATH": "", "LANG": "xx_YY.nowhere", "LC_ALL": "nowhere", "TZ": ":/nowhere"})

    def test_closed_descriptors(self):
        def close():
            for descriptor in (0, 1, 2):
                os.close(descriptor)
        self.check_all(prepare=close, heard=False)
        # Nothing that was printed went into a file that took the place of a standard stream.
        for path in (self.place / "project").rglob("*"):
            if path.is_file():
                self.assertNotIn(b"gleaner-server", path.read_bytes()[:64], path)

    def test_a_directory_that_is_gone(self):
        gone = self.place / "gone"

        def leave():
            gone.mkdir(exist_ok=True)
            os.chdir(gone)
            gone.rmdir()
        self.check_all(prepare=leave)
        relative = pathlib.Path("relative")
        self.check_all(prepare=leave, place=relative)

    def test_read_only_everything(self):
        if not may_mount():
            self.fail("this test mounts: run it where that is allowed")
        self.check_all(before=["unshare", "--mount", "sh", "-c", READ_ONLY, "sh"])

    def test_a_disk_that_is_full(self):
        if not may_mount():
            self.fail("this test mounts: run it where that is allowed")
        full = self.place / "tmp"
        environment = {**self.environment, "HOME": str(full)}
        self.check_all(environment, before=["unshare", "--mount", "sh", "-c", FULL, "sh"])
        self.check_all(environment, before=["unshare", "--mount", "sh", "-c", FULL, "sh"], place=full)

    def test_paths_that_are_too_long(self):
        long = f"/tmp/{LONG}"
        self.check_all({**self.environment, "HOME": long, "TMPDIR": long, "XDG_DATA_HOME": long}, place=pathlib.Path(long))

    def test_a_state_on_a_read_only_disk_is_refused_in_a_sentence(self):
        if not may_mount():
            self.fail("this test mounts: run it where that is allowed")
        before = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh"]
        status, _, words = self.end_of("gleaner-client", ["run", "--state", self.place / "state"], self.environment, before, None)
        self.assertEqual(status, 1, words)
        self.assertRegex(words, "(?i)read-only file system")
        self.assertEqual(len(words.splitlines()), 1, words)

    def test_a_long_path_of_the_state_is_no_hindrance(self):
        """Its sockets have longer paths than the system takes."""
        with Grid() as grid:
            grid.start_server()
            name = "deep/" + "d" * 120 + "/" + "e" * 60
            grid.state(name).mkdir(parents=True)
            joined = grid.join(name, check=False)
            self.assertEqual(joined.returncode, 0, joined.stderr)
            process = subprocess.Popen([BIN / "gleaner-client", "run", "--state", grid.state(name), "--run", "always"],
                                       stderr=subprocess.PIPE, text=True)
            try:
                end = time.monotonic() + 60 * SLOW
                while True:
                    status = grid.run("gleaner", "status", "--state", grid.state(name), check=False)
                    if status.returncode == 0:
                        break
                    self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
                    self.assertLess(time.monotonic(), end, status.stderr)
                    time.sleep(0.2)
                self.assertIn("host", status.stdout)
            finally:
                process.terminate()
                process.wait(60)
                process.stderr.close()


if __name__ == "__main__":
    main()
