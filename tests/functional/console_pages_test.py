"""Each page of the console by its address, by reload, by back and forward, on a slow line, and with a session that ends meanwhile."""
import unittest

from browser import CHROMIUM
from harness import MANDELBROT, SLOW, SQUARES, FakeHost, Grid, main, needs
from person import Person, compute_something

PAGES = {"": "Overview", "#/": "Overview", "#/problems": "Problems", "#/problems/1": "one", "#/hosts": "Hosts", "#/hosts/1": "pc", "#/add": "Add a problem",
         "#/applications": "Applications", "#/access": "Access", "#/relays": "Relays", "#/audit": "Audit log", "#/settings": "Settings", "#/wall": "A Gleaner project"}
SLOW_LINE = {"offline": False, "latency": 300, "downloadThroughput": 60_000, "uploadThroughput": 60_000}


@needs(CHROMIUM, "chromium is not installed")
class Pages(unittest.TestCase):
    def one_page(self, person, words):
        """The page is there, once, and nothing of another one."""
        person.wait(words, f"document.querySelector('main h1')?.innerText.includes({words!r}) && document.querySelector('[aria-busy=true]') === null")
        shown = person.run("['main', 'h1'].map(name => document.querySelectorAll(name).length).join()")
        self.assertEqual(shown, "1,1", person.run("document.body.innerText"))
        ours = [text for text in person.complaints() if "status of 401" not in text]
        self.assertEqual(ours, [], words)

    def test_pages(self):
        with Grid("work.heartbeat_seconds = 1") as grid:
            compute_something(grid)
            address = f"https://127.0.0.1:{grid.port}/console"
            with Person(self, grid) as person:
                person.log_in()
                person.call("Network.enable")
                person.call("Network.emulateNetworkConditions", **SLOW_LINE)
                for page, words in PAGES.items():
                    with self.subTest(page=page):
                        person.open("about:blank")
                        person.open(address + page)
                        self.one_page(person, words)
                        for _ in range(3):
                            person.call("Page.reload")
                            self.one_page(person, words)
                with self.subTest("back and forward"):
                    person.open(address + "#/")
                    for page in ("#/problems/1", "#/hosts", "#/hosts/1"):
                        person.go(page)  # and on before all of it is there
                        person.wait(page, f"location.hash == {page!r}")
                    for step, words in ((-1, "Hosts"), (-1, "one"), (-1, "Overview"), (2, "Hosts")):
                        person.run(f"history.go({step})")
                        self.one_page(person, words)
                for page in ("#/problems/1", "#/hosts/1", "#/wall"):
                    with self.subTest("the session ends", page=page):
                        person.open("about:blank")
                        person.log_in()
                        person.go(page)
                        self.one_page(person, PAGES[page])
                        person.call("Network.clearBrowserCookies")
                        person.wait("the log-in", "document.querySelector('.login') !== null && document.querySelector('header') === null")
                        self.assertEqual(person.run("document.querySelectorAll('main').length"), 1)

    def test_lists(self):
        """The audit log, applications and codes: found by a word, in an order that the address keeps, and true within a second."""
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            host = FakeHost(grid, "pc")
            for number in range(1100):
                self.assertEqual(grid.request("POST", f"/v1/admin/hosts/{host.host}/tags", {"tags": [f"t{number}"]}, grid.admin_token)[0], 200)
            rows = "[...document.querySelectorAll('.rows .row')].map(row => row.innerText)"
            at_once = 2 * SLOW
            with Person(self, grid) as person:
                person.log_in()
                person.look_at("#/audit")
                person.wait("the newest", person.has("1,000 of the last 1,000, 1,1") + f" && {rows}[0].includes('console login') && {rows}[2].includes('t1099')")
                person.accessible()
                grid.admin("code", "add", "late")
                person.wait("a new one", f"{rows}[0].includes('late')", at_once)
                person.type("[type=search]", "application add")
                person.wait("an old one", f"{rows}.length == 1 && {rows}[0].includes('squares@1.0.0')")
                person.push("Who")
                person.wait("the address", "location.hash == '#/audit?text=application+add&sort=who'")
                person.call("Page.reload")
                person.wait("the same", f"document.querySelector('[type=search]')?.value == 'application add' && document.querySelector('[aria-sort=ascending]')?.innerText == 'Who ↑' && {rows}.length == 1")
                person.click(".rows .link")
                person.wait("all of it", "document.querySelector('.facts')?.innerText.includes('archive ')")
                person.accessible()
                person.look_at("#/applications")
                grid.add_application(MANDELBROT)
                person.wait("a new application", person.has("mandelbrot@1.0.0"), at_once)
                person.push("Application")
                person.wait("the order", f"location.hash == '#/applications?sort=name' && {rows}[0].startsWith('Mandelbrot')")
                person.type("[type=search]", "squares")
                person.wait("one of two", f"{rows}.length == 1 && " + person.has("1 of 2"))
                person.accessible()
                person.look_at("#/access")
                person.push("Code")
                person.wait("the order of the codes alone", f"location.hash == '#/access?codes=name' && document.querySelectorAll('[aria-sort]').length == 1 && {rows}[0].startsWith('default')")
                grid.admin("code", "add", "early")
                person.wait("a new code", person.has("early"), at_once)
                person.type("[type=search]", "late")
                person.wait("it alone", f"{rows}.length == 1 && {rows}[0].startsWith('late')")
                person.accessible()
                person.look_at("#/hosts")
                grid.admin("host", "hold", "pc", "--reason", "an exam")
                person.wait("the hold", "document.querySelector('.rows .state.on-hold') !== null", at_once)
                self.assertEqual(person.complaints(), [])

    def test_wall(self):
        """Nothing runs, then problems of which a host computes one: that is shown, and the others in turn. Full screen has no controls."""
        with Grid("work.heartbeat_seconds = 1") as grid:
            grid.start_server()
            for application in (SQUARES, MANDELBROT):
                grid.add_application(application)
            grid.add_client("pc")
            scenes = "[...document.querySelectorAll('.scene')].map(each => each.getAttribute('aria-label'))"
            with Person(self, grid) as person:
                person.log_in()
                person.look_at("#/wall")
                person.wait("that nothing runs", "document.querySelector('.idle').innerText == 'Nothing is running right now.'")
                person.accessible()
                grid.wait_finished(grid.add_problem("mandelbrot", "valley", width=60, height=42))
                person.wait("the last picture", person.has("Last picture: valley") + " && document.querySelector('.idle img')?.naturalWidth == 60")
                person.accessible()
                person.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "no-preference"}])
                first = grid.add_problem("squares", "first", "--priority", "5", count=2000, pause=0.3)
                grid.wait_until("a host", lambda: grid.problem(first)["hosts"] == 1)
                for name in ("second", "third", "fourth"):
                    grid.add_problem("squares", name, count=2000, pause=0.3)
                person.wait("the one that is computed, and another", f"{scenes}[0] == 'first' && {scenes}.length == 2 && " + person.has("and 2 more problems"))
                before = person.run(f"{scenes}[1]")
                person.wait("the next one", f"{scenes}[0] == 'first' && {scenes}.length == 2 && {scenes}[1] != {before!r}")
                opacity = "getComputedStyle(document.querySelector('.wall-controls')).opacity"
                self.assertEqual(person.run(opacity), "1")
                person.push("Full screen")
                person.wait("nothing but the wall", f"document.fullscreenElement !== null && {opacity} === '0'")
                person.press("Tab")
                person.wait("the controls, by keyboard", f"{opacity} === '1'")
                self.assertEqual(person.complaints(), [])


if __name__ == "__main__":
    main()
