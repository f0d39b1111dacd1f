"""The console as HTTP has it: its page, log-in, roles, what it is told. By clicks: console_problems, _form and _hosts."""
import hashlib
import http.client
import json
import os
import re
import signal
import ssl
import unittest
import zlib

from harness import SLOW, SQUARES, FakeHost, Grid, main
from person import link_of

SAME_SITE = {"Sec-Fetch-Site": "same-origin"}


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
            self.assertIn("was already used", again["detail"])
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
            stored = grid.stored()
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
            names = lambda query: [host["name"] for host in look(f"host-pages?{query}")["hosts"]]
            self.assertEqual(names("order=-name")[:2], ["pc-11", "pc-10"])
            self.assertEqual(names("order=-items")[0], "pc-00")
            self.assertEqual(names("on_hold=true"), [])
            grid.admin("host", "hold", "pc-03", "--reason", "an exam")
            self.assertEqual((names("on_hold=true"), names("order=-state")[0], look("status")["hosts_on_hold"]), (["pc-03"], "pc-03", 1))
            self.assertIn("order: expected a column", look("host-pages?order=colour")["detail"])
            port = next(each for each in look("settings")["items"] if each["name"] == "server.port")
            self.assertEqual((port["value"], port["default_value"], port["meaning"]), (str(grid.port), "8443", "TCP port."))
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


if __name__ == "__main__":
    main()
