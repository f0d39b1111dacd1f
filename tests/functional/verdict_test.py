"""Overlapping results are compared; a third host decides; lies are replaced and recorded."""
import ctypes
import fcntl
import os
import shutil
import socket
import struct
import unittest
import zlib

from harness import SQUARES, FakeHost, Grid, Stranger, base64url, main, of_files, secret_of


def squares(begin, end):
    return [str(i * i).encode() for i in range(begin, end)]


CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1


class OwnNetwork:
    """This thread, and what it starts, in a network of its own, where it has the addresses."""

    def __init__(self, *addresses):
        self.addresses = addresses

    def __enter__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        if self.libc.unshare(CLONE_NEWNET) != 0:
            os.close(self.before)
            raise unittest.SkipTest("no network namespace may be made here: " + os.strerror(ctypes.get_errno()))
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
                fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))
                for index, address in enumerate(self.addresses):
                    fcntl.ioctl(any_socket, SIOCSIFADDR, struct.pack("16sHH4s8x", b"lo:%d" % index, socket.AF_INET, 0,
                                                                     socket.inet_aton(address)))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.libc.setns(self.before, CLONE_NEWNET)
        os.close(self.before)


class Parties(unittest.TestCase):
    """A quorum counts owners and networks."""

    def play(self, grid, liars, join):
        """`liars`: hosts of one party; join() makes two of two more, which come later."""
        identity = grid.add_problem("squares", "quorum", "--validation", "quorum:2", "--strategy", "rts", count=1, first=7)
        lie, truth = [b"1234"], [b"49"]
        unit = liars[0].work()[1]["decoded"][0]["unit"]
        self.assertEqual(liars[0].commit(unit, 0, lie)[1]["status"], "accepted")
        for _ in range(3):
            for host in liars:
                self.assertEqual(host.work()[1]["decoded"], [], host.name)
        problem = grid.problem(identity)
        self.assertEqual(problem["state"], "running")
        self.assertIn("asks for 2 hosts of different owners and networks", problem["waits"])
        others = join()
        for index, host in enumerate(others):
            unit = grid.wait_until("another party is asked", lambda: host.work()[1]["decoded"])[0]["unit"]
            self.assertEqual(host.commit(unit, 0, truth)[1]["status"], "duplicate")
            if index == 0:  # one against one: a third party decides, and not a friend of the first
                for liar in liars:
                    self.assertEqual(liar.work()[1]["decoded"], [], liar.name)
        grid.wait_finished(identity)
        self.assertEqual(grid.results(identity)["sum.txt"], b"49\n")
        wrong = {h["name"]: h["disagreements"] for h in grid.admin_json("host", "list")["items"]}
        self.assertEqual(wrong, {host.name: int(host is liars[0]) for host in liars + others})

    def test_hosts_of_one_owner_are_no_quorum(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            made = grid.admin_json("code", "add", "ann", "--hosts", "3")["join_code"]
            # From three places, which say nothing about owners.
            anns = [Stranger(grid, f"ann-{i}", secret_of(made)) for i in range(3)]
            self.play(grid, anns, lambda: [Stranger(grid, name) for name in ("bob", "carl")])

    @of_files("the server is in a network of its own, without the object store")
    def test_hosts_of_one_network_are_no_quorum(self):
        house, bob, carl = "198.51.100.7", "198.51.100.8", "203.0.113.9"
        with OwnNetwork(house, bob, carl), Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            first = [Stranger(grid, f"room-{i}", address=house) for i in range(3)]
            self.play(grid, first, lambda: [Stranger(grid, "bob", address=bob), Stranger(grid, "carl", address=carl)])

    def test_newcomers_of_one_network_outvote_nobody(self):
        """As a project is by default: two hosts of one address, seconds old, lie alike beside an honest one."""
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "default", "--strategy", "rts", count=1, first=7)
            sybils = [Stranger(grid, f"sybil-{i}", address="127.0.0.9") for i in range(2)]
            lie, truth = [b"1234"], [b"49"]
            unit = sybils[0].work()[1]["decoded"][0]["unit"]
            self.assertEqual(sybils[0].commit(unit, 0, lie)[1]["status"], "accepted")
            sybils.append(Stranger(grid, "sybil-2", address="127.0.0.9"))  # it comes when another host is wanted
            for _ in range(3):
                for sybil in sybils:
                    for grant in sybil.work()[1]["decoded"]:
                        sybil.commit(grant["unit"], 0, lie)
            problem = grid.problem(identity)
            self.assertEqual(problem["state"], "running", problem)
            self.assertIn("newcomers of one owner or network", problem["waits"])
            honest = Stranger(grid, "honest")
            unit = grid.wait_until("the honest host is asked", lambda: honest.work()[1]["decoded"])[0]["unit"]
            honest.commit(unit, 0, truth)
            for sybil in sybils:
                for grant in sybil.work()[1]["decoded"]:
                    sybil.commit(grant["unit"], 0, lie)
            self.assertEqual(grid.problem(identity)["state"], "running")
            other = Stranger(grid, "another")
            unit = grid.wait_until("another is asked", lambda: other.work()[1]["decoded"])[0]["unit"]
            other.commit(unit, 0, truth)
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["sum.txt"], b"49\n")
            wrong = {h["name"]: h["disagreements"] for h in grid.admin_json("host", "list")["items"]}
            self.assertEqual((wrong["honest"], wrong["another"]), (0, 0))
            self.assertGreater(wrong["sybil-0"], 0)


