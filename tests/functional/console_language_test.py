"""The console in German: by the browser's wish, on every page, and English again by choice."""
import pathlib
import re
import unittest

from browser import CHROMIUM
from harness import Grid, main, needs
from person import Person, compute_something

STRINGS = pathlib.Path(__file__).resolve().parents[2] / "server" / "console" / "web" / "src" / "strings"
PAGES = {"#/": "Übersicht", "#/problems": "Aufgaben", "#/problems/1": "one", "#/hosts": "Rechner", "#/hosts/1": "pc", "#/add": "Aufgabe hinzufügen",
         "#/applications": "Anwendungen und Schlüssel", "#/access": "Zugang", "#/relays": "Relays", "#/audit": "Änderungsprotokoll", "#/settings": "Einstellungen"}


def sentences(name):
    """Its texts of several words that have no place for a value."""
    found = re.findall(r'"([^"#{}`]+)"', (STRINGS / name).read_text())
    return {text.strip() for text in found if len(text.split()) > 1}


@needs(CHROMIUM, "chromium is not installed")
class Language(unittest.TestCase):
    def speak(self, person, languages):
        agent = person.run("navigator.userAgent")
        person.call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=languages)

    def shows(self, person, heading):
        person.wait(heading, f"document.querySelector('main h1')?.innerText.includes({heading!r}) && document.querySelector('[aria-busy=true]') === null")

    def test_german(self):
        english = (sentences("en.ts") | sentences("en_later.ts")) - sentences("de.ts") - sentences("de_later.ts")
        self.assertGreater(len(english), 100)
        with Grid("work.heartbeat_seconds = 1") as grid:
            compute_something(grid)
            with Person(self, grid) as person:
                self.speak(person, "de-AT,de;q=0.9,en;q=0.5")
                person.open(f"https://127.0.0.1:{grid.port}/console")
                person.wait("the log-in", "document.querySelector('.login button')?.innerText == 'Anmelden'")
                person.log_in("Übersicht")
                for page, heading in PAGES.items():
                    with self.subTest(page=page):
                        person.go(page)
                        self.shows(person, heading)
                        # What settings mean is the server's to say, in English.
                        seen = person.run("(page => { page.querySelectorAll('.settings .meaning').forEach(each => each.remove()); return page.innerText })(document.body.cloneNode(true))")
                        self.assertEqual([text for text in english if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", seen)], [], seen)
                        person.accessible()
                person.go("#/problems/1")
                self.shows(person, "one")
                person.wait("numbers as Germans write them", r"/\d,\d %/.test(document.querySelector('main').innerText)")
                self.assertEqual(person.run("document.documentElement.lang"), "de")
                self.assertEqual(person.run("performance.getEntriesByType('resource').filter(each => /\\/de-/.test(each.name)).length"), 1)
                person.pick("header select", "en")
                person.wait("English", "document.documentElement?.lang == 'en'")
                self.shows(person, "one")
                person.call("Page.reload")
                person.wait("English, still", "document.documentElement?.lang == 'en' && document.body.innerText.includes('hosts at work')")
                self.assertEqual(person.run("performance.getEntriesByType('resource').filter(each => /\\/de-/.test(each.name)).length"), 0)


if __name__ == "__main__":
    main()
