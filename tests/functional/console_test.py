"""The console: over HTTP always, in Chromium by what a person does where it is installed."""
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import unittest
import zlib

from browser import CHROMIUM, Browser
from harness import MANDELBROT, SLOW, SQUARES, FakeHost, Grid, main

PICTURE = os.environ.get("GLEANER_PICTURE")  # a file for a screenshot
SAME_SITE = {"Sec-Fetch-Site": "same-origin"}


def link_of(grid, *arguments):
    return grid.admin_json(*arguments, "console")["address"].split("#link=")[1]


class OverHttp(unittest.TestCase):
    def log_in(self, grid, **by):
        status, headers, answer = grid.request("POST", "/v1/console/session", by)
        self.assertEqual(status, 200, answer)
        return {"Cookie": headers["Set-Cookie"].split(";")[0]}, {"X-Gleaner-Guard": answer["guard"]}, headers["Set-Cookie"], answer

    def test_page(self):
        with Grid() as grid:
            grid.start_server()
            gzip = {"Accept-Encoding": "gzip, br"}
            status, headers, page = grid.request("GET", "/console", headers=gzip, raw=True)
            self.assertEqual((status, headers["Content-Encoding"], headers["Cache-Control"]), (200, "gzip", "no-cache"))
            policy = headers["Content-Security-Policy"]
            for rule in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
                self.assertIn(rule, policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(grid.request("GET", "/console", headers={**gzip, "If-None-Match": headers["ETag"]}, raw=True)[0], 304)
            self.assertEqual(grid.request("GET", "/console", raw=True)[0], 400)
            text = zlib.decompress(page, 31).decode()
            self.assertNotRegex(text, r"<script>|<style|style=|https?://")
            sizes = len(page)
            for path in re.findall(r'(?:src|href)="(/console/[^"]+)"', text):
                status, headers, content = grid.request("GET", path, headers=gzip, raw=True)
                self.assertEqual(status, 200, path)
                self.assertIn("immutable", headers["Cache-Control"])
                sizes += len(content)
            self.assertLess(sizes, 60_000)
            for path in ("/console/../server.toml", "/console/%2e%2e/server.toml", "/console/index.html.gz", "/console/x"):
                self.assertEqual(grid.request("GET", path, headers=gzip)[0], 404, path)

    def test_log_in(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            one = grid.add_problem("squares", "one", count=10)
            address = grid.admin_json("console")["address"]
            self.assertRegex(address, rf"^https://127\.0\.0\.1:{grid.port}/console#link=[\w-]{{43}}$")
            secret = address.split("=")[1]
            cookie, guard, words, answer = self.log_in(grid, link=secret)
            for rule in ("__Host-", "Secure", "HttpOnly", "SameSite=Strict", "Path=/"):
                self.assertIn(rule, words)
            self.assertEqual((answer["name"], answer["role"]), ("project", "owner"))
            status, _, again = grid.request("POST", "/v1/console/session", {"link": secret})
            self.assertEqual(status, 401)
            self.assertIn("was used already", again["detail"])
            self.assertEqual(grid.request("POST", "/v1/console/session", {})[0], 400)
            self.assertEqual(grid.request("POST", "/v1/console/session", {"link": secret, "token": "x"})[0], 400)
            # A link is made with a token alone: a session cannot prolong itself.
            self.assertEqual(grid.request("POST", "/v1/console/links", {}, headers={**cookie, **guard})[0], 401)
            self.assertEqual(grid.request("POST", "/v1/console/session", {"link": link_of(grid)}, headers={"Sec-Fetch-Site": "cross-site"})[0], 403)
            # Looks need the cookie alone, changes the guard, too; other sites get neither.
            pause, resume = (f"/v1/admin/problems/{one}/{verb}" for verb in ("pause", "resume"))
            self.assertEqual(grid.request("GET", "/v1/admin/problems", headers=cookie)[0], 200)
            here = {"Origin": f"https://127.0.0.1:{grid.port}", **SAME_SITE}
            for headers in ({}, {"X-Gleaner-Guard": "x"}, {**guard, "Sec-Fetch-Site": "cross-site"}, {**guard, "Sec-Fetch-Site": "same-site"},
                            {**guard, "Origin": "https://evil.example"}, {**guard, "Origin": "null"}, {**here, "X-Gleaner-Guard": ""}):
                status, reply, _ = grid.request("POST", pause, {}, headers={**cookie, **headers})
                self.assertEqual(status, 403, headers)
                self.assertNotIn("Access-Control-Allow-Origin", reply)
            self.assertEqual(grid.problem(one)["state"], "running")
            self.assertEqual(grid.request("GET", "/v1/admin/problems", headers={**cookie, "Sec-Fetch-Site": "cross-site"})[0], 403)
            self.assertEqual(grid.request("POST", pause, {}, headers={**cookie, **guard, **here})[0], 200)
            self.assertEqual(grid.request("POST", resume, {}, headers={**cookie, **guard})[0], 200)
            content = os.urandom(100)
            upload = f"/v1/uploads/{hashlib.sha256(content).hexdigest()}"
            fields = {"Upload-Offset": "0", "Upload-Length": "100", **cookie}
            self.assertEqual(grid.request("PATCH", upload, content, headers=fields)[0], 403)
            self.assertEqual(grid.request("PATCH", upload, content, headers={**fields, **guard})[0], 200)
            # Logging out ends it.
            self.assertEqual(grid.request("DELETE", "/v1/console/session", headers=cookie)[0], 403)
            self.assertEqual(grid.request("DELETE", "/v1/console/session", headers={**cookie, **guard})[0], 200)
            self.assertEqual(grid.request("GET", "/v1/admin/problems", headers=cookie)[0], 401)
            acts = [(act["action"], act["actor"]) for act in grid.admin_json("audit", "list")["acts"]]
            self.assertIn(("console link", "project"), acts)
            self.assertIn(("console login", "project"), acts)
            # No secret of it is stored.
            stored = b"".join(path.read_bytes() for path in grid.project.glob("store.sqlite*"))
            for text in (secret, cookie["Cookie"].split("=")[1], guard["X-Gleaner-Guard"]):
                self.assertNotIn(text.encode(), stored)

    def test_roles_and_their_end(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            one = grid.add_problem("squares", "one", count=10)
            token = grid.admin_json("token", "add", "ann", "--role", "viewer")["token"]
            cookie, guard, _, answer = self.log_in(grid, token=token)
            self.assertEqual(answer["role"], "viewer")
            self.assertEqual(grid.request("GET", f"/v1/admin/problems/{one}/map", headers=cookie)[0], 200)
            for path in (f"problems/{one}/pause", f"problems/{one}/preview", "codes", "tokens"):
                self.assertEqual(grid.request("POST", f"/v1/admin/{path}", {}, headers={**cookie, **guard})[0], 403, path)
            self.assertEqual(grid.request("GET", "/v1/admin/settings", headers=cookie)[0], 403)
            grid.admin("token", "withdraw", "ann", "--yes")
            status, _, answer = grid.request("GET", "/v1/admin/problems", headers=cookie)
            self.assertEqual(status, 401)
            self.assertIn("was withdrawn", answer["detail"])
            # Another server's cookies of this host are no guess.
            statuses = {grid.request("GET", "/v1/console/session", headers={"Cookie": "other=1"})[0] for _ in range(35)}
            self.assertEqual(statuses, {401})
            # Who guesses is slowed down; who is right is let in.
            statuses = {grid.request("POST", "/v1/console/session", {"link": f"guess-{i}"})[0] for i in range(35)}
            self.assertEqual(statuses, {401, 503})
            self.log_in(grid, token=grid.admin_token)

    def test_what_applications_declare(self):
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

    def test_what_it_shows(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            hosts = [FakeHost(grid, f"pc-{i:02}") for i in range(12)]
            one = grid.add_problem("squares", "one", count=5000)
            unit = hosts[0].work()[1]["decoded"][0]
            hosts[0].commit(unit["unit"], unit["range"]["begin"], [b"0"], last=False)
            cookie, _, _, _ = self.log_in(grid, token=grid.admin_token)
            look = lambda path: grid.request("GET", f"/v1/admin/{path}", headers=cookie)[2]
            items = look(f"problems/{one}/map")
            self.assertEqual((items["items"], items["items_per_cell"], len(items["accepted"])), (5000, 3, 1667))
            self.assertEqual((items["accepted"][0], items["holders"][0]), (33, hosts[0].host))
            believed = {host["name"]: host["trust"] for host in look("host-pages")["hosts"]}
            self.assertEqual(set(believed.values()), {0.9999})
            page = look("host-pages?text=PC-0&state=active")
            self.assertEqual(([host["name"] for host in page["hosts"]], page["next"], page["total"]), ([f"pc-{i:02}" for i in range(10)], 0, 12))
            self.assertEqual([host["id"] for host in look(f"host-pages?after={hosts[9].host}")["hosts"]], [host.host for host in hosts[10:]])
            self.assertEqual(look("host-pages?text=nobody")["hosts"], [])
            most = look("host-pages?order=delivered")
            self.assertEqual((most["hosts"][0]["id"], most["hosts"][0]["cost_accepted"], most["cost_accepted"]), (hosts[0].host, 1, 1))
            self.assertIn("order: expected number or delivered", look("host-pages?order=name")["detail"])
            self.assertIn(("server.port", str(grid.port)), [(each["name"], each["value"]) for each in look("settings")["items"]])
            grid.wait_until("samples", lambda: len(look("history")["items"]) > 1 and look(f"problems/{one}/history")["items"])
            # Events: the first at once, then one a second; a server that stops ends them at once.
            connection = http.client.HTTPSConnection("127.0.0.1", grid.port, context=ssl._create_unverified_context(), timeout=20 * SLOW)
            connection.request("GET", "/v1/admin/events", headers=cookie)
            stream = connection.getresponse()
            self.assertEqual((stream.status, stream.headers["Content-Type"]), (200, "text/event-stream"))
            views = []
            while len(views) < 3:
                line = stream.readline()
                if line.startswith(b"data: "):
                    views.append(json.loads(line[6:]))
            self.assertEqual([p["name"] for p in views[-1]["problems"]], ["one"])
            self.assertEqual(views[-1]["status"]["join_code"], "")
            grid.kill("server", signal.SIGTERM)
            stream.read()  # its end, not an error
            connection.close()


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class ByClicks(unittest.TestCase):
    def accessible(self, browser):
        self.assertEqual(browser.violations(), [])

    def test_by_clicks(self):
        with Grid(name="The attic") as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_application(MANDELBROT.parent / "tsp")
            grid.add_application(MANDELBROT)
            with Browser(grid.directory / "profile", "--ignore-certificate-errors", "--force-prefers-reduced-motion") as browser:

                def wait(what, script, timeout=40):
                    try:
                        return grid.wait_until(what, lambda: browser.run(script), timeout)
                    except AssertionError as error:
                        seen = browser.run("[document.activeElement.outerHTML.slice(0, 200), document.body.innerText.slice(0, 2000)].join('\\n')")
                        raise AssertionError(f"{error}; the page shows:\n{seen}\n{browser.complaints()}") from None

                text = "(document.querySelector('main')?.innerText ?? '')"
                has = lambda words: f"{text}.includes({json.dumps(words)})"

                def press(words):
                    """Clicks the button of these words, by its place on the screen."""
                    find = f"[...document.querySelectorAll('button')].find(b => b.innerText == {json.dumps(words)} && b.checkVisibility() && !b.disabled)"
                    wait(f"the button {words}", f"{find} !== undefined")
                    browser.run("document.querySelectorAll('[data-pressed]').forEach(b => delete b.dataset.pressed)")
                    browser.run(f"{find}.dataset.pressed = 'now'")
                    browser.click("[data-pressed]")

                def go(page):
                    browser.run(f"location.hash = {json.dumps(page)}")

                secret = link_of(grid)
                browser.open(f"https://127.0.0.1:{grid.port}/console#link={secret}")
                wait("the overview", has("Nobody has joined yet"))
                self.assertNotIn(secret, browser.run("location.href"))
                self.assertIn("gleaner-client join gleaner://", wait("the join code", f"{has('gleaner://')} && {text}"))
                self.accessible(browser)
                grid.add_client("kitchen-pc")
                wait("the host", "document.querySelector('.figures').innerText.includes('1 of 1')")

                # A problem by the form; what it is of, and how it forms.
                go("#/add")
                wait("the form", "document.querySelector('#name') !== null && document.activeElement.tagName == 'H1'")
                self.accessible(browser)
                self.choose(browser, wait, "mandelbrot", "#parameter-width")
                browser.type("#name", "valley")
                for name, value in {"width": 600, "height": 420, "iterations": 400000 if PICTURE else 60000}.items():
                    browser.type(f"#parameter-{name}", str(value))
                press("What would it take?")
                wait("that nobody knows yet", has("not known: nothing of mandelbrot was computed here yet"))
                wait("what is known", has("420 items in its first stage"))
                self.assertEqual(grid.admin_json("problem", "list")["items"], [])  # nothing was added
                press("Add it")
                wait("the problem", has("items accepted"))
                wait("items", "/about ([1-9]\\d?|100) % accepted/.test(document.querySelector('canvas.map')?.getAttribute('aria-label'))", 60)
                self.assertEqual(browser.run("+document.querySelector('canvas.map').dataset.cells"), 420)
                if grid.admin_json("problem", "show", "valley")["state"] == "running":
                    press("Show it")
                    wait("the picture", "document.querySelector('.files img')?.naturalWidth == 600")
                wait("the curve", "document.querySelector('.chart canvas') !== null || " + has("finished"))
                self.accessible(browser)
                if PICTURE:
                    wait("how the estimate developed", "document.querySelector('section[aria-label=\"Time left\"] canvas') !== null", 120)
                    press("Show it again")
                    wait("the picture once more", "document.querySelector('.files img')?.naturalWidth == 600")
                    pathlib.Path(PICTURE).write_bytes(browser.picture())
                wait("its end", "document.querySelector('h1').innerText.includes('finished')", 120)
                wait("the result", "document.querySelector('.files img')?.naturalWidth == 600")
                digest = browser.run("fetch(document.querySelector('.files a').href).then(r => r.arrayBuffer()).then(b => crypto.subtle.digest('SHA-256', b))"
                                     ".then(d => [...new Uint8Array(d)].map(x => x.toString(16).padStart(2, '0')).join(''))")
                name = browser.run("document.querySelector('.files a').download")
                self.assertEqual(digest, hashlib.sha256(grid.results(grid.admin_json("problem", "show", "valley")["id"])[name]).hexdigest())

                # The same once more would take as long; the command line says the same.
                self.estimate(grid, browser, wait, press, go)

                self.form(grid, browser, wait, has, press, go)

                # One that fails says why; a mended version of its application computes it.
                broken = grid.add_problem("squares", "broken", count=3, pause='"x"')
                go("#/")
                wait("what went wrong, in a sentence", f"{text}.includes('broken: TypeError')")
                browser.run("[...document.querySelectorAll('a')].find(a => a.innerText == 'broken').click()")
                wait("the error", has('TypeError'))
                self.mend(grid, browser, wait, has, press, go, broken)

                # Cancelled after a question, by keyboard.
                go(f"#/problems/{grid.add_problem('squares', 'long', count=400, pause=1)}")
                press("Cancel")
                wait("the question", "document.querySelector('dialog[open]') !== null")
                browser.press("Enter")  # the first button keeps it
                wait("no question", "document.querySelector('dialog') === null")
                self.assertNotEqual(grid.admin_json("problem", "show", "long")["state"], "cancelled")
                press("Cancel")
                press("Cancel it")
                wait("the cancellation", "document.querySelector('h1').innerText.includes('cancelled')")
                # Paused and resumed.
                slow = grid.add_problem("squares", "slow", count=400, pause=0.5)
                go(f"#/problems/{slow}")
                press("Pause")
                wait("the pause", "document.querySelector('h1').innerText.includes('paused')")
                press("Resume")
                wait("it to go on", "document.querySelector('h1').innerText.includes('running')")
                wait("its rules", "document.querySelector('#weight') !== null")
                browser.type("#weight", "3")
                press("Change")
                grid.wait_until("the weight", lambda: grid.problem(slow)["weight"] == 3)

                go(f"#/problems/1")
                wait("how the estimate developed", "document.querySelector('section[aria-label=\"Time left\"] canvas') !== null || " + has("finished"))

                # A host is held, released, tagged, looked for by its tag, and put out.
                go("#/hosts")
                wait("the host", has("kitchen-pc"))
                self.assertIn("100.0 %", browser.run("document.querySelector('.rows').innerText"))  # one's own are believed
                self.assertEqual(browser.run("[...document.querySelector('.rows').children[0].children].map(e => e.innerText)[7]"), "100 %")  # it did all
                browser.run("(s => { s.value = 'delivered'; s.dispatchEvent(new Event('change', {bubbles: true})) })(document.querySelector('#order'))")
                wait("the order", "document.querySelector('[aria-sort=descending]')?.innerText == 'Share' && " + has("kitchen-pc"))
                self.accessible(browser)
                self.host(grid, browser, wait, has, press)
                go("#/hosts")
                wait("its tag", "document.querySelector('button.tag') !== null")
                browser.click("button.tag")
                wait("the tag as a filter", "document.querySelector('#tag').value == 'b12' && " + has("1 host shown"))
                browser.type("#tag", "other")
                wait("none", has("No host fits"))
                browser.type("#tag", "lab")
                browser.type("#text", "nobody")
                wait("none", has("No host fits"))
                browser.type("#text", "KITCHEN")
                wait("it again", has("kitchen-pc"))
                self.accessible(browser)
                browser.run("[...document.querySelectorAll('a')].find(a => a.innerText == 'kitchen-pc').click()")
                press("Revoke")
                press("Revoke it")
                wait("the revocation", "document.querySelector('h1').innerText.includes('revoked')")
                self.assertEqual(grid.admin_json("host", "list")["items"][0]["state"], "revoked")

                for page, words in (("#/audit", "console login"), ("#/applications", "Mandelbrot set"), ("#/applications", "signer\nuntil "), ("#/settings", "server.port"), ("#/wall", "The attic")):
                    go(page)
                    wait(page, has(words))
                    self.accessible(browser)
                # Dark, and without motion, as the browser was told to ask for.
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"},
                                                                     {"name": "prefers-reduced-motion", "value": "reduce"}])
                self.assertEqual(browser.run("getComputedStyle(document.querySelector('nav a')).transitionDuration"), "0s")
                for page in ("#/", "#/problems/1", "#/add", "#/hosts"):
                    go(page)
                    wait(page, "document.querySelector('h1') !== null")
                    self.accessible(browser)
                # As a phone sees it: nothing wider than the screen.
                browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=2, mobile=True)
                for page in ("#/", "#/hosts", "#/add", f"#/problems/{slow}"):
                    go(page)
                    wait(page, "document.querySelector('h1') !== null")
                    self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 390, page)
                self.assertEqual(browser.complaints(), [])
                browser.call("Emulation.clearDeviceMetricsOverride")
                press("Log out")
                wait("the door", "document.querySelector('.login') !== null")
                self.viewer(grid, browser, wait, has)

    def mend(self, grid, browser, wait, has, press, go, broken):
        mended = grid.directory / "mended"
        shutil.copytree(SQUARES, mended)
        manifest = (mended / "manifest.toml").read_text().replace('"1.0.0"', '"1.0.1"', 1)
        (mended / "manifest.toml").write_text(manifest.replace("[kernel]", 'compatible_with = ["1.0.0"]\n[kernel]', 1))
        kernel = (mended / "kernel.py").read_text()
        self.assertIn("if pause: time", kernel)
        (mended / "kernel.py").write_text(kernel.replace("if pause: time", "if pause and pause != 'x': time"))
        grid.add_application(mended)
        go("#/")
        go(f"#/problems/{broken}")
        press("Go on with it")
        wait("its end", "document.querySelector('h1').innerText.includes('finished')", 120)
        self.assertEqual(grid.problem(broken)["application"], "squares@1.0.1")
        self.assertEqual(int(grid.results(broken)["sum.txt"]), 0 + 1 + 4)

    def choose(self, browser, wait, application, field):
        browser.run(f"(s => {{ s.value = [...s.options].find(o => o.value.startsWith('{application}')).value; s.dispatchEvent(new Event('change', {{bubbles: true}})) }})"
                    "(document.querySelector('#application'))")
        wait(f"the form of {application}", f"document.querySelector('{field}') !== null")

    def form(self, grid, browser, wait, has, press, go):
        """Made of what an application declares: fields, bounds, inputs; what is wrong is told at its field."""
        go("#/")
        go("#/add")
        wait("the form", "document.querySelector('#application') !== null")
        self.choose(browser, wait, "squares", "#more-parameters")  # declares nothing: names and values
        self.assertIsNone(browser.run("document.querySelector('[id^=parameter-]')?.id ?? null"))
        self.choose(browser, wait, "mandelbrot", "#parameter-width")
        shown = browser.run("[document.querySelector('#parameter-width').placeholder, document.querySelector('#parameter-width-hint').innerText,"
                            " [...document.querySelectorAll('#parameter-colour option')].map(o => o.innerText).join(' | ')]")
        self.assertEqual(shown, ["512", "pixels in a row; 1 to 65536", "as it is: smooth | smooth | counts"])
        browser.type("#name", "narrow")
        browser.type("#parameter-width", "0")
        press("Add it")
        wait("what is wrong", "document.activeElement.id == 'parameter-width' && document.activeElement.getAttribute('aria-invalid') == 'true'")
        self.assertIn("width: must be a whole number from 1 to 65536, not 0", wait("the message", "document.querySelector('.said .bad')?.innerText"))
        self.accessible(browser)
        self.assertEqual([text for text in browser.complaints() if "400" not in text], [])
        browser.events.clear()  # the refusal, which the browser logs
        # Another with an input, and numbers of which no digit is lost.
        self.choose(browser, wait, "tsp", "#input-cities")
        browser.type("#name", "round trip")
        browser.type("#parameter-seed", "9007199254740992")
        cities = grid.directory / "five.tsp"
        cities.write_text("DIMENSION: 5\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 3\n3 4 3\n4 4 0\n5 2 5\nEOF\n")
        node = browser.call("DOM.querySelector", nodeId=browser.call("DOM.getDocument")["root"]["nodeId"], selector="#input-cities")["nodeId"]
        browser.call("DOM.setFileInputFiles", nodeId=node, files=[str(cities)])
        wait("the file", "document.querySelector('#input-cities-hint').innerText.includes('B')")
        self.accessible(browser)
        press("Add it")
        wait("the problem", has("items accepted"))
        wait("its end", "document.querySelector('h1').innerText.includes('finished')", 60)
        stored = b"".join(path.read_bytes() for path in grid.project.glob("store.sqlite*"))
        self.assertIn(b'{"seed":9007199254740992}', stored)  # and nothing that was left out

    def estimate(self, grid, browser, wait, press, go):
        go("#/add")
        wait("the form", "document.querySelector('#name') !== null")
        self.choose(browser, wait, "mandelbrot", "#parameter-width")
        browser.type("#parameter-width", "300")
        press("What would it take?")
        said = wait("the estimate", "document.querySelector('.estimate')?.innerText")
        self.assertRegex(said, r"It would be done in .+\n+.* of a core's time, by 1 earlier problem with other parameters")
        self.accessible(browser)
        arguments = [f"--param={name}={value}" for name, value in (("width", 600), ("height", 420), ("iterations", 400000 if PICTURE else 60000))]
        told = grid.admin_json("problem", "add", "--app", "mandelbrot", "--estimate", *arguments)
        self.assertTrue(told["same_parameters"], told)
        self.assertGreater(told["core_seconds"], 0)
        text = grid.admin("problem", "add", "--app", "mandelbrot", "--estimate", *arguments).stdout
        self.assertRegex(text, r"done in +\d.*\(.+ to .+\)")
        self.assertIn("1 earlier problem with the same parameters", text)
        self.assertEqual(len(grid.admin_json("problem", "list")["items"]), 1)

    def host(self, grid, browser, wait, has, press):
        """Its page: what it computed, hold and release, tags."""
        browser.run("[...document.querySelectorAll('a')].find(a => a.innerText == 'kitchen-pc').click()")
        wait("its units", "document.querySelectorAll('svg.timeline rect').length > 1")
        told = browser.run("document.querySelector('svg.timeline').getAttribute('aria-label')")
        self.assertRegex(told, r"^\d+ units on 1 core since .*: .*\d+ done")
        units = grid.admin_json("host", "units", "kitchen-pc")["items"]
        self.assertEqual(units[-1]["problem_name"], "valley")
        self.assertIn("valley", grid.admin("host", "units", "kitchen-pc", "--count", 10000).stdout)
        self.accessible(browser)
        press("Hold")
        wait("the question", "document.querySelector('dialog[open]') !== null")
        self.accessible(browser)
        browser.type("#reason", "an exam")
        browser.press("Enter")
        wait("the hold", has("It gets no new units: an exam"))
        grid.wait_until("that its owner hears why", lambda: "on hold: an exam" in grid.control("kitchen-pc", "why").stdout, 90)
        self.accessible(browser)
        press("Release")
        wait("the release", f"!{has('It gets no new units')}")
        browser.type("#tags", "lab, b12")
        press("Set them")
        wait("the tags", has("b12, lab"))
        self.assertIn("kitchen-pc", grid.admin("host", "list", "--tag", "lab").stdout)
        self.assertIn("no host has the tag x", grid.admin("host", "list", "--tag", "x").stdout)
        self.assertIn("on hold", grid.admin("host", "hold", "kitchen-pc", "--reason", "again").stdout)
        self.assertIn("gets units again", grid.admin("host", "release", "kitchen-pc").stdout)
        self.assertIn("b12", grid.admin("host", "tag", "kitchen-pc", "lab", "b12").stdout)
        acts = [act["action"] for act in grid.admin_json("audit", "list")["acts"]]
        for action in ("host hold", "host release", "host tags"):
            self.assertIn(action, acts)

    def viewer(self, grid, browser, wait, has):
        """Who may only look sees nothing to press."""
        token = grid.admin_json("token", "add", "ann", "--role", "viewer")["token"]
        self.accessible(browser)
        browser.type("#token", token)
        browser.press("Enter")
        wait("the overview", has("hosts online"))
        browser.run("location.hash = '#/problems/1'")
        wait("the problem", has("items accepted"))
        words = browser.run("[...document.querySelectorAll('button, nav a')].map(b => b.innerText)")
        for one in ("Cancel", "Pause", "Add a problem", "Settings", "Change"):
            self.assertNotIn(one, words)


if __name__ == "__main__":
    main()
