"""A person at the console, in Chromium or Firefox: by what is shown and what can be pressed."""
import json

from browser import Browser
from firefox import Firefox
from harness import SQUARES


def compute_something(grid):
    """A server with a problem that lasts ten minutes, and a client that computes it."""
    grid.start_server()
    grid.add_application(SQUARES)
    grid.add_problem("squares", "one", count=2000, pause=0.3)
    grid.add_client("pc")
    grid.wait_until("a host", lambda: grid.problem(1)["hosts"] == 1)


def link_of(grid, *arguments):
    return grid.admin_json(*arguments, "console")["address"].split("#link=")[1]


class Steps:
    """Of a browser that is open, at the console of a grid whose server runs."""

    test = grid = None

    def log_in(self, overview="Overview"):
        """The secret of the link by which it did. `overview`: what the first page says."""
        secret = link_of(self.grid)
        self.open(f"https://127.0.0.1:{self.grid.port}/console#link={secret}")
        self.wait("the overview", self.has(overview))
        return secret

    def wait(self, what, script, timeout=40):
        def seen():
            try:
                return self.run(script)
            except AssertionError as error:
                if "navigated or closed" in str(error):  # another page is just being loaded
                    return None
                raise

        try:
            return self.grid.wait_until(what, seen, timeout)
        except AssertionError as error:
            page = self.run("[document.activeElement.outerHTML.slice(0, 200), document.body.innerText.slice(0, 2000)].join('\\n')")
            raise AssertionError(f"{error}; the page shows:\n{page}\n{self.complaints()}") from None

    def forgive(self, status):
        """A refusal that was meant, which the browser logs too, perhaps a moment later; there is no other complaint."""
        complaints = self.grid.wait_until("the refusal in the browser's log", self.complaints)
        self.test.assertEqual([text for text in complaints if status not in text], [])
        self.forget_complaints()

    @staticmethod
    def has(words):
        return f"(document.querySelector('main')?.innerText ?? '').includes({json.dumps(words)})"

    def go(self, page):
        self.run(f"location.hash = {json.dumps(page)}")

    def look_at(self, page):
        """Until all of it is there."""
        self.go(page)
        self.wait(page, "document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null")

    def push(self, words, kind="button"):
        """Clicks the button, or what `kind` selects, of these words, by its place on the screen."""
        find = f"[...document.querySelectorAll({json.dumps(kind)})].find(b => b.innerText == {json.dumps(words)} && b.checkVisibility() && !b.disabled)"
        self.wait(f"{kind} {words}", f"{find} !== undefined")
        self.run("document.querySelectorAll('[data-pressed]').forEach(b => delete b.dataset.pressed)")
        self.run(f"{find}.dataset.pressed = 'now'")
        self.click("[data-pressed]")

    def follow(self, words):
        """Clicks the link of these words."""
        self.run(f"[...document.querySelectorAll('a')].find(a => a.innerText == {json.dumps(words)}).click()")

    def pick(self, field, beginning):
        """Of a list of choices."""
        self.run(f"(s => {{ s.value = [...s.options].find(o => o.value.startsWith({json.dumps(beginning)})).value; s.dispatchEvent(new Event('change', {{bubbles: true}})) }})"
                 f"(document.querySelector({json.dumps(field)}))")

    def choose(self, application, field):
        self.wait("the form", "document.querySelector('#application') !== null")
        self.pick("#application", application)
        self.wait(f"the form of {application}", f"document.querySelector('{field}') !== null")

    def heading_says(self, words, timeout=40):
        self.wait(f"{words} in the heading", f"document.querySelector('h1').innerText.includes({json.dumps(words)})", timeout)

    def accessible(self):
        self.test.assertEqual(self.violations(), [])


class Person(Steps, Browser):
    """`with` it the browser is open."""

    def __init__(self, test, grid):
        super().__init__(grid.directory / "profile", "--ignore-certificate-errors", "--force-prefers-reduced-motion")
        self.test, self.grid = test, grid


class FirefoxPerson(Steps, Firefox):
    def __init__(self, test, grid):
        super().__init__(grid.directory / "firefox")
        self.test, self.grid = test, grid
