"""The table of a problem at the console, by clicks: pages, order, failed rows, and these run again."""
import os
import pathlib
import subprocess
import unittest

from browser import CHROMIUM
from harness import BUILD, SLOW, Grid, main, needs
from person import Person

ROWS = 250
PICTURE = os.environ.get("GLEANER_PICTURE")  # a file for a screenshot
CELLS = "[...document.querySelectorAll('section[aria-label=Table] tbody tr')].map(row => row.children[%d].innerText)"


@needs(CHROMIUM, "chromium is not installed")
class ConsoleTable(unittest.TestCase):
    def test_a_table(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            grid.start_server()
            subprocess.run([BUILD / "bin" / "gleaner-admin", "app", "wrap", "awk", "--name", "halves", "--number", "half=^half (.*)", "-o",
                            grid.directory / "halves", "--", 'BEGIN {{ if ({x} % 50 == 7) exit 3; print "half", {x} / 2 }}'],
                           check=True, capture_output=True)
            grid.add_application(grid.directory / "halves")
            grid.add_client("kitchen-pc")
            table = grid.directory / "x.csv"
            table.write_text("x\n" + "".join(f"{x}\n" for x in range(ROWS)))
            identity = grid.add_problem("halves", "halves", "--table", table)
            grid.wait_finished(identity, timeout=120 * SLOW)
            with Person(self, grid) as person:
                person.log_in()
                person.go(f"#/problems/{identity}")
                person.wait("the first page", f"{CELLS % 0}.join() === '{','.join(str(i + 1) for i in range(100))}'")
                person.wait("how many there are", person.has("1–100 of 250"))
                self.assertEqual(person.run("[...document.querySelectorAll('section[aria-label=Table] thead th')].map(th => th.innerText)"),
                                 ["row", "x", "half", "status", "seconds", "host"])
                person.accessible()
                person.push("Last")
                person.wait("the last page", f"{CELLS % 0}.join() === '{','.join(str(i + 1) for i in range(200, 250))}'")
                person.push("half")
                person.wait("the order by a number", f"{CELLS % 2}.slice(0, 3).join() === '0,0.5,1'")
                person.push("half ↑")
                person.wait("the other way round", f"{CELLS % 2}.slice(0, 2).join() === '124.5,124'")
                if PICTURE:
                    pathlib.Path(PICTURE).write_bytes(person.picture())
                person.push("Failed (5)")
                person.wait("the failed rows", f"{CELLS % 3}.join() === 'exit 3,exit 3,exit 3,exit 3,exit 3'")
                person.wait("their hosts", f"{CELLS % 5}[0] === 'kitchen-pc'")
                person.push("Run failed rows again")
                person.wait("that it was done", "document.querySelector('.said p')?.innerText.includes('The failed rows of halves run again.')")
                grid.wait_until("they were computed again", lambda: any(
                    each["kind"] == "reject" for each in grid.admin_json("problem", "decisions", identity)["items"]), 60 * SLOW)
                person.heading_says("finished", 120)
                person.wait("the table, still", person.has("Failed (5)"))
                self.assertEqual(person.complaints(), [])


if __name__ == "__main__":
    main()
