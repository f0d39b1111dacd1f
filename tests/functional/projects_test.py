"""One client of several projects: servers of their own, shares, one that goes away and comes back, joining and leaving."""
import contextlib
import json
import unittest

from harness import SLOW, SQUARES, Grid, main

ITEM_SECONDS = 0.2


def squares(count):
    """Units of one item that takes its time but no processor."""
    return dict(count=count, pause=ITEM_SECONDS)


def total(count):
    return {"sum.txt": b"%d\n" % sum(i * i for i in range(count))}


class Projects(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.atlas, self.birds = (stack.enter_context(Grid(name=name)) for name in ("Atlas", "Birds"))
        for grid in (self.atlas, self.birds):
            grid.start_server()
            grid.add_application(SQUARES)
            # One computer, whose state and processes belong to the first grid.
            said = self.atlas.join("desk", code=grid.own_code).stdout
        self.assertIn("has joined 2 projects", said)

    def control(self, *arguments, check=True):
        return self.atlas.control("desk", *arguments, check=check)

    def start(self):
        self.atlas.start_client("desk", cores=2)
        self.wait("the client", lambda: self.control("status", check=False).returncode == 0)

    def status(self):
        return json.loads(self.control("--json", "status").stdout)["status"]

    def projects(self):
        return {one["name"]: one for one in json.loads(self.control("--json", "projects").stdout)}

    def core_seconds(self):
        """That each project had: shares are of these. Items are counted when their server has answered, late where the computer is busy."""
        whole = sum(day["core_seconds"] for day in self.status()["days"])
        return {name: whole * one["recent_part"] for name, one in self.projects().items()}

    def running(self):
        return [slot["project"] for slot in self.status()["slots"] if slot["state"] == "running"]

    def add(self, grid, count):
        return grid.add_problem("squares", grid.name, "--strategy", "ss", **squares(count))

    def wait(self, what, condition, timeout=60):
        return self.atlas.wait_until(what, condition, timeout)

    def test_shares_hold_and_a_server_may_go_away(self):
        self.control("projects", "share", "Atlas", "3")  # before it runs: it is written down
        atlas, birds = self.add(self.atlas, 150), self.add(self.birds, 150)
        self.start()
        accepted = lambda: {name: one["items_total"] for name, one in self.projects().items()}
        # From when both have work: before, one has all of it.
        self.wait("both to be at it", lambda: min(accepted().values()) >= 3)
        before, had = accepted(), self.core_seconds()
        self.wait("a good part of it", lambda: sum(accepted().values()) >= sum(before.values()) + 70)
        shares, after = self.projects(), self.core_seconds()
        self.assertEqual((shares["Atlas"]["share"], shares["Birds"]["share"]), (3, 1))
        self.assertGreater(accepted()["Atlas"] - before["Atlas"], accepted()["Birds"] - before["Birds"])
        given = {name: after[name] - had[name] for name in after}
        # Roughly, here, where a busy computer's servers may answer late and are passed over then.
        self.assertAlmostEqual(given["Atlas"] / sum(given.values()), 0.75, delta=0.12)
        self.assertIn("Atlas", self.control("status").stdout)
        self.assertRegex(self.control("why").stdout, "project Birds: ")
        # A server goes away: the other project has all; what was computed for the first one is kept.
        self.birds.kill("server")
        self.wait("the other one to have everything", lambda: self.running() == ["Atlas", "Atlas"])
        self.assertEqual(self.wait("trouble to be seen", lambda: self.status()["trouble"]).split(":")[0], "Birds")
        self.assertNotEqual(self.projects()["Atlas"]["state"], self.projects()["Birds"]["state"])
        self.birds.start_server()
        self.wait("it to be served again", lambda: "Birds" in self.running())
        for grid, problem in ((self.atlas, atlas), (self.birds, birds)):
            grid.wait_finished(problem, 120)
            self.assertEqual(grid.results(problem), total(150))
        self.wait("all answers", lambda: self.status()["outbox"] == 0)
        told = self.control("receipts").stdout
        self.assertRegex(told, r"(?s)Atlas at https://.*Birds at https://|Birds at https://.*Atlas at https://")
        self.assertNotIn("NOT GENUINE", told)
        only = self.control("--json", "receipts", "--project", "Birds").stdout
        self.assertEqual({one["project"] for one in json.loads(only)["receipts"]}, {"Birds"})
        self.assertEqual(json.loads(only)["items_accepted"], 150)

    def test_suspended_and_left(self):
        atlas, birds = self.add(self.atlas, 100), self.add(self.birds, 100)
        self.start()
        self.wait("both", lambda: sorted(set(self.running())) == ["Atlas", "Birds"])
        self.control("projects", "suspend", "Birds")
        self.wait("it to stand still", lambda: self.running() == ["Atlas", "Atlas"])
        self.assertIn("you suspended it", self.projects()["Birds"]["state"])
        before = self.projects()["Birds"]["items_total"]
        self.wait("the other to go on", lambda: self.projects()["Atlas"]["items_total"] > 20)
        self.assertLessEqual(self.projects()["Birds"]["items_total"], before + 2)  # what was finished is delivered
        self.control("projects", "resume", f"127.0.0.1:{self.birds.port}")
        self.wait("it to be computed again", lambda: "Birds" in self.running())
        self.assertIn("already", self.atlas.run("gleaner-client", "leave", "Birds", "--state", self.atlas.state("desk"),
                                                check=False).stderr)
        self.control("quit")
        self.atlas.processes["desk"].wait(timeout=30 * SLOW)
        refused = self.atlas.run("gleaner-client", "leave", "--state", self.atlas.state("desk"), check=False)
        self.assertRegex(refused.stderr, "say which to leave: .*Atlas.*Birds|say which to leave: .*Birds.*Atlas")
        self.atlas.run("gleaner-client", "leave", "Birds", "--state", self.atlas.state("desk"))
        self.assertEqual(len(list((self.atlas.state("desk") / "projects").iterdir())), 1)
        self.start()
        self.atlas.wait_finished(atlas)
        self.assertEqual(self.atlas.results(atlas), total(100))
        self.assertEqual(list(self.projects()), ["Atlas"])
        self.assertNotEqual(self.birds.problem(birds)["state"], "finished")

    def test_state_of_an_older_client(self):
        """As clients wrote it that knew one project only: the work in hand goes on under the new one."""
        state = self.atlas.state("desk")
        self.atlas.run("gleaner-client", "leave", "Birds", "--state", state)
        atlas = self.add(self.atlas, 60)
        self.start()
        self.wait("results", lambda: self.status()["items_total"] > 5)
        project, = (state / "projects").iterdir()

        def killed_with_work():
            self.atlas.kill("desk")
            if list((project / "units").iterdir()):
                return True
            self.start()
            return False

        self.wait("work in hand at the end", killed_with_work)
        for path in project.iterdir():
            path.rename(state / path.name)
        project.rmdir()
        units = sorted(path.name for path in (state / "units").iterdir())
        self.assertTrue(units)
        self.atlas.join("desk", code=self.birds.own_code)  # migrates, and joins another
        self.assertEqual(sorted(path.name for path in (project / "units").iterdir()), units)
        self.start()
        self.atlas.wait_finished(atlas)
        self.assertEqual(self.atlas.results(atlas), total(60))
        self.assertEqual(sorted(self.projects()), ["Atlas", "Birds"])
        self.assertIn("Atlas at https://", self.control("receipts").stdout)

    def test_a_code_that_a_package_laid_down(self):
        identity = self.atlas.state("packaged") / "identity"
        identity.mkdir(parents=True)
        (identity / "join-code").write_text(self.atlas.own_code)
        self.atlas.start_client("packaged")
        self.wait("the client", lambda: self.atlas.control("packaged", "status", check=False).returncode == 0)
        self.assertIn("Atlas", self.atlas.control("packaged", "projects").stdout)
        self.assertFalse(identity.exists())
        self.assertEqual(len(self.atlas.admin_json("host", "list")["items"]), 2)


if __name__ == "__main__":
    main()
