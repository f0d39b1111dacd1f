"""Results at the console: all of them as one archive, and the first rows of a table."""
import base64
import io
import shutil
import unittest
import zipfile

from browser import CHROMIUM
from harness import SQUARES, Grid, main, needs
from person import Person

# What the browser would save is looked at where the page hands it over.
KEEP = "(make => { URL.createObjectURL = content => { if (content.type == 'application/zip') window.kept = content; return make.call(URL, content); } })(URL.createObjectURL)"
CONTENT = "kept.arrayBuffer().then(all => btoa(String.fromCharCode(...new Uint8Array(all))))"
ANSWER = r'answer(f"result sum.txt {directory}/sum.txt text/plain\nok")'
TABLES = r'''open(f"{directory}/table.csv", "w").write('item,"its square, of course"\n' + "".join(f"{i},{i * i}\n" for i in range(90)))
        answer(f"result sum.txt {directory}/sum.txt text/plain\nresult größe.csv {directory}/table.csv text/csv\nok")'''


@needs(CHROMIUM, "chromium is not installed")
class Results(unittest.TestCase):
    def tables(self, grid):
        """An application whose results are a number and a table."""
        place = grid.directory / "tables"
        shutil.copytree(SQUARES, place)
        (place / "manifest.toml").write_text((place / "manifest.toml").read_text().replace('"squares"', '"tables"', 1))
        manager = (place / "manager.py").read_text()
        self.assertIn(ANSWER, manager)
        (place / "manager.py").write_text(manager.replace(ANSWER, TABLES))
        return place

    def test_results(self):
        with Grid("work.heartbeat_seconds = 1") as grid:
            grid.start_server()
            grid.add_application(self.tables(grid))
            grid.add_client("pc")
            one = grid.add_problem("tables", "one", count=20)
            grid.wait_until("its end", lambda: grid.problem(one)["state"] == "finished", 60)
            with Person(self, grid) as person:
                person.log_in()
                person.look_at(f"#/problems/{one}")
                cells = person.wait("the table", "(rows => rows.length && rows.map(row => [...row.children].map(cell => cell.innerText)))"
                                    "([...document.querySelectorAll('.files tr')])")
                self.assertEqual((cells[0], cells[3], len(cells)), (["item", "its square, of course"], ["2", "4"], 6))
                person.accessible()
                person.run(KEEP)
                person.push("Download all as ZIP")
                person.wait("the archive", "window.kept !== undefined")
                archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(person.run(CONTENT))))
                self.assertIsNone(archive.testzip())
                self.assertEqual({name: archive.read(name) for name in archive.namelist()}, grid.results(one))
                self.assertEqual(len(archive.namelist()), 2)
                self.assertEqual(person.complaints(), [])


if __name__ == "__main__":
    main()
