"""A large result takes its time on a relay's link: what else the relay has to say does not wait for it."""
import time
import unittest

from harness import main
from kernels import squares_copy
from tree import Tree

RESULT = 1_200_000  # bytes, that cannot be compressed
LINK = 100_000  # bytes a second: a result takes 12 s


class SlowLink(unittest.TestCase):
    def asked(self, grid):
        return grid.figures().get('gleaner_requests_total{kind="work",code="2xx"}', 0)

    def test_a_large_result_keeps_nothing_else_waiting(self):
        with Tree("work.heartbeat_seconds = 1\nwork.commit_seconds = 1\n") as grid:
            grid.start_server()
            grid.add_application(squares_copy(grid.directory / "large", "large", RESULT))
            grid.add_relay("lab", up=LINK)
            grid.join("pc", code=grid.relay_code("lab"))
            grid.start_client("pc")
            identity = grid.add_problem("large", "large", count=2)
            link = grid.links["lab"]
            begun = link.bytes["up"]
            grid.wait_until("a result is on its way", lambda: link.bytes["up"] - begun > 300_000)
            before, at = self.asked(grid), time.monotonic()
            time.sleep(6)
            asked, went = self.asked(grid) - before, link.bytes["up"] - begun
            self.assertLess(went, RESULT, "the first result is there already: nothing was seen")
            self.assertGreaterEqual(asked, 2, f"of the relay nothing was heard for {time.monotonic() - at:.0f} s")
            grid.wait_finished(identity, 120)


if __name__ == "__main__":
    main()
