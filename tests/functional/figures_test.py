"""One number has one value and one text: the console, the command line, the client, its owner's page and mails say the same of the same
moment."""
import email
import email.utils
import re
import time
import unittest

from browser import CHROMIUM
from harness import SQUARES, Grid, main, needs
from person import Person

FIGURES = "[...document.querySelectorAll('.figures div')].map(each => [each.querySelector('dt').innerText.split(',')[0], each.querySelector('dd').innerText])"
FACTS = "[...document.querySelectorAll('.facts dt')].map(each => [each.innerText, each.nextElementSibling.innerText])"


def fields(text):
    """What the command line says, by name."""
    return dict(re.findall(r"^([a-zA-Z, ]+?)  +(.+)$", text, re.M))


@needs(CHROMIUM, "chromium is not installed")
class Figures(unittest.TestCase):
    def problem(self, grid, person, one):
        person.look_at(f"#/problems/{one}")
        person.heading_says("paused")
        shown = {**dict(person.run(FIGURES)), **dict(person.run(FACTS))}
        told = fields(grid.admin("problem", "show", "one").stdout)
        part = re.fullmatch(r"(\d+\.\d %) of the work", shown["done"])
        self.assertTrue(part, shown)
        self.assertEqual(told["done"].split(",")[0], part[1])
        accepted, items = shown["items accepted"].split(" of ")
        self.assertEqual(items, "2,000")
        self.assertRegex(told["items"], rf"^{accepted} accepted, .*, of {items}$")
        self.assertEqual(told["wasted"], shown["wasted"])
        units, splits = re.fullmatch(r"([\d,]+) handed out, ([\d,]+) of them split", shown["units"]).groups()
        self.assertRegex(told["units"], rf"^{units} handed out, .*, {splits} splits?, ")
        self.assertEqual(told["weight, priority"], shown["weight, priority"])
        listed = next(line for line in grid.admin("problem", "list").stdout.splitlines() if " one " in line)
        self.assertIn(f" {part[1]} ", listed)

    def host(self, grid, person, host):
        person.look_at(f"#/hosts/{host}")
        shown = {**dict(person.run(FIGURES)), **dict(person.run(FACTS))}
        told = fields(grid.admin("host", "show", "pc").stdout)
        self.assertEqual(told["cores"], shown["cores lent"])
        self.assertRegex(shown["cores lent"], r"^0\.5 of \d+$")
        self.assertEqual(told["memory"], shown["cores, memory"].split(", ")[1])
        self.assertRegex(told["memory"], r"^\d+\.\d GiB of \d+\.\d GiB$")  # half of it is lent
        self.assertEqual(told["speed of a core"], shown["speed of a core"])
        for name in ("items accepted", "failures", "disagreements"):
            self.assertEqual(told[name], shown[name])
        self.assertEqual(told["trust"].split(" chance")[0], shown["trust: chance that a result is correct"])

    def client(self, grid, person, one, host):
        """What the owner of a computer reads, in a terminal and on the page."""
        person.look_at(f"#/problems/{one}")
        done = dict(person.run(FIGURES))["done"].removesuffix(" of the work")
        person.look_at(f"#/hosts/{host}")
        shown = {**dict(person.run(FIGURES)), **dict(person.run(FACTS))}
        status = grid.wait_until("the client to know", lambda: (lambda text: text if f" one: {done} done, " in text or f" one: was {done} done " in text else None)(
            grid.control("pc", "status").stdout))
        told = dict(re.findall(r"^  (\w+(?: \w+)?)  +(.+)$", status, re.M))
        number, name, cores, speed = re.fullmatch(r"(\d+) \((.+)\), (.+) cores, (\S+ Mflop/s) a core", told["host"]).groups()
        self.assertEqual((number, name, cores, speed), (f"{host}", "pc", shown["cores lent"].split(" of ")[0], shown["speed of a core"]))
        self.assertEqual(told["accepted"].split(" ")[0], shown["items accepted"])
        grid.start("page", "gleaner", "--state", grid.state("pc"), "page", "--no-browser")
        address = grid.wait_until("the page", lambda: re.search(r"http://127\.0\.0\.1:\d+/#[0-9a-f]{48}", grid.log("page")))
        person.open(address[0])
        person.wait("the client", "document.querySelector('.figures dd') !== null && !document.body.innerText.includes('Asking the client')")
        page = dict(person.run(FIGURES))
        self.assertEqual(person.run("document.querySelector('main > p').innerText"), "Gleaner on pc")
        today, week, year = re.fullmatch(r"(.+) today, (.+) in the last 7 days, (.+) in the last year", told["so far"]).groups()
        self.assertEqual([each.removesuffix(" of a core") for each in (today, week, year)], [page["of a core today"], page["in seven days"], page["in a year"]])
        together = person.run("document.querySelector('#together').innerText")
        self.assertIn(f"{done} of one", together or f"{done} of one")  # nothing of a problem that it no longer computes

    def mail(self, grid, person, before, inbox):
        """About a problem that finished."""
        letter = email.message_from_bytes(grid.wait_until("the mail", lambda: list(inbox.glob("*.mail")))[0].read_bytes())
        person.look_at(f"#/problems/{before}")
        shown = dict(person.run(FIGURES))
        told = fields(grid.admin("problem", "show", "before").stdout)
        self.assertIn(f"{shown['items accepted'].split(' of ')[0]} items accepted in {told['elapsed']}, {shown['wasted']} wasted.", letter.get_payload(decode=True).decode())
        self.assertEqual(told["wasted"], shown["wasted"])
        self.assertAlmostEqual(email.utils.parsedate_to_datetime(letter["Date"]).timestamp(), grid.problem(before)["finished_at"] / 1e6, delta=60)

    def estimate(self, grid, person):
        person.choose("squares@", "#name")
        person.run("document.querySelector('#name').value = 'two'")
        person.type(".pair input:first-child", "count")
        person.type(".pair input:nth-child(2)", "700")
        person.wait("the estimate", "document.querySelector('.estimate b') !== null")
        shown = person.run("document.querySelector('.estimate').innerText")
        told = fields(grid.admin("problem", "add", "--app", "squares", "--param=count=700", "--estimate").stdout)
        work = told["work"].removesuffix(" of core time")
        self.assertIn(f"{work} of one core", shown)
        self.assertRegex(told["work"], r"^(about .+ \(.+ to .+\)|\d+ s) of core time$")
        self.assertIn(f"{told['items'].split()[0]} items in the first stage", shown)

    def still(self, grid, one):
        before = grid.problem(one)["accepted"]
        time.sleep(3)  # longer than between two heartbeats
        return grid.problem(one)["accepted"] == before

    def test_one_moment(self):
        with Grid("work.heartbeat_seconds = 1") as grid:
            inbox, sendmail = grid.directory / "inbox", grid.directory / "sendmail"
            inbox.mkdir()
            sendmail.write_text(f"#!/bin/sh\ncat > {inbox}/part && mv {inbox}/part {inbox}/$$.mail\n")
            sendmail.chmod(0o755)
            grid.change_settings(f'notices.mail = "ann@example.org"\nnotices.sendmail = "{sendmail}"')
            grid.start_server()
            grid.add_application(SQUARES)
            # A mail tells what has changed since the server last looked.
            grid.wait_until("its first look", lambda: grid.request("GET", "/v1/admin/history", token=grid.admin_token)[2]["items"])
            before = grid.add_problem("squares", "before", count=4, pause=0.05)
            grid.add_client("pc", share=0.5)
            grid.wait_until("one that is known", lambda: grid.problem(before)["state"] == "finished", 60)
            one = grid.add_problem("squares", "one", count=2000, pause=0.02)
            grid.wait_until("some of it", lambda: grid.problem(one)["accepted"] > 30, 120)
            grid.admin("problem", "pause", "one")
            grid.wait_until("nothing moves", lambda: self.still(grid, one), 60)
            with Person(self, grid) as person:
                person.log_in()
                self.problem(grid, person, one)
                self.host(grid, person, grid.admin_json("host", "show", "pc")["id"])
                person.look_at("#/add")
                self.estimate(grid, person)
                self.mail(grid, person, before, inbox)
                self.client(grid, person, one, grid.admin_json("host", "show", "pc")["id"])


if __name__ == "__main__":
    main()
