"""A person's path through the console on a phone, from the log-in to the wall. console_path_all_test.py walks it in each browser, at each width and in
both colours."""
import unittest

from browser import CHROMIUM
from harness import main, needs, of_files
from paths import Path, project
from person import Person


@needs(CHROMIUM, "chromium is not installed")
@of_files("its hosts are written into the store's file")
class OnePath(unittest.TestCase):
    def test_path(self):
        with project() as grid, Person(self, grid) as person:
            Path(self, grid, person, 390, "dark").walk()


if __name__ == "__main__":
    main()
