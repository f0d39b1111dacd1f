"""The owner's page: over HTTP always, in Chromium by clicks where it is installed."""
import base64
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from browser import CHROMIUM, Browser
from harness import AS_NOBODY, LONG, MANDELBROT, SLOW, Grid, main, needs
from opener import Opener

# Connections that say nothing, for as long as the standard input is open.
SILENT = """
import socket, sys
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(40)]
print("held", flush=True)
sys.stdin.read()
"""


class Page(unittest.TestCase):
    def accessible(self, browser):
        self.assertEqual(browser.violations(), [])

    def start(self, grid, *arguments, env=None, client_env=None):
        grid.start_server()
        grid.add_application(MANDELBROT)
        grid.add_client("one", env=client_env)
        grid.wait_until("the client", lambda: grid.control("one", "status", check=False).returncode == 0)
        grid.start("page", "gleaner", "--state", grid.state("one"), "page", *(arguments or ["--no-browser"]), env=env)
        found = grid.wait_until("the page", lambda: re.search(r"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{48})", grid.log("page")))
        return int(found.group(1)), found.group(2), found.group(0)

    def ask(self, port, method, path, token="", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20 * SLOW)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            fields["Authorization"] = "Bearer " + token
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        reply = connection.getresponse()
        data = reply.read()
        connection.close()
        return reply.status, dict(reply.headers), data

    def test_over_http(self):
        with Grid() as grid:
            # As packaged: the service has a runtime directory, and who calls the page under sudo does not.
            computer = grid.directory / "computer"
            (computer / "run/gleaner-client").mkdir(parents=True)
            (computer / "var/lib").mkdir(parents=True)
            (computer / "var/lib/gleaner-client").symlink_to(grid.state("one"))
            port, token, _ = self.start(grid, env={**os.environ, "GLEANER_COMPUTER": str(computer)},
                                        client_env={**os.environ, "RUNTIME_DIRECTORY": str(computer / "run/gleaner-client")})
            self.assertFalse((grid.state("one") / "view").exists())
            status, headers, page = self.ask(port, "GET", "/")
            self.assertEqual(status, 200)
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertIn(b"<html lang=", page)
            self.assertEqual(self.ask(port, "GET", "/api/status")[0], 401)
            self.assertEqual(self.ask(port, "GET", "/api/status", "0" * 48)[0], 401)
            self.assertEqual(self.ask(port, "GET", "/", Host=f"evil.example:{port}")[0], 421)
            self.assertEqual(self.ask(port, "POST", "/api/command", token, {"command": "finish"}, Origin="http://evil.example")[0],
                             403)
            self.assertEqual(self.ask(port, "POST", "/api/command", token, {"command": "quit"})[0], 400)
            status, _, reply = self.ask(port, "GET", "/api/status", token)
            self.assertEqual((status, json.loads(reply)["status"]["host_name"]), (200, "one"))
            grid.add_problem("mandelbrot", "long", **LONG)
            about = grid.wait_until("the picture", lambda: (lambda reply: json.loads(reply[2]))(
                self.ask(port, "GET", "/api/picture/about", token)), 60)
            self.assertEqual((about["problem"], self.ask(port, "GET", "/api/picture")[0]), ("long", 401))
            line, pixels = self.ask(port, "GET", "/api/picture", token)[2].split(b"\n", 1)
            self.assertEqual(len(pixels), 3 * json.loads(line)["width"] * json.loads(line)["height"])
            self.shares(grid, port, token)
            told = grid.wait_until("what all gave", lambda: json.loads(self.ask(port, "GET", "/api/status", token)[2])["status"][
                "problems"])
            self.assertEqual([(one["name"], one["items"]) for one in told], [("long", LONG["height"])])
            self.assertEqual(self.ask(port, "POST", "/api/command", token, {"command": "pause", "seconds": 3600})[0], 200)
            grid.wait_until("the pause", lambda: "you asked" in grid.control("one", "why").stdout or
                            "pause" in json.loads(grid.control("one", "--json", "status").stdout)["status"]["mode"])
            self.assertEqual(self.ask(port, "POST", "/api/command", token, {"command": "resume"})[0], 200)
            preferences = json.loads(self.ask(port, "GET", "/api/preferences", token)[2])
            self.assertIn("cpu_share", [one["key"] for one in preferences])
            self.assertEqual(self.ask(port, "POST", "/api/preferences", token, {"key": "cpu_share", "value": "0.5"})[0], 200)
            self.assertRegex(grid.control("one", "prefs", "show").stdout, r"cpu_share +=  *0\.5 ")
            self.assertEqual(self.ask(port, "POST", "/api/preferences", token, {"key": "cpu_share", "value": "7"})[0], 400)
            self.assertTrue(json.loads(self.ask(port, "GET", "/api/log", token)[2])["log"])
            # Only this computer can reach it, and nonsense ends a connection, not the server.
            for nonsense in (b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nA: " + b"x" * 20000,
                             b"POST /api/command HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", port), timeout=20 * SLOW) as connection:
                    try:
                        connection.sendall(nonsense)
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(4096):
                            pass
                    except OSError:
                        pass  # it was cut off before it had said all
            self.assertEqual(self.ask(port, "GET", "/api/status", token)[0], 200)
            grid.kill("one")
            self.assertEqual(self.ask(port, "GET", "/api/status", token)[0], 503)
            self.assertEqual(grid.kill("page", signal.SIGTERM), 0)

    def shares(self, grid, port, token):
        status = json.loads(self.ask(port, "GET", "/api/status", token)[2])["status"]
        project = status["projects"][0]["key"]
        grid.wait_until("computed seconds", lambda: json.loads(self.ask(port, "GET", "/api/status", token)[2])["status"]["days"])
        for body, line in (({"share": 4}, rf'project_shares +=  *\[ ?"{project}=4" ?\]'), ({"suspended": True}, rf'projects_suspended +=  *\[ ?"{project}" ?\]'),
                           ({"suspended": False}, r"projects_suspended +=  *\[ ?\]")):
            self.assertEqual(self.ask(port, "POST", "/api/projects", token, {"key": project, **body})[0], 200)
            self.assertRegex(grid.control("one", "prefs", "show").stdout, line)
        self.assertEqual(self.ask(port, "POST", "/api/projects", token, {"key": "none", "share": 1})[0], 503)
        self.assertEqual(self.ask(port, "POST", "/api/projects", token, {"key": project, "share": 1})[0], 200)
        # Nothing is kept that this computer cannot do.
        for key, value in (("cores", "4096"), ("disk_megabytes", "99999999")):
            status, _, reply = self.ask(port, "POST", "/api/preferences", token, {"key": key, "value": value})
            self.assertEqual(status, 400, reply)

    def raw(self, port, head, body=b""):
        """The status and head of the answer to exactly this."""
        with socket.create_connection(("127.0.0.1", port), timeout=20 * SLOW) as connection:
            connection.sendall(head.replace("\n", "\r\n").encode() + body)
            connection.shutdown(socket.SHUT_WR)
            said = b""
            while got := connection.recv(65536):
                said += got
        return int(said.split()[1]), said.split(b"\r\n\r\n")[0].decode().lower()

    def test_other_pages_and_other_names(self):
        """What another page can have the owner's browser send (it knows no token), and a name that leads here."""
        with Grid() as grid:
            port, token, _ = self.start(grid)
            bearer = f"Authorization: Bearer {token}\n"
            for host in ("evil.example", f"evil.example:{port}", f"localhost.evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}1",
                         f"127.0.0.2:{port}", f"[::1]:{port}", "", f"127.0.0.1:{port}@evil.example"):
                for path in ("/", "/api/status"):
                    status, _ = self.raw(port, f"GET {path} HTTP/1.1\nHost: {host}\n{bearer}\n")
                    self.assertIn(status, (400, 421), host)
            self.assertIn(self.raw(port, f"GET /api/status HTTP/1.0\n{bearer}\n")[0], (400, 421))
            here = f"Host: 127.0.0.1:{port}\n"
            body = b'{"command": "finish"}'
            length = f"Content-Length: {len(body)}\n"
            # A form or a script of another page: no token, whatever it says of itself.
            for fields in ("Content-Type: text/plain\n", "Content-Type: application/x-www-form-urlencoded\n",
                           "Content-Type: application/json\n", f"Origin: http://127.0.0.1:{port}\n", "Cookie: token=" + token + "\n",
                           "Authorization: Basic " + base64.b64encode(token.encode()).decode() + "\n"):
                status, head = self.raw(port, f"POST /api/command HTTP/1.1\n{here}{length}{fields}\n", body)
                self.assertEqual(status, 401, fields)
            # Even with the token, as a page has that got hold of it.
            for fields in ("Origin: http://evil.example\n", "Origin: null\n", "Sec-Fetch-Site: cross-site\n", "Sec-Fetch-Site: same-site\n",
                           f"Origin: https://127.0.0.1:{port}\n"):
                status, head = self.raw(port, f"POST /api/command HTTP/1.1\n{here}{length}{bearer}{fields}\n", body)
                self.assertEqual(status, 403, fields)
                self.assertNotIn("access-control", head)
            # Asking whether it may is answered with no leave.
            status, head = self.raw(port, f"OPTIONS /api/command HTTP/1.1\n{here}Origin: http://evil.example\n"
                                          "Access-Control-Request-Method: POST\nAccess-Control-Request-Headers: authorization\n\n")
            self.assertGreaterEqual(status, 400)
            self.assertNotIn("access-control", head)
            self.assertEqual(self.raw(port, f"GET /api/command HTTP/1.1\n{here}{bearer}\n")[0] // 100, 4)
            # Nor may it be shown inside another page.
            self.assertIn("frame-ancestors 'none'", self.raw(port, f"GET / HTTP/1.1\n{here}\n")[1])
            self.assertFalse(json.loads(grid.control("one", "--json", "status").stdout)["status"]["finishing"])
            self.assertEqual(self.raw(port, f"POST /api/command HTTP/1.1\n{here}{length}{bearer}\n", body)[0], 200)
            self.assertTrue(json.loads(grid.control("one", "--json", "status").stdout)["status"]["finishing"])
            self.assertEqual(grid.kill("page", signal.SIGTERM), 0)

    @unittest.skipUnless(os.geteuid() == 0, "only the superuser can be another user")
    def test_another_user_sees_no_key_to_the_page(self):
        """Not in what the browser is started with, nor where that leads; the browser gets to the page."""
        with Grid() as grid:
            opener = Opener(grid.directory / "opener")
            port, token, _ = self.start(grid, "--port", "0", env=opener.environment)
            address = opener.told(grid)
            self.assertEqual(address, f"http://127.0.0.1:{port}/open")
            seen = opener.seen_by_another_user(address)
            self.assertIn(address, seen)
            self.assertNotIn(token, seen)
            self.assertIn(address + "\n403", seen)
            self.assertEqual(opener.got(grid), f"303 /#{token}")
            # Once: whatever else runs as this user has to be told by the terminal.
            status, headers, _ = self.ask(port, "GET", "/open")
            self.assertEqual((status, headers.get("Location")), (403, None))
            self.assertEqual(grid.kill("page", signal.SIGTERM), 0)

    @unittest.skipUnless(os.geteuid() == 0, "only the superuser can be another user")
    def test_silent_connections_shut_nobody_out(self):
        """Neither those of another user, nor those of a program of the owner's."""
        with Grid() as grid:
            port, token, _ = self.start(grid)
            for before in (AS_NOBODY, []):
                with subprocess.Popen([*before, sys.executable, "-c", SILENT, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True) as silent:
                    self.assertEqual(silent.stdout.readline(), "held\n")
                    for _ in range(4):
                        self.assertEqual(self.ask(port, "GET", "/api/status", token)[0], 200)
                        self.assertEqual(self.ask(port, "GET", "/")[0], 200)
                    silent.communicate()
            self.assertEqual(grid.kill("page", signal.SIGTERM), 0)

    def test_what_protects_the_computer_is_not_for_a_page(self):
        with Grid() as grid:
            port, token, _ = self.start(grid)
            setting = lambda: next(one for one in json.loads(self.ask(port, "GET", "/api/preferences", token)[2]) if one["key"] == "sandbox")
            before = setting()
            self.assertTrue(before["protects"])
            off = "off: I accept that kernels run with my rights"
            for body in ({"key": "sandbox", "value": off}, {"key": "sandbox", "value": "on"},
                         {"key": "cores", "value": f'1\nsandbox = "{off}"'}, {"key": "applications", "value": f'[]\r\nsandbox = "{off}"'}):
                status, _, reply = self.ask(port, "POST", "/api/preferences", token, body)
                self.assertIn(status, (400, 403), reply)
                self.assertEqual(setting(), before)
            status, _, reply = self.ask(port, "POST", "/api/preferences", token, {"key": "outside_signal", "value": "/bin/true"})
            self.assertEqual((status, "gleaner prefs set outside_signal" in json.loads(reply)["message"]), (403, True))
            self.assertIn("gleaner prefs set sandbox", json.loads(self.ask(port, "POST", "/api/preferences", token,
                                                                         {"key": "sandbox", "value": off})[2])["message"])
            self.assertEqual(grid.kill("page", signal.SIGTERM), 0)

    @needs(CHROMIUM, "chromium is not installed")
    def test_opened_in_a_browser(self):
        with Grid() as grid:
            opener = Opener(grid.directory / "opener")
            _, token, _ = self.start(grid, "--port", "0", env=opener.environment)
            with Browser(grid.directory / "profile") as browser:
                browser.open(opener.told(grid))
                grid.wait_until("the page", lambda: browser.run("document.getElementById('sentence')?.textContent.startsWith('This computer')"), 40)
                self.assertEqual(browser.run("location.hash"), f"#{token}")
                self.assertEqual(browser.run("document.getElementById('preference-sandbox').disabled"), True)
                self.assertEqual(browser.complaints(), [])
            grid.kill("page", signal.SIGTERM)

    @needs(CHROMIUM, "chromium is not installed")
    def test_by_clicks(self):
        with Grid() as grid:
            port, _, address = self.start(grid)
            grid.add_problem("mandelbrot", "long", width=1200, height=1000, iterations=2000000)
            with Browser(grid.directory / "profile") as browser:
                browser.open(address)
                wait = lambda what, script: grid.wait_until(what, lambda: browser.run(script), 40)
                sentence = lambda words: f"document.getElementById('sentence')?.textContent.startsWith({json.dumps(words)})"
                wait("the sentence", sentence("This computer is helping A Gleaner project: it is computing long."))
                wait("a core", "document.querySelectorAll('#work progress').length == 1")
                wait("what all gave", "document.getElementById('together').textContent.includes('% of long')")
                wait("the picture", "document.getElementById('picture')?.width > 1")
                wait("the weeks", "document.querySelectorAll('.weeks rect').length == 12")
                wait("the preferences", "document.getElementById('preference-cpu_share') !== null")
                # Everything that can be used has a name, and nothing was refused by the content policy.
                self.assertEqual(browser.run("[...document.querySelectorAll('button,input,progress')].filter(e => !(e.textContent"
                                             " || e.getAttribute('aria-label') || (e.labels && e.labels.length))).length"), 0)
                browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
                self.accessible(browser)
                if picture := os.environ.get("GLEANER_PICTURE"):
                    grid.wait_until("a third of it", lambda: browser.run("+/: ([0-9.]+) %/.exec(document.getElementById('together').textContent)?.[1] > 30"), 300)
                    browser.run("document.querySelectorAll('details').forEach((d, i) => d.open = i == 1)")
                    pathlib.Path(picture).write_bytes(browser.picture())
                    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
                browser.click("#pause")
                wait("the pause", sentence("This computer is not computing: you paused"))
                self.assertIn("not computing", grid.control("one", "why").stdout)
                # The same by keyboard: tab to the next button, and press it.
                browser.run("document.getElementById('pause').focus()")
                browser.press("Tab")
                self.assertEqual(browser.run("document.activeElement.id"), "resume")
                browser.press("Enter")
                wait("it to go on", sentence("This computer is helping"))

                def saves(key, act, line):
                    browser.run("document.querySelector('#said button')?.click()")
                    wait("silence", "document.getElementById('said').textContent == ''")
                    browser.run(f"(e => {{ {act}; }})(document.getElementById('preference-{key}'))")
                    wait(key, "document.getElementById('said').textContent.includes('saved')")
                    self.assertRegex(grid.control("one", "prefs", "show").stdout, line)

                def sets(key, change, line):
                    saves(key, f"{change}; e.dispatchEvent(new Event('change', {{bubbles: true}}))", line)

                # A slider, a switch, a list of words, and hours of the week by clicks and by keys.
                sets("cpu_share", "e.value = 50", r"cpu_share +=  *0\.5 ")
                reset = "closest('.preference').querySelector('.from button')"
                wait("that it can be reset", f"document.getElementById('preference-cpu_share')?.{reset}")
                saves("cpu_share", f"e.{reset}.click()", r"cpu_share +=  *1\.0 +# default")
                sets("on_battery", "e.checked = true", r"on_battery +=  *true ")
                sets("run", "e.value = 'always'", r'run +=  *"always" ')
                sets("exclusive", "e.value = 'steam, blender'", r'exclusive +=  *\[ ?"steam", "blender" ?\] ')
                # The table of levels: a switch, then a slider of the same row.
                sets_level = lambda part, change: browser.run(f"(e => {{ {change}; for (const kind of ['input', 'change']) "
                                                              f"e.dispatchEvent(new Event(kind, {{bubbles: true}})); }})(document.getElementById('level-used{part}'))")
                level = lambda text: re.search(rf'levels +=  *\[ ?{text} ?\] ', grid.control("one", "prefs", "show").stdout)
                # The page shows what it reads again after each change: that is waited for.
                shown = lambda on, share: wait("the row", f"document.getElementById('level-used')?.checked === {on} && "
                                               f"document.getElementById('level-used-share')?.value === '{share}'")
                sets_level("", "e.checked = false")
                grid.wait_until("the level", lambda: level('"used off"'))
                time.sleep(1)
                shown("false", 100)
                sets_level("", "e.checked = true")
                grid.wait_until("no level", lambda: level(""))
                time.sleep(1)
                shown("true", 100)
                sets_level("-share", "e.value = 25")
                grid.wait_until("its share", lambda: level('"used 25%"'))
                time.sleep(1)
                shown("true", 25)
                sets_level("-rpm", "e.value = 1200")
                grid.wait_until("its fan speed", lambda: level('"used 25% 1200rpm"'))
                time.sleep(1)
                wait("the row", "document.getElementById('level-used-rpm')?.value === '1200'")
                sets_level("-rpm", "e.value = ''")
                grid.wait_until("no fan speed", lambda: level('"used 25%"'))
                time.sleep(1)
                shown("true", 25)
                sets_level("-share", "e.value = 100")
                grid.wait_until("no level again", lambda: level(""))
                self.assertEqual(browser.run("document.querySelectorAll('.hours [aria-pressed=true]').length"), 2 * 7 * 24)
                browser.click(".hours tbody tr:nth-child(1) td:nth-child(3) button")  # Monday, from one to two
                hours = lambda: grid.control("one", "prefs", "show").stdout
                grid.wait_until("the hours", lambda: re.search(r'hours +=  *\[ ?"mon 0:00-1:00", "mon 2:00-24:00", "tue,wed,thu,fri,sat,sun '
                                                               r'0:00-24:00" ?\]', hours()))
                wait("them on the page", "document.querySelectorAll('.hours [aria-pressed=true]').length == 2 * 7 * 24 - 1")
                browser.run("document.querySelector('.hours tbody tr:nth-child(1) td:nth-child(2) button').focus()")
                browser.press("ArrowRight")
                self.assertEqual(browser.run("document.activeElement.title"), "Monday 1:00")
                browser.press("Enter")
                grid.wait_until("all hours again", lambda: re.search(r"\nhours +=  *\[ ?\]", hours()))
                # A project's share and its switch.
                share = "document.querySelector('.membership input[type=range]')"
                browser.run(f"(e => {{ e.value = 3; e.dispatchEvent(new Event('input', {{bubbles: true}})); e.dispatchEvent(new Event('change', {{bubbles: true}})); }})({share})")
                grid.wait_until("the share", lambda: re.search(r'project_shares +=  *\[ ?"\w+=3"', hours()))
                browser.click(".membership input[role=switch]")
                wait("the rest", sentence("This computer is not computing"))
                browser.click(".membership input[role=switch]")
                wait("it to go on", sentence("This computer is helping"))
                wait("the log", "document.getElementById('log').textContent.includes('host')")
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"},
                                                                     {"name": "prefers-reduced-motion", "value": "reduce"}])
                self.assertEqual(browser.run("getComputedStyle(document.getElementById('pause')).transitionDuration"), "0s")
                self.accessible(browser)
                browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=2, mobile=True)
                self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 390)
                browser.call("Emulation.clearDeviceMetricsOverride")
                self.assertEqual(browser.complaints(), [])
                browser.run("document.querySelector('#said button')?.click()")
                browser.run("(e => { e.value = '400'; e.dispatchEvent(new Event('change', {bubbles: true})); })(document.getElementById('preference-temperature_max'))")
                wait("the refusal", "document.getElementById('said').textContent.includes('110')")
            grid.kill("page", signal.SIGTERM)


if __name__ == "__main__":
    main()
