"""A computer behind a line of 8 kB a second that loses packets and breaks connections, whose client and server are killed in the middle,
and many computers that share a line: an application arrives and a result leaves, each byte about once. So it does where dates jump meanwhile,
and a line that breaks while a computer joins leaves one host. GLEANER_PCS=12 is the long form: so many
share a line of 100 kB a second, the application has a megabyte, and of a line whose connections last all
that crosses is counted."""
import os
import random
import re
import signal
import time
import unittest

from harness import Calendar, Grid, code_at, dated, main
from kernels import squares_copy
from link_proxy import Link

LINE = 8_000  # bytes a second, each way
PCS = int(os.environ.get("GLEANER_PCS", 3))
LONG = PCS > 3
APPLICATION = 1_200_000 if LONG else 560_000  # that cannot be compressed; it takes longer than a stall may
RESULT = 1_000_000 if LONG else 120_000
BREAKS = 100_000  # bytes, on average, until a connection breaks
CONNECTION = 6_000  # bytes each way at most, 3,900 on average: a handshake, what is asked again, and the TLS record that broke
PIECE = 5 * LINE  # of a result: a server that is killed loses what it has of one (shared/transport/piece_size.h)
FETCHING = re.compile(r"fetching what large needs: \d+ % of [\d.]+ [KM]iB at [\d.]+ KiB/s")
SETTINGS = "work.heartbeat_seconds = 10\nwork.commit_seconds = 1\n"


def large(grid, bytes_of_it, result):
    bundle = squares_copy(grid.directory / "large", "large", result)
    (bundle / "noise.bin").write_bytes(random.Random(3).randbytes(bytes_of_it))
    return bundle


