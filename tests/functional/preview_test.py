"""What `problem preview` shows of the items in hand: the rows that are there, as they are in the result, and gaps."""
import random
import shutil
import unittest

from display import read_png
from harness import BUILD, MANDELBROT, RAYTRACE, SQUARES, FakeHost, Grid, made_up_dna, made_up_search, main

GAP = bytes([0x28])


class Preview(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.grid = Grid("work.commit_seconds = 1")
        cls.grid.__enter__()
        cls.addClassCleanup(cls.grid.__exit__, None, None, None)
        cls.grid.start_server()
        cls.grid.join("worker")

    def hold_back(self, identity):
        """A host that takes the first unit and is silent; the rest is computed. Returns it and the range that it holds."""
        host = FakeHost(self.grid, f"silent-{identity}")
        _, reply = host.work()
        held = reply["decoded"][0]["range"]
        self.grid.start_client("worker")
        rest = self.grid.problem(identity)["items"] - (held["end"] - held["begin"])
        self.assertGreater(rest, 0)
        self.grid.wait_until("the other items", lambda: self.grid.problem(identity)["accepted"] == rest, 60)
        return host, range(held["begin"], held["end"])

    def preview(self, identity, *arguments, check=True):
        target = self.grid.directory / f"preview-{identity}"
        done = self.grid.admin("problem", "preview", identity, "-o", target, *arguments, check=check)
        return done, {path.name: path.read_bytes() for path in target.iterdir()} if target.exists() else {}

    def shown(self, bundle, name, picture, **parameters):
        """The preview with a unit missing, against the result when it has come."""
        self.grid.add_application(bundle)
        identity = self.grid.add_problem(name, name, "--straggler", "none", **parameters)
        nothing, _ = self.preview(identity, check=False)
        self.assertNotEqual(nothing.returncode, 0)
        self.assertIn("none of its items is here yet", nothing.stderr)
        host, held = self.hold_back(identity)
        said, files = self.preview(identity)
        items = parameters["height"]
        self.assertIn(f"from {items - len(held):,} of {items:,} items of stage 1", said.stdout)
        self.grid.request("POST", "/v1/leave", {}, host.token)
        info = self.grid.wait_finished(identity)
        results = self.grid.results(identity)
        self.assertEqual(results, self.grid.run_local(bundle, **parameters))
        self.assertEqual(sorted(files), sorted(results))
        width, height, early = read_png(files[picture])
        self.assertEqual((width, height), (parameters["width"], parameters["height"]))
        _, _, late = read_png(results[picture])
        for row in range(height):
            here = slice(3 * width * row, 3 * width * (row + 1))
            self.assertEqual(early[here], 3 * width * GAP if row in held else late[here], f"row {row}")
        over, _ = self.preview(identity, check=False)
        self.assertIn("problem result", over.stderr)
        self.assertEqual(info["accepted"], items)
        self.grid.kill("worker")

    def test_mandelbrot(self):
        self.shown(MANDELBROT, "mandelbrot", "image.png", width=40, height=30)

    def test_raytrace(self):
        self.shown(RAYTRACE, "raytrace", "image.png", width=40, height=30, scene="A")

    def test_every_other_application_shows_something(self):
        source = random.Random(7)
        query = made_up_dna(source, 60)
        records = [made_up_dna(source, 150) for _ in range(120)]
        records[70] += query
        inputs = made_up_search(self.grid.directory, query, records)
        problems = {
            "photons": ([], dict(tissue="slab", photons=8000, item_photons=500)),
            "dsearch": (inputs, dict(matrix="dnafull", top=10, chunk_residues=1000, item_cells=80000)),
            "passwords": ([], dict(digest="md5", generate=100, maximum_length=3, item_candidates=2000)),
            "tsp": ([], dict(random_cities=10, symmetry="true")),
            "hologram": ([], dict(synthetic="points", points=7, background=1, rows=256, columns=256, distance_millimetres=-12)),
        }
        for name, (arguments, parameters) in problems.items():
            with self.subTest(name):
                bundle = BUILD / "bundles" / name
                self.grid.add_application(bundle)
                identity = self.grid.add_problem(name, name, "--straggler", "none", "--strategy", "ss", *arguments, **parameters)
                host, held = self.hold_back(identity)
                said, files = self.preview(identity)
                items = self.grid.problem(identity)["items"]
                self.assertIn(f"from {items - len(held):,} of {items:,} items of stage 1",
                              said.stdout)
                self.assertNotEqual(files, {})
                self.assertEqual([file for file, content in files.items() if not content], [])
                self.grid.request("POST", "/v1/leave", {}, host.token)
                self.grid.wait_finished(identity)
                self.assertEqual(self.grid.results(identity), self.grid.run_local(bundle, *arguments, **parameters))
                self.grid.kill("worker")

    def test_walks_towards_a_logarithm(self):
        self.grid.add_application(BUILD / "bundles" / "dlog")
        identity = self.grid.add_problem("dlog", "dlog", random_bits=76, item_walks=50)
        self.grid.start_client("worker")
        self.grid.wait_until("some walks", lambda: self.grid.problem(identity)["accepted"] > 0, 60)
        _, files = self.preview(identity)
        self.assertNotEqual(files, {})
        self.grid.admin("problem", "cancel", identity)
        self.grid.kill("worker")

    def test_an_application_without_a_preview(self):
        bundle = self.grid.directory / "blind"
        shutil.copytree(SQUARES, bundle)
        manager = bundle / "manager.py"
        manager.write_text(manager.read_text().replace('("combine", "preview")', '("combine",)'))
        self.grid.add_application(bundle)
        identity = self.grid.add_problem("squares", "blind", "--straggler", "none", count=40)
        host, _ = self.hold_back(identity)
        refused, files = self.preview(identity, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("there is no preview: the application says: unknown command", refused.stderr)
        self.assertEqual(files, {})
        # It changed nothing: the rest comes, and is combined.
        self.grid.request("POST", "/v1/leave", {}, host.token)
        self.grid.wait_finished(identity)
        self.assertEqual(self.grid.results(identity), {"sum.txt": f"{sum(i * i for i in range(40))}\n".encode()})
        self.grid.kill("worker")


if __name__ == "__main__":
    main()
