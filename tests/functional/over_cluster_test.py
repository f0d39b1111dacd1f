"""The short form of the functional suite over PostgreSQL and an object store, which all its tests share (cluster.py; CONTRIBUTING.md has
the long form): a whole grid, a server killed under load with a ledger of what it acknowledged, damaged results."""
import os
import pathlib
import subprocess
import sys
import unittest

import cluster
from harness import BUILD, SLOW, main, needs

TESTS = ("grid_test.WholeGrid.test_any_language_computes_and_combines", "grid_test.WholeGrid.test_a_host_leaves_and_its_work_goes_on",
         "loadgen_test.Load.test_nothing_acknowledged_is_missing_after_a_kill",
         "damage_test.Damage.test_damaged_and_deleted_segments_are_computed_again")


@needs(not cluster.WHY_NOT, cluster.WHY_NOT)
class OverCluster(unittest.TestCase):
    def test_what_every_project_needs(self):
        with cluster.Cluster():
            done = subprocess.run([sys.executable, "-m", "unittest", "-v", *TESTS], cwd=pathlib.Path(__file__).parent, capture_output=True,
                                  text=True, timeout=400 * SLOW, env={**os.environ, "GLEANER_BUILD": str(BUILD)})
        print(done.stderr[-3000:], flush=True)
        self.assertEqual(done.returncode, 0, done.stdout[-10000:])
        self.assertNotIn("skipped", done.stderr)


if __name__ == "__main__":
    main()
