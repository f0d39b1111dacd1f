"""A computer behind a line of 8 kB a second that loses packets and breaks connections, whose client is killed in the middle, and many
computers that share a line: an application arrives and a result leaves, each byte about once. GLEANER_PCS=12 is the long form: so many
share a line of 100 kB a second, and the application has a megabyte."""
import os
import random
import re
import signal
import time
import unittest

from harness import Grid, code_at, main
from kernels import squares_copy
from link_proxy import Link

LINE = 8_000  # bytes a second, each way
PCS = int(os.environ.get("GLEANER_PCS", 3))
LONG = PCS > 3
APPLICATION = 1_200_000 if LONG else 560_000  # that cannot be compressed; it takes longer than a stall may
RESULT = 1_000_000 if LONG else 120_000
BREAKS = 100_000  # bytes, on average, until a connection breaks
CONNECTION = 6_000  # bytes each way at most, 3,900 on average: a handshake, what is asked again, and the TLS record that broke
FETCHING = re.compile(r"fetching what large needs: \d+ % of [\d.]+ [kM]B at [\d.]+ kB/s")
SETTINGS = "work.heartbeat_seconds = 10\nwork.commit_seconds = 1\n"


def large(grid, bytes_of_it, result):
    bundle = squares_copy(grid.directory / "large", "large", result)
    (bundle / "noise.bin").write_bytes(random.Random(3).randbytes(bytes_of_it))
    return bundle


class SlowLine(unittest.TestCase):
    def join(self, grid, name, link):
        grid.join(name, code=code_at(grid.own_code, f"127.0.0.1:{link.port}"))

    def test_killed_in_the_middle_each_byte_crosses_about_once(self):
        with Grid(SETTINGS) as grid:
            grid.start_server()
            grid.add_application(large(grid, APPLICATION, RESULT))
            link = Link(grid.port, up=LINE, down=LINE, latency=0.05, loss=0.03, breaks=BREAKS)
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
            for part in (0.4, 0.7):
                grid.wait_until("a part of it", lambda: crossed("down") > part * APPLICATION, 240)
                grid.kill("pc", signal.SIGKILL)
                grid.start_client("pc")
            grid.wait_until("its result on the way", lambda: crossed("up") > RESULT / 2, 480)
            grid.kill("pc", signal.SIGKILL)
            grid.start_client("pc")
            grid.wait_finished(identity, 480)
            connections = link.connections - connections
            print(f"down {crossed('down')} of {APPLICATION}, up {crossed('up')} of {RESULT}, {connections} connections", flush=True)
            self.assertLess(crossed("down"), 1.05 * APPLICATION + CONNECTION * connections)
            self.assertLess(crossed("up"), 1.05 * RESULT + CONNECTION * connections)

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