class SlowLine(unittest.TestCase):
    def join(self, grid, name, link):
        grid.join(name, code=code_at(grid.own_code, f"127.0.0.1:{link.port}"))

    def test_killed_in_the_middle_each_byte_crosses_about_once(self):
        crossed, _, connections = self.killed_in_the_middle(RESULT, breaks=BREAKS)
        self.assertLess(crossed["down"], 1.05 * APPLICATION + CONNECTION * connections)
        self.assertLess(crossed["up"], 1.05 * RESULT + CONNECTION * connections + PIECE)

    @unittest.skipUnless(LONG, "takes eight minutes")
    def test_killed_in_the_middle_no_more_than_a_twentieth_crosses_twice(self):
        result = 1_600_000
        crossed, transferred, _ = self.killed_in_the_middle(result)
        for way, size in (("down", APPLICATION), ("up", result)):
            self.assertTrue(size < transferred[way] < 1.05 * size, transferred)
            self.assertLess(crossed[way], 1.1 * size)  # with seven minutes of heartbeats, as often as a short problem has them

    def killed_in_the_middle(self, result, **line):
        """The bytes that crossed each way, those of transfers, and the connections."""
        with Grid(SETTINGS) as grid:
            grid.start_server()
            grid.add_application(large(grid, APPLICATION, result))
            link = Link(grid.port, up=LINE, down=LINE, latency=0.05, loss=0.03, **line)
            self.addCleanup(link.close)
            self.join(grid, "pc", link)
            connections = link.connections
            identity = grid.add_problem("large", "large", count=1)
            begun = dict(link.bytes)

            def crossed(way):
                return link.bytes[way] - begun[way]

            grid.start_client("pc")
            grid.wait_until("a part of it", lambda: crossed("down") > 0.2 * APPLICATION, 120)
            self.assertRegex(grid.control("pc", "why").stdout, FETCHING)
            ends = {"pc": lambda: grid.start_client("pc"), "server": grid.start_server}
            for way, size, part, name in (("down", APPLICATION, 0.4, "pc"), ("down", APPLICATION, 0.6, "server"), ("down", APPLICATION, 0.8, "pc"),
                                          ("up", result, 0.4, "pc"), ("up", result, 0.7, "server")):
                grid.wait_until("a part of it", lambda: crossed(way) > part * size, 480)
                grid.kill(name, signal.SIGKILL)
                ends[name]()
            grid.wait_finished(identity, 480)
            connections = link.connections - connections
            print(f"down {crossed('down')} of {APPLICATION}, up {crossed('up')} of {result}, {connections} connections", flush=True)
            transferred = {way: link.transferred(way) for way in ("down", "up")}
            print(f"of transfers: {transferred}", flush=True)
            return {way: crossed(way) for way in ("down", "up")}, transferred, connections

    @dated
    def test_dates_that_jump_in_the_middle_of_an_upload_cost_nothing(self):
        with Grid(SETTINGS) as grid:
            dates = {name: Calendar(grid.directory) for name in ("pc", "server")}
            grid.start_server(env=dates["server"].env)
            grid.add_application(large(grid, 1000, RESULT))
            link = Link(grid.port, up=LINE, latency=0.05)
            self.addCleanup(link.close)
            self.join(grid, "pc", link)
            identity = grid.add_problem("large", "large", count=1)
            begun, connections = link.bytes["up"], link.connections
            grid.start_client("pc", env=dates["pc"].env)
            jumps = [(name, days) for name in dates for days in (3, -3)]
            for number, (name, days) in enumerate(jumps):
                grid.wait_until("a part of it", lambda: link.bytes["up"] - begun > (number + 1) / (len(jumps) + 1) * RESULT, 240)
                dates[name].jump(days * Calendar.DAY)
                link.cut()  # a new connection looks at what is valid
                link.restore()
                time.sleep(2)
                dates[name].jump(0)
            grid.wait_finished(identity, 240)
            sent, connections = link.bytes["up"] - begun, link.connections - connections
            print(f"up {sent} of {RESULT}, {connections} connections", flush=True)
            self.assertLess(sent, 1.05 * RESULT + CONNECTION * connections)
            self.assertFalse(any(host["failures"] for host in grid.admin_json("host", "list")["items"]))

    def test_a_line_that_breaks_while_a_computer_joins_leaves_one_host(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            link = Link(grid.port)
            self.addCleanup(link.close)
            before = dict(link.bytes)
            self.join(grid, "whole", link)
            whole = {way: link.bytes[way] - before[way] for way in before}
            names = ["whole"]
            # The last bytes are the answer to the enrolment, after which the server has the host.
            for way, part in (("up", 0.2), ("up", 0.6), ("down", 0.2), ("down", 0.6), *(("down", 0.9 + i / 100) for i in range(10))):
                names.append(f"pc{len(names)}")
                link.break_at(way, int(part * whole[way]))
                code = code_at(grid.own_code, f"127.0.0.1:{link.port}")
                told = grid.join(names[-1], code=code, check=False)
                if told.returncode:
                    self.assertIn("closed the connection", told.stderr)
                    grid.join(names[-1], code=code)
            self.assertEqual(sorted(host["name"] for host in grid.admin_json("host", "list")["items"]), sorted(names))
            self.assertIn("joined again", grid.log("server"), "no answer was lost")

    def test_a_days_volume_and_hours_stop_what_comes_and_it_goes_on_from_there(self):
        size = 4_000_000
        with Grid(SETTINGS) as grid:
            grid.start_server()
            grid.add_application(large(grid, size, 100_000))
            link = Link(grid.port, down=400_000)
            self.addCleanup(link.close)
            self.join(grid, "pc", link)

            def prefs(*words):
                grid.control("pc", "prefs", "set", *words)

            def why():
                return grid.control("pc", "why", check=False).stdout

            grid.start_client("pc")
            grid.wait_until("the client", why, 60)
            prefs("traffic_megabytes_day", "1")
            begun = link.bytes["down"]
            identity = grid.add_problem("large", "large", count=1)
            grid.wait_until("the limit", lambda: "today's traffic of 1.0 MiB is used up" in why(), 120)
            time.sleep(2)
            self.assertLess(link.bytes["down"] - begun, 1_200_000)
            prefs("traffic_megabytes_day", "0")
            grid.wait_until("more of it", lambda: link.bytes["down"] - begun > 1_700_000, 60)
            prefs("network_hours", ("thu", "fri", "sat", "sun", "mon", "tue", "wed")[time.localtime().tm_wday])  # in three days
            time.sleep(2)
            stopped = link.bytes["down"]
            self.assertLess(stopped - begun, 0.95 * size)
            time.sleep(3)
            self.assertEqual(link.bytes["down"], stopped)
            prefs("network_hours", "")
            grid.wait_finished(identity, 120)
            self.assertLess(link.bytes["down"] - begun, 1.05 * size + 200_000)
            self.assertNotIn("cannot be prepared", grid.log("pc"))

    def test_computers_that_share_a_line_all_finish(self):
        each = 1_000_000 if LONG else 160_000
        rate = 100_000 if LONG else LINE
        with Grid(SETTINGS + "work.unit_minimum_seconds = 1\n") as grid:
            grid.start_server()
            grid.add_application(large(grid, each, 1000))
            link = Link(grid.port, up=rate, down=rate, latency=0.05, loss=0.03)
            self.addCleanup(link.close)
            names = [f"pc{number}" for number in range(PCS)]
            for name in names:
                self.join(grid, name, link)
            grid.add_problem("large", "large", count=100_000, pause=0.2)
            at = time.monotonic()
            for name in names:
                grid.start_client(name)
            took, told = {}, set()

            def all_compute():
                for name in set(names) - told - set(took):
                    if FETCHING.search(grid.control(name, "why", check=False).stdout):
                        told.add(name)
                for name in names:
                    if name not in took and "started large" in grid.log(name):
                        took[name] = time.monotonic() - at
                return len(took) == len(names)

            grid.wait_until("all to compute", all_compute, 300)
            print(f"{PCS} computers: {min(took.values()):.0f} to {max(took.values()):.0f} s, {link.bytes['down']} bytes", flush=True)
            self.assertEqual(told, set(names), "`why` of these did not say how far the transfer was, and how fast")
            self.assertLess(max(took.values()), 2 * min(took.values()))
            self.assertLess(link.bytes["down"], PCS * (1.05 * each + 40_000))


if __name__ == "__main__":
    main()
