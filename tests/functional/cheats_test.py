"""Strangers that lie or hoard beside honest ones, against a real server that believes none of them at first."""
import threading
import time
import unittest

from harness import SQUARES, FakeHost, Grid, main

STRANGERS = "hosts.own = false\nhosts.joins_per_hour = 10000"


class Player(threading.Thread):
    """A host that computes whatever it gets, wrongly where `lies(number, item)` says so, until it is told to stop."""

    def __init__(self, grid, name, lies):
        super().__init__(daemon=True)
        self.host, self.lies, self.delivered, self.wrong = FakeHost(grid, name), lies, 0, 0
        self.over = threading.Event()

    def answer(self, item):
        self.delivered += 1
        if not self.lies(self.delivered, item):
            return str(item * item).encode()
        self.wrong += 1
        return str(item * item + 1 + self.host.host).encode()  # each its own

    def found_out(self):
        time.sleep(0.2)

    def run(self):
        host, commits, grants = self.host, [], []
        while not self.over.is_set():
            status, reply = host.work(reports=[], commits=commits)
            if status == 200 and not reply["decoded"] and "held back" in reply["reason"]:
                self.found_out()
                host, commits = self.host, []
                continue
            if status != 200:  # it may ask again later
                time.sleep(0.2)
                continue
            commits = []
            for grant in reply["decoded"]:
                begin, end = grant["range"]["begin"], grant["range"]["end"]
                time.sleep(0.002 * (end - begin))
                commits.append(host.commit_body(grant["unit"], begin, [self.answer(i) for i in range(begin, end)]))
            if not commits:
                time.sleep(0.1)


class Sybil(Player):
    """One that comes back as somebody else whenever it is found out."""

    lock, names = threading.Lock(), []

    def found_out(self):
        with self.lock:
            self.names.append(f"sybil-{len(self.names)}")
            name = self.names[-1]
        self.host = FakeHost(self.host.grid, name)


class Liars(unittest.TestCase):
    def play(self, hosts, liars, lies, items=4000, liar=Player):
        """The computed sum, items computed, and every host's disagreements."""
        with Grid(STRANGERS) as grid:
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


    def test_sybils_that_come_back_as_others(self):
        """A fifth, and each lies again as a newcomer after the other."""
        Sybil.names.clear()
        self.play(15, 3, lambda number, item: True, liar=Sybil)
        print(f"{len(Sybil.names)} came back")
        self.assertGreater(len(Sybil.names), 2)


class Hoarders(unittest.TestCase):
    def test_what_a_host_says_of_itself_moves_no_work(self):
        with Grid(STRANGERS) as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            hoarder = FakeHost(grid, "hoarder")
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
