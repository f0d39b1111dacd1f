"""The owner's preferences and presence: changes hold at once, and `gleaner why` says what stands against computing."""
import http.server
import json
import os
import pathlib
import pty
import re
import threading
import time
import unittest

from computers import ControlGroups
from harness import LONG, MANDELBROT, RAYTRACE, SQUARES, Grid, main, sandbox_arguments
from sessions import cpu_seconds


class Owner(unittest.TestCase):
    def why(self, grid):
        return json.loads(grid.control("one", "--json", "why").stdout)["status"]

    def test_typing_at_a_terminal_pauses_and_preferences_hold_at_once(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        terminal = os.ttyname(slave)
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.join("one")
            locked = grid.directory / "locked.d"
            locked.mkdir()
            (locked / "lab.toml").write_text("temperature_max = 100\non_battery = true\n")
            environment = dict(os.environ, GLEANER_LOCKED_PREFERENCES=str(locked))

            def prefs(*words, check=True):
                return grid.run("gleaner", "--state", grid.state("one"), "prefs", *words, env=environment, check=check)

            prefs("set", "run", "always")
            # No --run here: the file decides.
            grid.start("one", "gleaner-client", "run", "--state", grid.state("one"), *sandbox_arguments(grid.state("one")),
                       "--cores", 1, "--benchmark-mflops", 1000, "--priority", "normal", env=environment)
            grid.add_problem("mandelbrot", "long", **LONG)
            grid.wait_until("work", lambda: self.why(grid)["reason"].startswith("computing"), 60)
            said = [self.why(grid)["reason"]]
            # Somebody types now.
            os.utime(terminal)
            prefs("set", "run", "when-idle")
            reason = grid.wait_until("a pause", lambda: (lambda text: text if "somebody" in text else None)(
                self.why(grid)["reason"]), 15)
            said.append(reason)
            # Another screen on this machine, of which nothing is known, may be the first reason.
            self.assertRegex(reason, r"used this computer \d+ \w+ ago \(terminal .*\): it computes after 5 minutes without|"
                                     "somebody is logged in")
            self.assertRegex("\n".join(self.why(grid)["details"]), r"terminal \S+: last input (now|\d+ seconds? ago)")
            # With a level for it, the client computes beside them.
            prefs("set", "levels", "used 25%")
            reason = grid.wait_until("the level", lambda: (lambda text: text if "at most" in text else None)(self.why(grid)["reason"]), 15)
            said.append(reason)
            self.assertRegex(reason, r"^computing .*somebody (uses this computer|is logged in) .*: at most 25 % of each core$")
            prefs("set", "levels", "")
            # A pause until a time shows what is left.
            grid.control("one", "pause", "--until", time.strftime("%H:%M", time.localtime(time.time() + 7200)))
            said.append(self.why(grid)["reason"])
            self.assertRegex(said[-1], r"you paused it for 1[12]\d more minutes, until \d+:\d\d$")
            self.assertEqual(grid.control("one", "pause", "--until", "whenever", check=False).returncode, 2)
            grid.control("one", "resume")
            prefs("set", "hours", "mon 0:00-0:01")
            prefs("set", "run", "always")
            if time.localtime()[3:5] > (0, 1):
                said.append(grid.wait_until("the hours", lambda: (lambda text: text if "outside of the hours" in text else
                                                                  None)(self.why(grid)["reason"]), 15))
            prefs("set", "hours", "")
            grid.wait_until("it to go on", lambda: self.why(grid)["reason"].startswith("computing"), 90)
            refused = prefs("set", "cores", "4096", check=False)
            self.assertEqual((refused.returncode, "0 means all of them" in refused.stderr), (1, True))
            refused = prefs("set", "temperature_max", "90", check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("locked by the administrator", refused.stderr)
            self.assertIn("lab.toml", prefs("explain", "temperature_max").stdout)
            self.assertRegex(prefs("show").stdout, r"run += .always. +# .*preferences.toml")
            self.assertEqual(prefs().stdout, prefs("show").stdout)
            self.assertEqual(prefs("set", "run", "sometimes", check=False).returncode, 1)
            print("\n".join(said))

    def test_a_server_of_this_computer_says_whether_to_compute(self):
        says = [b"no power costs 41 ct"]

        class Signal(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(says[0])

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Signal)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_problem("mandelbrot", "long", **LONG)
            grid.join("one")
            address = f"http://127.0.0.1:{server.server_port}/power"
            (grid.state("one") / "preferences.toml").write_text(f'run = "always"\noutside_minutes = 0.1\noutside_signal = "{address}"\n')
            grid.start("one", "gleaner-client", "run", "--state", grid.state("one"), *sandbox_arguments(grid.state("one")),
                       "--cores", 1, "--benchmark-mflops", 1000, "--priority", "normal")
            grid.wait_until("the client", lambda: grid.control("one", "why", check=False).returncode == 0, 60)
            grid.wait_until("a no", lambda: self.why(grid)["reason"] == f"not computing: the outside signal ({address}) says no: power costs 41 ct", 30)
            says[0] = b"50% clouds\nmore"
            grid.wait_until("a level", lambda: re.search(r"^computing .*says 50 %: clouds$", self.why(grid)["reason"]), 60)
            refused = grid.control("one", "prefs", "set", "outside_signal", "http://192.0.2.1/", check=False)
            self.assertEqual((refused.returncode, "an address of this computer" in refused.stderr), (1, True))

    @unittest.skipUnless(ControlGroups.available, "no control groups of version 1 can be made here")
    def test_the_server_knows_what_a_container_may_use_now(self):
        if os.cpu_count() < 2:
            self.skipTest("one processor")
        groups = ControlGroups(cpuset__cpus="0-1", cpu__cfs_quota_us=60_000, memory__limit_in_bytes=1 << 30)
        self.addCleanup(groups.close)
        with Grid("work.commit_seconds = 1\nwork.unit_minimum_seconds = 1\n") as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "squares", count=100_000, pause=0.1)
            grid.join("one")

            def known():
                host, = grid.admin_json("host", "list")["items"]
                return round(host.get("cores_lent", 0), 2), host.get("memory_lent", 0) >> 20

            def status():
                return grid.control("one", "status", check=False).stdout

            grid.start("one", "gleaner-client", "run", "--state", grid.state("one"), *sandbox_arguments(grid.state("one")), "--run", "always",
                       "--priority", "normal", "--benchmark-mflops", 1000, before=groups.before)
            # Half of the memory is for kernels, unless the owner says otherwise.
            grid.wait_until("the quota", lambda: known() == (0.6, 512), 60)
            self.assertIn(f"0.6 of {os.cpu_count()} cores", status())
            groups.set("cpu.cfs_quota_us", -1)
            groups.set("memory.limit_in_bytes", 600 << 20)
            grid.wait_until("no quota, less memory", lambda: known() == (2, 300), 60)
            groups.set("cpuset.cpus", "0")
            grid.wait_until("one processor", lambda: known() == (1, 300), 60)
            self.assertIn(f"1 of {os.cpu_count()} cores", status())
            grid.kill("one")

    def test_a_long_pause_saves_the_item_in_progress(self):
        picture = {"scene": "D", "width": 800, "height": 1, "samples": 16, "brute_force": "true"}
        with Grid() as grid:
            computer = grid.directory / "computer"
            (computer / "proc/77").mkdir(parents=True)
            (computer / "proc/77/comm").write_text("steam\n")
            grid.start_server()
            grid.add_application(RAYTRACE)
            problem = grid.add_problem("raytrace", "one long line", **picture)
            grid.join("one")
            (grid.state("one") / "preferences.toml").write_text(
                'run = "when-idle"\npause_minutes_min = 0\nload_max = 1\ngive_back_minutes = 0.02\n')
            grid.start("one", "gleaner-client", "run", "--state", grid.state("one"), *sandbox_arguments(grid.state("one")),
                       "--cores", 1, "--benchmark-mflops", 1000, env=dict(os.environ, GLEANER_COMPUTER=str(computer)))
            grid.wait_until("work on the line", lambda: any(cpu_seconds(one) > 0.5 for one in grid.kernels_of("one")), 60)
            grid.control("one", "prefs", "set", "exclusive", "steam")
            grid.wait_until("memory given back", lambda: grid.kernels_of("one") == [], 60)
            self.assertIn("item 0 of one long line is saved", grid.log("one"))
            saved = [path for path in (grid.membership("one") / "units").glob("*/checkpoint-0") if path.stat().st_size > 100]
            self.assertEqual(len(saved), 1)
            grid.control("one", "prefs", "set", "exclusive", "")
            grid.wait_finished(problem)
            self.assertIn("item 0 of one long line continues where it was saved", grid.log("one"))
            self.assertEqual(grid.results(problem)["image.png"], grid.run_local(RAYTRACE, **picture)["image.png"])


if __name__ == "__main__":
    main()
