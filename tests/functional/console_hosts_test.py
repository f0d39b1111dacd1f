"""Hosts at the console, by clicks, and what holds for all its pages: accessible, dark, on a phone, for who may only look."""
import unittest

import qr
from browser import CHROMIUM
from harness import MANDELBROT, SOURCE, SQUARES, Grid, HostKey, from_base64url, main, needs
from person import Person
from tree import admit_relay

TABLE = "[...document.querySelectorAll('.rows > .row')].map(row => [...row.children].map(cell => cell.innerText))"
SHARE = 8  # its column


@needs(CHROMIUM, "chromium is not installed")
class Hosts(unittest.TestCase):
    def test_hosts(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.join("idle-pc")
            grid.add_client("kitchen-pc")
            problem = grid.add_problem("squares", "valley", count=30)
            grid.wait_finished(problem)
            slow = grid.add_problem("squares", "slow", count=400, pause=0.5)
            with Person(self, grid) as person:
                person.log_in()
                self.list(person)
                self.one(grid, person)
                self.look_for(person)
                self.tree(grid, person)
                person.look_at("#/hosts")
                person.wait("all hosts again", person.has("kitchen-pc"))
                person.follow("kitchen-pc")
                person.push("Revoke")
                person.push("Revoke host")
                person.heading_says("revoked")
                states = {host["name"]: host["state"] for host in grid.admin_json("host", "list")["items"]}
                self.assertEqual((states["idle-pc"], states["kitchen-pc"]), ("active", "revoked"))
                self.assertEqual(person.complaints(), [])
                self.find(person)
                self.code(grid, person)
                self.many(person)
                self.pages(grid, person, slow)
                self.viewer(grid, person)

    def list(self, person):
        person.look_at("#/hosts")
        person.wait("the hosts", person.has("2 hosts shown"))
        rows = {row[0]: row for row in person.run(TABLE)}
        self.assertIn("100.0 %", rows["kitchen-pc"])  # how far it is believed: the project's own
        self.assertEqual((rows["kitchen-pc"][SHARE], rows["idle-pc"][SHARE]), ("100 %", "–"))
        self.assertEqual(person.run("document.querySelector('[aria-sort]')"), None)
        person.wait("the day of the host that reports", "document.querySelectorAll('.rows svg.day').length === 1", 90)
        self.assertRegex(person.run("document.querySelector('.rows svg.day').getAttribute('aria-label')"), r"^CPU in use in the last 24 hours: \d")
        person.push("Share")
        person.wait("the order", f"document.querySelector('[aria-sort=descending]')?.innerText == 'Share ↓' && {TABLE}[0]?.[0] == 'kitchen-pc'")
        person.push("Host")
        person.wait("the other order", f"location.hash == '#/hosts?sort=name' && {TABLE}[0]?.[0] == 'idle-pc'")
        person.push("Host ↑")
        person.wait("the order the other way round", f"{TABLE}[0]?.[0] == 'kitchen-pc'")
        person.accessible()

    def one(self, grid, person):
        """Its page: what it computed, hold and release, tags."""
        person.follow("kitchen-pc")
        person.wait("its units", "document.querySelectorAll('svg.timeline rect').length > 1")
        told = person.run("document.querySelector('svg.timeline').getAttribute('aria-label')")
        self.assertRegex(told, r"^\d+ units on 1 core since .*: .*\d+ done")
        self.assertEqual(grid.admin_json("host", "units", "kitchen-pc")["items"][-1]["problem_name"], "valley")
        self.assertIn("valley", grid.admin("host", "units", "kitchen-pc", "--count", 10000).stdout)
        person.accessible()
        person.push("Hold")
        person.wait("the question", "document.querySelector('dialog[open]') !== null")
        person.accessible()
        self.assertEqual(person.run("[...document.querySelectorAll('dialog button')].map(b => b.innerText)"), ["Back", "Hold host"])
        person.type("#reason", "an exam")
        person.press("Enter")
        person.wait("the hold", person.has("On hold, it gets no new units: an exam"))
        grid.wait_until("that its owner hears why", lambda: "on hold: an exam" in grid.control("kitchen-pc", "why").stdout, 90)
        person.accessible()
        person.push("Release")
        person.wait("the release", f"!{person.has('it gets no new units')}")
        person.type("#tags", "lab, b12")
        person.push("Save tags")
        person.wait("the tags", person.has("b12, lab"))
        self.assertIn("kitchen-pc", grid.admin("host", "list", "--tag", "lab").stdout)
        self.assertIn("no host has the tag x", grid.admin("host", "list", "--tag", "x").stdout)
        self.assertIn("on hold", grid.admin("host", "hold", "kitchen-pc", "--reason", "again").stdout)
        self.assertIn("is released", grid.admin("host", "release", "kitchen-pc").stdout)
        self.assertIn("b12", grid.admin("host", "tag", "kitchen-pc", "lab", "b12").stdout)
        acts = [act["action"] for act in grid.admin_json("audit", "list")["acts"]]
        for action in ("host hold", "host release", "host tags"):
            self.assertIn(action, acts)

    def look_for(self, person):
        """By its tag, and by a part of its name."""
        person.look_at("#/hosts")
        person.wait("its tag", "document.querySelector('button.tag') !== null")
        person.click("button.tag")
        person.wait("the tag as a filter", "document.querySelector('#tag').value == 'b12' && " + person.has("1 host shown"))
        person.type("#tag", "other")
        person.wait("none", person.has("No host matches"))
        person.type("#tag", "lab")
        person.type("#text", "nobody")
        person.wait("none", person.has("No host matches"))
        person.type("#text", "KITCHEN")
        person.wait("it again", person.has("kitchen-pc"))
        person.accessible()

    def tree(self, grid, person):
        """Relays with who is under them, and the hosts of one of them."""
        def ask(path, body=None, token=None):
            status, _, reply = grid.request("POST" if body else "GET", path, body, token)
            self.assertEqual(status, 200, reply)
            return reply

        token = admit_relay(grid, "lab-b12", "bench-7")
        person.look_at("#/")
        person.look_at("#/hosts")
        person.wait("who is under it", person.has("under lab-b12"))
        person.look_at("#/relays")
        person.wait("the relay", person.has("1 host of 9"))
        self.assertEqual([row[:2] for row in person.run(TABLE)], [["lab-b12", "active"]])
        person.wait("what limits it", "document.querySelector('.rows .row [title^=\"lab-b12 is limited by its supply of work: it holds none\"]')?.innerText == 'its supply of work'")
        self.assertEqual(ask("/v1/admin/relays/lab-b12/limit", token=grid.admin_token)["limit"], "work")
        self.assertIn("lab-b12 is limited by its supply of work: it holds none", grid.admin("relay", "explain", "lab-b12").stdout)
        full = "its disk has 1.0 MiB left"
        ask("/v1/work", {"commits": [], "units": [], "slots": [], "platforms": ["any"], "memory_bytes": 1 << 30, "cores": 1, "capabilities": [], "trouble": full,
                         "proposal": {"performance": 1, "queue_unloaded": 1, "queue_current": 1, "items": 0}}, token)
        person.wait("its trouble", f"document.querySelector('.rows .row .bad')?.innerText == {full!r}")
        person.accessible()
        person.push("Relay")
        person.type("[type=search]", "nowhere")
        person.wait("none", person.has("Nothing matches") + " && location.hash == '#/relays?sort=name&text=nowhere'")
        person.type("[type=search]", "B12")
        person.wait("it again", person.has("1 host of 9"))
        person.follow("1 host of 9")
        person.wait("its hosts", person.has("1 host shown") + " && " + person.has("bench-7"))
        person.accessible()
        person.follow("bench-7")
        person.wait("its relay", person.has("under the relay"))
        person.follow("lab-b12")
        person.wait("the relay's page", person.has("hosts under it") + " && " + person.has("1 of 9") + f" && {person.has(full)} && " + person.has("is limited by its supply of work"))
        person.accessible()

    def find(self, person):
        """The search field, by its key."""
        person.look_at("#/")
        person.call("Input.dispatchKeyEvent", type="keyDown", key="/", text="/")
        person.call("Input.dispatchKeyEvent", type="keyUp", key="/")
        person.wait("the field", "document.activeElement.getAttribute('role') == 'combobox'")
        person.call("Input.insertText", text="valley")
        person.wait("what was found", "document.querySelector('#hits')?.innerText.includes('valley')")
        person.accessible()
        person.press("Enter")
        person.wait("its page", "location.hash == '#/problems/1'")

    def code(self, grid, person):
        """A join code is made by an admin token, for the log-in makes none; a computer joins by it."""
        person.look_at("#/access")
        person.push("Make a code")
        person.wait("the form", "document.querySelector('dialog[open]') !== null")
        for field, text in (("code-name", "b12"), ("code-hosts", "2"), ("proof", "wrong")):
            person.type(f"#{field}", text)
        person.accessible()
        person.push("Make code")
        person.wait("the refusal", "document.querySelector('.said .bad') !== null")
        person.type("#proof", grid.admin_token)
        person.push("Make code")
        code = person.wait("the code", "document.querySelector('[aria-label=\"Join code\"]')?.innerText")
        person.accessible()
        drawn, box = person.run("[document.querySelector('.made .qr path').getAttribute('d'), document.querySelector('.made .qr').getAttribute('viewBox')]")
        self.assertEqual(qr.read(drawn, int(box.split()[2])), code)
        self.assertIn(f"gleaner-client join {code}", person.run("document.querySelector('.made').innerText"))
        person.push("Other Linux")
        archive = person.run("[...document.querySelectorAll('.made .copy code')].slice(1).map(each => each.innerText)")
        portable = (SOURCE / "deploy/portable/README.md").read_text()
        for line in archive:  # as they are documented
            self.assertIn(line.replace(code, "gleaner://grid.example.org:8443/..."), portable)
        self.assertEqual(len(archive), 4)
        person.accessible()
        person.push("Debian 12 or 13, Ubuntu 24.04")
        self.assertIn(person.run("document.querySelector('[aria-label=\"Install command\"]').innerText"), (SOURCE / "README.md").read_text())
        status, told = grid.enrol(HostKey(), "bench-8", from_base64url(code.rsplit("/", 1)[1])[33:49])
        self.assertEqual(status, 200, told)
        person.wait("the host", f"[...document.querySelectorAll('.rows .row')].some(row => row.innerText.includes('b12') && row.innerText.includes('1 of 2'))")
        person.forgive("401")

    def many(self, person):
        """A hundred thousand rows in the browser: a frame of scrolling takes far less than 50 ms of the processor."""
        person.look_at("#/")
        person.run("""(() => { const real = fetch; window.fetch = async (path, how) => {
            if (!String(path).startsWith('/v1/admin/host-pages')) return real(path, how);
            const page = await (await real(path, how)).json(), [one] = page.hosts;
            const hosts = Array.from({length: 100000}, (_, i) => ({...one, id: i + 1, name: `pc-${i}`}));
            return {ok: true, json: async () => ({...page, hosts, next: 0, total: 100000})}; } })()""")
        person.look_at("#/hosts?state=any")
        person.wait("all of them", person.has("100,000 hosts shown"))
        person.call("Performance.enable", timeDomain="threadTicks")
        spent = lambda: next(each["value"] for each in person.call("Performance.getMetrics")["metrics"] if each["name"] == "TaskDuration")
        frames, begun = 60, spent()
        person.run(f"""new Promise(done => {{ let left = {frames}; const page = document.querySelector('.window');
            const next = () => {{ page.scrollTop += left % 2 ? 200 : 70000; if (--left) requestAnimationFrame(next); else requestAnimationFrame(done); }}; next() }}).then(() => 0)""")
        self.assertLess((spent() - begun) / frames, 0.05)
        self.assertLess(person.run("document.querySelectorAll('.rows .row').length"), 100)
        person.wait("rows far down", f"+({TABLE}[0]?.[0] ?? 'pc-0').split('-')[1].split('\\n')[0] > 40000")
        person.call("Page.reload")
        person.wait("the real ones", person.has("in all") + " && !" + person.has("100,000"))

    def pages(self, grid, person, problem):
        grid.add_application(MANDELBROT)
        for page, words in (("#/audit", "console login"), ("#/applications", "Mandelbrot set"), ("#/applications", "Key valid until"),
                            ("#/settings", "port"), ("#/wall", "The attic")):
            person.look_at(page)
            person.wait(page, person.has(words))
            person.accessible()
        person.look_at("#/settings")
        changed, marked = person.run("[[...document.querySelectorAll('.picker button')].pop().innerText, document.querySelectorAll('.changed').length]")
        self.assertEqual(changed, f"changed {marked}")
        self.assertGreater(marked, 0)
        person.look_at("#/")
        self.assertNotIn("0.000", person.run("document.querySelector('.figures').innerText"))
        self.cursor(person, problem)
        # Dark, and without motion, as the browser was told to ask for.
        person.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"},
                                                            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.assertEqual(person.run("getComputedStyle(document.querySelector('nav a')).transitionDuration"), "0s")
        for page in ("#/", "#/problems/1", "#/problems", "#/add", "#/hosts", "#/access"):
            person.look_at(page)
            person.accessible()
        # As a phone sees it: nothing wider than the screen.
        person.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=2, mobile=True)
        for page in ("#/", "#/hosts", "#/add", "#/problems", "#/access", f"#/problems/{problem}"):
            person.look_at(page)
            wide = "[...document.querySelectorAll('main *')].filter(each => each.getBoundingClientRect().right > 391).map(each => each.outerHTML.slice(0, 100))"
            self.assertLessEqual(person.run("document.documentElement.scrollWidth"), 390, f"{page}: {person.run(wide)}")
        # Problems before figures, results before the course of a problem.
        person.look_at("#/")
        place = lambda name: person.run(f"(document.querySelector('{name}').getBoundingClientRect().top + scrollY)")
        self.assertLess(place(".lines li"), 330)
        self.assertLess(place(".lines"), place(".figures"))
        person.look_at("#/problems/1")
        person.wait("the result", "document.querySelector('[aria-label=Result]') !== null")
        self.assertEqual(sorted(("Items", "Result", "Progress", "Errors"), key=lambda name: place(f"[aria-label={name}]")), ["Items", "Result", "Progress", "Errors"])
        self.assertEqual(person.complaints(), [])
        person.call("Emulation.clearDeviceMetricsOverride")
        person.wait("the sidebar", "!document.querySelector('.menu').checkVisibility() && innerHeight > 900")
        person.look_at("#/")
        person.push("Log out")
        person.wait("the door", "document.querySelector('.login') !== null")

    def cursor(self, person, problem):
        """A moment of a chart is told as the page tells it elsewhere."""
        person.look_at(f"#/problems/{problem}")
        figure = "[...document.querySelectorAll('figure')].find(each => each.innerText.includes('67 % interval'))"
        person.wait("the time left as a curve", f"{figure}?.querySelector('.u-over') !== undefined && {figure}?.querySelector('.u-over') !== null")
        x, y = person.run(f"(node => {{ node.scrollIntoView({{block: 'center'}}); const r = node.getBoundingClientRect(); return [r.x + r.width * 0.6, r.y + r.height / 2]; }})({figure}.querySelector('.u-over'))")
        person.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        told = person.wait("the moment", f"(text => /^\\d\\d:\\d\\d:\\d\\d  /.test(text) && text)({figure}.querySelector('output').textContent)")
        self.assertRegex(told, r"^[\d:]+  (–|\d+ (s|min)|\d+( \w+)? to \d+ \w+)$")
        person.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        # The same by keys: what is read is the moment with its value, and without a cursor what is now.
        slider = f"{figure}.querySelector('[role=slider]')"
        read = lambda: person.run(f"{slider}.getAttribute('aria-valuetext')")
        person.grid.wait_until("no cursor", lambda: read().startswith("now "))
        person.run(f"{slider}.focus()")
        seen = []
        for key in ("End", "ArrowLeft", "ArrowLeft", "Home"):
            person.press(key)
            seen.append(read())
            self.assertRegex(seen[-1], r"^\d\d:\d\d:\d\d: left .+, at least .+, at most ")
            self.assertIn(seen[-1].split(": ")[0], person.run(f"{figure}.querySelector('output').textContent"))
        self.assertEqual(sorted(set(seen), reverse=True), seen)  # each earlier than the one before
        person.accessible()
        person.press("Escape")
        self.assertRegex(read(), "^now ")

    def viewer(self, grid, person):
        """Who may only look sees nothing to press."""
        token = grid.admin_json("token", "add", "ann", "--role", "viewer")["token"]
        person.accessible()
        person.type("#token", token)
        person.press("Enter")
        person.wait("the overview", person.has("hosts online"))
        person.look_at("#/problems/1")
        person.wait("the problem", person.has("items accepted"))
        words = person.run("[...document.querySelectorAll('button, nav a')].map(b => b.innerText)")
        for one in ("Cancel", "Pause", "Add a problem", "Settings", "Save"):
            self.assertNotIn(one, words)


if __name__ == "__main__":
    main()
