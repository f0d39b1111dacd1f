"""A flow at the console: drawn as a graph, a group in the list; and which hosts can compute a problem."""
import os
import pathlib
import unittest

from browser import CHROMIUM
from harness import SLOW, Grid, main, needs
from person import Person
from wrapping import add_wrapped, wrapped

PICTURE = os.environ.get("GLEANER_PICTURE")  # a file for a screenshot
STUDY = '''flow = 1
name = "study"

[[node]]
name = "square"
app = "square"
table = "runs.csv"

[[node]]
name = "pack"
app = "squeeze"
inputs = ["square/table.csv", "notes.txt"]

[[node]]
name = "wrong"
app = "square"
inputs = ["notes.txt"]

[[node]]
name = "both"
app = "squeeze"
inputs = ["pack/table.csv.gz", "wrong/table.csv"]

[[node]]
name = "last"
app = "squeeze"
inputs = ["square/table.csv", "both/table.csv.gz"]
'''
NODES = "[...document.querySelectorAll('.graph .node')].map(node => [...node.querySelectorAll('text')].map(each => each.textContent).join(': '))"
# Of two nodes, whether they cover each other; of the links, whether each ends at nodes.
COVERED = """(nodes => nodes.some((a, i) => nodes.slice(i + 1).some(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)))
([...document.querySelectorAll('.graph .node rect')].map(each => each.getBoundingClientRect()))"""


@needs(CHROMIUM, "chromium is not installed")
class ConsoleFlow(unittest.TestCase):
    def test_a_flow(self):
        with Grid(name="The attic") as grid:
            grid.start_server()
            add_wrapped(grid, "square", "awk", "--number", "square=^(.*)", "--", "BEGIN {{ print {n} * {n} }}")
            add_wrapped(grid, "squeeze", "gzip", "--suffix", ".gz", "--", "-9", "-n")
            for name, text in (("study.toml", STUDY), ("notes.txt", "notes"), ("runs.csv", "n\n1\n2\n3\n")):
                (grid.directory / name).write_text(text)
            grid.add_client("kitchen-pc")
            run = grid.admin("flow", "run", grid.directory / "study.toml", check=False)
            self.assertEqual(run.returncode, 1, run.stderr)
            grid.add_problem("squeeze", "apart", "--input", grid.directory / "notes.txt")
            with Person(self, grid) as person:
                person.log_in()
                person.go("#/problems")
                person.wait("the group of the flow", person.has("flow, 2 so far"))
                rows = "[...document.querySelectorAll('[role=row] [role=cell]:first-child')].map(cell => cell.innerText.trim())"
                self.assertEqual(len(person.run(rows)), 2)
                self.assertIn("2 of 2 finished", person.run("document.querySelector('main').innerText"))
                person.accessible()
                person.click(".unfold")
                person.wait("its problems", f"{rows}.join().includes('square') && {rows}.length === 4")
                person.accessible()
                person.follow("study")
                person.heading_says("study")
                person.wait("the graph", f"{NODES}.length === 5")
                self.assertEqual(person.run(NODES), ["square: finished", "wrong: refused", "pack: finished", "both: cannot begin", "last: cannot begin"])
                self.assertFalse(person.run(COVERED))
                self.assertEqual(person.run("[...document.querySelectorAll('.graph .way')].map(way => [way.getAttribute('class').trim(), way.textContent].join(' '))"),
                                 ["way ready table.csv", "way ready table.csv.gz", "way lost table.csv", "way lost table.csv.gz", "way ready table.csv"])
                self.assertEqual(person.run("[...document.querySelectorAll('tbody tr')].map(row => row.lastElementChild.innerText).slice(3)"),
                                 ["cannot begin without wrong", "cannot begin without both"])
                person.wait("why the server refused one", person.has("there is no table"))
                person.accessible()
                if PICTURE:
                    pathlib.Path(PICTURE).write_bytes(person.picture())
                person.run("document.querySelector('.graph a.node').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))")
                person.heading_says("study/square")
                person.wait("the graph on the problem's page", f"{NODES}.length === 5 && document.querySelector('.graph .here text').textContent === 'square'")
                person.accessible()
                self.assertEqual(person.complaints(), [])

    def test_who_can_compute_it(self):
        with Grid(name="The attic") as grid:
            grid.start_server()
            choosy = wrapped(grid, "choosy", "gzip", "--suffix", ".gz", "--", "-9", "-n")
            manifest = choosy / "manifest.toml"
            manifest.write_text('needs = ["python>=3.99", "numpy"]\n' + manifest.read_text())
            grid.add_application(choosy)
            add_wrapped(grid, "plain", "gzip", "--suffix", ".gz", "--", "-9", "-n")
            (grid.directory / "notes.txt").write_text("notes")
            identity = grid.add_problem("choosy", "choosy", "--input", grid.directory / "notes.txt")
            grid.add_client("kitchen-pc")
            with Person(self, grid) as person:
                person.log_in()
                person.go(f"#/problems/{identity}")
                card = "section[aria-label=\"Hosts that can compute it\"]"
                person.wait("that no host can", f"document.querySelector('{card} li')?.innerText.includes('lacks python>=3.99')", 60 * SLOW)
                text = person.run(f"document.querySelector('{card}').innerText")
                self.assertIn("0 of 1 host online can compute it.", text)
                self.assertIn("1 host: kitchen-pc", text)
                person.accessible()
                person.run(f"document.querySelector('{card} dd a').click()")
                person.wait("hosts that meet it", "location.hash.includes('needs=python') && " + person.has("No host matches."))
                person.type("#needs", "glibc")
                person.wait("a host that has it", person.has("kitchen-pc"))
                person.follow("kitchen-pc")
                person.wait("what it offers", person.has("offers to kernels") + " && " + person.has("glibc 2."))
                person.accessible()
                person.go("#/applications")
                person.wait("what the application needs", person.has("python>=3.99, numpy"))
                person.accessible()
                self.assertEqual(person.complaints(), [])


if __name__ == "__main__":
    main()
