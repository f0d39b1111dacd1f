"""Each page of the console by its address, by reload, by back and forward, on a slow line, and with a session that ends meanwhile."""
import unittest

from browser import CHROMIUM
from harness import Grid, main, needs
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


if __name__ == "__main__":
    main()
