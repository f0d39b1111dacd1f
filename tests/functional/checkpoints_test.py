"""A long item that one computer began and another one ends: the same bytes, without what the first one did again."""
import json
import re
import unittest

from harness import Grid, built, main

# A line takes a core two seconds or more; the first computer gives a tenth of one.
PICTURE = {"scene": "D", "width": 16000, "height": 2, "samples": 225}


class Checkpoints(unittest.TestCase):
    def test_a_line_goes_on_where_a_lost_computer_left_it(self):
        with Grid("work.commit_seconds = 1") as grid:
            grid.start_server()
            grid.add_application(built("bundles/raytrace"))
            expected = grid.run_local(built("bundles/raytrace"), **PICTURE)
            grid.add_client("a", share=0.1)
            identity = grid.add_problem("raytrace", "picture", "--strategy", "ss", **PICTURE)
            grid.wait_until("some of a line to be saved", lambda: self.saved(grid) > 0.2, 120)
            grid.kill("a")  # its kernel dies with it
            grid.add_client("b")
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["image.png"], expected["image.png"])
            reasons = [d["reason"] for d in grid.admin_json("problem", "decisions", identity)["items"]]
            begun = [m for m in (re.search(r"continues where host \d+ left it, (\d+) % done", r) for r in reasons) if m]
            self.assertTrue(begun, reasons)
            replayed = json.loads(grid.run("gleaner-sim", "replay", self.log(grid), "--json").stdout)
            self.assertTrue(replayed["same"], replayed)
            self.assertIn("continues where another computer left it", grid.log("b"))
            self.assertGreaterEqual(int(begun[0][1]), 20)

    @staticmethod
    def log(grid):
        return grid.project / "decisions" / "project.jsonl"

    def saved(self, grid):
        """The largest share of an item in progress that the server keeps."""
        shares = {}
        if not self.log(grid).exists():
            return 0
        for line in self.log(grid).read_text().splitlines():
            event = json.loads(line).get("event", {}) if line.endswith("}") else {}
            if event.get("event") == "save" and event["answer"] == "kept":
                shares[event["item"]] = event["share"]
            elif event.get("event") == "commit":
                for item in range(*event["range"]):
                    shares.pop(item, None)
        return max(shares.values(), default=0)



if __name__ == "__main__":
    main()
