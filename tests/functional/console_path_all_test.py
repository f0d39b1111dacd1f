"""A person's path through the console (paths.py) in Chromium and Firefox, on a phone, a laptop and a large screen, light and dark.
`GLEANER_PATHS=firefox-390-dark,...` walks some of them alone."""
import os
import time
import unittest

from browser import CHROMIUM
from firefox import FIREFOX
from harness import main, of_files
from paths import HEIGHTS, Path, project
from person import FirefoxPerson, Person

BROWSERS = {"chromium": (CHROMIUM, Person), "firefox": (FIREFOX, FirefoxPerson)}
CHOSEN = [each for each in os.environ.get("GLEANER_PATHS", "").split(",") if each]


@of_files("its hosts are written into the store's file")
class AllPaths(unittest.TestCase):
    def paths(self, browser):
        installed, kind = BROWSERS[browser]
        if not installed:
            self.skipTest(f"{browser} is not installed: tools/setup test has Chromium, tools/setup firefox Firefox")
        for width in HEIGHTS:
            for scheme in ("light", "dark"):
                name = f"{browser}-{width}-{scheme}"
                if CHOSEN and name not in CHOSEN:
                    continue
                begun = time.monotonic()
                with self.subTest(name), project() as grid, kind(self, grid) as person:
                    Path(self, grid, person, width, scheme).walk()
                print(f"{name}: {time.monotonic() - begun:.0f} s", flush=True)

    def test_chromium(self):
        self.paths("chromium")

    def test_firefox(self):
        self.paths("firefox")


if __name__ == "__main__":
    main()
