"""A tree of relays whose relays and links fail at random: every item is counted once, for the host that computed it, and the result is
byte for byte what one process computes.

GLEANER_LONG=1 has the long form: relays three deep, 100 clients and at least 200 kills. GLEANER_SEED repeats a run.
"""
import json
import os
import signal
import time
import unittest

from harness import from_base64url, main, seeded
from kernels import Held
from tree import HostUnder, Tree

LONG = os.environ.get("GLEANER_LONG")
# By name: under which relay.
RELAYS = {"lab": None, "bench": "lab"} if not LONG else {
    "east": None, "west": None, "e1": "east", "e2": "east", "w1": "west", "w2": "west", "e11": "e1", "e21": "e2", "w11": "w1", "w21": "w2"}
CLIENTS = 100 if LONG else 8
TROUBLES = 250 if LONG else 9  # kills and cuts
FAULTY = "faulty"  # a host whose kernel fails
KILLS = 200 if LONG else 4  # of these, at least


class Trouble:
    """What befalls a tree, by chance."""

    def __init__(self, grid, held, rng, clients):
        self.grid, self.held, self.rng, self.clients = grid, held, rng, clients
        self.happened = {"relay": 0, "server": 0, "client": 0, "cut": 0, "silence": 0}

    @property
    def kills(self):
        return sum(self.happened[what] for what in ("relay", "server", "client"))

    def strike(self):
        kinds = ("relay", "relay", "relay", "client", "server") if self.kills < KILLS and self.rng.random() < 0.8 else ("cut", "silence")
        what = self.rng.choice(kinds)
        self.happened[what] += 1
        getattr(self, what)()

    def relay(self):
        name = self.rng.choice(sorted(self.grid.links))
        assert self.grid.kill(name) == -signal.SIGKILL
        time.sleep(self.rng.choice((0, 0, 0.5)))
        self.grid.start_relay(name)

    def server(self):
        self.grid.kill("server")
        self.grid.start_server()

    def client(self):
        name = self.rng.choice(self.clients)
        self.grid.kill(name)
        self.held.start_client(name)

    def cut(self, silent=False):
        link = self.grid.links[self.rng.choice(sorted(self.grid.links))]
        link.cut(silent)
        time.sleep(self.rng.uniform(0.2, 1.5))
        link.restore()

    def silence(self):
        self.cut(silent=True)


