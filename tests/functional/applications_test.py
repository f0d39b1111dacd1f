"""Each application from `problem add` through a real server and two clients: the artefacts that one process computes."""
import array
import gzip
import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from display import read_png
from harness import BUILD, Grid, local_arguments, main, needs

BUNDLES = BUILD / "bundles"
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"


def protein(source, length):
    return "".join(source.choices(AMINO_ACIDS, k=length))


def relative(source, text, change):
    """Some residues are replaced, lost or added."""
    kept = [source.choice(AMINO_ACIDS) if source.random() < change else letter for letter in text if source.random() > change / 4]
    return "".join(letter + (protein(source, 3) if source.random() < change / 8 else "") for letter in kept)


def fasta(records):
    return "".join(f">{name}\n{text}\n" for name, text in records)


def table(content):
    """A result's rows by the names in its first line."""
    head, *rows = (line.split("\t") for line in content.decode().splitlines())
    return [dict(zip(head, row)) for row in rows]


def plain_count(x, y, bits, iterations):
    """z <- z^2 + c with integers of `bits` bits after the point: how often until |z| > 2."""
    re, im, four = 0, 0, 4 << (2 * bits)
    for count in range(iterations):
        re, im = ((re * re - im * im) >> bits) + x, ((re * im) >> (bits - 1)) + y
        if re * re + im * im > four:
            return count
    return iterations


