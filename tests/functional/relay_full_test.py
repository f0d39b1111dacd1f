"""A relay whose disk is full: it gives its leases back and says so, the project's other hosts compute them, and its log stays short."""
import unittest

from computers import SmallDisk, may_unshare
from harness import main
from kernels import Held
from tree import Tree


class Full(unittest.TestCase):
    @unittest.skipUnless(may_unshare(), "only root may mount a small disk")
    def test_a_relay_whose_disk_is_full_gives_its_work_back(self):
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 600, pause=0.1, item_bytes=30_000)
            disk = SmallDisk(grid.relay_directory("lab"), 64)
            self.addCleanup(disk.close)
            grid.add_relay("lab", settings="store.disk_reserve_megabytes = 4")
            identity = held.add()
            grid.add_under("lab", held, "pc")
            grid.wait_until("results", lambda: grid.problem(identity)["accepted"] > 10, 120)
            self.assertEqual(self.warnings(grid), [])
            disk.fill()

            grid.wait_until("the relay's word", lambda: "the relay lab" in " ".join(self.warnings(grid)), 120)
            self.assertIn("nearly full", " ".join(self.warnings(grid)))
            grid.wait_until("what it leased", lambda: self.held_by(grid, "lab") == 0, 120)
            # A host beside it computes what it gave back, up to the last item, which is not computed before the end.
            held.add_client("direct")
            grid.wait_until("the rest", lambda: grid.problem(identity)["accepted"] >= held.count - 1, 240)
            self.assertLess(grid.log("lab").count("how far the store is cannot be written down"), 4)
            self.assertLess(grid.log("lab").count("the store refused a transaction"), 10)
            held.let_go()
            grid.wait_finished(identity, 120)
            self.assertEqual(grid.results(identity), held.expected)

            disk.empty()
            grid.wait_until("the all-clear", lambda: self.warnings(grid) == [], 120)
            grid.kill("direct")
            again = grid.add_problem("held", "again", count=20)
            info = grid.wait_finished(again, 240)
            self.assertEqual({share["name"] for share in info["shares"] if share["items"]}, {"lab"})

    def warnings(self, grid):
        return grid.admin_json("status")["warnings"]

    def held_by(self, grid, name):
        hosts = {host["name"]: host["id"] for host in grid.admin_json("host", "list")["items"]}
        return int(grid.rows(f"SELECT count(*) FROM units WHERE host = {hosts[name]} AND state = 1")[0][0])


if __name__ == "__main__":
    main()
