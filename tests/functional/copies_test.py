"""Copies of a client's or relay's directory: two with one identity become two hosts, and whatever only looks like it changes nothing."""
import json
import os
import random
import signal
import time
import unittest

from computers import copy_state, elsewhere, may_unshare
from harness import SLOW, Grid, main
from kernels import Held
from tree import SETTINGS, Tree, active

NAMED = "two computers use its identity"
HEARTBEATS = 6  # from the start of a copy until it is a host of its own, at most; on a calm machine two to three


def items_of(grid):
    return sum(host["items_accepted"] for host in grid.admin_json("host", "list")["items"])


class Copies(unittest.TestCase):
    def check_end(self, grid, held, identity, names):
        held.let_go()
        grid.wait_finished(identity, 180)
        self.assertEqual(grid.results(identity), held.expected)
        for name in ("server", *names):  # but for a copy that the end of the problem overtook
            refused = [line for line in grid.log(name).splitlines() if " refused items " in line and "needs no more results" not in line]
            self.assertEqual(refused, [])

    def test_two_with_one_state_directory_become_two_hosts(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            held = Held(grid, 400)
            identity = held.add()
            held.add_client("one")
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 20, 60)
            copy_state(grid.state("one"), grid.state("two"))
            first = grid.host_id("one")
            held.start_client("two")
            began = time.monotonic()
            grid.wait_until("two hosts", lambda: len(active(grid)) == 2, 60)
            took = time.monotonic() - began  # SETTINGS: a heartbeat is a second
            print(f"a host of its own after {took:.1f} heartbeats", flush=True)
            self.assertLess(took, HEARTBEATS * SLOW)
            second, = [host["id"] for host in active(grid) if host["id"] != first]
            # Named wherever somebody looks.
            self.assertIn("another computer uses the identity of this one", grid.log("two"))
            self.assertIn(f"host {first} (one): {NAMED}", grid.log("server"))
            self.assertIn(f"host {second} (one ({second})) says that it was a copy of host {first} (one)", grid.log("server"))
            self.assertEqual({host["name"] for host in active(grid)}, {"one", f"one ({second})"})
            told = [text for text in grid.admin_json("status")["warnings"] if NAMED in text]
            self.assertEqual(len(told), 1, told)
            self.assertIn(f"has joined as host {second}", told[0])
            reason, = [host["state_reason"] for host in active(grid) if host["id"] == first]
            self.assertIn(NAMED, reason)
            # Both go on, and neither computes what the other does.
            before = {host["id"]: host["items_accepted"] for host in active(grid)}
            grid.wait_until("results of both", lambda: all(host["items_accepted"] > before[host["id"]] + 3 for host in active(grid)), 60)
            self.assertIn(f"host {second}", grid.log("two"))
            self.check_end(grid, held, identity, ("one", "two"))
            info = grid.problem(identity)
            self.assertEqual(items_of(grid), held.count)
            self.assertEqual(sum(share["items"] for share in info["shares"]), held.count)
            # Receipts of both numbers are genuine.
            for name in ("one", "two"):
                self.assertNotIn("NOT GENUINE", grid.control(name, "receipts").stdout)

    def test_three_copies_that_are_killed_lose_nothing(self):
        seed = int(os.environ.get("GLEANER_SEED", "7"))
        source = random.Random(seed)
        print(f"GLEANER_SEED={seed}", flush=True)
        names = ["one", "two", "three"]
        with Grid(SETTINGS) as grid:
            grid.start_server()
            held = Held(grid, 500)
            identity = held.add()
            held.add_client("one")
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 10, 60)
            for name in names[1:]:
                copy_state(grid.state("one"), grid.state(name))
                held.start_client(name)
            for _ in range(6):
                accepted = grid.problem(identity)["accepted"]
                grid.wait_until("more results", lambda accepted=accepted: grid.problem(identity)["accepted"] >= accepted + 5, 60)
                victim = source.choice(names)
                grid.kill(victim)
                held.start_client(victim)
            grid.wait_until("three hosts", lambda: len(active(grid)) == 3, 90)
            self.check_end(grid, held, identity, names)
            self.assertEqual(items_of(grid), held.count)

    def test_starts_and_restored_directories_are_no_copies(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            held = Held(grid, 400)
            identity = held.add()
            held.add_client("one")
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 10, 60)
            backup = grid.directory / "backup"
            copy_state(grid.state("one"), backup)

            def more():
                accepted = grid.problem(identity)["accepted"]
                grid.wait_until("more results", lambda: grid.problem(identity)["accepted"] >= accepted + 5, 60)

            for put_back in (False, True, False, True):
                more()
                grid.kill("one", signal.SIGKILL)
                if put_back:
                    copy_state(backup, grid.state("one"))
                held.start_client("one")
            more()
            grid.kill("server", signal.SIGKILL)  # what it knows of runs is in memory
            grid.start_server()
            more()
            self.assertEqual(len(active(grid)), 1)
            self.assertNotIn(NAMED, grid.log("server"))
            self.assertNotIn("another computer", grid.log("one"))
            self.check_end(grid, held, identity, ("one",))

    @unittest.skipUnless(may_unshare(), "another computer needs a mount namespace")
    def test_another_name_and_machine_id_change_nothing(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            held = Held(grid, 200)
            identity = held.add()
            grid.join("one")
            held.start_client("one", before=elsewhere(grid, "first", None, "first"))
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 10, 60)
            # The server is away while it goes on: what is finished waits.
            units = grid.membership("one") / "units"

            def waits():
                grid.wait_until("a unit in hand", lambda: list(units.iterdir()), 60)
                grid.kill("server")
                if not list(units.iterdir()):  # it had delivered all just then
                    grid.start_server()
                    return False
                return True

            grid.wait_until("a unit without its server", waits, 60)
            grid.wait_until("a result that waits", lambda: json.loads(grid.control("one", "status", "--json").stdout)["status"]["outbox"] > 0, 60)
            grid.kill("one")
            grid.start_server()
            accepted = grid.problem(identity)["accepted"]
            held.start_client("one", before=elsewhere(grid, "second", "0123456789abcdef0123456789abcdef", "second"))
            grid.wait_until("what waited", lambda: grid.problem(identity)["accepted"] > accepted, 60)
            hosts = grid.admin_json("host", "list")["items"]
            self.assertEqual([(host["id"], host["name"]) for host in hosts], [(grid.host_id("one"), "one")])
            self.check_end(grid, held, identity, ("one",))
            # Joining again keeps the name, too: here as after the administrator let it return.
            grid.admin("host", "revoke", grid.host_id("one"), "--may-return", "--yes")
            grid.wait_until("the client to hear it", lambda: "administrator has removed this computer" in grid.log("one"), 60)
            grid.kill("one")
            grid.run("gleaner-client", "join", grid.join_code, "--state", grid.state("one"))
            self.assertEqual([host["name"] for host in active(grid)], ["one"])

    def test_of_a_relay_and_its_copy_one_is_served(self):
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 400)
            grid.add_relay("lab")
            identity = held.add()
            held.add_client("direct")
            grid.add_under("lab", held, "ann")
            grid.wait_until("results of both", lambda: all(host["items_accepted"] > 3 for host in active(grid) if host["name"] != "lab"), 60)
            copy_state(grid.relay_directory("lab"), grid.relay_directory("copy"))
            port = grid.relay_ports["lab"]
            process = grid.start("copy", "gleaner-relay", "run", "--relay", grid.relay_directory("copy"), "--port", 0)
            grid.wait_until("the end of the copy", lambda: process.poll() is not None, 90)
            self.assertEqual(process.returncode, 1)
            self.assertIn("another relay runs with the identity of this one", grid.log("copy"))
            self.assertIn(NAMED, grid.log("server"))
            told = [text for text in grid.admin_json("status")["warnings"] if "two relays use its identity" in text]
            self.assertEqual(len(told), 1)
            # It does not run again, and takes nothing from the other one when it leaves.
            again = grid.relay("copy", "run", check=False)
            self.assertEqual(again.returncode, 1)
            self.assertIn("another relay runs", again.stderr)
            grid.relay("copy", "leave", "--force")
            accepted = {host["name"]: host["items_accepted"] for host in active(grid)}
            self.assertEqual(sorted(accepted), ["ann", "direct", "lab"])
            grid.wait_until("results under the relay", lambda: next(host for host in active(grid) if host["name"] == "ann")["items_accepted"] > accepted["ann"] + 5, 60)
            # With a code of its own it is a relay of its own.
            code = grid.admin("relay", "allow", "second", "--children", 5).stdout.strip()
            grid.relay("copy", "join", code, "--name", "second", "--port", port + 1, "--address", "127.0.0.1", "--public-host", "127.0.0.1")
            self.assertEqual(sorted(host["name"] for host in active(grid)), ["ann", "direct", "lab", "second"])
            held.let_go()
            grid.wait_finished(identity, 180)
            self.assertEqual(grid.results(identity), held.expected)

    def test_two_with_one_state_directory_under_a_relay(self):
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 400)
            grid.add_relay("lab")
            identity = held.add()
            grid.add_under("lab", held, "one")
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 10, 60)
            copy_state(grid.state("one"), grid.state("two"))
            first = grid.host_id("one")
            held.start_client("two")
            grid.wait_until("two hosts under the relay", lambda: len([host for host in active(grid) if host.get("relay")]) == 2, 90)
            self.assertIn(f"host {first} (one): {NAMED}", grid.log("lab"))
            before = {host["id"]: host["items_accepted"] for host in active(grid)}
            grid.wait_until("results of both", lambda: all(host["items_accepted"] > before[host["id"]] for host in active(grid) if host.get("relay")), 60)
            self.check_end(grid, held, identity, ("one", "two", "lab"))
            self.assertEqual(items_of(grid), held.count)

    def test_joining_while_the_client_runs(self):
        with Grid(SETTINGS) as grid, Grid(SETTINGS, name="Another project") as other:
            grid.start_server()
            other.start_server()
            held, more = Held(grid, 300), Held(other, 60)
            identity, second = held.add(), more.add()
            held.add_client("one")
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 5, 60)
            joined = grid.run("gleaner-client", "join", other.join_code, "--state", grid.state("one"), "--name", "renamed")
            self.assertRegex(joined.stdout, r'^Joined Another project at https://127\.0\.0\.1:\d+ as host \d+ \("renamed"\)')
            self.assertEqual([host["name"] for host in active(other)], ["renamed"])
            other.wait_until("results of the other project", lambda: other.problem(second)["accepted"] > 5, 60)
            accepted = grid.problem(identity)["accepted"]
            grid.wait_until("results of the first one", lambda: grid.problem(identity)["accepted"] > accepted, 60)
            # What cannot be joined is said as ever.
            wrong = grid.run("gleaner-client", "join", other.join_code[:-1], "--state", grid.state("one"), check=False)
            self.assertNotEqual(wrong.returncode, 0)
            other.kill("server")
            later = grid.run("gleaner-client", "join", "--state", grid.state("one"), other.join_code)
            self.assertEqual(later.returncode, 0)  # joined before: nothing to ask
            more.let_go()
            held.let_go()
            grid.wait_finished(identity, 120)


if __name__ == "__main__":
    main()
