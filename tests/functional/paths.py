"""A person's path through the console: log in, make a code, let a computer join by it, add a problem with 50 files, watch it, see it
fail, understand why, mend it, take the results, find one host among 100,000, hold and revoke it, look at the wall."""
import contextlib
import json
import shutil
import signal
import sqlite3
import zipfile

from harness import SQUARES, Grid

HEIGHTS = {390: 844, 1280: 800, 1920: 1080}  # of screens, by their widths
FILES, HOSTS = 50, 100_000
BROKEN = "ligand-31"
SETTINGS = "work.commit_seconds = 1\nwork.heartbeat_seconds = 1"
# Which no computer stands behind: as if each had joined and left for a holiday.
INSERT = f"""WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {HOSTS})
INSERT INTO hosts (name, public_key, machine, token_digest, platform, cores, memory_bytes, client_version, mflops, benchmark_at, state, state_reason, failures_in_row,
  failures, blocked_until, blocked_reason, enrolled_at, last_contact, items_accepted, cost_accepted, disagreements)
SELECT printf('pc-%05d', i), randomblob(32), printf('m%05d', i), randomblob(32), 'x86_64-linux', 4, 8000000000, '1.0.0', 1000, 0, 1, '', 0, 0, 0, '', 1700000000000000, 1700000000000000, i, i, 0
FROM numbers"""


def changed(path, *pairs):
    text = path.read_text()
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, new, 1)
    path.write_text(text)


def bundle(grid, version, mended):
    """Adds what its files are long; one of them breaks it, until it is mended."""
    place = grid.directory / f"ligands-{version}"
    shutil.copytree(SQUARES, place)
    changed(place / "manifest.toml", ('"squares"', '"ligands"'), ('"1.0.0"', f'"{version}"'), ("[kernel]", 'compatible_with = ["1.0.0"]\n[kernel]' if mended else "[kernel]"))
    refuse = "" if mended else 'sys.exit(f"{names[item]}: there is no element Xx") if "Xx" in text else '
    changed(place / "kernel.py", ("import json, select", "import json, os, select"),
            ('        parameters = json', '        place = " ".join(words[1:]) + "/inputs"\n        names = sorted(os.listdir(place))\n        parameters = json'),
            ('            if pause: time.sleep(pause)\n            square = str((first + item) ** 2).encode()',
             f'            time.sleep(0.05)\n            text = open(f"{{place}}/{{names[item]}}").read()\n            {refuse}None\n            square = str(len(text)).encode()'))
    changed(place / "manager.py", ('answer("ok" if int(parameters.get("count", 0)) > 0 else "error count: must be a whole number above 0")',
                                   'parameters["count"] = len(os.listdir(" ".join(words[1:]) + "/inputs")); answer("ok" if parameters["count"] else "error no files")'),
            ('        answer(f"result sum.txt', '        open(f"{directory}/files.txt", "w").write(f"{parameters[\'count\']}\\n")\n'
             '        if words[0] == "combine": answer(f"result files.txt {directory}/files.txt text/plain")\n        answer(f"result sum.txt'))
    return place


@contextlib.contextmanager
def project():
    """Of a hundred thousand hosts."""
    with Grid(SETTINGS, name="The attic") as grid:
        grid.start_server()
        grid.kill("server", signal.SIGTERM)
        with contextlib.closing(sqlite3.connect(grid.project / "store.sqlite")) as store, store:
            store.execute(INSERT)
        grid.start_server()
        grid.add_application(bundle(grid, "1.0.0", False))
        yield grid


