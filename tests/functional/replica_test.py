"""The short form of tests/faults/replica.py: a primary is killed under load, its synchronous standby promoted, nothing acknowledged is
missing; and without a synchronous standby something is, is told, and the server does not go on as if nothing had been."""
import os
import subprocess
import sys
import unittest

import postgres
from harness import BUILD, SLOW, SOURCE, main, needs


@needs(not postgres.WHY_NOT, postgres.WHY_NOT)
class Replica(unittest.TestCase):
    def run_trial(self, *arguments):
        done = subprocess.run([sys.executable, SOURCE / "tests" / "faults" / "replica.py", "--trials", "1", *arguments],
                              capture_output=True, text=True, timeout=200 * SLOW, env={**os.environ, "GLEANER_BUILD": str(BUILD)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print(done.stdout, flush=True)
        return done.stdout

    def test_nothing_acknowledged_is_missing_from_the_promoted_standby(self):
        self.assertIn("none is missing", self.run_trial())

    def test_the_comparison_finds_what_an_asynchronous_standby_lacks(self):
        self.assertIn("are missing, as they must be", self.run_trial("--asynchronous"))


if __name__ == "__main__":
    main()
