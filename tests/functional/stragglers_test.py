"""A client that stops for good in mid-unit hardly delays the end; an idle host takes over what it held."""
import json
import os
import signal
import unittest

from harness import MANDELBROT, Grid, main

ROWS = {"width": 300, "height": 400, "iterations": 60000}


class Stragglers(unittest.TestCase):
    def test_a_stopped_client_is_noticed_and_its_range_re_covered(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            for name in ("a", "b"):
                grid.add_client(name)
            identity = grid.add_problem("mandelbrot", "stopped", **ROWS)
            grid.wait_until("work for both", lambda: len({s["host"] for s in grid.problem(identity)["shares"]
                                                          if s["items"] > 0}) == 2, 60)
            for pid in [grid.processes["b"].pid, *grid.kernels_of("b")]:
                os.kill(pid, signal.SIGSTOP)
            try:
                info = grid.wait_finished(identity)
            finally:
                for pid in [*grid.kernels_of("b"), grid.processes["b"].pid]:
                    os.kill(pid, signal.SIGCONT)
            self.assertGreaterEqual(info["recovered"] + info["duplicates"] + info["splits"], 1)
            self.assertEqual(grid.results(identity), grid.run_local(MANDELBROT, **ROWS))
            decisions = grid.admin_json("problem", "decisions", identity)["items"]
            self.assertTrue(any(d["kind"] in ("recover", "copy", "flood", "split") and d["reason"] for d in decisions))

    def test_what_a_returning_host_finished_is_taken_in(self):
        with Grid("work.commit_seconds = 3600") as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_client("gone")
            identity = grid.add_problem("mandelbrot", "returns", "--strategy", "static,mode=paper", **ROWS)
            grid.wait_until("a unit in hand", lambda: grid.kernels_of("gone"))

            def status():
                return json.loads(grid.control("gone", "--json", "status").stdout)

            grid.wait_until("some items", lambda: any(unit["finished"] > 20 for unit in self.units(status())), 60)
            grid.kill("gone")
            self.assertEqual(grid.problem(identity)["accepted"], 0)
            grid.start_client("gone")
            grid.wait_finished(identity)
            share = grid.problem(identity)["shares"][0]
            self.assertEqual(share["items"], ROWS["height"])
            self.assertEqual(share["units"], 1, "the unit was resumed, not handed out anew")

    @staticmethod
    def units(status):
        found = []

        def walk(node):
            if isinstance(node, dict):
                if "finished" in node:
                    found.append(node)
                for value in node.values():
                    walk(value)
            elif isinstance(node, list):
                for value in node:
                    walk(value)

        walk(status)
        return found


if __name__ == "__main__":
    main()
