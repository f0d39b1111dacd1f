"""A client that stops for good in mid-unit hardly delays the end; an idle host takes over what it held."""
import json
import os
import signal
import unittest

from harness import SQUARES, Grid, main

# Paced by the clock, not by the processor: the same on every machine.
PACED = {"count": 600, "pause": 0.02}
SUM = b"%d\n" % sum(i * i for i in range(PACED["count"]))


class Stragglers(unittest.TestCase):
    def test_a_stopped_client_is_noticed_and_its_range_re_covered(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            for name in ("a", "b"):
                grid.add_client(name)
            identity = grid.add_problem("squares", "stopped", **PACED)
            grid.wait_until("b to be in the first half of a unit", lambda: any(
                slot["begin"] < slot["finished"] < (slot["begin"] + slot["end"]) / 2 for slot in self.slots(grid, "b")), 60)
            for pid in [grid.processes["b"].pid, *grid.kernels_of("b")]:
                os.kill(pid, signal.SIGSTOP)
            try:
                info = grid.wait_finished(identity)
            finally:
                for pid in [*grid.kernels_of("b"), grid.processes["b"].pid]:
                    os.kill(pid, signal.SIGCONT)
            self.assertGreaterEqual(info["recovered"] + info["duplicates"] + info["splits"], 1)
            self.assertEqual(grid.results(identity)["sum.txt"], SUM)
            decisions = grid.admin_json("problem", "decisions", identity)["items"]
            self.assertTrue(any(d["kind"] in ("recover", "copy", "flood", "split") and d["reason"] for d in decisions))

    def test_what_a_returning_host_finished_is_taken_in(self):
        with Grid("work.commit_seconds = 3600") as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_client("gone")
            identity = grid.add_problem("squares", "returns", "--strategy", "static,mode=paper", **PACED)
            grid.wait_until("some items", lambda: any(slot["finished"] > 20 for slot in self.slots(grid, "gone")), 60)
            grid.kill("gone")
            self.assertEqual(grid.problem(identity)["accepted"], 0)
            grid.start_client("gone")
            grid.wait_finished(identity)
            share = grid.problem(identity)["shares"][0]
            self.assertEqual(share["items"], PACED["count"])
            self.assertEqual(share["units"], 1, "the unit was resumed, not handed out anew")
            self.assertEqual(grid.results(identity)["sum.txt"], SUM)

    @staticmethod
    def slots(grid, client):
        """The slots that hold a unit; none while the client is starting."""
        answer = grid.control(client, "--json", "status", check=False)
        if answer.returncode != 0:
            return []
        return [slot for slot in json.loads(answer.stdout)["status"]["slots"] if slot["end"] > slot["begin"]]


if __name__ == "__main__":
    main()
