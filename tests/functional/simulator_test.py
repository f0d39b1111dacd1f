"""The simulator as a program: every scenario file runs, a log replays, and tools/bench strategies --quick has its table."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GLEANER_BUILD", ROOT / "build" / "release")) / "bin" / "gleaner-sim"
SCENARIOS = sorted((ROOT / "tools" / "simulator" / "scenarios").glob("*.toml"))


def run(*arguments):
    return subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, check=False)


class Simulator(unittest.TestCase):
    def test_every_scenario_runs_to_its_end(self):
        self.assertGreaterEqual(len(SCENARIOS), 14)
        for path in SCENARIOS:
            with self.subTest(path.name):
                small = [] if path.stem in ("four-clients", "office-surplus") else [
                    "--set", "fleet.hosts=15", "--set", "problem.ideal_hours=0.5"]
                if path.stem == "relays":
                    small += ["--set", "relays.children=[2,2]"]
                done = run("run", path, *small, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                only = json.loads(done.stdout)["strategies"][0]["runs"][0]
                self.assertTrue(only["complete"], path.name)
                self.assertGreaterEqual(only["ratio"], 1)

    def test_a_tree_of_relays_spares_its_server(self):
        scenario = next(path for path in SCENARIOS if path.stem == "relays")
        runs = {}
        for children in ("[]", "[4]"):
            done = run("run", scenario, "--set", "fleet.hosts=400", "--set", "problem.ideal_hours=0.5",
                       "--set", f"relays.children={children}", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            runs[children] = json.loads(done.stdout)["strategies"][0]["runs"][0]
            self.assertTrue(runs[children]["complete"])
        direct, tree = runs["[]"], runs["[4]"]
        self.assertLess(30 * tree["levels"][0]["messages"], direct["levels"][0]["messages"])
        self.assertLess(tree["makespan"], 1.05 * direct["makespan"])
        refused = run("run", scenario, "--set", "problem.checkpoint=true")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("problem.checkpoint is not modelled together with relays", refused.stderr)

    def test_a_log_replays(self):
        with tempfile.TemporaryDirectory() as directory:
            log = pathlib.Path(directory) / "troubles.log"
            scenario = next(path for path in SCENARIOS if path.stem == "troubles")
            done = run("run", scenario, "--set", "problem.ideal_hours=0.2", "--log", log)
            self.assertEqual(done.returncode, 0, done.stderr)
            replayed = run("replay", log, "--json")
            self.assertEqual(replayed.returncode, 0, replayed.stdout + replayed.stderr)
            self.assertGreater(json.loads(replayed.stdout)["decisions"], 100)

    def test_the_quick_benchmark_has_a_row_for_every_rule(self):
        done = subprocess.run([sys.executable, str(ROOT / "tools" / "bench"), "strategies", "--quick"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line for line in done.stdout.splitlines() if line.startswith("| wis | ")]
        self.assertGreaterEqual(len(rows), 3)
        ratios = {line.split(" | ")[1]: float(line.split(" | ")[2].split()[0]) for line in rows}
        self.assertLess(ratios["split"], ratios["duplicate-once"])
        self.assertLess(ratios["split"], 1.1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
