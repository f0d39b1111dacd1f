"""A relay that is gone for good: its hosts go where the code says with which they joined, with what they computed; nothing counts twice."""
import json
import time
import unittest

from harness import Grid, main
from kernels import Held
from tree import Tree

HOSTS = ["ann", "bob"]
PATIENCE_SECONDS = 6


class Gone(unittest.TestCase):
    def test_hosts_of_a_relay_that_is_gone_join_the_project_with_their_results(self):
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 400)
            grid.add_relay("lab")
            self.check_codes(grid)
            grid.codes["lab"] = grid.relay("lab", "code", "--fallback", grid.own_code).stdout.strip()
            identity = held.add()
            for name in HOSTS:
                grid.join(name, code=grid.relay_code("lab"))
                grid.control(name, "prefs", "set", "relay_patience_hours", PATIENCE_SECONDS / 3600)
                held.start_client(name)
            hosts = self.hosts(grid)
            self.assertEqual({hosts[name]["relay"] for name in HOSTS}, {hosts["lab"]["id"]})
            grid.wait_until("results that the project has", lambda: grid.problem(identity)["accepted"] > 60, 60)

            # What they finish from now on is with the relay, and with them.
            grid.links["lab"].cut()
            figure = "gleaner_items_accepted_total"
            before = grid.figures("lab")[figure]
            grid.wait_until("results at the relay alone", lambda: grid.figures("lab")[figure] >= before + 5, 60)
            grid.kill("lab")
            accepted = grid.problem(identity)["accepted"]
            grid.wait_until("hosts that notice", lambda: all("has not answered since" in self.place(grid, name) for name in HOSTS))
            began = time.monotonic()
            grid.wait_until("hosts at the project", lambda: all(not self.hosts(grid)[name].get("relay") for name in HOSTS), 60)
            self.assertGreater(time.monotonic() - began, PATIENCE_SECONDS / 2)
            for name in HOSTS:
                place = grid.wait_until("the sentence", lambda name=name: "served by the project at" in (said := self.place(grid, name)) and said)
                self.assertIn(f"its relay at 127.0.0.1:{grid.relay_ports['lab']} did not answer since", place)
                self.assertIn(place, grid.control(name, "status").stdout)
                self.assertIn(f"{place}; its results go along", grid.log(name))
            grid.wait_until("what they had computed", lambda: grid.problem(identity)["accepted"] >= accepted + 5, 60)
            self.assertEqual({name: self.hosts(grid)[name]["id"] for name in HOSTS}, {name: hosts[name]["id"] for name in HOSTS})

            # They stay, whoever comes back.
            grid.links["lab"].restore()
            grid.start_relay("lab")
            held.let_go()
            grid.wait_until("the end", lambda: grid.problem(identity)["state"] == "finished", 120)
            self.assertEqual(grid.results(identity), held.expected)
            info = grid.problem(identity)
            self.assertEqual(sum(share["items"] for share in info["shares"]), held.count, "counted twice or lost")
            self.assertEqual({self.hosts(grid)[name].get("relay") for name in HOSTS}, {None})
            for name in HOSTS:
                grid.wait_until("nothing in hand", lambda name=name: not grid.kept_units(name))
                self.assertNotIn("the server refused", grid.log(name))
            self.assertNotIn("refused items", grid.log("server"))
            grid.admin("audit", "verify")

    def test_a_host_under_two_relays_is_revoked(self):
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 300)
            grid.add_relay("lab")
            grid.add_relay("bench", "lab")
            identity = held.add()
            for name in HOSTS:
                grid.add_under("bench", held, name)
            grid.wait_until("units of both", lambda: all(grid.kept_units(name) for name in HOSTS), 60)
            ann = grid.host_id("ann")
            grid.admin("host", "revoke", ann, "--yes")
            grid.wait_until("the client to hear it", lambda: "administrator has removed this computer" in grid.log("ann"), 60)
            for relay in ("bench", "lab"):
                grid.wait_until(f"{relay} to have put it out",
                                lambda relay=relay: grid.relay_rows(relay, f"SELECT state FROM hosts WHERE id = {ann}") == [(3,)])
                self.assertIn("the project's administrator put it out", grid.log(relay))
            held.let_go()
            grid.wait_until("the end", lambda: grid.problem(identity)["state"] == "finished", 120)
            self.assertEqual(grid.results(identity), held.expected)
            hosts = self.hosts(grid)
            self.assertEqual((hosts["ann"]["state"], hosts["bob"]["state"], hosts["bob"]["relay"]), ("revoked", "active", hosts["bench"]["id"]))
            self.assertEqual(sum(hosts[name]["items_accepted"] for name in HOSTS), held.count)
            told = "SELECT value FROM named_values WHERE name = 'put_out'"
            grid.wait_until("nobody waiting to be told of", lambda: all(not value for value, in grid.relay_rows("lab", told)))
            # It may not come back by any way.
            grid.kill("ann")
            self.assertIn("revoked this computer", grid.join("ann", code=grid.relay_code("bench"), check=False).stderr)

    def check_codes(self, grid):
        def refused(code):
            told = grid.relay("lab", "code", "--fallback", code, check=False)
            self.assertNotEqual(told.returncode, 0)
            return told.stderr

        own = grid.relay("lab", "code").stdout.strip()
        self.assertIn("leads to this relay itself", refused(own))
        self.assertIn("does not begin with gleaner://", refused("https://example.org"))
        with Grid() as other:
            self.assertIn("of another project", refused(other.join_code))
        both = grid.relay("lab", "code", "--fallback", grid.own_code).stdout.strip()
        self.assertTrue(both.startswith(own.rsplit("/", 1)[0]))
        self.assertGreater(len(both), len(own))

    def hosts(self, grid):
        return {host["name"]: host for host in grid.admin_json("host", "list")["items"]}

    def place(self, grid, name):
        """What the client says of where it is served; nothing while it starts anew."""
        said = grid.control(name, "--json", "status", check=False)
        if said.returncode != 0:
            return ""
        return json.loads(said.stdout)["status"]["projects"][0]["place"]


if __name__ == "__main__":
    main()
