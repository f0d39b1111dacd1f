"""Each application from `problem add` through a real server and two clients: the artefacts that one process computes."""
import json
import math
import unittest

from harness import BUILD, Grid, main

BUNDLES = BUILD / "bundles"


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

    def test_dlog(self):
        results, local, info = self.compute("dlog", random_bits=57, item_walks=50)
        self.assertEqual(results["answer.json"], local["answer.json"])
        answer = {key: value if key == "verified" else int(value) for key, value in json.loads(results["answer.json"]).items()}
        self.assertTrue(answer["verified"])
        self.assertEqual(pow(answer["g"], answer["x"], answer["p"]), answer["y"])
        # A stage that ended early counts as whole; the hosts' shares say what was computed.
        self.assertLess(sum(share["items"] for share in info["shares"]), info["items"], "the collision did not end it")


if __name__ == "__main__":
    main()
