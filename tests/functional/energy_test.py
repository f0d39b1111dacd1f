"""Owners say what a core draws: where a problem has fewer items than cores wait for it, the thrifty ones get them."""
import time
import unittest

from harness import SQUARES, Grid, main

WATTS = {"hungry-1": 40, "hungry-2": 40, "thrifty-1": 5, "thrifty-2": 5}


class Energy(unittest.TestCase):
    def test_few_items_go_to_the_computers_that_draw_least(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            for name, watts in WATTS.items():
                grid.join(name)
                grid.control(name, "prefs", "set", "watts_per_core", watts)
                grid.start_client(name)
            names = {grid.host_id(name): name for name in WATTS}
            grid.wait_finished(grid.add_problem("squares", "for all", "--strategy", "ss", count=40))
            for number in range(4):
                time.sleep(1)  # all have heard that there is no more
                identity = grid.add_problem("squares", f"few {number}", count=2)
                grid.wait_finished(identity)
                units = [u for u in grid.admin_json("problem", "decisions", identity)["items"] if u["kind"] == "fresh"]
                self.assertEqual({names[unit["host"]].split("-")[0] for unit in units}, {"thrifty"}, units)


if __name__ == "__main__":
    main()
