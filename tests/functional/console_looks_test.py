"""How each page of the console looks: on a phone, a laptop and a large screen, light and dark, in both languages. Nothing is wider than
the screen, axe finds nothing. `GLEANER_PICTURES=DIRECTORY` keeps a screenshot of each, `GLEANER_SCREENS=server/console/pages` makes those
that are there (server/console/PAGES.md) anew."""
import contextlib
import os
import pathlib
import time
import unittest

from browser import CHROMIUM
from harness import MANDELBROT, SQUARES, Grid, main, needs
from person import Person
from tree import admit_relay
from wrapping import add_failing, add_wrapped

PICTURES, SHOWN = os.environ.get("GLEANER_PICTURES"), os.environ.get("GLEANER_SCREENS")
PAGES = {"overview": "#/", "problems": "#/problems", "problem": "#/problems/1", "running": "#/problems/3", "table": "#/problems/2?row=2", "flow": "#/flows/study", "flows": "#/problems?open=study", "hosts": "#/hosts", "host": "#/hosts/1", "add": "#/add",
         "applications": "#/applications", "access": "#/access", "relays": "#/relays", "audit": "#/audit", "settings": "#/settings", "wall": "#/wall"}
SCREENS = {390: 844, 1280: 800, 1920: 1080}
# How far what is seen moves by itself (https://web.dev/articles/cls), and what moved.
MOVED = """window.moved = []; new PerformanceObserver(list => list.getEntries().filter(each => !each.hadRecentInput).forEach(each => moved.push(
  [each.value, ...each.sources.map(({node, previousRect: a, currentRect: b}) => `${node?.className || node?.nodeName}: ${a.x},${a.y} to ${b.x},${b.y}`)])))
  .observe({type: "layout-shift", buffered: true})"""
MOVED_MAX = 0.02
WATCHED_SECONDS = 3  # once all of a page is there


@needs(CHROMIUM, "chromium is not installed")
class Looks(unittest.TestCase):
    def look(self, person, name, page, width):
        person.look_at(page)
        wide = f"[...document.querySelectorAll('main *')].filter(each => each.getBoundingClientRect().right > {width + 1}).map(each => each.outerHTML.slice(0, 100))"
        self.assertLessEqual(person.run("document.documentElement.scrollWidth"), width, person.run(wide))
        person.accessible()
        if PICTURES:
            self.keep(PICTURES, name, person.picture())
        if SHOWN and (pathlib.Path(SHOWN) / f"{name}.png").exists():
            self.keep(SHOWN, name, person.picture(whole=False))

    def keep(self, directory, name, picture):
        pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(directory) / f"{name}.png").write_bytes(picture)

    def table(self, grid):
        """A problem of three rows, of which one fails."""
        add_wrapped(grid, "root", "awk", "--number", "root=(.*)", "--", "BEGIN {{ if ({x} < 0) {{ print \"no root\" > \"/dev/stderr\"; exit 1 }} print sqrt({x}) }}")
        (grid.directory / "x.csv").write_text("x\n4\n-1\n2\n")
        grid.wait_finished(grid.add_problem("root", "roots", "--table", grid.directory / "x.csv"))

    @contextlib.contextmanager
    def project(self):
        """With a problem in each state, a flow, and a relay."""
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            grid.start_server()
            for application in (SQUARES, MANDELBROT):
                grid.add_application(application)
            grid.add_client("kitchen-pc")
            admit_relay(grid, "lab-b12", "bench-7")
            grid.wait_finished(grid.add_problem("mandelbrot", "valley of the seahorses", width=120, height=80))
            self.table(grid)
            running = grid.add_problem("squares", "study/slow", count=2000, pause=0.5)
            nodes = [("slow", []), ("apart", []), ("both", ["slow", "apart"]), ("plot", ["slow"]), ("a-long-name-of-28-characters", ["both", "plot"]), ("report", ["a-long-name-of-28-characters", "apart"])]
            status, _, reply = grid.request("POST", "/v1/admin/flows", {"name": "study", "nodes": [
                {"name": name, "application": "squares", "after": [{"node": each, "results": ["sum.txt"]} for each in after],
                 "message": "the application refused its parameters: count: expected a whole number from 1" if name == "apart" else ""} for name, after in nodes]},
                grid.admin_token)
            self.assertEqual(status, 200, reply)
            grid.wait_until("some of it", lambda: grid.problem(running)["accepted"] > 0, 60)
            yield grid

    def test_every_page(self):
        with self.project() as grid:
            with Person(self, grid) as person:
                person.log_in()
                for language in ("en", "de"):
                    person.run(f"localStorage.setItem('gleaner-language', '{language}')")
                    person.call("Page.reload")
                    person.wait(language, f"document.documentElement?.lang == '{language}' && document.querySelector('nav') !== null")
                    for scheme in ("light", "dark"):
                        person.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                        for width, height in SCREENS.items():
                            person.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
                            for name, page in PAGES.items():
                                with self.subTest(page=name, width=width, scheme=scheme, language=language):
                                    self.look(person, f"{name}-{width}-{scheme}-{language}", page, width)
                self.assertEqual(person.complaints(), [])

    def stopped(self, grid):
        """A problem whose application fails on each host."""
        identity = add_failing(grid, "kitchen-pc", lambda number: "no such file")
        grid.admin("host", "release", "kitchen-pc")
        self.assertEqual(grid.problem(identity)["state"], "stopped")
        return identity

    def test_nothing_moves(self):
        """While a page loads, and as its figures change."""
        with self.project() as grid, Person(self, grid) as person:
            stopped = self.stopped(grid)
            person.log_in()
            person.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
            person.call("Page.addScriptToEvaluateOnNewDocument", source=MOVED)
            for name, page in {**PAGES, "stopped": f"#/problems/{stopped}"}.items():
                with self.subTest(page=name):
                    person.open("about:blank")
                    person.open(f"https://127.0.0.1:{grid.port}/console{page}")
                    person.wait(page, "document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null")
                    time.sleep(WATCHED_SECONDS)
                    moved = person.run("moved")
                    if os.environ.get("GLEANER_MOVED"):
                        print(f"{name}: {sum(each[0] for each in moved):.3f}")
                    self.assertLessEqual(sum(each[0] for each in moved), MOVED_MAX, moved)


if __name__ == "__main__":
    main()
