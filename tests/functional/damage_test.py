"""What is stored is changed or taken away behind the server's back, with real processes: results that are damaged are
computed again and the answer is right; a store that lost its log is refused until the loss is accepted in words; random
bits of the store are refused, or make no difference to the answer, but never a wrong one."""
import json
import shutil
import unittest

from harness import Grid, main, of_files, seeded
from kernels import Held


def flip(path, rng, bits=1):
    data = bytearray(path.read_bytes())
    for _ in range(bits):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


class Damage(unittest.TestCase):
    def start(self, grid, place=2):
        """A problem that is computed in part, three segments at least of it in the store (2) or in blobs (1). The server is
        down."""
        grid.start_server()
        self.held = Held(grid, 100, pause=0.2, item_bytes=80000 if place == 1 else 1)
        identity = self.held.add()
        self.held.add_client("a")
        grid.wait_until("some segments", lambda: int(grid.rows(f"SELECT count(*) FROM segments WHERE place = {place}")[0][0]) >= 3)
        grid.kill("a")
        grid.kill("server")
        return identity

    def finish(self, grid, identity):
        self.held.let_go()
        self.held.start_client("a")
        grid.wait_finished(identity)
        self.assertEqual(grid.results(identity), self.held.expected)

    def test_damaged_and_deleted_segments_are_computed_again(self):
        rng = seeded(self)
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            identity = self.start(grid)
            changed, gone = rng.sample([row[0] for row in grid.rows("SELECT segment FROM segment_bytes")], 2)
            bytes_of_it = bytes.fromhex(grid.rows(f"SELECT hex(bytes) FROM segment_bytes WHERE segment = {changed}")[0][0])
            place = rng.randrange(len(bytes_of_it))
            harmed = bytes_of_it[:place] + bytes([bytes_of_it[place] ^ 1 << rng.randrange(8)]) + bytes_of_it[place + 1:]
            grid.rows(f"UPDATE segment_bytes SET bytes = x'{harmed.hex()}' WHERE segment = {changed}")
            grid.rows(f"DELETE FROM segment_bytes WHERE segment = {gone}")
            grid.start_server()
            self.finish(grid, identity)
            self.assertIn("are computed again: their stored results are damaged or gone", grid.log("server"))

    @of_files("objects_test.py has a store that lies")
    def test_damaged_and_deleted_blobs_are_computed_again(self):
        rng = seeded(self)
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            identity = self.start(grid, place=1)
            segments = [row[0].lower() for row in grid.rows("SELECT hex(digest) FROM segments WHERE place = 1")]
            changed, gone = (grid.project / "blobs" / digest[:2] / digest for digest in rng.sample(segments, 2))
            flip(changed, rng)
            gone.unlink()
            grid.start_server()
            self.finish(grid, identity)
            self.assertIn("are computed again: their stored results are damaged or gone", grid.log("server"))
            self.assertTrue((grid.project / "damaged" / changed.name).exists())

    @of_files("the log is SQLite's")
    def test_a_lost_log_is_told_and_accepted_only_in_words(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            identity = self.start(grid)
            grid.start_server()
            grid.kill("server")  # the log begins anew here, and the main file has all from before
            grid.start_server()
            generation = (grid.project / "store.generation").read_text()
            self.held.start_client("a")
            grid.wait_until("a note", lambda: (grid.project / "store.generation").read_text() != generation)
            grid.kill("a")
            grid.kill("server")
            log = grid.project / "store.sqlite-wal"
            self.assertGreater(log.stat().st_size, 0)
            log.unlink()
            refused = grid.run("gleaner-server", "run", grid.project, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("is older than it was", refused.stderr)
            self.assertIn("--accept-loss", refused.stderr)
            grid.start_server("--accept-loss")
            self.finish(grid, identity)
            grid.kill("server")
            grid.start_server()  # nothing more to accept

    @of_files("bits of the file are flipped")
    def test_flipped_bits_of_the_store_never_make_a_wrong_answer(self):
        rng = seeded(self)
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            identity = self.start(grid)
            grid.start_server()
            grid.kill("server")
            whole = grid.directory / "whole"
            shutil.copytree(grid.project, whole)
            state = grid.directory / "state"
            shutil.copytree(grid.state("a"), state, ignore=shutil.ignore_patterns("*.sock"))
            self.held.let_go()
            outcomes = {"refused": 0, "told": 0, "right": 0}
            for round_number in range(6):
                for target, source in ((grid.project, whole), (grid.state("a"), state)):
                    shutil.rmtree(target)
                    shutil.copytree(source, target)
                flip(grid.project / "store.sqlite", rng, bits=20)
                try:
                    grid.start_server()
                except AssertionError as ended:
                    self.assertIn("gleaner-server: ", str(ended))
                    grid.kill("server")
                    outcomes["refused"] += 1
                    continue
                outcomes[self.outcome(grid, identity)] += 1
                for name in ("a", "server"):
                    grid.kill(name)
            print(outcomes, flush=True)

    def outcome(self, grid, identity):
        self.held.start_client("a")
        seen = {}

        def over():
            shown = grid.admin("--json", "problem", "show", identity, check=False)
            seen["state"] = json.loads(shown.stdout)["state"] if shown.returncode == 0 else "refused"
            return seen["state"] in ("finished", "failed", "stopped", "refused")

        before = len(grid.log("server"))
        try:
            grid.wait_until("an end", over, timeout=15)
        except AssertionError:  # it waits, as where a signed statement was hit that no client accepts now
            self.assertRegex(grid.log("server")[before:], " (warning|error) ")
            return "told"
        if seen["state"] != "finished":
            return "told"
        self.assertEqual(grid.results(identity), self.held.expected)
        return "right"


if __name__ == "__main__":
    main()
