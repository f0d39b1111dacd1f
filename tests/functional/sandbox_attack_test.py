"""The hostile suite (`gleaner-client sandbox --attack`) in every sandbox there is: as the superuser and as somebody, with
bubblewrap and without. And what hostile kernels leave behind for a client without the superuser's rights."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import textwrap
import unittest

from harness import (AS_NOBODY, BUILD, NOBODY, SLOW, SQUARES, WITHOUT_BUBBLEWRAP, Grid, main, others_reach)
from kernels import kernel_bundle

WEAK = "weak: I accept that kernels see names, sizes and times of my files"
# Neither in a chroot, whose root is no mount point, nor where others cannot reach the root.
BUBBLEWRAP_WORKS = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True).returncode == 0
OTHERS_REACH = others_reach(pathlib.Path(tempfile.gettempdir()) / "any")


class Place:
    """A state directory that nobody in particular owns, and programs that it can start."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-attack-"))
        self.directory.chmod(0o755)

    def __enter__(self):
        self.state = self.directory / "state"
        self.state.mkdir()
        os.chown(self.state, NOBODY, NOBODY)
        self.programs = self.directory / "bin"  # the build may be out of others' reach
        self.programs.mkdir()
        for name in ("gleaner-client", "gleaner-sandbox", "gleaner-attack", "gleaner-unpack"):
            shutil.copy(BUILD / "bin" / name, self.programs)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self, *arguments, before=(), state=None):
        command = [*before, self.programs / "gleaner-client", "sandbox", "--state", state or self.state, *arguments]
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300 * SLOW,
                              stdin=subprocess.DEVNULL)


@unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights, to become others")
@unittest.skipUnless(OTHERS_REACH, "others cannot reach this root directory")
class Attack(unittest.TestCase):
    def attack(self, *arguments, before=(), own_state=False):
        with Place() as place:
            state = place.directory / "own" if own_state else place.state
            done = place.run("--attack", "--json", *arguments, before=before, state=state)
            self.assertTrue(done.stdout, done.stderr)
            report = json.loads(done.stdout)
            print(report["sandbox"], flush=True)
            for row in report["attacks"]:
                print(f"  {row['outcome']:9} {row['attack']}: {row['words'][:120]}", flush=True)
            self.assertGreaterEqual(len(report["attacks"]), 44)
            found = {row["attack"]: row for row in report["attacks"]}
            self.assertEqual([name for name, row in found.items() if row["outcome"] == "open"], [])
            self.assertEqual(done.returncode, 0)
            self.assertEqual(sorted(path.name for path in (state / "slots").iterdir()), [])
            return report["sandbox"], found

    @unittest.skipUnless(BUBBLEWRAP_WORKS, "bubblewrap does not work here")
    def test_superuser(self):
        sandbox, found = self.attack(own_state=True)
        self.assertIn("users of their own", sandbox)
        self.assertNotIn("accepted", {row["outcome"] for row in found.values()})

    @unittest.skipUnless(BUBBLEWRAP_WORKS, "bubblewrap does not work here")
    def test_somebody(self):
        sandbox, found = self.attack(before=AS_NOBODY)
        self.assertIn("namespaces without network", sandbox)
        self.assertNotIn("accepted", {row["outcome"] for row in found.values()})
        if "a slot in memory" in sandbox:  # to the byte, and at once
            for name in ("with many files", "with files that have no name", "below a closed directory"):
                self.assertEqual(found[f"fill the disk {name}"]["words"].split(" KiB")[0], "4096")
        self.assertTrue(found["take memory by sockets"]["words"].startswith("0 KiB"))

    def test_somebody_without_bubblewrap(self):
        sandbox, found = self.attack("--sandbox", WEAK, before=[*WITHOUT_BUBBLEWRAP, *AS_NOBODY])
        self.assertIn("Landlock", sandbox)
        self.assertEqual([name for name, row in found.items() if row["outcome"] == "accepted"],
                         ["see names, sizes and times of files"])
        # Looked at once a second; what is hidden is told of by name.
        for name, words in (("with files that have no name", "of files that it removed"),
                            ("with mapped files that have no name", "maps files that it has removed"),
                            ("below a closed directory", "cannot be read")):
            self.assertIn(words, found[f"fill the disk {name}"]["words"])
        self.assertLess(found["nest directories 3,000 deep"]["seconds"], 5 * SLOW)

    def test_without_bubblewrap_the_owner_is_asked(self):
        with Place() as place:
            done = place.run("--attack", before=[*WITHOUT_BUBBLEWRAP, *AS_NOBODY])
            self.assertEqual(done.returncode, 1)
            self.assertIn("install bubblewrap", done.stderr)
            self.assertIn(WEAK, done.stderr)

    def test_a_hole_is_told(self):
        """With a helper that confines nothing: the report must not be what an open computer gets, too."""
        with Place() as place:
            helper = place.programs / "gleaner-sandbox"
            helper.write_text(textwrap.dedent("""\
                #!/bin/bash
                while [ "$1" != -- ]; do shift; done
                shift
                case "$*" in
                  *check*) echo ready; : >gleaner-sandbox-check; read -r end; exit 0 ;;
                  *confine*) while [ "$1" != confine ]; do shift; done; while [ "$1" != -- ]; do shift; done; shift ;;
                esac
                exec "$@"
                """))
            helper.chmod(0o755)
            done = place.run("--attack", "--json", "--sandbox", WEAK, before=[*WITHOUT_BUBBLEWRAP, *AS_NOBODY])
            self.assertEqual(done.returncode, 1, done.stderr)
            found = {row["attack"]: row["outcome"] for row in json.loads(done.stdout)["attacks"]}
            for name in ("read files of others", "write, truncate, remove files of others", "use the network",
                         "change permissions, times, attributes of others' files", "take memory by sockets",
                         "evade the pause and the priority", "continue itself by a timer", "be continued by a child that ends",
                         "be continued by a parent that ends", "read other problems",
                         "identify this computer or its owner", "dump core"):
                self.assertEqual(found[name], "open", name)


@unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights, to become others")
@unittest.skipUnless(OTHERS_REACH, "others cannot reach this root directory")
class LeftBehind(unittest.TestCase):
    """A client of nobody in particular, whose slots are directories on its disk."""

    def start(self, grid, state):
        grid.start("victim", grid.directory / "bin" / "gleaner-client", "run", "--state", state, "--run", "always", "--cores", 1,
                   "--priority", "normal", "--benchmark-mflops", 1000, before=AS_NOBODY)

    def check(self, name, attack, expected):
        with Grid() as grid:
            grid.directory.chmod(0o755)
            programs = grid.directory / "bin"
            programs.mkdir()
            for program in ("gleaner-client", "gleaner-sandbox", "gleaner-unpack"):
                shutil.copy(BUILD / "bin" / program, programs)
            state = grid.directory / "state"
            state.mkdir()
            os.chown(state, NOBODY, NOBODY)
            grid.start_server()
            subprocess.run([*AS_NOBODY, programs / "gleaner-client", "join", grid.own_code, "--state", state], check=True,
                           capture_output=True, timeout=60 * SLOW)
            too_large_for_memory = ("disk_megabytes = 1", "disk_megabytes = 300")
            grid.add_application(kernel_bundle(grid, name, attack, too_large_for_memory))
            identity = grid.add_problem(name, name, count=1)
            self.start(grid, state)
            resident = []

            def reported():
                status = pathlib.Path(f"/proc/{grid.processes['victim'].pid}/status").read_text()
                resident.append(int(status.split("VmRSS:")[1].split()[0]))
                found = grid.problem(identity)["set_aside"]
                return found and found[-1]["message"]

            self.assertRegex(grid.wait_until("the report", reported, 60), expected)
            self.assertLess(max(resident), 200 << 10)  # KiB; far more under sanitizers than without
            # It starts again, and computes in the same slot.
            grid.kill("victim")
            grid.add_application(SQUARES)
            honest = grid.add_problem("squares", "honest", count=20)
            self.start(grid, state)
            grid.wait_finished(honest)

    def test_directories_without_permissions(self):
        self.check("closer", """
            os.makedirs("a/b/c")
            open("a/b/file", "w").close()
            for path in ("a/b/c", "a/b", "a"): os.chmod(path, 0)
            os.chmod(".", 0o300)
            time.sleep(600)
            """, "directories that cannot be read")

    def test_deep_directories(self):
        self.check("digger", """
            for depth in range(9000):
                os.mkdir("d")
                os.chdir("d")
            say("error that was deep")
            """, "very deep ones|that was deep")


if __name__ == "__main__":
    main()
