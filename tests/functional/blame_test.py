"""One bad item, one bad application, one bad host and one missing library at once: each is found, nothing else waits."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from harness import SQUARES, Grid, main, sandbox_arguments

# Files of the system's Python that kernels read here: empty ones stand for a missing library and for a broken computer.
LIBRARY, HARDWARE = (sorted(pathlib.Path("/usr/lib").glob(f"python3.*/{name}.py"))[0] for name in ("antigravity", "this"))
CHECK = f'if not open("{HARDWARE}").read(): sys.exit("this computer is broken")\n'
NEEDS_LIBRARY = f'if not open("{LIBRARY}").read(): sys.exit("libfraction.so: cannot open shared object file")\n'
BAD_ITEM = '            if item == 7: raise ZeroDivisionError("item 7")\n'


def as_another_computer(empty, missing):
    """A command that runs another where these files are as that empty one."""
    mounts = " && ".join(f"mount --bind '{empty}' '{path}'" for path in missing)
    flags = ["-m"] if os.geteuid() == 0 else ["-rm"]
    return ["unshare", *flags, "sh", "-c", f'{mounts} && exec "$@"', "sh"]


def can_be_another_computer():
    with tempfile.NamedTemporaryFile() as empty:
        return subprocess.run([*as_another_computer(empty.name, [LIBRARY]), "true"], capture_output=True).returncode == 0


class Blame(unittest.TestCase):
    def application(self, grid, name, version="1.0.0", first="", item="", manifest=""):
        """SQUARES under another name, whose kernel begins with `first` and does `item` before each item."""
        bundle = grid.directory / f"{name}-{version}"
        shutil.copytree(SQUARES, bundle)
        text = (bundle / "manifest.toml").read_text()
        text = text.replace('name = "squares"', f'name = "{name}"').replace('version = "1.0.0"', f'version = "{version}"')
        (bundle / "manifest.toml").write_text(text.replace("[kernel]", f"{manifest}\n[kernel]"))
        kernel = (bundle / "kernel.py").read_text()
        kernel = kernel.replace("stdin, stdout", CHECK + first + "stdin, stdout", 1)
        (bundle / "kernel.py").write_text(kernel.replace("            square = ", item + "            square = "))
        grid.add_application(bundle)
        return name

    def start_on(self, grid, name, missing):
        grid.join(name)
        empty = grid.directory / "empty"
        empty.touch()
        empty.chmod(0o644)
        command = [*as_another_computer(empty, missing), grid.program("gleaner-client"), "run", "--state", grid.state(name),
                   *sandbox_arguments(grid.state(name)), "--run", "always", "--cores", "1", "--priority", "normal",
                   "--benchmark-mflops", "1000"]
        with open(grid.directory / f"{name}.log", "a") as log:
            grid.processes[name] = subprocess.Popen([str(word) for word in command], stdout=log, stderr=subprocess.STDOUT,
                                                    stdin=subprocess.DEVNULL, start_new_session=True)

    def items_of(self, grid, problem):
        return {share["name"]: share["items"] for share in grid.problem(problem)["shares"]}

    @unittest.skipUnless(can_be_another_computer(), "no mount namespace of its own for a client here")
    def test_four_causes_at_once_are_told_apart(self):
        with Grid() as grid:
            grid.start_server()
            pictures = self.application(grid, "pictures", item=BAD_ITEM)
            crashes = self.application(grid, "crashes", first='sys.exit("segmentation fault")\n')
            fractions = self.application(grid, "fractions", first=NEEDS_LIBRARY)
            grid.add_client("alice")
            grid.add_client("bob")
            picture = grid.add_problem(pictures, "picture", count=300, pause=0.05)
            crash = grid.add_problem(crashes, "crash", count=50)
            fraction = grid.add_problem(fractions, "fraction", count=300, pause=0.05)
            # What fails on the first two that try it is stopped: these are not to be the two that lack something.
            grid.wait_until("a fraction", lambda: grid.problem(fraction)["accepted"] > 0)
            self.start_on(grid, "carol", [LIBRARY])
            self.start_on(grid, "dave", [HARDWARE])

            grid.wait_finished(fraction, timeout=150)

            def ended():
                info = grid.problem(picture)
                return info if info["state"] == "failed" else None

            info = grid.wait_until("all but the bad item", ended, 150)
            self.assertEqual(info["accepted"], 299)
            aside = [entry for entry in info["set_aside"] if entry["message"].startswith("set aside")]
            self.assertEqual([entry["range"] for entry in aside], [{"begin": 7, "end": 8}])
            self.assertTrue(any("item 7" in entry["message"] for entry in info["set_aside"]))

            info = grid.problem(crash)
            self.assertEqual(info["state"], "stopped")
            self.assertIn("stopped: crashes@1.0.0: it fails on", info["message"])
            self.assertTrue(any("segmentation fault" in entry["message"] for entry in info["set_aside"]))
            self.assertFalse([entry for entry in info["set_aside"] if entry["message"].startswith("set aside")])

            hosts = {host["name"]: host for host in grid.admin_json("host", "list")["items"]}
            self.assertRegex(grid.log("server"), f"host {hosts['dave']['id']} gets no work .*this computer is broken")
            self.assertEqual(hosts["dave"]["items_accepted"], 0)
            self.assertGreater(self.items_of(grid, picture)["carol"], 0)
            self.assertEqual(self.items_of(grid, fraction).get("carol", 0), 0)
            for name in ("alice", "bob"):
                # From the broken application for a moment, perhaps; never from everything.
                self.assertNotIn("held back after failures", hosts[name]["state_reason"])
                self.assertGreater(hosts[name]["items_accepted"], 0)

            # What is accepted can be fetched, and a mended version computes the rest.
            partial = grid.directory / "partial"
            grid.admin("problem", "result", picture, "--partial", "-o", partial)
            self.assertEqual(int((partial / "sum.txt").read_text()), sum(i * i for i in range(300)) - 7 ** 2)
            self.application(grid, "pictures", version="1.0.1")
            refused = grid.admin("problem", "upgrade", picture, "--app", "pictures@1.0.1", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("compatible_with", refused.stderr)
            self.application(grid, "pictures", version="1.0.2", manifest='compatible_with = ["1.0.0"]\n')
            grid.admin("problem", "upgrade", picture, "--app", "pictures@1.0.2")
            grid.wait_finished(picture)
            self.assertEqual(int(grid.results(picture)["sum.txt"]), sum(i * i for i in range(300)))

    def test_set_aside_items_are_tried_again(self):
        with Grid() as grid:
            grid.start_server()
            name = self.application(grid, "pictures", item=BAD_ITEM)
            grid.add_client("alice")
            grid.add_client("bob")
            problem = grid.add_problem(name, "picture", count=30, pause=0.02)

            def failed():
                info = grid.problem(problem)
                return info if info["state"] == "failed" else None

            first = grid.wait_until("the item to be set aside", failed, 60)
            self.assertEqual(first["accepted"], 29)
            failures = sum(host["failures"] for host in grid.admin_json("host", "list")["items"])
            again = grid.admin_json("problem", "retry", problem)
            self.assertEqual(again["state"], "running")
            grid.wait_until("the item to be set aside again", failed, 60)
            self.assertGreater(sum(host["failures"] for host in grid.admin_json("host", "list")["items"]), failures)
            self.assertEqual(grid.problem(problem)["accepted"], 29)

    def test_what_is_accepted_of_a_cancelled_problem_can_be_fetched(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            # A manager that shows nothing: then the items themselves come.
            silent = grid.directory / "silent"
            shutil.copytree(SQUARES, silent)
            (silent / "manifest.toml").write_text((silent / "manifest.toml").read_text().replace('"squares"', '"silent"'))
            manager = (silent / "manager.py").read_text()
            (silent / "manager.py").write_text(manager.replace('("combine", "preview")', '("combine",)'))
            grid.add_application(silent)
            grid.add_client("alice")
            for application, names in (("squares", {"sum.txt"}), ("silent", {"accepted.tsv", "accepted.items"})):
                problem = grid.add_problem(application, f"{application}-cancelled", count=2000, pause=0.02)
                grid.wait_until("some items", lambda: grid.problem(problem)["accepted"] > 0, 90)
                grid.admin("problem", "cancel", problem)
                out = grid.directory / f"partial-{application}"
                refused = grid.admin("problem", "result", problem, check=False)
                self.assertIn("--partial", refused.stderr)
                grid.admin("problem", "result", problem, "--partial", "-o", out)
                self.assertEqual({path.name for path in out.iterdir()}, names)
            ranges = [tuple(map(int, line.split("\t"))) for line in (out / "accepted.tsv").read_text().splitlines()[1:]]
            data = (out / "accepted.items").read_bytes()
            for begin, end in ranges:
                for item in range(begin, end):
                    length = int.from_bytes(data[:4], "little")
                    self.assertEqual(int(data[4:4 + length]), item * item)
                    data = data[4 + length:]
            self.assertEqual(data, b"")
            self.assertEqual(sum(end - begin for begin, end in ranges), grid.problem(problem)["accepted"])


if __name__ == "__main__":
    main()
