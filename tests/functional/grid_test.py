"""The whole grid: problems from `problem add` to combined results, byte for byte as one process computes them."""
import json
import pathlib
import shutil
import signal
import time
import unittest

from harness import LONG, MANDELBROT, RAYTRACE, SLOW, SQUARES, Grid, main

ROWS = {"width": 160, "height": 120, "iterations": 2000}


class WholeGrid(unittest.TestCase):
    def test_any_language_computes_and_combines(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_client("one")
            identity = grid.add_problem("squares", "sum", count=2000, first=3)
            info = grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % sum((3 + i) ** 2 for i in range(2000)))
            self.assertEqual(info["accepted"], 2000)
            self.assertEqual(sum(share["items"] for share in info["shares"]), 2000)

    def test_strategies_all_give_the_same_bytes(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            for name in ("a", "b"):
                grid.add_client(name)
            expected = grid.run_local(MANDELBROT, **ROWS)
            for strategy in ("static", "rts", "mis", "wis", "wis,mode=paper"):
                identity = grid.add_problem("mandelbrot", strategy.replace(",", "-").replace("=", "-"), "--strategy",
                                            strategy, **ROWS)
                info = grid.wait_finished(identity)
                self.assertEqual(grid.results(identity), expected, strategy)
                self.assertEqual(sum(share["items"] for share in info["shares"]), ROWS["height"], strategy)

    def test_problems_share_the_hosts_by_weight(self):
        with Grid("work.unit_minimum_seconds = 0.1\nwork.unit_maximum_seconds = 1.0") as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            size = {"width": 200, "height": 12_000, "iterations": 30000}
            heavy = grid.add_problem("mandelbrot", "heavy", "--weight", "3", **size)
            light = grid.add_problem("mandelbrot", "light", "--weight", "1", **size)
            grid.add_client("one")

            def under_way():
                a, b = grid.problem(heavy), grid.problem(light)
                return (a, b) if a["cost_accepted"] + b["cost_accepted"] > 0.2 * a["cost"] else None

            a, b = grid.wait_until("progress", under_way, 120)
            self.assertGreater(b["accepted"], 0, "the light one starves")
            self.assertGreater(a["cost_accepted"], 1.3 * b["cost_accepted"])
            grid.admin("problem", "cancel", heavy)
            grid.admin("problem", "cancel", light)

    def test_pause_resume_cancel_delete(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 2") as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_client("one")
            identity = grid.add_problem("mandelbrot", "slow", **LONG)
            grid.wait_until("a first result", lambda: grid.problem(identity)["accepted"] > 0)
            grid.admin("problem", "pause", identity)
            self.assertEqual(grid.problem(identity)["state"], "paused")
            grid.wait_until("the kernel to pause", lambda: "paused" in grid.control("one", "status").stdout.lower()
                            or grid.problem(identity)["open_units"] == 0, 90)
            grid.admin("problem", "resume", identity)
            before = grid.problem(identity)["accepted"]
            grid.wait_until("progress after resuming", lambda: grid.problem(identity)["accepted"] > before, 90)
            grid.admin("problem", "cancel", identity)
            self.assertEqual(grid.problem(identity)["state"], "cancelled")
            grid.admin("problem", "delete", identity, "--yes")
            self.assertEqual(grid.admin("problem", "show", identity, check=False).returncode, 4)

    def test_kernels_with_several_threads_take_several_cores(self):
        with Grid() as grid:
            grid.start_server()
            wide = grid.directory / "wide"
            shutil.copytree(SQUARES, wide)
            manifest = (wide / "manifest.toml").read_text()
            (wide / "manifest.toml").write_text(manifest.replace('"squares"', '"wide"').replace("threads = 1", "threads = 2"))
            kernel = (wide / "kernel.py").read_text()
            (wide / "kernel.py").write_text(kernel.replace(
                "import json, select, sys", "import json, os, select, sys, time\nassert os.environ['GLEANER_THREADS'] == '2'")
                .replace("            square =", "            time.sleep(0.3)\n            square ="))
            narrow = grid.directory / "narrow"
            shutil.copytree(wide, narrow)
            (narrow / "manifest.toml").write_text(manifest.replace('"squares"', '"narrow"'))
            (narrow / "kernel.py").write_text((wide / "kernel.py").read_text().replace("== '2'", "== '1'"))
            grid.add_application(wide)
            grid.add_application(narrow)
            # They take turns as long as there are both; what is left of the second one then has both cores.
            problems = [grid.add_problem(name, name, "--strategy", "rts", count=count) for name, count in (("wide", 12), ("narrow", 36))]
            grid.add_client("two", cores=2)
            together = set()

            def over():
                slots = json.loads(grid.control("two", "--json", "status", check=False).stdout or "{}").get("status", {}).get("slots", [])
                together.add(tuple(sorted(slot["problem"] for slot in slots if slot["state"] == "running")))
                return all(grid.problem(identity)["state"] == "finished" for identity in problems)

            grid.wait_until("both", over, 120)
            self.assertIn(("wide",), together)
            self.assertIn(("narrow", "narrow"), together)
            self.assertNotIn(("wide", "wide"), together)
            self.assertNotIn(("narrow", "wide"), together)

    def test_the_owner_is_obeyed(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_client("one")
            grid.add_problem("mandelbrot", "slow", **LONG)
            grid.wait_until("a kernel", lambda: grid.kernels_of("one"))
            grid.control("one", "pause")

            def cpu_used():
                total = 0
                for pid in grid.kernels_of("one"):
                    try:
                        total += int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])
                    except OSError:
                        pass
                return total

            time.sleep(0.3 * SLOW)
            before = cpu_used()
            time.sleep(0.5)
            self.assertLess(cpu_used() - before, 20_000_000, "kernels go on after `gleaner pause`")
            why = json.loads(grid.control("one", "--json", "why").stdout)
            self.assertTrue(any("pause" in str(value).lower() for value in why.values()), why)
            grid.control("one", "resume")
            grid.wait_until("the kernel to go on", lambda: cpu_used() > before + 20_000_000)
            grid.control("one", "finish")
            grid.wait_until("all units to be done", lambda: not grid.kernels_of("one") or "finish" in
                            grid.control("one", "why").stdout.lower(), 240)
            grid.control("one", "quit")
            self.assertEqual(grid.processes["one"].wait(timeout=60), 0)
            self.assertEqual(grid.control("one", "status", check=False).returncode, 3)

    def test_a_host_leaves_and_its_work_goes_on(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_client("leaver")
            identity = grid.add_problem("mandelbrot", "left", **ROWS)
            grid.wait_until("a unit", lambda: grid.problem(identity)["units"] > 0)
            grid.kill("leaver", signal.SIGTERM)
            grid.run("gleaner-client", "leave", "--state", grid.state("leaver"))
            hosts = {h["name"]: h["state"] for h in grid.admin_json("host", "list")["items"]}
            self.assertEqual(hosts["leaver"], "left")
            grid.add_client("stayer")
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity), grid.run_local(MANDELBROT, **ROWS))

    def test_a_ray_traced_picture(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(RAYTRACE)
            for name in ("a", "b"):
                grid.add_client(name)
            parameters = {"scene": "A", "width": 120, "height": 90, "samples": 1}
            identity = grid.add_problem("raytrace", "picture", **parameters)
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity), grid.run_local(RAYTRACE, **parameters))


if __name__ == "__main__":
    main()
