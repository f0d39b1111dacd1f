"""The form for adding a problem, made of what its application declares; the command line tells and refuses the same."""
import os
import pathlib
import time
import unittest

from browser import CHROMIUM
from harness import MANDELBROT, SQUARES, Grid, main, needs
from person import Person

PICTURE = os.environ.get("GLEANER_FORM_PICTURE")  # a file for a screenshot of the form
EARLIER = {"width": 60, "height": 42, "iterations": 600}
CITIES = 15 if PICTURE else 5  # so that it takes some seconds where that is to be seen


class Form(unittest.TestCase):
    def test_the_command_line(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            for name in ("mandelbrot", "dsearch"):
                grid.add_application(MANDELBROT.parent / name)
            told = grid.admin("app", "show", "mandelbrot@1.0.0").stdout
            self.assertRegex(told, r"width +512 +integer 1 to 65536 +pixels in a row")
            self.assertRegex(told, r'colour +"smooth" +smooth, counts ')
            self.assertRegex(told, r"certified until +20\d\d-")
            self.assertRegex(grid.admin("app", "show", "dsearch").stdout, r"query +must be given +sequences to look for")
            self.assertIn("does not declare its parameters", grid.admin("app", "show", "squares").stdout)
            shown = grid.admin_json("app", "show", "mandelbrot")
            self.assertEqual((shown["parameters"][0]["name"], shown["parameters"][0]["default_value"], shown["inputs"]), ("width", "512", []))
            for name in ("nothing", "mandelbrot@2", "../status", ""):
                self.assertIn("there is no application", grid.admin("app", "show", name, check=False).stderr)
            # Refused by name before anything is planned, also by --estimate; what an application does not declare is its manager's to judge.
            for arguments, words in ((("mandelbrot", "--param=width=0"), "width: must be a whole number from 1 to 65536, not 0"),
                                     (("mandelbrot", "--param=widht=9"), "widht: there is no such parameter; there are width, height"),
                                     (("mandelbrot", "--param=colour=red", "--param=width=1.5"), 'colour: must be one of "smooth", "counts", not "red"'),
                                     (("mandelbrot", "--param=width=0", "--estimate"), "`gleaner-admin app show mandelbrot@1.0.0` tells what it takes"),
                                     (("dsearch",), "input query: must be given: sequences to look for"),
                                     (("squares", "--param=count=0"), "count: must be a whole number above 0")):
                refused = grid.admin("problem", "add", "--app", *arguments, check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(words, refused.stderr)
            self.assertEqual(grid.admin_json("problem", "list")["items"], [])
            deep = grid.add_problem("mandelbrot", "deep", "--param", "centre_x=-0.5", "--param", "centre_y=0", "--param", "view_width=1e-3000", width=4, height=3)
            self.assertEqual(grid.problem(deep)["state"], "running")

    @needs(CHROMIUM, "chromium is not installed")
    def test_by_clicks(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            grid.start_server()
            for application in (SQUARES, MANDELBROT.parent / "tsp", MANDELBROT):
                grid.add_application(application)
            grid.add_client("kitchen-pc")
            grid.wait_finished(grid.add_problem("mandelbrot", "earlier", **EARLIER))
            with Person(self, grid) as person:
                person.log_in()
                self.estimate(grid, person)
                self.fields(grid, person)
                self.input(grid, person)
                self.assertEqual(person.complaints(), [])

    def estimate(self, grid, person):
        """What an earlier problem took is told, here and by the command line."""
        person.go("#/add")
        person.choose("mandelbrot", "#parameter-width")
        person.type("#parameter-width", "300")
        said = person.wait("the estimate", "document.querySelector('.estimate p')?.parentNode.innerText")
        self.assertRegex(said, r"Expected to finish in .+\n+.* of one core, from 1 earlier problem with other parameters")
        person.accessible()
        arguments = [f"--param={name}={value}" for name, value in EARLIER.items()]
        told = grid.admin_json("problem", "add", "--app", "mandelbrot", "--estimate", *arguments)
        self.assertTrue(told["same_parameters"], told)
        self.assertGreater(told["core_seconds"], 0)
        text = grid.admin("problem", "add", "--app", "mandelbrot", "--estimate", *arguments).stdout
        self.assertRegex(text, r"done in +(about )?\d")
        self.assertIn("1 earlier problem with the same parameters", text)
        self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 1)

    def fields(self, grid, person):
        """Fields, bounds, choices; what is wrong is told at its field."""
        person.look_at("#/")
        person.go("#/add")
        person.choose("squares", "#more-parameters")  # declares nothing: names and values
        self.assertIsNone(person.run("document.querySelector('[id^=parameter-]')?.id ?? null"))
        time.sleep(2)
        self.assertEqual(person.complaints(), [])  # no estimate of nothing was asked for
        ligands = [grid.directory / f"ligand-{i}" for i in range(50)]
        for path in ligands:
            path.write_text("C6H6")
        person.give("#files", ligands)
        person.wait("many files in a line", person.has("50 files, 200 B"))
        person.push("Remove all")
        self.directory(grid, person)
        person.accessible()
        person.choose("mandelbrot", "#parameter-width")
        shown = person.run("[document.querySelector('#parameter-width').placeholder, document.querySelector('#parameter-width-hint').innerText,"
                           " [...document.querySelectorAll('#parameter-colour option')].map(o => o.innerText).join(' | ')]")
        self.assertEqual(shown, ["512", "pixels in a row; 1 to 65536", "smooth (default) | smooth | counts"])
        person.type("#name", "narrow")
        person.type("#parameter-width", "0")
        person.push("Start")
        person.wait("what is wrong", "document.activeElement.id == 'parameter-width' && document.activeElement.getAttribute('aria-invalid') == 'true'")
        refusal = "width: must be a whole number from 1 to 65536, not 0"
        self.assertIn(refusal, person.wait("the message", "document.querySelector('.said .bad')?.innerText"))
        self.assertIn(refusal, person.run("document.querySelector('form .bad').innerText"))  # stays
        person.accessible()
        person.type("#parameter-width", "300")  # mended: no estimate of what is refused is asked for any more
        person.wait("the estimate", "document.querySelector('.estimate p b')?.innerText")
        person.forgive("400")

    def directory(self, grid, person):
        """All of a directory but what is hidden; of a table the first rows are shown."""
        place = grid.directory / "ligands"
        (place / "more").mkdir(parents=True)
        (place / "table.csv").write_text('name,"mass, in u"\n' + "".join(f"ligand {i},{i}\n" for i in range(1, 20)))
        (place / "more" / "one.pdb").write_text("ATOM")
        (place / ".hidden").write_text("x")
        person.give("#directory", [place])
        person.wait("its files", "[...document.querySelectorAll('[aria-label^=\"name of input\"]')].map(each => each.value).sort().join() == 'one.pdb,table.csv'")
        cells = person.wait("the table", "[...document.querySelectorAll('[aria-label^=\"The first rows of table.csv\"] tr')].map(row => [...row.children].map(cell => cell.innerText))")
        self.assertEqual((cells[0], cells[1], len(cells)), (["name", "mass, in u"], ["ligand 1", "1"], 6))

    def input(self, grid, person):
        """A file is sent with it, and no digit of a number is lost."""
        person.choose("tsp", "#input-cities")
        person.type("#name", "round trip")
        person.type("#parameter-seed", "9007199254740992")
        cities = grid.directory / "cities.tsp"
        places = "".join(f"{i + 1} {7 * i % 10} {3 * i % 11}\n" for i in range(CITIES))
        cities.write_text(f"DIMENSION: {CITIES}\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{places}EOF\n")
        person.give("#input-cities", [cities])
        person.wait("the file", "document.querySelector('#input-cities-hint').innerText.includes('B')")
        person.accessible()
        if PICTURE:
            grid.wait_finished(grid.add_problem("tsp", "at random", random_cities=CITIES))
            person.call("Emulation.setDeviceMetricsOverride", width=1000, height=980, deviceScaleFactor=1, mobile=False)
            person.push("Send the files and estimate")
            person.wait("the estimate", "document.querySelector('.estimate p b')?.innerText")
            person.wait("nothing to be said", "document.querySelector('.said p') === null")
            pathlib.Path(PICTURE).write_bytes(person.picture())
        self.strategy(person)
        person.push("Start")
        person.wait("the problem", person.has("items accepted"))
        person.heading_says("finished", 300 if PICTURE else 60)
        self.assertEqual(grid.admin_json("problem", "show", "round trip")["strategy"].split(",")[0], "rts")
        stored = grid.stored()
        self.assertIn(b'{"seed":9007199254740992}', stored)  # and nothing that was left out

    def strategy(self, person):
        """From a list: each with its sentence, the recommended one before the others."""
        person.run("document.querySelector('details').open = true")
        options = person.wait("the strategies", "(all => all.length > 10 ? all.map(o => [o.value, o.innerText]) : null)([...document.querySelectorAll('#strategy option')])")
        self.assertEqual(options[0], ["", "server default"])
        self.assertRegex(options[1][1], r"^gleaner \(recommended\): .+")
        self.assertEqual([name for name, words in options[1:] if ": " not in words], [])
        self.assertFalse({"split", "rdlb"} & {name for name, _ in options})
        person.pick("#strategy", "rts")
        person.accessible()


if __name__ == "__main__":
    main()
