"""A server that is restored from a backup: it takes back whom and what it can, gives no number twice, and mixes up no two problems."""
import re
import unittest

from harness import SQUARES, FakeHost, Grid, main
from kernels import Held
from tree import SETTINGS, Tree, active


class Restored(unittest.TestCase):
    def given(self, grid, host):
        """A grant that the host gets, and the statement; a problem may still be planned."""
        reply = {}

        def asked():
            reply.update(host.work()[1])
            return reply.get("decoded")

        grid.wait_until("a unit", asked, 60)
        return reply["decoded"][0], reply["grants"][0]

    def test_a_restored_server_takes_back_whom_it_does_not_know(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            held = Held(grid, 300)
            identity = held.add()
            held.add_client("old")
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 10, 60)
            backup = grid.directory / "backup"
            grid.run("gleaner-server", "backup", grid.project, backup)
            for name in ("new", "put-out"):
                held.add_client(name)
            grid.wait_until("hosts at work", lambda: all(host["items_accepted"] > 2 for host in active(grid)), 60)
            grid.admin("host", "revoke", grid.host_id("put-out"), "--yes")
            grid.wait_until("it to hear that", lambda: "administrator has removed this computer" in grid.log("put-out"), 60)
            self.assertIn("revoked by the administrator", grid.control("put-out", "why").stdout)
            grid.restore_server(backup)
            grid.wait_until("the new one again", lambda: "new" in [host["name"] for host in active(grid)], 90)
            self.assertIn("the server does not know this host", grid.log("new"))
            self.assertNotIn("revoked", grid.log("new"))
            # What it had finished under the number that is forgotten is delivered under the new one.
            refused = [line for line in grid.log("new").splitlines() if " refused items " in line]
            self.assertEqual(refused, [])
            before = {host["name"]: host["items_accepted"] for host in active(grid)}
            grid.wait_until("results of both", lambda: all(host["items_accepted"] > before[host["name"]] for host in active(grid)), 60)
            # Whom the administrator put out after the backup does not come back by itself.
            self.assertEqual(sorted(host["name"] for host in active(grid)), ["new", "old"])
            held.let_go()
            grid.wait_finished(identity, 180)
            self.assertEqual(grid.results(identity), held.expected)
            self.assertNotIn("NOT GENUINE", grid.control("new", "receipts").stdout)

    def test_a_restored_server_takes_back_relays_that_it_does_not_know(self):
        """The relay and its host joined after the backup, and so did a host that may get the relay's number now."""
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 600)
            identity = held.add()
            held.add_client("old")
            code = grid.admin("relay", "allow", "lab", "--children", 20, "--own").stdout.strip()
            backup = grid.directory / "backup"
            grid.run("gleaner-server", "backup", grid.project, backup)
            grid.add_relay("lab", code=code)
            held.add_client("between")
            grid.add_under("lab", held, "new")
            grid.wait_until("results under the relay", lambda: next(host for host in active(grid) if host["name"] == "new")["items_accepted"] > 3, 60)
            process = grid.processes["lab"]
            grid.restore_server(backup)
            grid.wait_until("all again", lambda: {"old", "between", "lab", "new"} <= {host["name"] for host in active(grid)}, 120)
            self.assertIs(process.poll(), None)
            self.assertIn("the project does not know this relay", grid.log("lab"))
            hosts = {host["name"]: host for host in active(grid)}
            self.assertEqual(hosts["new"]["relay"], hosts["lab"]["id"])
            grid.wait_until("results under the relay", lambda: next(host for host in active(grid) if host["name"] == "new")["items_accepted"]
                            > hosts["new"]["items_accepted"] + 3, 60)
            self.assertEqual(grid.log("lab").count("it joined again as host"), 1)

            held.let_go()
            grid.wait_finished(identity, 180)
            self.assertEqual(grid.results(identity), held.expected)

    def test_unknown_revoked_and_banned_are_three_answers(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            for name in ("revoked", "banned"):
                grid.join(name)
            tokens = {name: re.search(r'"token": ?"([^"]+)"', (grid.membership(name) / "identity" / "host.json").read_text())[1]
                      for name in ("revoked", "banned")}
            grid.admin("host", "revoke", grid.host_id("revoked"), "--yes")
            grid.admin("ban", "add", "--host", grid.host_id("banned"), "--reason", "it lied")
            heartbeat = {"units": []}
            answers = {name: grid.request("POST", "/v1/heartbeat", heartbeat, token) for name, token in {**tokens, "unknown": "x" * 43}.items()}
            self.assertEqual({name: (status, body["type"]) for name, (status, _, body) in answers.items()},
                             {"unknown": (401, "urn:gleaner:error:unauthorized"), "revoked": (403, "urn:gleaner:error:forbidden"),
                              "banned": (403, "urn:gleaner:error:banned")})
            self.assertIn("revoked by the administrator", answers["revoked"][2]["detail"])
            self.assertIn("it lied", answers["banned"][2]["detail"])
            self.assertIn("not known here", answers["unknown"][2]["detail"])
            # The same after a start.
            grid.kill("server")
            grid.start_server()
            self.assertEqual({name: grid.request("POST", "/v1/heartbeat", heartbeat, token)[2]["type"] for name, token in tokens.items()},
                             {name: answers[name][2]["type"] for name in tokens})

    def test_a_backup_that_is_restored_twice_gives_no_number_twice(self):
        """What the first restored server gave comes to the second, which takes it and neither ends nor mixes it up."""
        with Grid(SETTINGS) as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "p", count=2000)
            FakeHost(grid, "the code's first")
            backup = grid.directory / "backup"
            grid.run("gleaner-server", "backup", grid.project, backup)
            grid.restore_server(backup)
            held = []
            for number in range(8):
                held.append(self.given(grid, FakeHost(grid, f"before-{number}")))
            grid.restore_server(backup)
            host = FakeHost(grid, "again")
            given = set()
            for grant, statement in held:
                begin, end = grant["range"]["begin"], grant["range"]["end"]
                status, answer = host.commit(grant["unit"], begin, [str(i * i).encode() for i in range(begin, end)],
                                             given={"grant": statement, "lease": {"statements": []}})
                self.assertEqual((status, answer["status"]), (200, "accepted"), answer)
                given.add(grant["unit"])
                status, reply = FakeHost(grid, f"after-{grant['unit']}").work()
                self.assertEqual(status, 200, reply)
                for new in reply["decoded"]:
                    self.assertNotIn(new["unit"], given)
                    given.add(new["unit"])
            self.assertEqual(grid.problem(identity)["accepted"], sum(g["range"]["end"] - g["range"]["begin"] for g, _ in held))
            self.assertIs(grid.processes["server"].poll(), None)

    def test_a_grant_that_is_brought_along_changes_no_number(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "p", count=2000)
            for number in range(1, 6):
                host = FakeHost(grid, f"host-{number}")
                grant, statement = self.given(grid, host)
                self.assertEqual(grant["unit"], number)
                begin = grant["range"]["begin"]
                status, answer = host.commit(grant["unit"], begin, [str(begin * begin).encode()], last=False,
                                             given={"grant": statement, "lease": {"statements": []}})
                self.assertEqual((status, answer["status"]), (200, "accepted"), answer)

    def test_results_of_a_lost_problem_are_no_other_problems(self):
        """After a restore a new problem has the number of one that was lost."""
        with Grid(SETTINGS) as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            host = FakeHost(grid, "one")
            backup = grid.directory / "backup"
            grid.run("gleaner-server", "backup", grid.project, backup)
            lost = grid.add_problem("squares", "lost", count=3000)
            grant, statement = self.given(grid, host)
            grid.restore_server(backup)
            new = grid.add_problem("squares", "new", count=3, first=100)
            self.assertEqual(new, lost)
            begin, end = grant["range"]["begin"], grant["range"]["end"]
            status, answer = host.commit(grant["unit"], begin, [str(i * i).encode() for i in range(begin, end)],
                                         given={"grant": statement, "lease": {"statements": []}})
            self.assertEqual((status, answer["status"]), (200, "refused"), answer)
            self.assertIn("another problem, which was lost", answer["reason"])
            self.assertEqual(grid.problem(new)["accepted"], 0)

    def test_what_a_lost_server_gave_is_no_second_opinion(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "p", count=2000)
            one = FakeHost(grid, "one")
            backup = grid.directory / "backup"
            grid.run("gleaner-server", "backup", grid.project, backup)
            grant, statement = self.given(grid, one)
            grid.restore_server(backup)
            honest = FakeHost(grid, "honest")
            other = self.given(grid, honest)[0]
            begin = other["range"]["begin"]
            self.assertEqual(begin, grant["range"]["begin"])
            self.assertEqual(honest.commit(other["unit"], begin, [str(begin * begin).encode()], last=False)[1]["status"], "accepted")
            end = grant["range"]["end"]
            status, answer = one.commit(grant["unit"], begin, [b"666"] * (end - begin),
                                        given={"grant": statement, "lease": {"statements": []}})
            self.assertEqual((status, answer["status"], answer["items_accepted"]), (200, "duplicate", 0), answer)
            self.assertEqual(grid.problem(identity)["accepted"], 1)
            self.assertIs(grid.processes["server"].poll(), None)


if __name__ == "__main__":
    main()