class Relays(unittest.TestCase):
    def test_kills_and_cuts_cost_nothing(self):
        rng = seeded(self)
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 40000 if LONG else 800, pause=0.4 if LONG else 0.1)
            for name, parent in RELAYS.items():
                grid.add_relay(name, parent, children=2 * CLIENTS)
            identity = held.add()
            clients = {f"pc-{i}": sorted(RELAYS)[i % len(RELAYS)] for i in range(CLIENTS)}
            for name, relay in clients.items():
                grid.add_under(relay, held, name)
            grid.wait_until("first results", lambda: grid.problem(identity)["accepted"] > 0, 60)
            self.check_who_is_heard(grid, clients)
            self.check_that_a_failure_is_heard(grid, identity)
            self.check_that_an_outage_stops_nobody(grid, identity, clients)
            self.play(grid, held, identity, Trouble(grid, held, rng, sorted(clients)))
            self.check_ledger(grid, held, identity, clients)
            self.assertEqual(grid.results(identity), held.expected)
            self.assertEqual(grid.run_local(held.bundle, "--unconfined", "I accept that the bundle's programs run with my rights", count=held.count), held.expected)
            grid.admin("audit", "verify")

    def play(self, grid, held, identity, trouble):
        accepted = 0
        while (info := grid.problem(identity))["state"] != "finished":
            self.assertIn(info["state"], ("running", "combining"), info["message"])
            self.assertGreaterEqual(info["accepted"], accepted, "an acknowledged segment was lost")
            accepted = info["accepted"]
            time.sleep(trouble.rng.uniform(0.2, 0.6))
            if sum(trouble.happened.values()) < TROUBLES or trouble.kills < KILLS:
                trouble.strike()
            else:
                held.let_go()
        print(trouble.happened, flush=True)

    def check_that_an_outage_stops_nobody(self, grid, identity, clients):
        """While a relay's parent is out of reach, its hosts compute what it leased; what they finish flows when the link is back."""
        top = next(name for name, parent in RELAYS.items() if parent is None)
        below = [name for name, relay in clients.items() if relay == top]
        link = grid.links[top]
        link.cut()
        before = grid.figures(top)["gleaner_items_accepted_total"]
        grid.wait_until("hosts that deliver to their relay meanwhile", lambda: grid.figures(top)["gleaner_items_accepted_total"] > before + len(below), 20)
        grid.wait_until("the relay to see that", lambda: (status := grid.relay_status(top))["trouble"] and status["results"] > 0, 20)
        told = grid.relay(top, "status").stdout
        self.assertRegex(told, r"no contact now: .+\n")
        self.assertRegex(told, r"waiting +[0-9]+ results? \([0-9.]+ [KM]?i?B\), since 20")
        self.check_that_nobody_leaves_with_results(grid, top)
        accepted = grid.problem(identity)["accepted"]
        link.restore()
        grid.wait_until("what was held to flow", lambda: grid.problem(identity)["accepted"] > accepted, 20)

    def check_that_a_failure_is_heard(self, grid, identity):
        """A kernel fails below all relays: it counts at the project, against the host that says so."""
        deepest = list(RELAYS)[-1]
        host = HostUnder(grid, deepest, FAULTY)
        asks = {"commits": [], "units": [], "slots": [{"slot": 0, "urgent": True}], "platforms": ["x86_64-linux", "any"], "memory_bytes": 1 << 32,
                "cores": 1, "proposal": {"performance": 1000, "queue_unloaded": 1, "queue_current": 1, "items": 0}}
        grants = grid.wait_until("a unit", lambda: host.call("POST", "/v1/work", asks)["grants"])
        grant = json.loads(from_base64url(grants[0]["payload"]))
        report = {"kind": "kernel-crashed", "item": grant["range"]["begin"], "message": "signal 11"}
        project = json.loads(from_base64url(host.call("GET", "/v1/relay")["payload"]))["project"]
        said = {"project": project, "host": host.host, "unit": grant["unit"], "problem": identity, "stage": 0, "at": int(time.time() * 1e6), **report}
        host.call("POST", "/v1/failure", {"unit": grant["unit"], "statement": host.key.sign("failure", said), **report})
        grid.wait_until("the failure", lambda: {each["name"]: each["failures"] for each in grid.admin_json("host", "list")["items"]}[FAULTY] == 1)

    def check_that_nobody_leaves_with_results(self, grid, name):
        self.assertEqual(grid.kill(name), -signal.SIGKILL)
        left = grid.relay(name, "leave", check=False)
        self.assertNotEqual(left.returncode, 0)
        self.assertIn("that the project does not have yet", left.stderr)
        grid.start_relay(name)

    def check_who_is_heard(self, grid, clients):
        """The server hears the relays below it, and those hear their hosts: far fewer requests come to it, and none from a host."""
        def heard(relay=None):
            figures = grid.figures(relay)
            return sum(value for name, value in figures.items() if name.startswith(('gleaner_requests_total{kind="work"', 'gleaner_requests_total{kind="heartbeat"')))

        places = [None, *RELAYS]
        before = {place: heard(place) for place in places}
        time.sleep(2)
        asked = {place: heard(place) - before[place] for place in places}
        print(f"requests in 2 s: {asked}", flush=True)
        self.assertLess(asked[None], sum(asked[relay] for relay in RELAYS) / 2)
        enrolled = sum(value for name, value in grid.figures().items() if name.startswith('gleaner_requests_total{kind="enrol"'))
        self.assertEqual(enrolled, len([name for name, parent in RELAYS.items() if parent is None]), "a host joined at the server")

    def check_that_it_owes_nothing(self, grid, name):
        """An answer that was lost three times comes when the result is sent again."""
        owed = "SELECT * FROM deliveries WHERE length(acknowledgement) = 0"
        try:
            grid.wait_until(f"{name} to owe nothing", lambda: not grid.relay_rows(name, owed), 120)
        except AssertionError as error:
            raise AssertionError(f"{error}: {grid.relay_status(name)}: {grid.relay_rows(name, owed)[:5]}") from None

    def check_ledger(self, grid, held, identity, clients):
        """Counted once, for who computed it; nothing waits anywhere."""
        info = grid.problem(identity)
        hosts = {host["name"]: host for host in grid.admin_json("host", "list")["items"]}
        self.assertEqual(set(hosts), {*clients, *RELAYS, FAULTY})
        self.assertEqual(sum(share["items"] for share in info["shares"]), held.count, "counted twice or lost")
        self.assertEqual(sum(hosts[name]["items_accepted"] for name in clients), held.count, "counted for others than who computed it")
        self.assertEqual([name for name in RELAYS if hosts[name]["items_accepted"]], [], "a relay was credited")
        computed = {relay: sum(hosts[name]["items_accepted"] for name, its in clients.items() if its == relay) for relay in RELAYS}
        print(f"items computed under each relay: {computed}", flush=True)
        self.assertGreater(min(computed.values()), 0, "the hosts of a relay computed nothing")
        for name, relay in {**clients, **RELAYS}.items():
            self.assertEqual(hosts[name].get("relay"), hosts[relay]["id"] if relay else None, name)
        for name in RELAYS:
            self.check_that_it_owes_nothing(grid, name)
        for name in clients:
            grid.wait_until(f"{name} to have nothing more", lambda name=name: not grid.kept_units(name))


if __name__ == "__main__":
    main()