class Path:
    def __init__(self, test, grid, person, width, scheme):
        self.test, self.grid, self.person, self.width, self.scheme = test, grid, person, width, scheme

    def walk(self):
        self.person.screen(self.width, HEIGHTS[self.width], self.scheme)
        self.person.log_in()
        dark = self.person.run("matchMedia('(prefers-color-scheme: dark)').matches")
        self.test.assertEqual(dark, self.scheme == "dark")
        for step in (self.make_code, self.add, self.understand, self.mend, self.take, self.find, self.hold, self.revoke, self.wall):
            step()
            self.fits(step.__name__)
        self.test.assertEqual(self.person.complaints(), [])

    def fits(self, step):
        """Nothing is wider than the screen, and axe finds nothing."""
        wide = f"[...document.querySelectorAll('main *')].filter(each => each.getBoundingClientRect().right > {self.width + 1}).map(each => each.outerHTML.slice(0, 100))"
        self.test.assertLessEqual(self.person.run("document.documentElement.scrollWidth"), self.width, f"{step}: {self.person.run(wide)}")
        self.person.accessible()

    def menu(self):
        """On a phone it is behind a button."""
        if self.person.run("document.querySelector('.menu').checkVisibility() && document.querySelector('.menu').getAttribute('aria-expanded') == 'false'"):
            self.person.click(".menu")

    def turn_to(self, page, heading=""):
        self.menu()
        self.person.push(page, "nav a")
        self.person.heading_says(heading or page)

    def make_code(self):
        """And a computer joins by it."""
        person, grid = self.person, self.grid
        self.turn_to("Access")
        person.push("Make a code")
        person.wait("the form", "document.querySelector('dialog[open]') !== null")
        for field, text in (("code-name", "attic"), ("code-hosts", "2"), ("proof", grid.admin_token)):
            person.type(f"#{field}", text)
        person.pick("#code-whose", "own")
        person.push("Make code")
        code = person.wait("the code", "document.querySelector('[aria-label=\"Join code\"]')?.innerText")
        grid.join("kitchen-pc", code=code)
        grid.start_client("kitchen-pc")
        person.wait("the host", "[...document.querySelectorAll('.rows .row')].some(row => row.innerText.includes('attic') && row.innerText.includes('1 of 2'))")

    def add(self):
        """With fifty files, and watch it."""
        person = self.person
        files = [self.grid.directory / f"ligand-{i:02}" for i in range(FILES)]
        for path in files:
            path.write_text("C6H6" + (" Xx" if path.name == BROKEN else ""))
        self.turn_to("Problems")
        person.push("Add a problem", "main a")
        person.choose("ligands@", "#files")
        person.type("#name", "docking")
        person.give("#files", files)
        person.wait("the files", person.has("50 files"))
        person.push("Start")
        person.heading_says("docking")
        person.wait("items on the map", "/about [1-9]\\d? % accepted/.test(document.querySelector('canvas.map')?.getAttribute('aria-label'))", 60)

    def understand(self):
        """It fails: what is wrong leads from the overview to its page, where the file is named."""
        person = self.person
        self.turn_to("Overview")
        words = f"{BROKEN}: there is no element Xx"
        person.wait("what is wrong", person.has(words), 60)
        person.push("docking", "main a")
        person.heading_says("docking")
        person.wait("the error", f"document.querySelector('[aria-label=Errors]')?.innerText.includes({json.dumps(words)})")

    def mend(self):
        """A fixed version takes up what the other one has done."""
        person, grid = self.person, self.grid
        grid.add_application(bundle(grid, "1.0.1", True))
        person.wait("the versions", "document.querySelector('#version') !== null || "
                    "[...document.querySelectorAll('button.link')].some(each => each.innerText === 'another version')")
        if person.run("document.querySelector('#version') === null"):
            person.push("another version")
        person.wait("the fixed one", "[...document.querySelectorAll('#version option')].some(each => each.value == 'ligands@1.0.1')")
        person.pick("#version", "ligands@1.0.1")
        person.push("Use this version")
        person.heading_says("finished", 120)

    def take(self):
        """One of the results, and all of them."""
        person, grid = self.person, self.grid
        results = grid.results(1)
        self.test.assertEqual({name: int(text) for name, text in results.items()}, {"sum.txt": 4 * FILES + 3, "files.txt": FILES})
        person.wait("the results", "document.querySelectorAll('.files a').length == 2")
        person.push("sum.txt", ".files a")
        sum_txt = person.downloads / "sum.txt"
        grid.wait_until("the file", lambda: sum_txt.exists() and sum_txt.read_bytes() == results["sum.txt"])
        person.push("Download all as ZIP")
        archive = person.downloads / "docking.zip"
        grid.wait_until("the archive", lambda: archive.exists() and zipfile.is_zipfile(archive))
        with zipfile.ZipFile(archive) as packed:
            self.test.assertEqual({name: packed.read(name) for name in packed.namelist()}, results)

    def find(self):
        """One of a hundred thousand, by a part of its name: in the list, and in the field that searches everything."""
        person = self.person
        self.turn_to("Hosts")
        person.wait("that they are many", person.has(f"{HOSTS + 1:,} in all"))
        person.type("#text", "73512")
        person.wait("it alone", person.has("1 host shown") + " && " + person.has("pc-73512"))
        self.menu()
        person.click("[role=combobox]")
        person.type("[role=combobox]", "pc-73512")
        person.wait("what was found", "(hits => hits.length == 1 && hits[0].innerText.includes('pc-73512'))(document.querySelectorAll('#hits [role=option]'))")
        person.press("Enter")
        person.heading_says("pc-73512")

    def hold(self):
        """And release."""
        person = self.person
        person.push("Hold")
        person.wait("the question", "document.querySelector('dialog[open]') !== null")
        person.type("#reason", "an exam")
        person.push("Hold host")
        person.wait("the hold", person.has("On hold, it gets no new units: an exam"))
        person.push("Release")
        person.wait("the release", f"!{person.has('it gets no new units')}")

    def revoke(self):
        person = self.person
        person.push("Revoke")
        person.push("Revoke host")
        person.heading_says("revoked")
        self.test.assertEqual(self.grid.rows("SELECT name FROM hosts WHERE state <> 1"), [["pc-73512"]])

    def wall(self):
        person = self.person
        self.turn_to("Wall", "The attic")
        person.wait("that nothing runs", person.has("Nothing is running right now.") + " && " + person.has("Last finished: docking"))
        person.push("Full screen")
        person.wait("nothing but the wall", "document.fullscreenElement !== null && getComputedStyle(document.querySelector('.wall-controls')).opacity === '0'")
