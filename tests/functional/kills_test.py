"""Kills server, clients and kernels with SIGKILL at random points of a running problem; nothing acknowledged is lost,
nothing is counted twice, and the result is byte for byte what one process computes.

Problems are a Mandelbrot view and ray tracing's scene D in turn, small ones; from 100 kills on scene D has the quick
start's size. GLEANER_KILLS=N sets how many kills there are at least (the soak: 400), GLEANER_SEED repeats a run.
"""
import os
import signal
import time
import unittest

from harness import MANDELBROT, RAYTRACE, SLOW, Grid, main, seeded

KILLS = int(os.environ.get("GLEANER_KILLS", "24"))
PACE = 0.7 if SLOW == 1 else 3  # at most so many seconds from kill to kill: what is killed must get to work again
SCALE = 1 if KILLS >= 100 else 3 if SLOW == 1 else 8
PROBLEMS = [("mandelbrot", MANDELBROT, {"width": 320, "height": 480, "iterations": 40000}),
            ("raytrace", RAYTRACE, {"scene": "D", "width": 840 // SCALE, "height": 640 // SCALE})]


class Kills(unittest.TestCase):
    def test_results_survive_sigkill_everywhere(self):
        rng = seeded(self)
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 2") as grid:
            grid.start_server()
            for _, bundle, _ in PROBLEMS:
                grid.add_application(bundle)
            names = ("a", "b", "c")
            for name in names:
                grid.add_client(name)
            expected = [grid.run_local(bundle, **parameters) for _, bundle, parameters in PROBLEMS]
            killed = {"server": 0, "client": 0, "kernel": 0}
            rounds = 0
            while sum(killed.values()) < KILLS or rounds < len(PROBLEMS):
                choice = rounds % len(PROBLEMS)
                application, _, parameters = PROBLEMS[choice]
                rounds += 1
                identity = grid.add_problem(application, f"round-{rounds}", **parameters)
                accepted = 0
                while True:
                    time.sleep(rng.uniform(0.05, PACE))
                    info = grid.problem(identity)
                    self.assertGreaterEqual(info["accepted"], accepted, "an acknowledged segment was lost")
                    accepted = info["accepted"]
                    if info["state"] == "finished":
                        break
                    self.assertIn(info["state"], ("running", "combining", "planning"), info["message"])
                    if sum(killed.values()) < 2 * KILLS:  # a slow machine is left in peace at last
                        self.kill_one(grid, rng, names, killed)
                info = grid.wait_finished(identity)
                self.assertEqual(sum(share["items"] for share in info["shares"]), parameters["height"],
                                 "counted twice or lost")
                self.assertEqual(grid.results(identity), expected[choice])
            print(f"{rounds} problems, killed {killed}", flush=True)

    def kill_one(self, grid, rng, names, killed):
        victim = rng.choice(("server", "client", "kernel", "kernel"))
        if victim == "server":
            grid.kill("server")
            grid.start_server()
        elif victim == "client":
            name = rng.choice(names)
            grid.kill(name)
            grid.start_client(name)
        else:
            kernels = [pid for name in names for pid in grid.kernels_of(name)]
            if not kernels:
                return
            try:
                os.kill(rng.choice(kernels), signal.SIGKILL)
            except ProcessLookupError:
                return
        killed[victim] += 1


if __name__ == "__main__":
    main()
