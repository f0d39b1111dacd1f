"""The short form of tools/faults: campaigns of given seeds against a real server, each with another fault, as many as there is
time for. The long form has a thousand (tests/reports/faults.md)."""
import json
import os
import subprocess
import sys
import unittest

from harness import BUILD, SLOW, SOURCE, main

SECONDS = 24  # no campaign begins later; CI has to end


class Faults(unittest.TestCase):
    def campaigns(self, *arguments):
        return subprocess.run([sys.executable, SOURCE / "tools" / "faults", "--build", BUILD, "--json", *map(str, arguments)],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300 * SLOW)

    def test_campaigns(self):
        seed = int(os.environ.get("GLEANER_SEED", "1"))
        done = self.campaigns("--campaigns", 16, "--seed", seed, "--seconds", SECONDS)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        summary = json.loads(done.stdout)
        print({key: summary[key] for key in ("campaigns", "kinds", "events")}, flush=True)
        self.assertEqual(summary["violations"], [], f"replay: tools/faults --seed SEED --only\n{done.stdout}")
        self.assertGreater(summary["campaigns"], 0)

    def test_wrong_usage(self):
        self.assertEqual(self.campaigns("--campaigns", 0).returncode, 2)
        self.assertEqual(self.campaigns("--kinds", "earthquake").returncode, 2)
        self.assertEqual(self.campaigns("--build", "/nowhere").returncode, 2)


if __name__ == "__main__":
    main()
