"""A flow of three: a table, what needs its results, and what needs both; ended and gone on with; and one that fails."""
import gzip
import json
import pathlib
import tempfile
import unittest

from harness import Grid, main
from wrapping import add_wrapped

FLOW = '''flow = 1
name = "study"

[[node]]
name = "pack"
app = "squeeze"
inputs = ["squares=square/table.csv", "notes.txt"]

[[node]]
name = "square"
app = "square"
table = "runs.csv"

[[node]]
name = "both"
app = "squeeze"
inputs = ["packed=pack/squares.gz", "square/table.csv"]
'''
FAILS = '''flow = 1
name = "broken"

[[node]]
name = "wrong"
app = "square"
inputs = ["notes.txt"]

[[node]]
name = "after"
app = "squeeze"
inputs = ["wrong/table.csv"]

[[node]]
name = "apart"
app = "squeeze"
inputs = ["notes.txt"]
'''


class Flows(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="gleaner-flow-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        for name, text in (("study.toml", FLOW), ("broken.toml", FAILS), ("notes.txt", "notes"), ("runs.csv", "n\n" + "".join(f"{n}\n" for n in range(1, 31)))):
            (self.directory / name).write_text(text)

    def flow(self, grid, verb, name, *more):
        return grid.admin("--json", "flow", verb, self.directory / name, *more, check=False)

    def test_a_flow(self):
        with Grid() as grid:
            grid.start_server()
            add_wrapped(grid, "square", "awk", "--number", "square=^(.*)", "--", "BEGIN {{ print {n} * {n} }}")
            add_wrapped(grid, "squeeze", "gzip", "--suffix", ".gz", "--", "-9", "-n")
            shown = self.flow(grid, "show", "study.toml")
            self.assertEqual((shown.returncode, {node["state"] for node in json.loads(shown.stdout)["nodes"]}), (1, {"waiting"}))
            begun = grid.start("flow", "gleaner-admin", "--project", grid.project / "admin", "flow", "run", self.directory / "study.toml")
            grid.wait_until("the first node", lambda: [p["name"] for p in grid.admin_json("problem", "list")["items"]] == ["study/square"])
            grid.kill("flow")
            begun.wait()
            grid.add_client("a")
            done = self.flow(grid, "run", "study.toml")
            self.assertEqual(done.returncode, 0, done.stderr)
            nodes = {node["name"]: node for node in json.loads(done.stdout)["nodes"]}
            self.assertEqual({node["state"] for node in nodes.values()}, {"finished"})
            self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 3)  # what was there was gone on with
            table = grid.results(nodes["square"]["problem"])["table.csv"]
            self.assertIn(b"30,30,900,ok", table)
            packed = grid.results(nodes["pack"]["problem"])
            self.assertEqual((gzip.decompress(packed["squares.gz"]), gzip.decompress(packed["notes.txt.gz"])), (table, b"notes"))
            both = grid.results(nodes["both"]["problem"])
            self.assertEqual(gzip.decompress(gzip.decompress(both["packed.gz"])), table)
            self.assertEqual(gzip.decompress(both["table.csv.gz"]), table)
            again = self.flow(grid, "run", "study.toml")
            self.assertEqual((again.returncode, len(grid.admin_json("problem", "list")["items"])), (0, 3))

            failed = self.flow(grid, "run", "broken.toml")
            self.assertEqual(failed.returncode, 1, failed.stderr)
            states = {node["name"]: node["state"] for node in json.loads(failed.stdout)["nodes"]}
            self.assertEqual(states, {"wrong": "failed", "after": "waiting", "apart": "finished"})
            self.assertIn("there is no table", json.loads(failed.stdout)["nodes"][0]["message"])
            shown = grid.admin("flow", "run", self.directory / "broken.toml", check=False).stdout
            self.assertIn("apart: finished", shown)
            self.assertIn("wrong: refused: ", shown)
            self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 4)  # the server did not take the wrong one
            missing = self.directory / "missing.toml"
            missing.write_text(FLOW.replace('"study"', '"missing"').replace("square/table.csv", "square/no-such"))
            lacking = self.flow(grid, "run", "missing.toml")
            self.assertEqual(lacking.returncode, 1, lacking.stderr)
            self.assertIn("node square has no result no-such, only table.csv, rows.tar", lacking.stdout)

    def test_once_more(self):
        """A node that was cancelled is added anew only where that is asked for."""
        (self.directory / "late.toml").write_text('flow = 1\nname = "late"\n[[node]]\nname = "square"\napp = "square"\ntable = "runs.csv"\n')
        with Grid() as grid:
            grid.start_server()
            add_wrapped(grid, "square", "awk", "--number", "square=^(.*)", "--", "BEGIN {{ print {n} * {n} }}")
            begun = grid.start("flow", "gleaner-admin", "--project", grid.project / "admin", "flow", "run", self.directory / "late.toml")
            grid.wait_until("the node", lambda: grid.admin_json("problem", "list")["items"])
            grid.kill("flow")
            begun.wait()
            grid.admin("problem", "cancel", "late/square", "--yes")
            left = self.flow(grid, "run", "late.toml")
            self.assertEqual((left.returncode, json.loads(left.stdout)["nodes"][0]["state"]), (1, "cancelled"), left.stderr)
            self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 1)
            grid.add_client("a")
            again = self.flow(grid, "run", "late.toml", "--again")
            self.assertEqual((again.returncode, json.loads(again.stdout)["nodes"][0]["state"]), (0, "finished"), again.stdout + again.stderr)
            self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 2)


if __name__ == "__main__":
    main()
