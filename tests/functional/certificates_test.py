"""Wrong dates and ends of certificates. The end of the work key's while everything runs: said before, no work after it, no blame, and
all is well once the key was certified again or changed. A date that is wrong for minutes deletes nothing."""
import shutil
import time
import unittest

from harness import SANDBOX_OFF, SQUARES, Calendar, FakeHost, Grid, dated, main
from keys_test import QUICK, Project
from kernels import Held

DAY = Calendar.DAY


class Certificates(unittest.TestCase):
    def certify(self, grid, days):
        """The same work key again, as the manual says."""
        new = grid.directory / f"certificate-{days}.json"
        grid.root("work", "--public-key", grid.project / "keys" / "work.certificate.json", "--days", days, "--out", new)
        shutil.copy(new, grid.project / "keys" / "work.certificate.json")

    def change_key(self, grid, calendar, days):
        """Another work key, on the day that it is there."""
        grid.root("rotate", "--only-work", "--out", grid.directory / "new-keys", "--days", days, env=calendar.env)
        taken = grid.run("gleaner-server", "take-keys", grid.project, grid.directory / "new-keys", env=calendar.env)
        self.assertIn("work key", taken.stdout)

    @dated
    def test_an_end_that_comes_while_all_runs(self):
        with Project(QUICK) as grid:
            self.certify(grid, 10)
            calendar = Calendar(grid.directory)
            grid.start_server(env=calendar.env)
            held = Held(grid, 8000)
            identity = held.add()
            for name in ("ann", "bob"):
                grid.join(name)
                grid.start_client(name, sandbox=SANDBOX_OFF, env=calendar.env)
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 10, 120)
            self.assertIn("the work key's certificate runs out on", self.warnings(grid))
            grid.wait_until("the log", lambda: "the work key's certificate runs out on" in grid.log("server"), 60)
            metrics = grid.request("GET", "/metrics", None, grid.admin_token, raw=True)[2].decode()
            self.assertRegex(metrics, r"(?m)^gleaner_warnings [1-9]")

            calendar.jump(11 * DAY)
            grid.wait_until("nobody computes", lambda: grid.problem(identity)["open_units"] == 0 or self.idle(grid), 240)
            self.assertIn("the work key's certificate expired on", self.warnings(grid))
            before = grid.problem(identity)["accepted"]
            refused = grid.admin("problem", "add", "--name", "late", "--app", "held", "--param", "count=3", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("expired on", refused.stderr)
            for host in grid.admin_json("host", "list")["items"]:
                self.assertEqual((host["failures"], "held back" in host["state_reason"]), (0, False), host)

            self.certify(grid, 20)
            grid.stop_server()
            grid.start_server(env=calendar.env)
            grid.wait_until("work within a minute", lambda: grid.problem(identity)["accepted"] > before + 20, 60)
            self.assertNotIn("certificate expired", self.warnings(grid))
            self.assertEqual(grid.failures(), 0)

            # The next time the key is changed, when its certificate is over already.
            calendar.jump(21 * DAY)
            grid.wait_until("the end", lambda: "the work key's certificate expired on" in self.warnings(grid), 60)
            self.change_key(grid, calendar, 700)
            grid.stop_server()
            grid.start_server(env=calendar.env)
            self.assertNotIn("certificate expired", self.warnings(grid))
            held.let_go()
            later = grid.add_problem("held", "later", count=10)
            for problem in (identity, later):
                grid.wait_finished(problem, 240)
            self.assertEqual(grid.results(identity), held.expected)
            self.assertEqual(grid.failures(), 0)

    @dated
    def test_a_date_that_is_wrong_for_minutes_deletes_no_problem(self):
        """The server looks every 20 s for problems to delete, so one look stands for all of the first day."""
        with Grid("store.keep_ended_days = 100\n") as grid:
            calendar = Calendar(grid.directory)
            grid.start_server(env=calendar.env)
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "finished", count=3)
            host = FakeHost(grid, "pc")
            while grid.problem(identity)["accepted"] < 3:
                for grant in host.work()[1]["decoded"]:
                    begin, end = grant["range"]["begin"], grant["range"]["end"]
                    host.commit(grant["unit"], begin, [str((1 + i) ** 2).encode() for i in range(begin, end)])
                    host.units.clear()
            grid.wait_finished(identity, 60)
            results = grid.results(identity)
            time.sleep(3)  # a jump is one of a date that the server has seen
            for days in (150, 0, 150):
                calendar.jump(days * DAY)
                time.sleep(25)
                self.assertEqual(grid.results(identity), results)
            self.assertGreaterEqual(grid.log("server").count("the calendar moved by"), 3)

    @dated
    def test_who_cannot_speak_to_the_server_is_told_what_to_do(self):
        """Its TLS certificate has ended."""
        with Grid() as grid:
            grid.start_server()
            late = Calendar(grid.directory, 800 * DAY)
            done = grid.run("gleaner-admin", "--project", grid.project / "admin", "status", check=False, env=late.env)
            self.assertNotEqual(done.returncode, 0)
            for words in ("expired at", "gleaner-admin keys rotate", "gleaner-server take-keys"):
                self.assertIn(words, done.stderr)

    def warnings(self, grid):
        return " ".join(grid.admin_json("status")["warnings"])

    def idle(self, grid):
        """All say that there is no work for them, and why."""
        return all("expired on" in grid.log(name) or not grid.computes(name) for name in ("ann", "bob"))


if __name__ == "__main__":
    main()