class Applications(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.grid = Grid("work.unit_minimum_seconds = 0.1\nwork.unit_maximum_seconds = 1.0")
        cls.grid.__enter__()
        cls.addClassCleanup(cls.grid.__exit__, None, None, None)
        cls.grid.start_server()
        for name in ("a", "b"):
            cls.grid.add_client(name)

    def compute(self, application, *arguments, **parameters):
        """The results through the grid, those of run-local, and what the server says of the problem."""
        if application not in self.applications:
            self.grid.add_application(BUNDLES / application)
            self.applications.add(application)
        self.problems.append(application)
        identity = self.grid.add_problem(application, f"{application}-{len(self.problems)}", *arguments, **parameters)
        info = self.grid.wait_finished(identity)
        return self.grid.results(identity), self.grid.run_local(BUNDLES / application, *arguments, **parameters), info

    applications = set()
    problems = []

    def test_passwords(self):
        results, local, info = self.compute("passwords", digest="sha1", generate=500, maximum_length=4,
                                            item_candidates=40000, reveal="true")
        self.assertEqual(results, local)
        self.assertEqual(sorted(results), ["found.svg", "found.tsv", "report.txt"])
        self.assertIn(b"Tested: 1,727,604 guesses in order of length, 100.0 % of the plan", results["report.txt"])
        self.assertEqual(info["accepted"], 44)

    def test_tsp(self):
        results, local, info = self.compute("tsp", random_cities=12, symmetry="true")
        self.assertEqual(results, local)
        self.assertEqual(sorted(results), ["best.tour", "report.json", "tour.svg"])
        report = json.loads(results["report.json"])
        self.assertTrue(report["proven_complete"])
        self.assertEqual(report["visited"], math.factorial(11) // 2)
        self.assertEqual(info["accepted"], 110)
        bounded, local, _ = self.compute("tsp", random_cities=12, mode="branch-and-bound")
        self.assertEqual(bounded, local)
        self.assertEqual(json.loads(bounded["report.json"])["tour"], report["tour"])

    def test_mandelbrot_deep(self):
        """2e-100 wide around i: doubles cannot tell any two of its points apart. The manager's orbit goes to the kernels."""
        side, iterations, width, bits = 15, 2000, "2e-100", 600
        results, local, info = self.compute("mandelbrot", centre_x=0, centre_y=1, view_width=width, width=side, height=side,
                                            iterations=iterations)
        self.assertEqual(results, local)
        self.assertEqual(sorted(results), ["counts.json", "image.png"])
        self.assertEqual(info["accepted"], side)
        self.assertGreater(len(set(zip(*[iter(read_png(results["image.png"])[2])] * 3))), 5, "a picture of one colour")
        half = ((1 << bits) * 2) // 10 ** 100 // (2 * side)  # of a pixel, with 600 bits after the point
        counts = [plain_count(half * (2 * column + 1 - side), (1 << bits) + half * (side - 2 * row - 1), bits, iterations)
                  for row in range(side) for column in range(side)]
        totals = json.loads(results["counts.json"])
        self.assertEqual((totals["summed_counts"], totals["never_escaping"]), (sum(counts), counts.count(iterations)))

    def test_raytrace_animation(self):
        parameters = dict(scene="A", width=32, height=24, frames=6, orbit=360)
        results, local, info = self.compute("raytrace", first_frame=1, last_frame=4, **parameters)
        self.assertEqual(results, local)
        frames = [f"frame-{frame:05}.png" for frame in range(1, 5)]
        self.assertEqual(sorted(results), ["animation.png", *frames])
        self.assertEqual(info["accepted"], 4 * 24)
        pictures = {frame: read_png(results[frame])[2] for frame in frames}
        self.assertEqual(len(set(pictures.values())), 4, "the camera does not move")
        # A frame does not depend on which range it was computed in.
        alone = self.grid.run_local(BUNDLES / "raytrace", first_frame=3, last_frame=4, **parameters)
        for frame in frames[2:]:
            self.assertEqual(alone[frame], results[frame])

    def test_dlog(self):
        results, local, info = self.compute("dlog", random_bits=57, item_walks=50)
        self.assertEqual(results["answer.json"], local["answer.json"])
        answer = {key: value if key == "verified" else int(value) for key, value in json.loads(results["answer.json"]).items()}
        self.assertTrue(answer["verified"])
        self.assertEqual(pow(answer["g"], answer["x"], answer["p"]), answer["y"])
        # A stage that ended early counts as whole; the hosts' shares say what was computed.
        self.assertLess(sum(share["items"] for share in info["shares"]), info["items"], "the collision did not end it")

    def test_hologram(self):
        """Three stages; the server is killed and started again in each of them."""
        self.grid.add_application(BUNDLES / "hologram")
        parameters = dict(synthetic="points", points=7, background=1, rows=512, columns=256, distance_millimetres=-12,
                          output="complex", raw="true")
        identity = self.grid.add_problem("hologram", "hologram", **parameters)
        restarted = set()

        def finished():
            info = self.grid.problem(identity)
            self.assertNotIn(info["state"], ("failed", "cancelled"), info["message"])
            if info["state"] != "finished" and info["stage"] not in restarted:
                restarted.add(info["stage"])
                self.grid.kill("server")
                self.grid.start_server()
            return info["state"] == "finished"

        self.grid.wait_until("the hologram", finished, 120)
        self.assertTrue(restarted)
        results = self.grid.results(identity)
        self.assertEqual(results, self.grid.run_local(BUNDLES / "hologram", **parameters))
        self.assertEqual(sorted(results), ["amplitude.png", "field.c64", "phase.png", "report.json"])
        report = json.loads(results["report.json"])
        self.assertEqual(report["warnings"], [])
        view = report["views"][0]
        self.assertAlmostEqual(view["energy_after"] / view["energy_before"], 1, places=5)
        # The points are in focus: nothing else is as bright as they are.
        field = array.array("f", results["field.c64"])
        brightness = [field[2 * i] ** 2 + field[2 * i + 1] ** 2 for i in range(512 * 256)]
        brightest = sorted(range(len(brightness)), key=brightness.__getitem__)[-7:]
        golden = math.pi * (3 - math.sqrt(5))
        expected = []
        for i in range(7):
            radius = 0.3 * 256 * math.sqrt((i + 0.5) / 7)
            expected.append((256 + math.floor(radius * math.sin(golden * i))) * 256 + 128
                            + math.floor(radius * math.cos(golden * i)))
        self.assertEqual(sorted(brightest), sorted(expected))

    def test_hologram_of_a_file(self):
        """Hosts fetch the parts that their blocks of rows need, never the whole; later stages see nothing of it."""
        source = random.Random(8)
        path = pathlib.Path(self.grid.directory) / "noise.pgm"
        path.write_bytes(b"P5\n200 300\n65535\n" + source.randbytes(2 * 200 * 300))
        results, local, _ = self.compute("hologram", "--input", f"hologram={path}", distance_millimetres=-8, output="complex",
                                         raw="true", apertures="0,0,300,200; 40,-20,100,100")
        self.assertEqual(results, local)
        self.assertEqual(len(results), 2 * 3 + 1)
        report = json.loads(results["report.json"])
        for view in report["views"]:
            self.assertAlmostEqual(view["energy_after"] / view["energy_before"], 1, places=5)
        for name in ("a", "b"):
            self.assertNotIn("hologram", {path.name for path in self.grid.state(name).rglob("inputs/*")})

    def test_photons(self):
        results, local, info = self.compute("photons", layers="above 1; layer skin 1.4 1 90 0.8 0.1; layer fat 1.45 0.3 60 0.9 0.3",
                                            photons=40000, item_photons=1000, detector_radius=0.2, visits="true")
        self.assertEqual(results, local)
        self.assertEqual(sorted(results), ["angle.tsv", "depth.svg", "depth.tsv", "fluence.png", "fluence.tsv", "paths.svg",
                                           "paths.tsv", "radius.svg", "radius.tsv", "report.json", "report.txt", "visits.png"])
        report = json.loads(results["report.json"])
        self.assertEqual(report["photons"], 40000)
        together = report["specular"] + sum(report[part]["value"] for part in ("reflected", "absorbed", "transmitted"))
        self.assertAlmostEqual(together, 1, delta=1e-3)  # roulette keeps weight on average only
        self.assertGreater(report["detected_photons"], 100)
        self.assertEqual(info["accepted"], 40)

    def test_dsearch(self):
        source = random.Random(5)
        queries = [("first", protein(source, 150)), ("second", protein(source, 80))]
        records = [(f"chance{i}", protein(source, source.randint(30, 300))) for i in range(1200)]
        records[700:700] = [("near", protein(source, 20) + relative(source, queries[0][1], 0.1)), ("empty", "")]
        records[300:300] = [("far", relative(source, queries[0][1], 0.3))]
        directory = pathlib.Path(self.grid.directory)
        (directory / "query.fa").write_text(fasta(queries))
        (directory / "database.fa.gz").write_bytes(gzip.compress(fasta(records).encode()))
        inputs = ["--input", f"query={directory / 'query.fa'}", "--input", f"database={directory / 'database.fa.gz'}"]
        results, local, info = self.compute("dsearch", *inputs, top=20, chunk_residues=8000, item_cells=800000)
        self.assertEqual(results, local)
        self.assertEqual(sorted(results), ["alignments.sam", "alignments.txt", "hits.tsv", "report.txt", "scores.svg"])
        hits = table(results["hits.tsv"])
        self.assertEqual([hit["record"] for hit in hits if hit["query"] == "first"][:2], ["near", "far"])
        self.assertLess(float(hits[0]["evalue"]), 1e-20)
        self.assertIn(b"1,203 records compared", results["report.txt"])
        self.assertEqual(info["stage"], 1)
        self.assertEqual(info["items"], len(hits))
        # Kernels got the parts of the database that they worked on, never the whole.
        laid_out = {path.name for name in ("a", "b") for path in self.grid.state(name).rglob("inputs/*")}
        self.assertIn("layout", laid_out)
        self.assertNotIn("database", laid_out)


class OtherAligners(unittest.TestCase):
    """dsearch's scores are those of independent programs, where these are installed."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        source = random.Random(6)
        query = protein(source, 120)
        cls.records = [(f"r{i}", relative(source, query, 0.2 + 0.015 * i) if i < 40 else protein(source, 150)) for i in range(60)]
        (cls.directory / "query.fa").write_text(fasta([("q", query)]))
        (cls.directory / "database.fa").write_text(fasta(cls.records))

    def scores(self, mode):
        target = self.directory / mode
        subprocess.run([BUILD / "bin" / "gleaner-admin", "run-local", BUNDLES / "dsearch", "--param", f"mode={mode}",
                        "--param", "top=1000", "--param", "gap_open=11", "--param", "gap_extend=1",
                        *(["--param", "statistics=none"] if mode == "sw" else []),
                        "--input", f"query={self.directory / 'query.fa'}", "--input", f"database={self.directory / 'database.fa'}",
                        "-o", target, *local_arguments()], check=True, capture_output=True)
        return {hit["record"]: int(hit["score"]) for hit in table((target / "hits.tsv").read_bytes())}

    def emboss(self, program, *options):
        out = self.directory / program
        subprocess.run([program, "-asequence", self.directory / "query.fa", "-bsequence", self.directory / "database.fa",
                        "-datafile", "EBLOSUM62", "-gapopen", "11", "-gapextend", "1", "-aformat", "score", "-outfile", out,
                        *options], check=True, capture_output=True)
        return {name: float(score) for name, score in re.findall(r"^q (\S+) \d+ \((-?[\d.]+)\)", out.read_text(), re.M)}

    @unittest.skipUnless(shutil.which("water"), "EMBOSS is not installed: its water and needle are not compared with")
    def test_emboss(self):
        self.assertEqual(self.scores("sw"), self.emboss("water"))
        self.assertEqual(self.scores("nw"), self.emboss("needle", "-endweight", "Y", "-endopen", "11", "-endextend", "1"))
        self.assertEqual(self.scores("sg"), self.emboss("needle"))

    @needs(shutil.which("ssearch36"), "fasta3 is not installed: its ssearch36 is not compared with")
    def test_ssearch(self):
        done = subprocess.run(["ssearch36", "-q", "-s", "BL62", "-f", "-10", "-g", "-1", "-E", "1000000", "-b", "1000", "-d", "0",
                               self.directory / "query.fa", self.directory / "database.fa"],
                              check=True, capture_output=True, text=True)
        theirs = {name: int(score) for name, score in re.findall(r"^(r\d+)\s+\(\s*\d+\)\s+(\d+)\s", done.stdout, re.M)}
        self.assertGreater(len(theirs), 30)
        ours = self.scores("sw")
        self.assertEqual({name: ours[name] for name in theirs}, theirs)


if __name__ == "__main__":
    main()
