"""Who may administer, attacked over the wire: roles, ends, withdrawals."""
import hashlib
import os
import pathlib
import unittest

import yaml

from harness import Grid, main

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