class Verdicts(unittest.TestCase):
    def test_a_third_host_decides_and_the_lie_is_replaced(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "lied", "--strategy", "rts", count=2, first=7)
            liar, honest, third, slow = (FakeHost(grid, name) for name in ("liar", "honest", "third", "slow"))
            held = liar.work()[1]["decoded"][0]
            waiting = slow.work()[1]["decoded"][0]  # its item keeps the stage open
            # The liar says it is stuck, so that its item is copied to the honest host; then both deliver.
            liar.work(slots=0, reports=[liar.report(held["unit"], state="paused", rate=0)])

            def copied():
                liar.work(slots=0, reports=[liar.report(held["unit"], state="paused", rate=0)])
                slow.work(slots=0)
                return honest.work()[1]["decoded"]

            copy = grid.wait_until("a copy", copied)[0]
            self.assertEqual(copy["range"], held["range"])
            item = held["range"]["begin"]
            truth = str((7 + item) ** 2).encode()
            self.assertEqual(liar.commit(held["unit"], item, [b"1234"])[1]["status"], "accepted")
            self.assertEqual(honest.commit(copy["unit"], item, [truth])[1]["status"], "duplicate")
            check = grid.wait_until("the third host is asked", lambda: third.work()[1]["decoded"])[0]
            self.assertEqual(check["range"], held["range"])
            third.commit(check["unit"], item, [truth])
            other = waiting["range"]["begin"]
            slow.commit(waiting["unit"], other, [str((7 + other) ** 2).encode()])
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % (7 ** 2 + 8 ** 2))
            hosts = {h["name"]: h for h in grid.admin_json("host", "list")["items"]}
            self.assertEqual(hosts["liar"]["disagreements"], 1)
            self.assertEqual(hosts["honest"]["disagreements"], 0)
            grid.kill("server", 15)
            verdicts = int(grid.rows("select count(*) from verdicts")[0][0])
            self.assertGreaterEqual(verdicts, 2)  # the difference, and its resolution

    def test_who_began_an_item_stands_for_what_another_host_ended(self):
        with Grid() as grid:
            grid.start_server()
            saving = grid.directory / "saving"
            shutil.copytree(SQUARES, saving)
            manifest = saving / "manifest.toml"
            manifest.write_text(manifest.read_text().replace("checkpoint = false", "checkpoint = true"))
            grid.add_application(saving)
            identity = grid.add_problem("squares", "begun", "--strategy", "rts", count=2)
            liar, honest, heir, third, slow = (FakeHost(grid, n) for n in ("liar", "honest", "heir", "third", "slow"))
            held = liar.work()[1]["decoded"][0]
            other = slow.work()[1]["decoded"][0]["range"]["begin"]  # keeps the stage open
            item = held["range"]["begin"]

            def copied(host, *holders):
                for holder in holders:
                    holder.work(slots=0, reports=[holder.report(unit, state="paused", rate=0) for unit in holder.units])
                slow.work(slots=0)
                return host.work()[1]["decoded"]

            anew = grid.wait_until("a copy", lambda: copied(honest, liar))[0]
            self.assertNotIn("begun", anew)
            self.assertEqual(liar.save(held["unit"], item, 0.5, b"made up"), 200)
            begun = grid.wait_until("another copy", lambda: copied(heir, liar, honest))[0]
            self.assertEqual(begun["range"], held["range"])
            self.assertEqual(begun["begun"], {"share": 0.5, "data": base64url(zlib.compress(b"made up"))})
            # It could not know better.
            self.assertEqual(heir.commit(begun["unit"], item, [b"1234"])[1]["status"], "accepted")
            truth = str(item * item).encode()
            self.assertEqual(honest.commit(anew["unit"], item, [truth])[1]["status"], "duplicate")
            check = grid.wait_until("the third host is asked", lambda: third.work()[1]["decoded"])[0]
            self.assertNotIn("begun", check)
            third.commit(check["unit"], item, [truth])
            slow.commit(next(iter(slow.units)), other, [str(other * other).encode()])
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["sum.txt"], b"1\n")
            hosts = {h["name"]: h["disagreements"] for h in grid.admin_json("host", "list")["items"]}
            self.assertEqual(hosts, {"liar": 1, "honest": 0, "heir": 0, "third": 0, "slow": 0})

    def test_a_difference_is_found_although_the_server_dies_before_it_compares(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "lied", "--strategy", "rts", count=2)
            liar, honest, third, slow = (FakeHost(grid, name) for name in ("liar", "honest", "third", "slow"))
            held = liar.work()[1]["decoded"][0]
            slow.work()  # its item keeps the stage open

            def copied():
                liar.work(slots=0, reports=[liar.report(held["unit"], state="paused", rate=0)])
                slow.work(slots=0)
                return honest.work()[1]["decoded"]

            copy = grid.wait_until("a copy", copied)[0]
            item = held["range"]["begin"]
            self.assertEqual(liar.commit(held["unit"], item, [b"1234"])[1]["status"], "accepted")
            self.assertEqual(honest.commit(copy["unit"], item, [str(item * item).encode()])[1]["status"], "duplicate")
            grid.kill("server")
            grid.rows("delete from verdicts")  # if it was quicker than the kill
            grid.start_server()
            check = grid.wait_until("the third host is asked", lambda: third.work()[1]["decoded"])[0]
            self.assertEqual(check["range"], held["range"])

    def test_invalid_results_are_refused_and_the_host_is_held_back(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "refused", count=10)
            host = FakeHost(grid, "host")
            _, reply = host.work()
            grant = reply["decoded"][0]
            begin, end = grant["range"]["begin"], grant["range"]["end"]
            good = squares(begin, end)
            for changes in ({"digest": "0" * 64}, {"bytes": 1}, {"range": {"begin": begin, "end": end + 5}},
                            {"range": {"begin": end, "end": end + len(good)}}):
                status, answer = host.commit(grant["unit"], begin, good, **changes)
                self.assertTrue(status != 200 or answer["status"] == "refused", (changes, answer))
                self.assertTrue(answer.get("reason") or answer.get("detail"))
            status, answer = host.commit(grant["unit"], begin, [b"x" * 65] * len(good))  # over the manifest's item_bytes
            self.assertEqual(answer["status"], "refused")
            status, answer = host.commit(987654, begin, good)
            self.assertEqual(answer["status"], "refused")
            status, reply = host.work(slots=1)
            self.assertEqual(reply["grants"], [])
            self.assertIn("held back", reply["reason"])
            # What is right is taken all the same.
            status, answer = host.commit(grant["unit"], begin, good)
            self.assertEqual(answer["status"], "accepted")


if __name__ == "__main__":
    main()
