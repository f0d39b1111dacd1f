"""Front ends of a project whose blobs are in an object store (OpenStack Swift): downloads come from there, past the server; large
results pass to the server, which keeps them there."""
import unittest

import swift
from fronts_test import COPIED, Fronts
from harness import MANDELBROT, main, needs

# Some segments of more than 64 KiB, which are uploaded.
PROBLEM = {"width": 6000, "height": 60, "iterations": 2000}


@needs(not swift.WHY_NOT, swift.WHY_NOT)
class OnObjects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = cls.enterClassContext(swift.Swift())

    def test_a_problem_through_a_front_end(self):
        with Fronts(f'blobs.url = "{self.store.url("front")}"\n') as grid:
            keys = grid.project / "keys" / "blobs.keys"
            keys.write_text(f"{swift.KEY}\n{swift.SECRET}\n")
            keys.chmod(0o600)
            grid.start_leader()
            directory = grid.make_front("one", keys=(*COPIED, "keys/blobs.keys"))
            grid.start_front("one", grid.port)
            grid.wait_ready(grid.port)
            grid.add_application(MANDELBROT)
            identity = grid.add_problem("mandelbrot", "view", **PROBLEM)
            grid.add_client("a")
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity), grid.run_local(MANDELBROT, **PROBLEM))
            self.assertTrue(any((directory / "blobs").rglob("*")), "the front end fetched nothing")
            cached = sorted((directory / "blobs").glob("*/*"))
            for file in cached:
                file.unlink()
            with self.subTest("a blob that only the store has, of a front end that was started anew"):
                grid.kill("one")
                grid.start_front("one", grid.port)
                grid.wait_ready(grid.port)
                status, _, data = grid.request("GET", f"/v1/blobs/{cached[0].name}", token=grid.admin_token, raw=True)
                self.assertEqual(status, 200)
                self.assertGreater(len(data), 0)


if __name__ == "__main__":
    main()
