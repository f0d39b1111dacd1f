"""Strangers that lie or hoard beside honest ones, against a real server that believes none of them at first. The long form
(GLEANER_LONG=1) prints what every kind of liar achieves under every policy: the table of server/policy/trust/TRUST.md."""
import os
import random
import threading
import time
import unittest

from harness import SQUARES, Grid, Stranger, main

# Of the long form, whose hosts ask without pause for minutes; all else is as `init` writes it.
PATIENT = """hosts.joins_per_hour = 10000
hosts.requests_per_second = 10000
server.requests_per_second_per_network = 100000"""
PIECE = 3000  # items of a commit: they fit into a message
LIE = 10 ** 12  # what a wrong answer is beyond the right one, about: a sum tells how many of them are in it


class Player(threading.Thread):
    """A host that computes whatever it gets, wrongly where `lies(number, item)` says so, until it is told to stop. Those of one
    `party` give the same wrong answers."""

    def __init__(self, grid, name, lies, party=0, item_seconds=0.002):
        super().__init__(daemon=True)
        self.host, self.lies, self.delivered, self.wrong = Stranger(grid, name), lies, 0, 0
        self.party, self.item_seconds = party, item_seconds
        self.lied_at, self.detections = None, []  # seconds from the first lie
        self.over = threading.Event()

    def answer(self, item):
        self.delivered += 1
        if not self.lies(self.delivered, item):
            return str(item * item).encode()
        self.wrong += 1
        self.lied_at = self.lied_at or time.monotonic()
        return str(item * item + LIE + (self.party or 1000 + self.host.host)).encode()

    def found_out(self):
        if self.lied_at:
            self.detections.append(time.monotonic() - self.lied_at)
            self.lied_at = None

    def compute(self, grant):
        """The commits of a unit."""
        begin, end = grant["range"]["begin"], grant["range"]["end"]
        time.sleep(self.item_seconds * (end - begin))
        return [self.host.commit_body(grant["unit"], first, [self.answer(i) for i in range(first, min(first + PIECE, end))],
                                      last=first + PIECE >= end) for first in range(begin, end, PIECE)]

    def run(self):
        host, commits = self.host, []
        while not self.over.is_set():
            status, reply = host.work(reports=[], commits=commits)
            if status == 200 and not reply["decoded"] and "held back" in reply["reason"]:
                self.found_out()
                time.sleep(0.2)
                host, commits = self.host, []
                continue
            if status != 200:  # it may ask again later
                time.sleep(0.2)
                continue
            commits = [commit for grant in reply["decoded"] for commit in self.compute(grant)]
            if not commits:
                time.sleep(0.1)


class Sybil(Player):
    """One that comes back as somebody else whenever it is found out."""

    lock, names = threading.Lock(), []

    def found_out(self):
        super().found_out()
        with self.lock:
            self.names.append(f"sybil-{len(self.names)}")
            name = self.names[-1]
        self.host = Stranger(self.host.grid, name)


class Instant(Player):
    def __init__(self, grid, name, lies):
        super().__init__(grid, name, lies, item_seconds=0)


class Liars(unittest.TestCase):
    def play(self, hosts, liars, lies, items=4000, liar=Player):
        """The computed sum, items computed, and every host's disagreements."""
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            players = [(liar if i < liars else Player)(grid, f"host-{i}", lies if i < liars else lambda number, item: False)
                       for i in range(hosts)]
            identity = grid.add_problem("squares", "lied", count=items)
            for player in players:
                player.start()
            try:
                grid.wait_finished(identity, timeout=60)
            finally:
                for player in players:
                    player.over.set()
                for player in players:
                    player.join()
            found = {h["name"]: h["disagreements"] for h in grid.admin_json("host", "list")["items"]}
            self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % sum(i * i for i in range(items)))
            for player in players[:liars]:
                self.assertTrue(player.wrong == 0 or found[player.host.name] > 0 or liar is Sybil,
                                (player.host.name, player.wrong))
            for player in players[liars:]:
                self.assertEqual(found[player.host.name], 0)
            self.assertGreater(sum(player.wrong for player in players), 0)
            overhead = sum(player.delivered for player in players) / items - 1
            print(f"computed beyond the items: {100 * overhead:.0f} %")
            return overhead

    def test_a_tenth_that_always_lies(self):
        self.assertLess(self.play(20, 2, lambda number, item: True), 0.40)

    def test_a_third_that_lies_about_every_other_item(self):
        self.play(20, 6, lambda number, item: item % 2 == 0)

    def test_a_tenth_that_begins_to_lie_once_it_is_trusted(self):
        self.play(20, 2, lambda number, item: number > 60)

    def test_an_instant_liar_beside_two_honest_hosts(self):
        """It takes no time at all, so that it has most of the items before the others have theirs."""
        self.play(3, 1, lambda number, item: True, items=600, liar=Instant)

    def test_sybils_that_come_back_as_others(self):
        """A fifth, and each lies again as a newcomer after the other."""
        Sybil.names.clear()
        self.play(15, 3, lambda number, item: True, liar=Sybil)
        print(f"{len(Sybil.names)} came back")
        self.assertGreater(len(Sybil.names), 2)


def always(number, item):
    return True


def never(number, item):
    return False


