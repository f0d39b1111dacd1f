"""gleaner-loadgen at a real server: hosts enrol and work, with mishaps, while the server is killed; what was acknowledged
is what its store then holds."""
import json
import signal
import subprocess
import sys
import time
import unittest

from harness import SLOW, SOURCE, Grid, built, main

sys.path.append(str(SOURCE / "tools"))
from check_ledger import check_ledger

SETTINGS = """hosts.joins_per_hour = 100000
hosts.requests_per_second = 100000
server.requests_per_second_per_network = 100000
"""


class Load(unittest.TestCase):
    def grid(self):
        grid = Grid(SETTINGS)
        self.addCleanup(grid.__exit__, None, None, None)
        grid.__enter__()
        grid.start_server()
        return grid

    def add_problem(self, grid):
        grid.add_application(built("bundles/load"))
        grid.add_problem("load", "load", "--strategy", "ss,mode=paper", "--straggler", "none", count=10**9)

    def load(self, grid, *arguments, check=True):
        done = grid.run("gleaner-loadgen", *arguments, "--join-code", grid.own_code, "--json", check=check)
        return json.loads(done.stdout) if check else done

    def test_nothing_acknowledged_is_missing_after_a_kill(self):
        grid = self.grid()
        self.add_problem(grid)
        hosts, ledger = grid.directory / "hosts", grid.directory / "ledger"
        self.load(grid, "enrol", "--hosts", 400, "--hosts-file", hosts)
        process = subprocess.Popen(
            [grid.program("gleaner-loadgen"), "run", "--join-code", grid.own_code, "--hosts", "400", "--hosts-file", hosts,
             "--connections", "8", "--errors", "0.02", "--verify-every", "1", "--warm-up", "0", "--seconds", str(8 * SLOW),
             "--drain", "30", "--ledger", ledger, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        grid.wait_until("acknowledgements", lambda: ledger.exists() and ledger.stat().st_size > 0)
        grid.kill("server", signal.SIGKILL)
        time.sleep(0.5)
        grid.start_server()
        out, error = process.communicate(timeout=120 * SLOW)
        self.assertEqual(process.returncode, 0, out + error)
        run = json.loads(out)
        whole = run["whole_run"]
        self.assertGreater(run["lost"], 0, "the kill was noticed")
        self.assertGreater(whole["accepted"], 40)
        self.assertGreater(whole["verified"], 40)
        self.assertGreater(whole["repeated"] + whole["spoiled"] + whole["vanished"] + run["hung_up"], 3)
        self.assertEqual((whole["untrusted"], whole["contradictions"], whole["dismissed"]), (0, 0, 0), run["fault"])
        grid.kill("server", signal.SIGTERM)
        self.assertEqual(check_ledger(grid.store, [ledger]), [])
        self.check_finds_losses(grid, ledger)

    def check_finds_losses(self, grid, ledger):
        """The comparison itself: of a store that lost a result, or its bytes, or has one too many."""
        store = grid.store
        (unit, segment), = grid.rows("SELECT unit, segment FROM segments JOIN accepted ON segment = id LIMIT 1")
        lines = ledger.read_text().splitlines()
        shorter = ledger.with_name("shorter")
        shorter.write_text("\n".join([lines[0], *(line for line in lines[1:] if line.split()[1] != str(unit))]) + "\n")
        self.assertIn(f"unit {unit}, ", check_ledger(store, [shorter])[0])
        (data,), = grid.rows(f"SELECT hex(bytes) FROM segment_bytes WHERE segment = {segment}")
        grid.rows(f"DELETE FROM segment_bytes WHERE segment = {segment}")
        self.assertIn("gone", "".join(check_ledger(store, [ledger])))
        grid.rows(f"INSERT INTO segment_bytes VALUES ({segment}, x'{data}')")
        grid.rows(f"DELETE FROM accepted WHERE segment = {segment}")
        self.assertIn("does not count it", "".join(check_ledger(store, [ledger])))
        done = subprocess.run([str(SOURCE / "tools" / "check_ledger.py"), store, ledger], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)

    def test_modes_and_new_connections(self):
        grid = self.grid()
        self.add_problem(grid)
        hosts = grid.directory / "hosts"
        self.load(grid, "enrol", "--hosts", 10, "--hosts-file", hosts)
        short = ["run", "--hosts", 10, "--hosts-file", hosts, "--warm-up", 0, "--seconds", 1, "--server-pid",
                 grid.processes["server"].pid]
        for mode in ("cycle", "ask", "heartbeat", "project"):
            run = self.load(grid, *short, "--mode", mode, "--connections", 4)
            self.assertGreater(run["answers"], 5, mode)
            self.assertEqual((run["errors"], run["lost"], run["whole_run"]["contradictions"]), (0, 0, 0), run)
            self.assertGreater(run["server_cpu_us"], 0)
            self.assertEqual(run["units"] > 0, mode == "cycle")
            self.assertEqual(run["heartbeats"] > 0, mode == "heartbeat")
        for reconnect in ("full", "resumed"):
            run = self.load(grid, *short, "--reconnect", reconnect, "--connections", 4, "--networks", 3)
            self.assertGreaterEqual(run["connections_opened"], run["answers"])
            self.assertEqual(run["lost"], 0, run)
        run = self.load(grid, *short, "--units-per-request", 5, "--heartbeats", 2, "--compute", 30, "--think", 10)
        self.assertGreater(run["units"], run["cycles"])
        self.assertGreater(run["heartbeats"], 0)

    def test_what_goes_wrong_is_said(self):
        grid = self.grid()
        other = Grid()
        self.addCleanup(other.__exit__, None, None, None)
        other.__enter__()
        wrong = grid.run("gleaner-loadgen", "run", "--join-code", other.join_code, "--server", f"127.0.0.1:{grid.port}",
                         "--hosts", 1, check=False)
        self.assertEqual(wrong.returncode, 5, wrong.stderr)
        self.assertIn("not to be trusted", wrong.stderr)
        nobody = grid.run("gleaner-loadgen", "run", "--join-code", other.join_code, "--hosts", 1, check=False)
        self.assertEqual(nobody.returncode, 3, nobody.stderr)
        usage = grid.run("gleaner-loadgen", "run", "--hosts", 0, check=False)
        self.assertEqual(usage.returncode, 2, usage.stderr)
        missing = self.load(grid, "run", "--hosts-file", grid.directory / "none", check=False)
        self.assertEqual(missing.returncode, 1, missing.stderr)


if __name__ == "__main__":
    main()
