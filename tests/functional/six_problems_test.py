"""The six problems of the thesis at once under one server, with a strategy of each family, and all applications through kills:
the artefacts of single processes."""
import json
import pathlib
import random
import unittest

from harness import BUILD, Grid, made_up_dna, made_up_search, main

BUNDLES = BUILD / "bundles"
FAMILIES = {"classic self-scheduling": "gss", "workers' sizes": "wis", "mapping": "pn", "fluid": "gleaner"}
CLIENTS = {"a": 1.0, "b": 0.5, "c": 0.5}


class SixProblems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.grid = Grid("work.unit_minimum_seconds = 0.1\nwork.unit_maximum_seconds = 1.0\nwork.commit_seconds = 1")
        cls.grid.__enter__()
        cls.addClassCleanup(cls.grid.__exit__, None, None, None)
        cls.grid.start_server()
        for name in CLIENTS:
            cls.grid.join(name)
        directory, source = pathlib.Path(cls.grid.directory), random.Random(7)
        query = made_up_dna(source, 60)
        records = [made_up_dna(source, 150) for _ in range(120)] + [made_up_dna(source, 40) + query[:50] + made_up_dna(source, 30)]
        inputs = made_up_search(directory, query, records)
        passwords = dict(generate=100, maximum_length=3, item_candidates=4000)
        # As table 2.1 of the thesis names them: the application, further arguments, parameters.
        cls.problems = {
            "SLTT": ("photons", [], dict(tissue="slab", photons=8000, item_photons=500)),
            "DSEARCH": ("dsearch", inputs, dict(matrix="dnafull", top=10, chunk_residues=1000, item_cells=80000)),
            "MD5": ("passwords", [], dict(digest="md5", **passwords)),
            "SHA1": ("passwords", [], dict(digest="sha1", **passwords)),
            "ElGamal": ("dlog", [], dict(random_bits=44, item_walks=20)),
            "TSP": ("tsp", [], dict(random_cities=10, symmetry="true")),
        }
        # The other applications: with them, all eight.
        cls.others = {
            "rendering": ("raytrace", [], dict(scene="B", width=64, height=48)),
            "zoom": ("mandelbrot", [], dict(width=96, height=64, iterations=5000)),
            "focus": ("hologram", [], dict(synthetic="points", points=5, background=1, rows=256, columns=256, distance_millimetres=-12)),
        }
        for application in sorted({application for application, _, _ in [*cls.problems.values(), *cls.others.values()]}):
            cls.grid.add_application(BUNDLES / application)
        cls.expected = {name: cls.results_of(application, cls.grid.run_local(BUNDLES / application, *arguments, **parameters))
                        for name, (application, arguments, parameters) in [*cls.problems.items(), *cls.others.items()]}

    @staticmethod
    def results_of(application, files):
        # How many walks a logarithm took depends on who computed what; the logarithm does not.
        return {"answer.json": files["answer.json"]} if application == "dlog" else files

    def add_all(self, problems, strategy, label):
        return {name: self.grid.add_problem(application, f"{name}-{label}", "--strategy", strategy, *arguments, **parameters)
                for name, (application, arguments, parameters) in problems.items()}

    def run_all(self, strategy):
        identities = self.add_all(self.problems, strategy, strategy)
        states = {info["name"]: info["state"] for info in self.grid.admin_json("problem", "list")["items"]}
        for name in self.problems:
            self.assertEqual(states[f"{name}-{strategy}"], "running")  # all of them, before any host has come
        for name, share in CLIENTS.items():
            self.grid.start_client(name, share=share)
        for name, identity in identities.items():
            info = self.grid.wait_finished(identity)
            self.assertTrue(info["strategy"].startswith(strategy), info["strategy"])
            self.assertEqual(self.results_of(self.problems[name][0], self.grid.results(identity)), self.expected[name], name)
        hosts = {share["name"] for identity in identities.values() for share in self.grid.problem(identity)["shares"]
                 if share["items"] > 0}
        self.assertGreater(len(hosts), 1, "one host did everything")
        for name in CLIENTS:
            self.grid.kill(name)

    def test_the_expected_is_right(self):
        """What is compared with is itself what it should be."""
        answer = {key: value if key == "verified" else int(value)
                  for key, value in json.loads(self.expected["ElGamal"]["answer.json"]).items()}
        self.assertEqual(pow(answer["g"], answer["x"], answer["p"]), answer["y"])
        self.assertTrue(json.loads(self.expected["TSP"]["report.json"])["proven_complete"])
        self.assertEqual(json.loads(self.expected["SLTT"]["report.json"])["photons"], 8000)
        names, best = (line.split("\t") for line in self.expected["DSEARCH"]["hits.tsv"].decode().splitlines()[:2])
        self.assertEqual(dict(zip(names, best))["record"], "r120")
        self.assertNotEqual(self.expected["MD5"]["found.tsv"], self.expected["SHA1"]["found.tsv"])

    def test_all_eight_applications_through_kills(self):
        """Seven clients, of which two are killed with work in hand, and the server is killed: the same bytes, every item once."""
        for name in "defg":
            self.grid.join(name)
        clients = [*"defg", *CLIENTS]
        everything = {**self.problems, **self.others}
        identities = self.add_all(everything, "gleaner", "killed")
        for name in clients:
            self.grid.start_client(name)

        def in_hand(name):
            asked = self.grid.control(name, "status", "--json", check=False)  # it may not listen yet
            return asked.returncode == 0 and json.loads(asked.stdout)["status"]["units_in_hand"] > 0

        self.grid.wait_until("work in the hands of two", lambda: in_hand("d") and in_hand("e"))
        for name in ("d", "e"):
            self.grid.kill(name)
        self.grid.kill("server")
        self.grid.start_server()
        for name, identity in identities.items():
            info = self.grid.wait_finished(identity)
            self.assertEqual(info["accepted"], info["items"], name)
            self.assertEqual(self.results_of(everything[name][0], self.grid.results(identity)), self.expected[name], name)
        for name in clients:
            if name not in ("d", "e"):
                self.grid.kill(name)

    def test_all_families(self):
        for family, strategy in FAMILIES.items():
            with self.subTest(family, strategy=strategy):
                self.run_all(strategy)


if __name__ == "__main__":
    main()
