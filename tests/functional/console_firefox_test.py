"""Each page of the console in Firefox: by its address, by reload, by back and forward, and with a session that ends meanwhile."""
import unittest

from console_pages_test import PAGES
from firefox import FIREFOX, Firefox
from harness import Grid, main
from person import compute_something, link_of


@unittest.skipUnless(FIREFOX, "firefox is not installed")
class FirefoxPages(unittest.TestCase):
    def one_page(self, grid, firefox, words):
        """The page is there, once, and nothing of another one."""
        there = f"!window.before && (document.querySelector('main h1')?.innerText ?? '').includes({words!r}) && document.querySelector('[aria-busy=true]') === null"
        shown = "['main', 'h1', 'header'].map(name => document.querySelectorAll(name).length).join()"
        self.assertEqual(grid.wait_until(words, lambda: firefox.run(f"{there} && {shown}"), 60), "1,1,1")

    def load(self, grid, firefox, words, how):
        """A page is loaded; the one before is there for a moment still."""
        firefox.run("window.before = true")
        how()
        self.one_page(grid, firefox, words)

    def test_pages(self):
        with Grid("work.heartbeat_seconds = 1") as grid:
            compute_something(grid)
            address = f"https://127.0.0.1:{grid.port}/console"
            with Firefox(grid.directory / "firefox") as firefox:
                firefox.open(f"{address}#link={link_of(grid)}")
                self.one_page(grid, firefox, "Overview")
                for page, words in PAGES.items():
                    with self.subTest(page=page):
                        firefox.open("about:blank")
                        self.load(grid, firefox, words, lambda to=address + page: firefox.open(to))
                        for _ in range(2):
                            self.load(grid, firefox, words, firefox.reload)
                with self.subTest("back and forward"):
                    firefox.open("about:blank")
                    self.load(grid, firefox, "Overview", lambda: firefox.open(address + "#/"))
                    for page in ("#/problems/1", "#/hosts", "#/hosts/1"):
                        firefox.run(f"location.hash = {page!r}")  # and on before all of it is there
                    for step, words in ((-1, "Hosts"), (-1, "one"), (-1, "Overview"), (2, "Hosts")):
                        firefox.run(f"history.go({step})")
                        self.one_page(grid, firefox, words)
                for page in ("#/problems/1", "#/hosts"):
                    with self.subTest("the session ends", page=page):
                        firefox.open(f"{address}#link={link_of(grid)}")
                        self.one_page(grid, firefox, "Overview")
                        firefox.run(f"location.hash = {page!r}")
                        self.one_page(grid, firefox, PAGES[page])
                        firefox.call("WebDriver:DeleteAllCookies")
                        grid.wait_until("the log-in", lambda: firefox.run("document.querySelector('.login') !== null && document.querySelector('header') === null"), 60)


if __name__ == "__main__":
    main()
