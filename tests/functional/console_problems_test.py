"""Problems at the console, by clicks: one is added and forms, one fails and is mended, others are paused, changed and cancelled."""
import hashlib
import os
import pathlib
import shutil
import unittest

from browser import CHROMIUM
from harness import MANDELBROT, SQUARES, Grid, main, needs
from person import Person
from wrapping import add_failing

PICTURE = os.environ.get("GLEANER_PICTURE")  # a file for a screenshot of a problem's page
VALLEY = {"width": 600, "height": 420, "iterations": 400000 if PICTURE else 20000}


@needs(CHROMIUM, "chromium is not installed")
class Problems(unittest.TestCase):
    def test_problems(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            grid.start_server()
            for application in (SQUARES, MANDELBROT):
                grid.add_application(application)
            with Person(self, grid) as person:
                secret = person.log_in()
                person.wait("nobody", person.has("No host has joined yet"))
                self.assertNotIn(secret, person.run("location.href"))
                person.wait("the join code", person.has("gleaner-client join gleaner://"))
                person.accessible()
                grid.add_client("kitchen-pc")
                person.wait("the host", "document.querySelector('.figures').innerText.includes('1 of 1')")
                self.add(grid, person)
                self.watch(grid, person)
                self.mend(grid, person)
                self.change(grid, person)
                self.stop(grid, person)
                person.go("#/problems/1")
                person.wait("how the estimate developed",
                            "document.querySelectorAll('section[aria-label=Progress] canvas').length > 1 || " + person.has("finished"))
                self.assertEqual(person.complaints(), [])

    def add(self, grid, person):
        person.go("#/add")
        person.wait("the form", "document.querySelector('#name') !== null && document.activeElement.tagName == 'H1'")
        person.accessible()
        person.choose("mandelbrot", "#parameter-width")
        person.type("#name", "valley")
        for name, value in VALLEY.items():
            person.type(f"#parameter-{name}", str(value))
        person.wait("that nobody knows yet", person.has("No estimate yet"))
        person.wait("what is known", person.has("420 items in the first stage"))
        self.assertEqual(grid.admin_json("problem", "list")["items"], [])  # nothing was added
        person.push("Start")
        person.wait("the problem", person.has("items accepted"))

    def watch(self, grid, person):
        """What forms of it, and what comes of it."""
        person.wait("items", "/about ([1-9]\\d?|100) % accepted/.test(document.querySelector('canvas.map')?.getAttribute('aria-label'))", 60)
        self.assertEqual(person.run("+document.querySelector('canvas.map').dataset.cells"), 420)
        person.wait("the picture, by itself", "document.querySelector('.files img')?.naturalWidth == 600")
        person.wait("the curve", "document.querySelector('.chart canvas') !== null || " + person.has("finished"))
        person.accessible()
        if PICTURE:
            person.call("Emulation.setDeviceMetricsOverride", width=1280, height=1000, deviceScaleFactor=1, mobile=False)
            person.wait("how the estimate developed", "/about [4-9]\\d % accepted/.test(document.querySelector('canvas.map')?.getAttribute('aria-label'))", 120)
            person.wait("nothing to be said", "document.querySelector('.said p') === null")
            pathlib.Path(PICTURE).write_bytes(person.picture())
            person.call("Emulation.clearDeviceMetricsOverride")
        person.heading_says("finished", 120)
        person.wait("the result", "document.querySelector('.files img')?.naturalWidth == 600")
        digest = person.run("fetch(document.querySelector('.files a').href).then(r => r.arrayBuffer()).then(b => crypto.subtle.digest('SHA-256', b))"
                            ".then(d => [...new Uint8Array(d)].map(x => x.toString(16).padStart(2, '0')).join(''))")
        name = person.run("document.querySelector('.files a').download")
        self.compare(grid, person)
        self.assertEqual(digest, hashlib.sha256(grid.results(grid.admin_json("problem", "show", "valley")["id"])[name]).hexdigest())

    def compare(self, grid, person):
        """The command line says the same of the same moment, with the same units."""
        told = grid.admin("problem", "show", "valley").stdout
        figures = dict(person.run("[...document.querySelectorAll('.figures div')].map(each => [each.querySelector('dt').innerText.split(',')[0], each.querySelector('dd').innerText])"))
        self.assertEqual((figures["items accepted"], figures["done"]), ("420 of 420", "100 % of the work"))
        self.assertIn("420 accepted, 0 handed out, 0 free, of 420", told)
        self.assertRegex(told, r"done +100 %")
        self.assertRegex(told, "wasted +" + figures["wasted"])
        self.assertIn(person.run("document.querySelector('.files .calm').innerText"), told)  # the size of the result

    def mend(self, grid, person):
        """One that fails says why; a mended version of its application computes it."""
        broken = grid.add_problem("squares", "broken", count=3, pause='"x"')
        person.go("#/")
        person.wait("what went wrong, in a sentence", person.has("broken: TypeError"))
        person.follow("broken")
        person.wait("the error", person.has("TypeError"))
        for version, more in (("1.0.1", '[[parameter]]\nname = "count"\ntype = "integer"\nmeaning = "how many"\nlow = 9\n'), ("1.0.2", "")):
            grid.add_application(self.mended(grid, version, more))
        person.look_at("#/")
        person.look_at(f"#/problems/{broken}")
        self.pick_version(person, "squares@1.0.1")
        person.push("Use this version")
        person.wait("why not", "document.querySelector('.said .bad')?.innerText.includes('squares@1.0.1 does not take what problem broken was added with')")
        person.forgive("409")
        self.assertEqual(grid.problem(broken)["application"], "squares@1.0.0")
        self.pick_version(person, "squares@1.0.2")
        person.push("Use this version")
        person.heading_says("finished", 120)
        self.assertEqual(grid.problem(broken)["application"], "squares@1.0.2")
        self.assertEqual(int(grid.results(broken)["sum.txt"]), 0 + 1 + 4)

    def pick_version(self, person, version):
        """A problem that is not stopped yet offers them behind a button."""
        person.wait("the other versions", "document.querySelector('#version') !== null || "
                    "([...document.querySelectorAll('button.link')].find(each => each.innerText === 'another version')?.click(), false)")
        person.pick("#version", version)

    def mended(self, grid, version, more):
        mended = grid.directory / f"mended-{version}"
        shutil.copytree(SQUARES, mended)
        manifest = (mended / "manifest.toml").read_text().replace('"1.0.0"', f'"{version}"', 1)
        (mended / "manifest.toml").write_text(manifest.replace("[kernel]", f'compatible_with = ["1.0.0"]\n{more}[kernel]', 1))
        kernel = (mended / "kernel.py").read_text()
        self.assertIn("if pause: time", kernel)
        (mended / "kernel.py").write_text(kernel.replace("if pause: time", "if pause and pause != 'x': time"))
        return mended

    def change(self, grid, person):
        # Cancelled after a question, by keyboard.
        person.go(f"#/problems/{grid.add_problem('squares', 'long', count=400, pause=1)}")
        person.push("Cancel")
        person.wait("the question", "document.querySelector('dialog[open]') !== null")
        person.press("Enter")  # the first button keeps it
        person.wait("no question", "document.querySelector('dialog') === null")
        self.assertNotEqual(grid.admin_json("problem", "show", "long")["state"], "cancelled")
        person.push("Cancel")
        person.push("Cancel problem")
        person.heading_says("cancelled")
        # Paused and resumed.
        slow = grid.add_problem("squares", "slow", count=400, pause=0.5)
        person.go(f"#/problems/{slow}")
        person.push("Pause")
        person.heading_says("paused")
        person.push("Resume")
        person.heading_says("running")
        person.push("Change scheduling")
        person.wait("its rules", "document.querySelectorAll('#strategy option').length > 10")
        self.assertEqual(person.run("[...document.querySelectorAll('#strategy option, #straggler option')].map(o => o.innerText).filter(words => !words.includes(': '))"), [])
        person.accessible()
        person.type("#weight", "3")
        person.push("Save")
        grid.wait_until("the weight", lambda: grid.problem(slow)["weight"] == 3)

    def stop(self, grid, person):
        """One whose application fails on each host: why comes first, what can be done are buttons, and `watch` ends with the reason."""
        banner = "Ray Tracer 3.7\n" + "This is free software.\n" * 30  # longer than what the server's sentence keeps of it
        identity = add_failing(grid, "kitchen-pc", lambda number: f"the kernel exited with status 1. Its last words: {banner}no such file: /home/{number}/table.txt")
        watched = grid.admin("problem", "watch", identity, check=False)
        self.assertIn(f"problem {identity} (trembling) is stopped: shaky@1.0.0: it fails on 4 of 4 hosts", watched.stdout)
        self.assertEqual(watched.returncode, 1)
        person.look_at("#/")
        person.wait("what needs attention", person.has("trembling is stopped: shaky@1.0.0: it fails on 4 of 4 hosts") + " && " + person.has("1 host is on hold."))
        person.look_at("#/problems")
        person.wait("the cause in the list", "[...document.querySelectorAll('.rows span[title]')].some(each => each.title.includes('4 of 4 hosts: no such file: '))")
        person.follow("trembling")
        person.heading_says("stopped")
        person.wait("why", "document.querySelector('.trouble p').innerText.startsWith('Stopped: shaky@1.0.0: it fails on 4 of 4 hosts')")
        cause = "'shaky@1.0.0: it fails on 4 of 4 hosts: no such file: '"
        person.wait("the cause, without the banner", f"document.querySelector('.trouble p').innerText.includes({cause}) && !document.querySelector('.trouble p').innerText.includes('Ray Tracer')")
        person.wait("one error, by host", "document.querySelectorAll('.errors li').length == 1 && " + person.has("no such file: ") + " && " + person.has("lab-0 1×, lab-1 1×"))
        self.assertEqual(person.run("[...document.querySelectorAll('main .buttons button')].map(b => b.innerText)"), ["Cancel", "Retry"])
        person.accessible()
        person.push("Retry")
        person.heading_says("running")
        grid.admin("host", "release", "kitchen-pc")


if __name__ == "__main__":
    main()
