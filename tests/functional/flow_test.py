"""A flow of three: a table, what needs its results, and what needs both; ended and gone on with; and one that fails."""
import gzip
import json
import pathlib
import tempfile
import unittest

from harness import MANDELBROT, SLOW, Grid, main
from wrapping import add_wrapped, without_origin

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
            self.assertIn("problem missing/square has no result no-such, only table.csv, rows.tar", lacking.stdout)

    def test_what_changed_is_told_and_computed_once_more_where_asked(self):
        flow = 'flow = 1\nname = "grown"\n' + "".join(
            f'[[node]]\nname = "{name}"\napp = "squeeze"\ninputs = ["{source}"]\n'
            for name, source in (("first", "notes.txt"), ("second", "first/notes.txt.gz"), ("apart", "runs.csv")))
        (self.directory / "grown.toml").write_text(flow)
        with Grid() as grid:
            grid.start_server()
            add_wrapped(grid, "squeeze", "gzip", "--suffix", ".gz", "--", "-9", "-n")
            grid.add_client("a")
            names = lambda: sorted(each["name"] for each in grid.admin_json("problem", "list")["items"])  # noqa: E731
            self.assertEqual(self.flow(grid, "run", "grown.toml").returncode, 0)
            self.assertEqual(names(), ["grown/apart", "grown/first", "grown/second"])
            (self.directory / "notes.txt").write_text("other notes")
            for verb in ("show", "run"):
                told = self.flow(grid, verb, "grown.toml")
                self.assertRegex(told.stderr, r"first: since problem \d+ was added, this has changed: .*/notes.txt\. What it computes is kept")
                self.assertNotIn("apart: since", told.stderr)
                self.assertEqual(told.returncode, 0)
            self.assertEqual(len(names()), 3)
            again = self.flow(grid, "run", "grown.toml", "--again")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(names(), ["grown/apart", "grown/first", "grown/first.2", "grown/second", "grown/second.2"])
            results = grid.results({node["name"]: node for node in json.loads(again.stdout)["nodes"]}["second"]["problem"])
            self.assertEqual(gzip.decompress(gzip.decompress(results["notes.txt.gz.gz"])), b"other notes")
            self.assertNotIn("since problem", self.flow(grid, "run", "grown.toml", "--again").stderr)
            self.assertEqual(len(names()), 5)

            wrong = 'flow = 1\nname = "wrong"\n' + "".join(f'[[node]]\nname = "{name}"\n{rest}\n' for name, rest in (
                ("good", 'app = "squeeze"\ninputs = ["notes.txt"]'), ("unknown", 'app = "no-such"\nafter = ["good"]'),
                ("unread", 'app = "squeeze"\ninputs = ["good/notes.txt.gz", "no-file.txt"]'),
                ("given", 'app = "mandelbrot"\nparameters = { width = 0 }\nafter = ["good"]')))
            (self.directory / "wrong.toml").write_text(wrong)
            grid.add_application(MANDELBROT)
            refused = self.flow(grid, "run", "wrong.toml")
            self.assertEqual(refused.returncode, 1)
            for words in ("node unknown: ", "node unread: ", "no-file.txt", "node given: width", "Nothing was added"):
                self.assertIn(words, refused.stderr)
            self.assertEqual(len(names()), 5)

    def test_one_problem_after_another(self):
        """Without a flow's file: the command waits, takes results by name, and says what stands in the way."""
        with Grid() as grid:
            grid.start_server()
            add_wrapped(grid, "square", "awk", "--number", "square=^(.*)", "--", "BEGIN {{ print {n} * {n} }}")
            add_wrapped(grid, "squeeze", "gzip", "--suffix", ".gz", "--", "-9", "-n")
            squares = grid.add_problem("square", "squares", "--table", self.directory / "runs.csv")
            arguments = ["problem", "add", "--app", "squeeze", "--name", "small", "--after", "squares", "--input", "squares/table.csv",
                         "--input", "rows=squares/rows.tar", "--input", self.directory / "notes.txt"]
            waiting = grid.start("waiting", "gleaner-admin", "--project", grid.project / "admin", *arguments, "--watch")
            grid.wait_until("it waits", lambda: "running, problem" in grid.log("waiting"))
            self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 1)
            grid.add_client("a")
            self.assertEqual(waiting.wait(60 * SLOW), 0, grid.log("waiting"))
            self.assertIn(f"squares: finished, problem {squares}", grid.log("waiting"))
            small = next(each["id"] for each in grid.admin_json("problem", "list")["items"] if each["name"] == "small")
            table, results = grid.results(squares)["table.csv"], grid.results(small)
            self.assertEqual(gzip.decompress(results["table.csv.gz"]), table)
            self.assertEqual(sorted(results), ["notes.txt.gz", "rows.gz", "table.csv.gz"])
            # An id does as well as a name, and a table as an input does.
            add_wrapped(grid, "root", "awk", "--number", "root=^(.*)", "--", "BEGIN {{ print sqrt({square}) }}")
            again = grid.admin("problem", "add", "--app", "square", "--name", "fourth", "--after", squares, "--table", f"{squares}/table.csv", check=False)
            self.assertEqual(again.returncode, 1)
            self.assertIn("table.csv: the results have a column square of their own", again.stderr)  # the earlier table is what was added
            grid.admin("problem", "add", "--app", "root", "--name", "roots", "--after", squares, "--table", f"{squares}/table.csv", "--watch")
            rows = without_origin(grid.results(grid.admin_json("problem", "show", "roots")["id"])["table.csv"])
            self.assertEqual(rows, [{"row": str(n), "n": str(n), "square": str(n * n), "root": str(n), "status": "ok"} for n in range(1, 31)])
            lacking = grid.admin("problem", "add", "--app", "squeeze", "--after", "squares", "--input", "squares/none", check=False)
            self.assertEqual(lacking.returncode, 4)
            self.assertIn("problem squares has no result none, only table.csv, rows.tar", lacking.stderr)
            twice = grid.admin(*arguments, "--input", f"table.csv={self.directory / 'notes.txt'}", check=False)
            self.assertIn("input table.csv is given twice", twice.stderr)
            self.assertEqual(grid.admin("problem", "add", "--app", "squeeze", "--after", "nothing", check=False).returncode, 4)
            unknown = grid.admin("problem", "add", "--app", "no-such", "--after", "squares", check=False)
            self.assertIn("gleaner-admin: no application no-such here", unknown.stderr)
            self.assertNotIn("node", unknown.stderr)
            for words, wrong in (("to take a result of problem small, say --after small", "small/table.csv.gz"),
                                 ('"squares/" is not [NAME=]PROBLEM/RESULT', "squares/"), ('"a/b=squares/table.csv" is not', "a/b=squares/table.csv")):
                refused = grid.admin("problem", "add", "--app", "squeeze", "--after", "squares", "--input", wrong, check=False)
                self.assertIn(refused.returncode, (1, 4))
                self.assertIn(words, refused.stderr)
            grid.add_problem("square", "n=1/a", "--table", self.directory / "runs.csv")
            for name, source in (("odd", "n=1/a/table.csv"), ("named", "renamed=n=1/a/table.csv")):
                grid.admin("problem", "add", "--app", "squeeze", "--name", name, "--after", "n=1/a", "--input", source, "--watch")
            self.assertEqual(sorted(grid.results(grid.admin_json("problem", "show", "named")["id"])), ["renamed.gz"])

            grid.kill("a")
            grid.add_problem("square", "gone", "--table", self.directory / "runs.csv")
            grid.admin("problem", "cancel", "gone", "--yes")
            held = grid.admin("problem", "add", "--app", "squeeze", "--after", "gone", "--input", "gone/table.csv", check=False)
            self.assertEqual(held.returncode, 1)
            self.assertIn("nothing was added, because problem gone was cancelled", held.stderr)
            self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 7)

    def test_a_server_that_restarts_is_waited_for(self):
        with Grid() as grid:
            grid.start_server()
            add_wrapped(grid, "squeeze", "gzip", "--suffix", ".gz", "--", "-9", "-n")
            grid.add_problem("squeeze", "first", "--input", self.directory / "notes.txt")
            waiting = grid.start("waiting", "gleaner-admin", "--project", grid.project / "admin", "problem", "add", "--app", "squeeze",
                                 "--name", "second", "--after", "first", "--input", "first/notes.txt.gz", "--watch")
            grid.wait_until("it waits", lambda: "running, problem" in grid.log("waiting"))
            grid.kill("server")
            grid.wait_until("it notices", lambda: "no answer from the server; trying again" in grid.log("waiting"))
            grid.start_server()
            grid.add_client("a")
            self.assertEqual(waiting.wait(120 * SLOW), 0, grid.log("waiting"))

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
