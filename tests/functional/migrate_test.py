"""`gleaner-server migrate`: a project moves into PostgreSQL and back in the middle of a problem, copied ahead while its clients deliver,
who compute on and keep what they have while it stands still; the result is that of an undisturbed run. What refuses to be moved, and what is interrupted."""
import json
import signal
import time
import unittest

import postgres
from harness import Grid, main, needs, seeded
from kernels import Held

ITEMS = 6000  # five minutes of two clients, if nobody let them go
SETTINGS = "work.commit_seconds = 1\nwork.heartbeat_seconds = 2\nwork.unit_minimum_seconds = 1"
FILE = "store.sqlite"


@needs(not postgres.WHY_NOT, postgres.WHY_NOT)
class Migrate(unittest.TestCase):
    def migrate(self, grid, to, *arguments, code=0):
        done = grid.run("gleaner-server", "migrate", grid.project, "--to", to, *arguments, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def refuses_to_run(self, grid):
        done = grid.run("gleaner-server", "run", grid.project, check=False)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_a_project_moves_in_the_middle_of_a_problem_and_back(self):
        rng = seeded(self)
        with postgres.Postgres() as database, Grid(SETTINGS) as grid:
            grid.start_server()
            held = Held(grid, ITEMS)
            identity = held.add()
            for name in ("a", "b"):
                held.add_client(name)
            accepted = 0
            for where, to in ((FILE, database.url), (database.url, FILE)):
                grid.wait_until("some results", lambda: grid.problem(identity)["accepted"] >= accepted + 20)
                time.sleep(rng.uniform(0, 1))
                accepted = grid.problem(identity)["accepted"]
                self.assertLess(accepted, ITEMS)
                self.assertIn("another" if where == FILE else "while a server runs", self.migrate(grid, to, code=1).stderr)
                ahead = json.loads(self.migrate(grid, to, "--ahead", "--json").stdout)
                self.assertEqual(ahead["rows_there"], 0)
                before = grid.problem(identity)["accepted"]
                grid.wait_until("more results", lambda: grid.problem(identity)["accepted"] > before)
                ahead = json.loads(self.migrate(grid, to, "--ahead", "--json").stdout)
                self.assertGreater(ahead["rows_there"], 10)
                accepted = grid.problem(identity)["accepted"]
                grid.kill("server", rng.choice((signal.SIGTERM, signal.SIGKILL)))  # the clients go on
                began = time.monotonic()
                told = json.loads(self.migrate(grid, to, "--json").stdout)
                print(f"{told['rows']} rows in {time.monotonic() - began:.2f} s", flush=True)
                rows = {table["name"]: table["rows"] for table in told["tables"]}
                self.assertGreaterEqual(rows["accepted"], 1)
                self.assertEqual(rows["hosts"], 2)
                self.assertEqual(told["rows"], sum(rows.values()))
                self.assertGreater(told["rows_there"], 10)
                self.assertIn("were moved from", self.refuses_to_run(grid))
                grid.change_settings(f'store.url = "{to if to != FILE else ""}"')
                grid.start_server()
                self.assertGreaterEqual(grid.problem(identity)["accepted"], accepted, "an acknowledged segment was lost")
            held.let_go()
            info = grid.wait_finished(identity)
            self.assertEqual(sum(share["items"] for share in info["shares"]), ITEMS, "counted twice or lost")
            self.assertEqual(grid.results(identity), held.expected)
            acts = [act["action"] for act in grid.admin_json("audit", "list")["acts"]]
            self.assertEqual(acts.count("store migrate"), 2)
            grid.admin("audit", "verify")
            grid.kill("server")
            self.assertEqual(grid.run("gleaner-server", "check", grid.project, check=False).returncode, 0)

    def test_what_is_wrong_is_said_and_leaves_everything_as_it_was(self):
        with postgres.Postgres() as database, Grid() as grid:
            for wrong in ("mysql://x/y", "elsewhere.sqlite"):
                self.assertIn("expected postgresql://", self.migrate(grid, wrong, code=2).stderr)
            self.assertIn("nothing to move", self.migrate(grid, database.url, code=1).stderr)
            grid.start_server()
            grid.kill("server")
            self.assertIn("nowhere", self.migrate(grid, "postgresql:///nowhere?host=/nonexistent", code=1).stderr)
            database.query("CREATE TABLE bookmarks (url text)")
            self.assertIn("tables of another program", self.migrate(grid, database.url, code=1).stderr)
            database.query("DROP TABLE bookmarks")
            text = self.migrate(grid, database.url).stdout
            self.assertRegex(text, r"\d+ rows of .*store.sqlite are in the database postgres at .*, each read from both and compared")
            self.assertIn("set url to this database", text)
            # The settings still say the file: once more says where they are.
            self.assertIn("were moved from", self.migrate(grid, database.url, code=1).stderr)
            self.migrate(grid, FILE, "--from", database.url)
            grid.start_server()
            self.assertEqual(grid.admin_json("problem", "list")["items"], [])


if __name__ == "__main__":
    main()
