"""`gleaner-server check` names every kind of damage in what is stored, mends what is safe, and what it mended ends in the
right answer. Real projects, computed in part; the server is down while they are harmed."""
import contextlib
import json
import shutil
import sqlite3
import unittest

from harness import Grid, main, of_files, seeded
from kernels import Held

ITEMS = 100
GOOD, FAILED, MENDABLE, SERIOUS = 0, 1, 3, 4


def blobs_of(grid):
    return {path for path in (grid.project / "blobs").rglob("*") if path.is_file()}


@of_files("postgres_test.py and objects_test.py have what is checked there")
class Check(unittest.TestCase):
    def start(self, grid):
        """A problem that is computed in part, and its segments. The server is down."""
        grid.start_server()
        self.held = Held(grid, ITEMS, pause=0.2, item_bytes=80000)  # each segment is a blob
        self.identity = self.held.add()
        others = blobs_of(grid)
        self.archive = max(others, key=lambda path: path.stat().st_size)
        self.held.add_client("a")
        grid.wait_until("some segments", lambda: len(blobs_of(grid) - others) >= 5)
        grid.kill("a")
        with contextlib.closing(sqlite3.connect(grid.project / "store.sqlite")) as store:
            named = {row[0].hex() for row in store.execute("SELECT digest FROM segments WHERE place = 1")}
        grid.kill("server")
        return sorted(path for path in blobs_of(grid) - others if path.name in named)

    def check(self, grid, code, *arguments):
        done = grid.run("gleaner-server", "check", grid.project, "--json", *arguments, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        report = json.loads(done.stdout)
        self.assertEqual(report["exit"], code)
        return {finding["kind"]: finding for finding in report["findings"]}

    def change(self, grid, *statements):
        with sqlite3.connect(grid.project / "store.sqlite") as store:
            for statement in statements:
                store.execute(statement)
        store.close()

    def finish(self, grid):
        grid.start_server()
        self.held.let_go()
        self.held.start_client("a")
        grid.wait_finished(self.identity)
        self.assertEqual(grid.results(self.identity), self.held.expected)

    def test_lost_results_and_bundles_are_named_mended_and_computed_again(self):
        rng = seeded(self)
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            segments = self.start(grid)
            before = {path: path.read_bytes() for path in (grid.project / "store.sqlite", grid.project / "store.sqlite-wal")}
            found = self.check(grid, GOOD)
            self.assertLessEqual(set(found), {"orphan"})  # what was uploaded and not committed when all ended
            self.assertEqual(before, {path: path.read_bytes() for path in before})  # it only looks
            text = grid.run("gleaner-server", "check", grid.project).stdout
            if not found:
                self.assertIn("Nothing is wrong.", text)
            self.assertRegex(text, r"problem \d+ \(held\): \w+, stage 1, \d+ of 100 items accepted")

            changed, gone, forgotten = rng.sample(segments, 3)
            data = bytearray(changed.read_bytes())
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            changed.write_bytes(data)
            gone.unlink()
            self.change(grid, f"DELETE FROM segments WHERE digest = x'{forgotten.name}'")
            (grid.project / "blobs" / "ab").mkdir(exist_ok=True)
            stranger = grid.project / "blobs" / "ab" / "notes.txt"
            stranger.write_text("not a blob")
            manifest, = (grid.project / "bundles").glob("*/manifest.toml")
            manifest.unlink()

            found = self.check(grid, MENDABLE)
            for kind in ("segment-damaged", "segment-missing", "segment-row-missing", "bundle-broken"):
                self.assertEqual(found[kind]["severity"], "mendable", found)
            self.assertIn(forgotten.name, found["orphan"]["message"])
            self.assertIn("notes.txt", found["stranger"]["message"])
            self.assertTrue(forgotten.exists() and changed.exists())
            mended = self.check(grid, GOOD, "--repair")
            self.assertTrue(all(finding["severity"] == "mended" for finding in mended.values()), mended)
            self.assertFalse(forgotten.exists() or stranger.exists() or changed.exists())
            self.assertEqual(set(self.check(grid, GOOD)), {"set-aside"})
            self.finish(grid)
            done = grid.run("gleaner-server", "check", grid.project, check=False)
            self.assertEqual(done.returncode, FAILED)
            self.assertIn("another gleaner-server is using", done.stderr)
            grid.kill("server")
            self.assertLessEqual(set(self.check(grid, GOOD)), {"set-aside", "orphan"})  # what was uploaded twice

    def test_a_stage_that_lost_its_row_is_planned_again(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            self.start(grid)
            self.change(grid, "DELETE FROM stage_costs", "DELETE FROM stages")
            self.assertEqual(self.check(grid, MENDABLE)["stage-missing"]["severity"], "mendable")
            self.check(grid, GOOD, "--repair")
            self.finish(grid)

    def test_a_store_that_lost_something_is_not_mended_without_a_word(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            self.start(grid)
            grid.start_server()
            grid.kill("server")
            generation = (grid.project / "store.generation").read_text()
            grid.start_server()
            self.held.start_client("a")
            grid.wait_until("a note", lambda: (grid.project / "store.generation").read_text() != generation)
            grid.kill("a")
            grid.kill("server")
            whole = grid.directory / "whole"
            shutil.copytree(grid.project, whole)

            with self.subTest("its log is cut"):
                log = grid.project / "store.sqlite-wal"
                with open(log, "r+b") as file:
                    file.truncate(4096)  # in its first page: what the note knows of may be but the beginning
                self.assertIn("--accept-loss", self.check(grid, SERIOUS)["log-lost"]["message"])
                blobs = blobs_of(grid)
                self.check(grid, SERIOUS, "--repair")
                self.assertEqual(blobs_of(grid), blobs)
                self.check(grid, GOOD, "--repair", "--accept-loss")
                self.assertNotIn("log-lost", self.check(grid, GOOD))

            def again():
                shutil.rmtree(grid.project)
                shutil.copytree(whole, grid.project)

            with self.subTest("the store is cut"):
                again()
                (grid.project / "store.sqlite-wal").unlink()
                with open(grid.project / "store.sqlite", "r+b") as file:
                    file.truncate(3 * 4096)
                for arguments in ((), ("--repair",), ("--repair", "--accept-loss")):
                    found = self.check(grid, SERIOUS, *arguments)
                    self.assertTrue({"store-unreadable", "store-broken"} & set(found), found)
            with self.subTest("the store is gone"):
                again()
                (grid.project / "store.sqlite").unlink()
                self.assertIn("restore", self.check(grid, SERIOUS)["store-unreadable"]["message"])
            with self.subTest("a host's row is gone"):
                again()
                self.change(grid, "DELETE FROM hosts")
                self.assertIn("hosts", self.check(grid, SERIOUS, "--repair")["row-missing"]["message"])
            with self.subTest("the archive of an application is gone"):
                again()
                self.archive.unlink()
                found = self.check(grid, SERIOUS, "--repair")
                self.assertIn("app add", found["archive-missing"]["message"])
            again()
            self.finish(grid)


if __name__ == "__main__":
    main()