# What `gleaner-sim cheats` plays, too: (lies, party of the liar with that number, what it is).
KINDS = {"random": (lambda number, item: random.random() < 0.5, lambda liar: 0, Player),
         "always": (always, lambda liar: 0, Player),
         "sleeper": (lambda number, item: number > 300, lambda liar: 0, Player),
         "pair": (always, lambda liar: 1 + liar // 2, Player),
         "conspiracy": (always, lambda liar: 1, Player),
         "sybil": (always, lambda liar: 0, Sybil)}
INDEPENDENT = ("random", "always", "sleeper")
POLICIES = ("none", "spot:0.05", "quorum:2", "quorum:3", "adaptive")


@unittest.skipUnless(os.environ.get("GLEANER_LONG"), "takes most of an hour: GLEANER_LONG=1 has it run")
class Table(unittest.TestCase):
    """Accepted wrong items, what was computed beyond the items, how long a liar lied."""

    HOSTS = 40

    def play(self, kind, share, policy, items, item_seconds):
        lies, party, player = KINDS.get(kind, (never, lambda liar: 0, Player))
        count = round(share * self.HOSTS)
        Sybil.names.clear()
        with Grid(PATIENT) as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "lied", "--validation", policy, count=items)
            liars = [player(grid, f"liar-{i}", lies, party(i), item_seconds) for i in range(count)]
            honest = [Player(grid, f"host-{i}", never, 0, item_seconds) for i in range(self.HOSTS - count)]
            begun = time.monotonic()
            for each in liars + honest:
                each.start()
            try:
                grid.wait_finished(identity, timeout=600)
                seconds = time.monotonic() - begun
            finally:
                for each in liars + honest:
                    each.over.set()
                for each in liars + honest:
                    each.join()
            total = int(grid.results(identity)["sum.txt"])
            found = {h["name"]: h["disagreements"] for h in grid.admin_json("host", "list")["items"]}
            detections = [seconds for each in liars for seconds in each.detections]
            return {"wrong": (total - sum(i * i for i in range(items))) // LIE,
                    "computed": sum(each.delivered for each in liars + honest) / items,
                    "after": sum(detections) / len(detections) if detections else None,
                    "found": sum(found[name] > 0 for name in found if not name.startswith("host-")),
                    "honest": sum(found[name] > 0 for name in found if name.startswith("host-")), "seconds": seconds}

    def row(self, kind, share, policy, items, base, run):
        after = "" if run["after"] is None else f"{run['after']:.1f} s"
        beyond = "" if base is None else f"{100 * (run['computed'] - base['computed']):.1f} %"
        print(f"| {kind} | {100 * share:.0f} % | {policy} | {run['wrong'] / items:.2g} | {beyond} | {run['found']} | {after} | "
              f"{run['honest']} | {run['seconds']:.0f} s |", flush=True)

    def check(self, kind, share, policy, base, run):
        if policy != "adaptive" or (kind not in INDEPENDENT and share > 0):
            return
        self.assertEqual(run["wrong"], 0)
        self.assertEqual(run["honest"], 0)
        if share < 0.2:
            self.assertLessEqual(run["computed"] - base["computed"], 0.15 if share > 0 else 0.03)

    def test_every_kind_under_every_policy(self):
        items = 60_000
        print("| liars | share | policy | wrong | beyond none | found | after | honest found wrong | took |\n|" + "---|" * 9)
        for kind, share in [("nobody", 0), *((kind, share) for share in (0.1, 0.3) for kind in KINDS)]:
            base = None
            for policy in POLICIES:
                with self.subTest(f"{kind} {share} {policy}"):
                    run = self.play(kind, share, policy, items, 0.002)
                    base = base or run
                    self.row(kind, share, policy, items, base, run)
                    self.check(kind, share, policy, base, run)

    def test_a_million_items_each_of_independent_liars(self):
        """None wrong in three million: fewer than one in a million, at 95 %."""
        items = 1_000_000
        for kind, share in (("nobody", 0), *((kind, 0.1) for kind in INDEPENDENT)):
            with self.subTest(kind):
                run = self.play(kind, share, "adaptive", items, 0.0005)
                self.row(kind, share, "adaptive", items, None, run)
                self.check(kind, share, "adaptive", {"computed": 1}, run)


class Hoarders(unittest.TestCase):
    def test_what_a_host_says_of_itself_moves_no_work(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            hoarder = Stranger(grid, "hoarder")
            players = [Player(grid, f"host-{i}", lambda number, item: False) for i in range(2)]
            identity = grid.add_problem("squares", "hoarded", count=5000)
            for player in players:
                player.start()
            most = 0
            try:
                def over():
                    nonlocal most
                    # Everything is finished as of now, it says; nothing comes.
                    said = [hoarder.report(unit, finished=grant["range"]["end"], rate=1e6) for unit, grant in hoarder.units.items()]
                    hoarder.work(slots=64, reports=said, benchmark=1e9)
                    most = max(most, sum(g["range"]["end"] - g["range"]["begin"] for g in hoarder.units.values()))
                    return grid.problem(identity)["state"] == "finished"
                grid.wait_until("the end", over, timeout=60)
            finally:
                for player in players:
                    player.over.set()
                for player in players:
                    player.join()
            self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % sum(i * i for i in range(5000)))
            self.assertGreater(most, 0)
            self.assertLess(most, 1000)
            hosts = {h["name"]: h for h in grid.admin_json("host", "list")["items"]}
            self.assertEqual(hosts["hoarder"]["items_accepted"], 0)


if __name__ == "__main__":
    main()
