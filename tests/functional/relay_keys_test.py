"""What changes under a tree while it computes: a relay's certificate is renewed, its parent has another TLS key, it moves to another parent."""
import json
import signal
import unittest

from harness import SANDBOX_OFF, Calendar, dated, from_base64url, main
from keys_test import Project
from kernels import Held
from link_proxy import Link
from tree import Tree, code_via

DAY = 86400


class Grove(Tree, Project):
    """A tree whose project has its offline side at hand."""

    def certificate(self, relay):
        """As anybody hears it."""
        answer = self.request("GET", "/v1/relay", port=self.relay_ports[relay])
        assert answer[0] == 200, answer
        return json.loads(from_base64url(answer[2]["payload"]))

    def hosts(self):
        return {host["name"]: host for host in self.admin_json("host", "list")["items"]}

    def wait_for_more(self, identity, items=20):
        """So many results of now."""
        before = self.problem(identity)["accepted"]
        self.wait_until("results", lambda: self.problem(identity)["accepted"] >= before + items, 60)


class Changes(unittest.TestCase):
    def finish(self, grid, held, identity, names):
        held.let_go()
        grid.wait_until("the end", lambda: grid.problem(identity)["state"] == "finished", 120)
        self.assertEqual(grid.results(identity), held.expected)
        self.assertEqual(sum(grid.hosts()[name]["items_accepted"] for name in names), held.count)
        for name in names:
            self.assertNotIn("administrator has removed this computer", grid.log(name))

    @dated
    def test_a_relay_s_certificate_is_renewed(self):
        """Half of it over while the relay runs; all of it while the relay was off."""
        with Grove() as grid:
            calendar = Calendar(grid.directory)
            grid.start_server(env=calendar.env)
            held = Held(grid, 4000)
            grid.add_relay("lab", env=calendar.env)
            identity = held.add()
            grid.join("pc", code=grid.relay_code("lab"))
            grid.start_client("pc", sandbox=SANDBOX_OFF, env=calendar.env)
            grid.wait_for_more(identity)
            first = grid.certificate("lab")
            calendar.jump(16 * DAY)
            grid.wait_for_more(identity)
            grid.wait_until("the renewal", lambda: "the certificate of this relay is renewed" in grid.log("lab"), 150)
            second = grid.certificate("lab")
            self.assertGreater(second["not_before"], first["not_before"] + 15 * DAY * 1_000_000)
            self.assertEqual((second["relay"], second["key"], second["tls_key"]), (first["relay"], first["key"], first["tls_key"]))
            calendar.jump(31 * DAY)  # the first has ended
            grid.wait_for_more(identity)

            grid.kill("lab", signal.SIGTERM)
            calendar.jump(31 * DAY + 31 * DAY)
            grid.start_relay("lab", env=calendar.env)
            grid.wait_until("the renewal", lambda: grid.certificate("lab")["not_after"] > second["not_after"], 60)
            grid.wait_for_more(identity)
            self.finish(grid, held, identity, ["pc"])

    def test_the_parent_s_tls_key_is_changed(self):
        with Grove() as grid:
            grid.start_server()
            held = Held(grid, 600)
            grid.add_relay("lab")
            grid.add_relay("bench", "lab")
            identity = held.add()
            grid.add_under("bench", held, "pc")
            grid.wait_for_more(identity)
            for number in range(2):
                grid.rotate(f"new-{number}")
                grid.stop_server()
                grid.start_server()
                grid.wait_for_more(identity)
                for relay in ("lab", "bench"):  # the work key is a new one, too
                    grid.wait_until(f"{relay} to be content", lambda relay=relay: grid.relay_status(relay)["trouble"] == "")
            self.finish(grid, held, identity, ["pc"])

    def test_a_relay_moves_to_another_parent(self):
        with Grove() as grid:
            grid.start_server()
            held = Held(grid, 800)
            grid.add_relay("east")
            grid.add_relay("west")
            grid.add_relay("room", "east")
            identity = held.add()
            grid.add_under("room", held, "pc")
            grid.wait_for_more(identity)
            before = grid.hosts()
            self.assertEqual((before["room"]["relay"], before["pc"]["relay"]), (before["east"]["id"], before["room"]["id"]))

            # With a code for another parent, its hosts know nothing of it.
            grid.kill("room", signal.SIGTERM)
            grid.links["room at west"] = Link(grid.relay_ports["west"])
            self.assertIn("as the relay annex", self.join(grid, "annex", "room at west").stdout)
            grid.start_relay("room")
            grid.wait_for_more(identity)
            hosts = grid.hosts()
            self.assertEqual((hosts["annex"]["id"], hosts["annex"]["relay"]), (before["room"]["id"], before["west"]["id"]))
            self.assertEqual((hosts["pc"]["id"], hosts["pc"]["relay"]), (before["pc"]["id"], before["room"]["id"]))
            self.assertNotIn("administrator has removed this computer", grid.log("pc"))

            # Who leaves first takes leave of its hosts.
            grid.kill("room", signal.SIGTERM)
            grid.relay("room", "leave", "--force")
            grid.wait_until("the good-bye", lambda: grid.hosts()["pc"]["state"] == "left")
            grid.links["room at the server"] = Link(grid.port)
            self.join(grid, "cellar", "room at the server")
            grid.start_relay("room")
            grid.wait_until("the client to hear it", lambda: "the server does not know this host" in grid.log("pc"), 60)
            grid.wait_for_more(identity)  # it joins again by itself
            hosts = grid.hosts()
            self.assertEqual((hosts["cellar"]["id"], hosts["cellar"].get("relay")), (before["room"]["id"], None))
            self.assertEqual((hosts["pc"]["id"], hosts["pc"]["relay"]), (before["pc"]["id"], before["room"]["id"]))
            held.let_go()
            grid.wait_until("the end", lambda: grid.problem(identity)["state"] == "finished", 120)
            self.assertEqual(grid.results(identity), held.expected)
            self.assertEqual(grid.hosts()["pc"]["items_accepted"], held.count, "counted twice or lost")

    def join(self, grid, name, link):
        code = grid.admin("relay", "allow", name, "--children", 5, "--own").stdout.strip()
        return grid.relay("room", "join", code_via(code, grid.links[link].port))


if __name__ == "__main__":
    main()
