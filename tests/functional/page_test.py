"""The owner's page: over HTTP always, in Chromium by clicks where it is installed."""
import base64
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import unittest

from browser import CHROMIUM, Browser
from harness import MANDELBROT, SLOW, Grid, main


class Page(unittest.TestCase):
    def start(self, grid):
        grid.start_server()
        grid.add_application(MANDELBROT)
        grid.add_client("one")
        grid.wait_until("the client", lambda: grid.control("one", "status", check=False).returncode == 0)
        grid.start("page", "gleaner", "--state", grid.state("one"), "page", "--no-browser")
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
            port, token, _ = self.start(grid)
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
            grid.add_problem("mandelbrot", "long", width=300, height=4000, iterations=200000)
            told = grid.wait_until("what all gave", lambda: json.loads(self.ask(port, "GET", "/api/status", token)[2])["status"][
                "problems"])
            self.assertEqual([(one["name"], one["items"]) for one in told], [("long", 4000)])
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

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_by_clicks(self):
        with Grid() as grid:
            port, _, address = self.start(grid)
            grid.add_problem("mandelbrot", "long", width=300, height=4000, iterations=200000)
            with Browser(grid.directory / "profile") as browser:
                browser.open(address)
                wait = lambda what, script: grid.wait_until(what, lambda: browser.run(script), 40)
                wait("the sentence", "document.getElementById('sentence')?.textContent.startsWith('computing')")
                wait("a core", "document.querySelectorAll('#work progress').length == 1")
                wait("what all gave", "document.getElementById('together').textContent.includes('% of long')")
                # Everything that can be used has a name, and nothing was refused by the content policy.
                self.assertEqual(browser.run("[...document.querySelectorAll('button,input,progress')].filter(e => !(e.textContent"
                                             " || e.getAttribute('aria-label') || (e.labels && e.labels.length))).length"), 0)
                self.assertEqual(browser.run("document.styleSheets[0].cssRules.length > 5"), True)
                browser.click("#pause")
                wait("the pause", "document.getElementById('sentence')?.textContent.startsWith('not computing')")
                self.assertIn("not computing", grid.control("one", "why").stdout)
                # The same by keyboard: tab to the next button, and press it.
                browser.run("document.getElementById('pause').focus()")
                browser.press("Tab")
                self.assertEqual(browser.run("document.activeElement.id"), "resume")
                browser.press("Enter")
                wait("it to go on", "document.getElementById('sentence')?.textContent.startsWith('computing')")
                def sets(key, change, line):
                    browser.run("document.getElementById('said').textContent = ''")
                    browser.run(f"(e => {{ {change}; e.dispatchEvent(new Event('change')); }})(document.getElementById('preference-{key}'))")
                    wait(key, "document.getElementById('said').textContent.endsWith('saved')")
                    self.assertRegex(grid.control("one", "prefs", "show").stdout, line)

                # A slider, a switch, a list of words, and hours of the week by clicks.
                sets("cpu_share", "e.value = 50", r"cpu_share +=  *0\.5 ")
                sets("on_battery", "e.checked = true", r"on_battery +=  *true ")
                sets("run", "e.value = 'always'", r'run +=  *"always" ')
                sets("exclusive", "e.value = 'steam, blender'", r'exclusive +=  *\[ ?"steam", "blender" ?\] ')
                self.assertEqual(browser.run("document.querySelectorAll('.hours [aria-pressed=true]').length"), 2 * 7 * 24)
                browser.click(".hours tr:nth-child(2) td:nth-child(3) button")  # Monday, from one to two
                grid.wait_until("the hours", lambda: re.search(r'hours +=  *\[ ?"mon 0:00-1:00", "mon 2:00-24:00", "tue,wed,thu,fri,sat,sun '
                                                               r'0:00-24:00" ?\]', grid.control("one", "prefs", "show").stdout))
                browser.click("#log-details summary")
                wait("the log", "document.getElementById('log').textContent.includes('host')")
                self.assertEqual(browser.complaints(), [])
                browser.run("document.getElementById('preference-temperature_max').value = '400'")
                browser.run("document.getElementById('preference-temperature_max').dispatchEvent(new Event('change'))")
                wait("the refusal", "document.getElementById('said').textContent.includes('110')")
                picture = os.environ.get("GLEANER_PICTURE")
                if picture:
                    pathlib.Path(picture).write_bytes(browser.picture())
            grid.kill("page", signal.SIGTERM)


if __name__ == "__main__":
    main()
