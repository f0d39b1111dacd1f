"""Who may administer, attacked over the wire: roles, ends, withdrawals."""
import hashlib
import os
import pathlib
import unittest

import yaml

from harness import Grid, main
from person import link_of

CONTRACT = yaml.safe_load((pathlib.Path(__file__).parents[2] / "server" / "http" / "openapi.yaml").read_text())


def changes():
    """Every published operation of an administrator that is no look: (method, path)."""
    for path, item in CONTRACT["paths"].items():
        if path.startswith("/v1/admin/") or path.startswith("/v1/uploads/"):
            for method in item:
                if method.upper() in ("POST", "PUT", "PATCH", "DELETE"):
                    yield method.upper(), path.replace("{id}", "1").replace("{name}", "project").replace("{digest}", "0" * 64)


class Access(unittest.TestCase):
    def token(self, grid, name, role, *more):
        return grid.admin_json("token", "add", name, "--role", role, *more)["token"]

    def token_file(self, grid, name, token):
        file = grid.directory / f"{name}.token"
        file.write_text(token + "\n")
        file.chmod(0o600)
        return file

    def test_a_session_makes_nothing_that_outlives_it(self):
        """Whoever gets hold of a log-in is no administrator when it ends."""
        with Grid() as grid:
            grid.start_server()
            status, headers, session = grid.request("POST", "/v1/console/session", {"link": link_of(grid)})
            self.assertEqual((status, session["role"]), (200, "owner"))
            fields = {"Cookie": headers["Set-Cookie"].split(";")[0], "X-Gleaner-Guard": session["guard"]}
            for path, body in (("tokens", {"name": "eve", "role": "owner"}), ("codes", {"name": "eve"}), ("codes/default/rotate", {}),
                               ("relays", {"name": "eve", "children": 10})):
                status, _, answer = grid.request("POST", f"/v1/admin/{path}", body, headers=fields)
                self.assertEqual(status, 403, path)
                self.assertIn("they would outlive it: use `gleaner-admin token add`", answer["detail"])
                # With a token of the same role it is made.
                body = {**body, "name": f"ann-{len(path)}"}
                self.assertEqual(grid.request("POST", f"/v1/admin/{path}", body, grid.admin_token)[0], 200, path)
            self.assertNotIn("eve", [each["name"] for kind in ("token", "code") for each in grid.admin_json(kind, "list")["items"]])

    def test_what_an_administrator_made_can_go_with_him(self):
        with Grid() as grid:
            grid.start_server()
            as_of = lambda name: ("--token-file", grid.directory / f"{name}.token")
            made = lambda maker, name, role: self.token_file(grid, name, grid.admin_json(
                *(as_of(maker) if maker else ()), "token", "add", name, "--role", role)["token"])
            made(None, "boss", "owner")
            made("boss", "oscar", "operator")
            made(None, "ann", "operator")
            grid.admin(*as_of("oscar"), "code", "add", "lab")
            grid.admin(*as_of("oscar"), "code", "rotate", "default")
            grid.admin(*as_of("ann"), "code", "add", "club")
            makers = {token["name"]: token.get("made_by", "") for token in grid.admin_json("token", "list")["items"]}
            self.assertEqual(makers, {"project": "", "boss": "project", "oscar": "boss", "ann": "project"})
            codes = lambda: {code["name"]: (code.get("made_by", ""), code["state"]) for code in grid.admin_json("code", "list")["items"]}
            self.assertEqual(codes(), {"default": ("oscar", "valid"), "lab": ("oscar", "valid"), "club": ("ann", "valid")})
            self.assertRegex(grid.admin("token", "list").stdout, r"oscar +operator +valid +.* boss ")
            # One that expires makes none that lasts longer.
            brief = self.token_file(grid, "brief", self.token(grid, "brief", "owner", "--expires", "1h"))
            for more in ((), ("--expires", "30d")):
                grid.admin("--token-file", brief, "token", "add", f"heir{len(more)}", "--role", "owner", *more)
            ends = {token["name"]: token["expires_at"] for token in grid.admin_json("token", "list")["items"]}
            self.assertGreater(ends["brief"], 0)
            self.assertEqual((ends["heir0"], ends["heir2"]), (ends["brief"], ends["brief"]))
            # Alone, it says what is left.
            told = grid.admin("token", "withdraw", "boss", "--yes")
            self.assertIn("What it made is still good: token oscar, code default, code lab.", told.stderr)
            self.assertEqual(grid.admin(*as_of("oscar"), "code", "list").returncode, 0)
            told = grid.admin("token", "withdraw", "boss", "--with-made", "--yes")
            self.assertIn("with token oscar, code default, code lab", told.stdout)
            self.assertEqual(grid.admin(*as_of("boss"), "host", "list", check=False).returncode, 5)
            self.assertEqual(grid.admin(*as_of("oscar"), "host", "list", check=False).returncode, 5)
            self.assertEqual(grid.admin(*as_of("ann"), "host", "list").returncode, 0)
            self.assertEqual(codes(), {"default": ("oscar", "withdrawn"), "lab": ("oscar", "withdrawn"), "club": ("ann", "valid")})
            acts = [(act["action"], act["object"]) for act in grid.admin_json("audit", "list")["acts"]]
            for act in (("token withdraw", "oscar"), ("code withdraw", "lab"), ("code withdraw", "default")):
                self.assertIn(act, acts)
            # Never the last owner, by whatever way; and all of it is so after a restart.
            self.assertEqual(grid.admin("token", "withdraw", "project", "--with-made", "--yes", check=False).returncode, 1)
            grid.kill("server")
            grid.start_server()
            self.assertEqual(grid.admin(*as_of("oscar"), "host", "list", check=False).returncode, 5)
            self.assertEqual(codes()["lab"], ("oscar", "withdrawn"))

    def test_roles(self):
        with Grid() as grid:
            grid.start_server()
            viewer = self.token(grid, "ann", "viewer")
            operator = self.token(grid, "oscar", "operator")
            brief = self.token(grid, "brief", "owner", "--expires", "1s")
            # Every change that is published, and some that are not.
            tried = list(changes()) + [("POST", "/v1/admin/unheard-of"), ("PUT", "/v1/admin/hosts/1"), ("POST", "/v1/admin/")]
            self.assertGreater(len(tried), 18)
            for method, path in tried:
                status, _, answer = grid.request(method, path, {}, viewer)
                self.assertEqual(status, 403, (method, path, answer))
                self.assertRegex(answer["detail"], "needs the role (operator|owner), and the admin token ann is a viewer's")
            for path in ("status", "problems", "hosts", "codes", "tokens", "applications", "strategies"):
                status, _, answer = grid.request("GET", f"/v1/admin/{path}", None, viewer)
                self.assertEqual(status, 200, path)
                self.assertNotIn("gleaner://", str(answer))
            # An operator does the day's work, and makes nobody an administrator.
            self.assertEqual(grid.request("POST", "/v1/admin/codes", {"name": "lab"}, operator)[0], 200)
            for path, body in (("", {"name": "eve", "role": "viewer"}), ("/ann/withdraw", {}), ("/project/withdraw", {})):
                status, _, answer = grid.request("POST", f"/v1/admin/tokens{path}", body, operator)
                self.assertEqual(status, 403)
                self.assertIn("needs the role owner", answer["detail"])
            content = os.urandom(1000)
            upload = f"/v1/uploads/{hashlib.sha256(content).hexdigest()}"
            headers = {"Upload-Offset": "0", "Upload-Length": "1000", "Content-Type": "application/octet-stream"}
            self.assertEqual(grid.request("PATCH", upload, content, viewer, headers, raw=True)[0], 403)
            self.assertEqual(grid.request("PATCH", upload, content, operator, headers, raw=True)[0], 200)
            # Ended tokens do nothing at all.
            grid.admin("token", "withdraw", "oscar", "--yes")
            self.assertEqual(grid.admin("token", "withdraw", "project", "--yes", check=False).returncode, 1)
            grid.wait_until("the token's end", lambda: grid.request("GET", "/v1/admin/status", None, brief)[0] == 401)
            for restart in (False, True):
                if restart:
                    grid.kill("server")
                    grid.start_server()
                for token, why in ((operator, "oscar was withdrawn"), (brief, "brief expired")):
                    status, _, answer = grid.request("POST", "/v1/admin/codes", {"name": "more"}, token)
                    self.assertEqual(status, 401)
                    self.assertIn(why, answer["detail"])
                    status, _, answer = grid.request("PATCH", upload, content, token, headers)
                    self.assertEqual(status, 401)
                    self.assertIn(why, answer["detail"])
            # The command line says it, with its exit code.
            file = grid.directory / "ann.token"
            file.write_text(viewer + "\n")
            file.chmod(0o600)
            self.assertEqual(grid.admin("--token-file", file, "host", "list").returncode, 0)
            refused = grid.admin("--token-file", file, "code", "rotate", "default", check=False)
            self.assertEqual(refused.returncode, 5)
            self.assertIn("needs the role operator", refused.stderr)
            files = grid.stored()
            for token in (viewer, operator, brief):
                self.assertNotIn(token.encode(), files)


if __name__ == "__main__":
    main()
