"""How a browser is logged in to the console: nobody else gets the link, and a session is replaced by nothing but its user's word."""
import os
import pty
import subprocess
import unittest

from browser import CHROMIUM
from harness import SLOW, Grid, main
from opener import Opener
from person import Person, link_of


class Terminal:
    """`gleaner-admin console` as a person runs it, on a terminal of a desktop."""

    def __init__(self, grid, opener):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen([grid.program("gleaner-admin"), "--project", str(grid.project / "admin"), "console"], stdout=theirs,
                                        stderr=theirs, stdin=theirs, env=opener.environment, start_new_session=True)
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def all_of_it(self):
        """What it says until it ends, and how it ends."""
        said = b""
        try:
            while more := os.read(self.ours, 4096):
                said += more
        except OSError:
            pass  # the other end is closed
        return said.decode(), self.process.wait(timeout=60 * SLOW)


class LogIn(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "only the superuser can be another user")
    def test_another_user_sees_no_link(self):
        with Grid() as grid:
            grid.start_server()
            opener = Opener(grid.directory / "opener")
            with Terminal(grid, opener) as terminal:
                address = opener.told(grid)
                self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}$")
                seen = opener.seen_by_another_user(address)
                self.assertIn(address, seen)
                self.assertNotIn(address + "\n303", seen)
                status, target = opener.got(grid).split(" ")
                said, code = terminal.all_of_it()
            self.assertEqual((status, code), ("303", 0))
            self.assertRegex(target, rf"^https://127\.0\.0\.1:{grid.port}/console#link=[\w-]{{43}}$")
            self.assertIn(target, said)
            self.assertNotIn(target.split("=")[1], seen)
            self.assertIn("The browser has it", said)
            # What the other user saw has not used it up.
            self.assertEqual(grid.request("POST", "/v1/console/session", {"link": target.split("=")[1]})[0], 200)

    def test_no_browser_comes(self):
        with Grid() as grid:
            grid.start_server()
            opener = Opener(grid.directory / "opener")
            (opener.directory / "xdg-open").write_text("#!/bin/sh\nexit 3\n")
            with Terminal(grid, opener) as terminal:
                said, code = terminal.all_of_it()
            self.assertEqual(code, 0)
            self.assertIn("open the link above in a browser", said)

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_a_browser_is_logged_in(self):
        with Grid() as grid:
            grid.start_server()
            opener = Opener(grid.directory / "opener")
            with Terminal(grid, opener) as terminal, Person(self, grid) as person:
                person.open(opener.told(grid))
                person.wait("the overview", person.has("Overview"))
                self.assertEqual(terminal.all_of_it()[1], 0)
                self.assertEqual(person.run("location.hash"), "#/")

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_a_link_replaces_no_session_unasked(self):
        who = "document.querySelector('.who')?.innerText ?? ''"
        with Grid() as grid:
            grid.start_server()
            file = grid.directory / "eve.token"
            file.write_text(grid.admin_json("token", "add", "eve", "--role", "viewer")["token"] + "\n")
            file.chmod(0o600)
            link = lambda *arguments: f"https://127.0.0.1:{grid.port}/console#link={link_of(grid, *arguments)}"
            with Person(self, grid) as person:
                person.log_in()
                for choice, name in (("Stay project", "project"), ("Log in as eve", "eve")):
                    # As a foreign page would: the address alone, into a page where the console stands.
                    person.run(f"location.href = {link('--token-file', file)!r}")
                    person.wait("the question", person.has("You are logged in as project (owner)."))
                    self.assertTrue(person.run(person.has("Log in as eve instead?")))
                    person.wait("the focus", "document.activeElement.innerText === 'Stay project'")
                    person.accessible()
                    person.push(choice)
                    person.wait(f"the console of {name}", f"({who}).includes('{name}')")
                # The session that it replaced is over; another link of the same administrator is not worth a question.
                logins = [act["actor"] for act in grid.admin_json("audit", "list")["acts"] if act["action"] == "console login"]
                self.assertEqual(logins, ["project", "eve"])
                person.open("about:blank")
                person.open(link("--token-file", file))
                person.wait("the console of eve", f"({who}).includes('eve')")
                person.open("about:blank")
                person.open(link())
                person.wait("the question", person.has("Log in as project instead?"))
                self.assertEqual(person.complaints(), [])


if __name__ == "__main__":
    main()
