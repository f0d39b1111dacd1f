"""Every installed program in surroundings that nobody tests: it says a sentence and ends with a status that its manual page lists, never
by a signal and never without end. GLEANER_SURROUNDINGS=all has every command in every surrounding; otherwise each program has three."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import surroundings
from harness import BUILD, SLOW, SOURCE, SQUARES, Grid, main, others_reach

BIN = BUILD / "bin"
ALL = os.environ.get("GLEANER_SURROUNDINGS") == "all"
PATIENCE = (2 if ALL else 0.8) * SLOW  # then what may serve does, and is asked to end
SERVES = {("gleaner-server", "run"), ("gleaner-relay", "run"), ("gleaner-client", "run"),
          ("gleaner-agent", "--socket"), ("gleaner-agent", ""), ("gleaner-screensaver", "")}
ENDED_BY_SIGTERM = ("gleaner-agent", "gleaner-screensaver")  # they hold nothing that an end could damage
UNHEARD = ("closed_descriptors", "readers_gone")
READERLESS = ("reader_gone", "readers_gone")
HELPERS = {"gleaner-unpack": set(range(12)), "gleaner-sandbox": {0, 1, 2, 125}, "gleaner-attack": {0, 1}}  # programs without a manual page
NOT_INSTALLED = {"gleaner-wire", "gleaner-faulty-server"}
SHORT = ("empty_environment", "nowhere", "closed_descriptors", "reader_gone", "readers_gone", "directory_gone", "no_words", "few_files",
         "few_threads", "read_only", "full_disk", "memory_48", "memory_128")


def commands(place, code):
    """Of each program the most usual command, then others that read, write, start programs or serve. None writes where root's client has
    its state."""
    project, state, relay, out = f"{place}/project", f"{place}/state", f"{place}/relay", f"{place}/out"
    return {
        "gleaner-server": [["run", project, "--port", "0"], ["init", out, "--port", "4711"], ["check", project], ["join-code", project],
                           ["backup", project, out], ["front", out], ["--version"]],
        "gleaner-relay": [["run", "--relay", relay, "--port", "0"], ["join", code, "--relay", out], ["status", "--relay", relay],
                          ["leave", "--relay", relay]],
        "gleaner-client": [["run", "--state", state], ["join", code, "--state", state], ["leave", "--state", state],
                           ["sandbox", "--state", state], *([] if os.geteuid() == 0 else [["run"], ["join", code]]), ["--version"]],
        "gleaner": [["status", "--state", state], ["status"], ["prefs", "set", "cores", "1", "--state", state],
                    ["top", "--state", state], ["prefs", "show"]],
        "gleaner-admin": [["run-local", SQUARES, "--param", "count=3", "-o", out], ["--project", project, "status"],
                          ["keys", "create", "--out", out], ["app", "new", "primes", "--out", out],
                          ["app", "check", SQUARES, "--param", "count=3"], ["--version"]],
        "gleaner-agent": [["--socket", f"{state}/socket"], ["--version"]],
        "gleaner-screensaver": [["--picture", f"{out}.png"], ["--version"]],
        "gleaner-unpack": [[out, "0" * 64, out]],
        "gleaner-sandbox": [["confine", "--write", out, "--", "/bin/true"], ["check"]],
        "gleaner-attack": [],
        "gleaner-sim": [["strategies"], ["run", out], ["--version"]],
        "gleaner-loadgen": [["enrol", "--join-code", code, "--hosts", "1", "--hosts-file", out], ["--version"]],
        "../bundles/mandelbrot/bin/mandelbrot-kernel": [],
        "../bundles/mandelbrot/bin/mandelbrot-manager": [],
    }


def documented(program):
    """The exit statuses that the manual page lists."""
    if "/" in program:
        return {0, 1}  # apps/CONTRACT.md: not 0 is a failure
    if program in HELPERS:
        return HELPERS[program]
    page, = (SOURCE / "deploy" / "man").glob(f"{program}.[18]")
    section = re.search(r"\.Sh EXIT STATUS\n(.*?)(?=\n\.Sh )", page.read_text(), re.S)[1]
    return set(map(int, re.findall(r"\b\d\b", section)))


def wait_until_it_hears(process):
    """On a loaded machine it may not have come as far as to ask for SIGTERM."""
    term, end = 1 << (signal.SIGTERM - 1), time.monotonic() + 20 * SLOW
    while process.poll() is None and time.monotonic() < end:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        if any(int(mask, 16) & term for mask in re.findall(r"^Sig(?:Blk|Cgt):\s+(\w+)", status, re.M)):
            return
        time.sleep(0.05)


class Surroundings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Not in /tmp, over which a full disk is mounted.
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-surroundings-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.place.chmod(0o755)
        good = cls.place / "good"
        with Grid() as grid:
            grid.start_server()
            grid.join("state")
            cls.code = grid.join_code
            code = grid.admin("relay", "allow", "relay", "--children", "5", "--own").stdout.split()[-1]
            grid.run("gleaner-relay", "join", code, "--relay", good / "relay", "--address", "127.0.0.1", "--port", "4712")
            grid.kill("server", signal.SIGTERM)
            shutil.copytree(grid.project, good / "project", ignore=shutil.ignore_patterns("*.sock"))
            shutil.copytree(grid.state("state"), good / "state")
        for name in ("home", "tmp"):
            (good / name).mkdir()

    def end_of(self, name, program, arguments):
        """The status, whether it served until it was asked to end, what it said on standard error, and its place."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.place))
        place.chmod(0o755)
        shutil.copytree(self.place / "good", place, dirs_exist_ok=True)
        arguments = [str(word).replace("PLACE", str(place)) for word in arguments]
        launcher = [sys.executable, "-I", surroundings.__file__, name, place, (BIN / program).resolve()]
        serves = (program, [*arguments, ""][0]) in SERVES
        with open(place / "words", "w+b") as words:
            process = subprocess.Popen([*launcher, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=words, cwd=place)
            try:
                status, served = process.wait(PATIENCE if serves else 60 * SLOW), False
            except subprocess.TimeoutExpired:
                served = True
                if serves and program not in ENDED_BY_SIGTERM:
                    wait_until_it_hears(process)
                process.terminate() if serves else process.kill()
                status = process.wait(60 * SLOW)
            words.seek(0)
            said = words.read().decode(errors="replace")
        return status, served, said, place

    def faults_of(self, name, program, arguments):
        status, served, said, place = self.end_of(name, program, arguments)
        about = f"{name}: {program} {' '.join(map(str, arguments))[:60]}: {status}: {said[-600:].strip()}"
        if os.environ.get("GLEANER_SURROUNDINGS_TOLD"):
            print(about, flush=True)
        serves = (program, [*arguments, ""][0]) in SERVES
        if served and not serves:
            yield f"does not end: {about}"
        allowed = documented(program)
        if served and program in ENDED_BY_SIGTERM:
            allowed = allowed | {-15}
        if name in READERLESS and not serves:
            allowed = allowed | {-13}
        unloaded = status == 127 and "error while loading shared libraries" in said  # the loader's end: main() was not reached
        if status not in allowed and not unloaded:
            yield f"undocumented status: {about}"
        for crash in ("terminate called", "what():", "assertion failed", "core dumped", "Traceback"):
            if crash.lower() in said.lower():
                yield f"{crash}: {about}"
        if status and not served and name not in UNHEARD and status != -13 and not re.search(r"\w+ \w+", said):
            yield f"says nothing: {about}"
        for path in (place / "project").rglob("*"):
            if name in UNHEARD and path.is_file() and b"gleaner-server" in path.read_bytes()[:64]:
                yield f"printed into {path.name}: {about}"
        shutil.rmtree(place, ignore_errors=True)

    def test_every_program_ends_in_a_sentence(self):
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
            self.fail("this test mounts: run it where that is allowed")
        programs = commands("PLACE", self.code)
        built = {path.name for path in BIN.iterdir() if path.read_bytes()[:4] == b"\x7fELF"} - NOT_INSTALLED
        self.assertEqual(built - set(programs), set(), "installed programs that no surrounding is tried with")
        self.assertLessEqual(set(programs) - built, {"gleaner-screensaver", *(name for name in programs if "/" in name)}, "not built")
        # The sanitizers' shadow needs terabytes of addresses; nobody else can start what lies in a private directory.
        names = [name for name in (surroundings.SURROUNDINGS if ALL else SHORT)
                 if not (name.startswith("memory_") and SLOW > 1) and (name != "few_threads" or others_reach(BIN / "gleaner"))]
        runs = [(name, program, arguments)
                for name in names
                for program, usual in programs.items() if (BIN / program).exists()
                for arguments in ([[]] if name == "no_words" else [["--help"], [], *(usual if ALL else usual[:1])])]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            faults = [fault for found in pool.map(lambda run: list(self.faults_of(*run)), runs) for fault in found]
        self.assertEqual(len(faults), 0, f"{len(faults)} of {len(runs)}:\n" + "\n".join(faults))

    def test_a_state_on_a_read_only_disk_is_refused_in_a_sentence(self):
        status, _, said, _ = self.end_of("read_only", "gleaner-client", ["run", "--state", "PLACE/state"])
        self.assertEqual(status, 1, said)
        self.assertRegex(said, "(?i)read-only file system")
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_paths_that_are_too_long(self):
        for program, arguments in commands(surroundings.TOO_LONG, self.code).items():
            for words in arguments[:None if ALL else 1]:
                if (BIN / program).exists():
                    with self.subTest(program=program, arguments=words[0]):
                        self.assertEqual(list(self.faults_of("long_paths", program, words)), [])

    def test_relative_paths_where_the_directory_is_gone(self):
        for program, arguments in commands("relative", self.code).items():
            for words in arguments[:None if ALL else 1]:
                if (BIN / program).exists():
                    with self.subTest(program=program, arguments=words[0]):
                        self.assertEqual(list(self.faults_of("directory_gone", program, words)), [])

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
