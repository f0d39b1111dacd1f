"""Strategies live: problems under mapping strategies, and a problem whose strategy changes while four clients work."""
import json
import time
import unittest

from harness import MANDELBROT, SANDBOX_OFF, SLOW, SQUARES, FakeHost, Grid, main
from kernels import Held

ROWS = {"width": 200, "height": 480, "iterations": 40000}
SHARES = {"a": 1.0, "b": 0.5, "c": 0.25, "d": 0.25}


class Strategies(unittest.TestCase):
    def grid(self):
        grid = Grid("work.heartbeat_seconds = 2\nwork.commit_seconds = 1")
        grid.__enter__()
        self.addCleanup(grid.__exit__, None, None, None)
        grid.start_server()
        grid.add_application(MANDELBROT)
        return grid

    def test_a_running_problem_changes_its_strategy(self):
        grid = self.grid()
        held = Held(grid, 2000)
        for name, share in SHARES.items():
            grid.join(name)
            grid.start_client(name, share=share, sandbox=SANDBOX_OFF)
        identity = held.add("--strategy", "wis")
        for strategy in ("mxc", "pn", "rts", "fz,beta=0.5", "mis", "ef"):
            before = grid.problem(identity)
            changed = grid.admin_json("problem", "strategy", identity, strategy)
            self.assertEqual(changed["strategy"], strategy)
            grid.wait_until("units under " + strategy, lambda: grid.problem(identity)["units"] > before["units"] + 3, 60)
        held.let_go()
        info = grid.wait_finished(identity)
        self.assertEqual(sum(share["items"] for share in info["shares"]), held.count)
        self.assertEqual(grid.results(identity), held.expected)
        reasons = " ".join(decision["reason"] for decision in grid.admin_json("problem", "explain", identity, "--count",
                                                                              2000)["items"])
        self.assertIn("planned to end in", reasons)
        self.assertIn("rts: one item", reasons)
        refused = grid.admin("problem", "strategy", identity, "wis", check=False)
        self.assertIn("finished", refused.stderr)
        if SLOW != 1:
            return  # a sanitizer build, which has no simulator: the release build replays
        # The log of what the server was told and decided leads a fresh scheduler to the same decisions.
        log = grid.project / "decisions" / "project.jsonl"
        grid.wait_until("the end is in the log", lambda: '"dispatch":"drop_problem"' in log.read_text(), 20)
        replayed = json.loads(grid.run("gleaner-sim", "replay", log, "--json").stdout)
        self.assertTrue(replayed["same"], replayed)
        self.assertGreater(replayed["decisions"], 5)  # few where units are large, as on a fast computer
        spoilt = grid.directory / "spoilt.jsonl"
        spoilt.write_text(log.read_text().replace(": unit 3 of", ": unit 4 of", 1))
        parted = grid.run("gleaner-sim", "replay", spoilt, "--json", check=False)
        self.assertEqual(parted.returncode, 1)
        self.assertIn("parting", json.loads(parted.stdout))

    def test_a_mapping_strategy_governs_its_problems_together(self):
        grid = self.grid()
        first = grid.add_problem("mandelbrot", "first", "--strategy", "mxc", **ROWS)
        second = grid.add_problem("mandelbrot", "second", "--strategy", "mxc", **{**ROWS, "height": 240})
        for name, share in SHARES.items():
            grid.add_client(name, share=share)
        time.sleep(4)
        # A host that goes takes its queue along: what it was to compute is planned anew.
        grid.kill("b")
        for identity, height in ((first, ROWS["height"]), (second, 240)):
            info = grid.wait_finished(identity, 180)
            self.assertEqual(sum(share["items"] for share in info["shares"]), height)
            self.assertEqual(grid.results(identity), grid.run_local(MANDELBROT, **{**ROWS, "height": height}))
        # Why the server chose a unit is for whoever administers it; an owner's log says what is computed.
        reasons = {one["reason"] for one in grid.admin_json("problem", "decisions", first, "--count", 1000)["items"] if one["reason"]}
        self.assertTrue(reasons)
        for name in SHARES:
            self.assertRegex(grid.log(name), r"unit \d+ of first: items \d+-\d+")
            self.assertEqual([reason for reason in reasons if reason in grid.log(name)], [])
        by_host = {}
        for share in grid.problem(first)["shares"]:
            by_host[share["name"]] = share["items"]
        if SLOW == 1:
            log = grid.project / "decisions" / "project.jsonl"
            grid.wait_until("the end is in the log", lambda: log.read_text().count('"dispatch":"drop_problem"') >= 2, 20)
            self.assertIn('"dispatch":"planned"', log.read_text())
            whole = json.loads(grid.run("gleaner-sim", "replay", log, "--json").stdout)
            self.assertTrue(whole["same"], whole)
        self.assertGreater(by_host["a"], 0, by_host)  # who gets how much is a matter of the load; policy's tests say it

    def test_a_change_is_made_as_a_whole_and_outlives_a_kill(self):
        grid = self.grid()
        grid.add_application(SQUARES)
        identity = grid.add_problem("squares", "changed", "--strategy", "fac2", count=1000)
        host = FakeHost(grid, "one")

        def deliver_and_ask():
            for unit in list(host.units):
                items = range(host.units[unit]["range"]["begin"], host.units[unit]["range"]["end"])
                self.assertEqual(host.commit(unit, items[0], [b"%d" % (i * i) for i in items])[0], 200)
                del host.units[unit]
            self.assertEqual(host.work()[0], 200)
            self.assertEqual(len(host.units), 1)

        def remembered():
            found = grid.rows("select memory_units, memory_base, memory_left, used_performance, current_size from host_records "
                              f"where problem = {identity}")
            return tuple(map(float, found[0])) if found else None

        for _ in range(3):
            deliver_and_ask()
        self.assertGreater(remembered()[0], 0, "factoring remembers its place in a batch")
        # One of the two is wrong: nothing changes.
        for arguments in (("wis", "--straggler", "magic"), ("magic", "--straggler", "none")):
            self.assertNotEqual(grid.admin("problem", "strategy", identity, *arguments, check=False).returncode, 0)
            info = grid.problem(identity)
            self.assertTrue(info["strategy"].startswith("fac2"), info["strategy"])
            self.assertEqual(info["straggler"], "split")
        changed = grid.admin_json("problem", "strategy", identity, "awf-b", "--straggler", "none")
        self.assertEqual((changed["strategy"], changed["straggler"]), ("awf-b", "none"))
        # What one strategy remembered means nothing to the next, and a restart does not bring it back.
        self.assertEqual(remembered(), (0, 0, 0, 0, 0))
        grid.kill("server")
        grid.start_server()
        info = grid.problem(identity)
        self.assertEqual((info["strategy"], info["straggler"]), ("awf-b", "none"))
        deliver_and_ask()
        latest = grid.admin_json("problem", "explain", identity)["items"]
        self.assertTrue(any("awf-b" in decision["reason"] for decision in latest), latest)

    def test_what_there_is_is_listed(self):
        grid = self.grid()
        listed = {info["name"]: info for info in grid.admin_json("strategy", "list")["items"]}
        for name, kind in (("wis", "sizing"), ("pn", "mapping"), ("split", "straggler")):
            self.assertEqual(listed[name]["kind"], kind)
            self.assertTrue(listed[name]["summary"] and listed[name]["source"])
        unknown = grid.admin("problem", "add", "--app", "mandelbrot", "--strategy", "magic", check=False)
        self.assertNotEqual(unknown.returncode, 0)
        self.assertRegex(unknown.stderr, "no strategy 'magic'.*wis.*pn")


if __name__ == "__main__":
    main()
