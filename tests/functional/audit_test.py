"""The audit log over the wire: every published change leaves an act, refusals are counted, an edited byte is found."""
import json
import pathlib
import re
import shutil
import signal
import sqlite3
import unittest

import yaml

from harness import SQUARES, FakeHost, Grid, main, of_files
from rows import TableProblem

CONTRACT = yaml.safe_load((pathlib.Path(__file__).parents[2] / "server" / "http" / "openapi.yaml").read_text())


def changes():
    """Every published operation under /v1/admin that is no look."""
    return {(method.upper(), path) for path, item in CONTRACT["paths"].items() if path.startswith("/v1/admin/")
            for method in item if method.upper() in ("POST", "PUT", "PATCH", "DELETE")}


class Audit(unittest.TestCase):
    def acts(self, grid):
        return grid.admin_json("audit", "list")["acts"]

    def verify(self, grid, *arguments):
        """(exit code, what it said)"""
        done = grid.admin("audit", "verify", *arguments, check=False)
        return done.returncode, done.stdout + done.stderr

    def head(self, grid):
        return grid.admin_json("audit", "verify")["head"]

    def test_every_change_leaves_an_act(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            host = FakeHost(grid, "one")
            left = changes()
            self.assertGreater(len(left), 15)

            def call(method, template, which="", body=None, action=None, summary=""):
                """The change is made, and its act says by whom and what."""
                left.discard((method, template))
                before = self.acts(grid)
                path = re.sub(r"\{[^}]*\}", str(which), template)
                status, _, answer = grid.request(method, path, body or {}, grid.admin_token)
                self.assertEqual(status, 200, (method, path, answer))
                new = self.acts(grid)[len(before):]
                self.assertEqual(len(new), 1, (method, path))
                self.assertEqual((new[0]["actor"], new[0]["role"]), ("project", "owner"))
                kind = template.split("/")[3]
                self.assertTrue(new[0]["action"].startswith(kind.removesuffix("s")), new[0])
                if action:
                    self.assertEqual(new[0]["action"], action)
                if kind == "bans":
                    self.assertEqual(new[0]["object"], "network 192.0.2.0/24")
                elif which != "":
                    self.assertEqual(new[0]["object"], str(which))
                if summary:
                    self.assertRegex(new[0]["summary"], summary)
                return answer

            archive = sorted(grid.directory.glob("signed/*.signed"))[0]
            call("POST", "/v1/admin/applications", body=json.loads(archive.read_text()), action="application add")
            identity = call("POST", "/v1/admin/problems", body={"application": "squares", "name": "p",
                                                                "parameters": '{"count": 4}'}, action="problem add")["id"]
            call("POST", "/v1/admin/estimates", body={"application": "squares", "name": "", "parameters": '{"count": 4}'},
                 action="estimate")
            one = "/v1/admin/problems/{id}"
            call("POST", one + "/strategy", identity, {"strategy": "rts", "straggler": "none"}, summary="strategy rts")
            call("POST", one + "/pause", identity, summary="p: paused")
            call("POST", one + "/resume", identity, summary="p: running")
            unit = host.work()[1]["decoded"][0]
            host.commit(unit["unit"], unit["range"]["begin"], [b"0"])
            call("POST", one + "/preview", identity, action="problem preview")
            call("POST", one + "/partial", identity)
            self.rows(grid, call)
            self.upgrade(grid, call)
            call("POST", one + "/cancel", identity, summary="p: cancelled")
            call("DELETE", one, identity, action="problem delete", summary="^p: cancelled")
            call("POST", "/v1/admin/hosts/{id}/hold", host.host, {"reason": "exam"}, summary="exam")
            call("POST", "/v1/admin/hosts/{id}/release", host.host, action="host release")
            call("POST", "/v1/admin/hosts/{id}/tags", host.host, {"tags": ["b12"]}, action="host tags", summary="b12")
            call("POST", "/v1/admin/hosts/{id}/revoke", host.host, summary="^one: revoked")
            call("POST", "/v1/admin/codes", body={"name": "lab", "hosts_max": 3}, summary="valid, 3 hosts")
            call("POST", "/v1/admin/codes/{name}/rotate", "lab")
            call("POST", "/v1/admin/codes/{name}/withdraw", "lab", summary="withdrawn")
            call("POST", "/v1/admin/relays", body={"name": "b12", "children": 9}, action="relay allow", summary="a relay with 9 hosts under it")
            call("POST", "/v1/admin/relays/{name}/quota", "b12", {"children": 12}, action="relay quota")
            call("POST", "/v1/admin/tokens", body={"name": "ann", "role": "viewer"}, summary="viewer, valid")
            call("POST", "/v1/admin/tokens/{name}/withdraw", "ann", summary="viewer, withdrawn")
            self.more_changes(call)
            self.assertEqual(left, set(), "changes that no act was seen of")
            # Looks and refusals leave none, and secrets are in none.
            before = self.acts(grid)
            grid.admin("host", "list")
            grid.request("POST", "/v1/admin/codes", {"name": "lab"}, grid.admin_token)
            self.assertEqual(self.acts(grid), before)
            self.assertEqual(self.verify(grid)[0], 0)

    def more_changes(self, call):
        call("POST", "/v1/admin/flows", body={"name": "study", "nodes": [{"name": "first", "application": "squares"}]}, action="flow add",
             summary="^1 node$")
        call("POST", "/v1/admin/bans", body={"kind": "network", "subject": "192.0.2.7/24", "reason": "spam"}, action="ban add",
             summary="spam")
        before = call("POST", "/v1/admin/bans/{kind}/remove", "network", {"subject": "192.0.2.0/24"}, action="ban remove")
        self.assertEqual(before["subject"], "192.0.2.0/24")

    def rows(self, grid, call):
        """A table becomes longer, and its failed rows run again."""
        table = TableProblem(grid, FakeHost(grid, "rows"))
        call("POST", "/v1/admin/problems/{id}/append", table.id, table.more, action="problem append", summary="rows: running")
        table.deliver()
        call("POST", "/v1/admin/problems/{id}/retry-failed", table.id, action="problem retry-failed", summary="rows: running")
        grid.admin("problem", "cancel", table.id, "--yes")

    def upgrade(self, grid, call):
        """Another version takes over, fails on every host, and is tried again."""
        mended = grid.directory / "mended"
        shutil.copytree(SQUARES, mended)
        manifest = (mended / "manifest.toml").read_text().replace('"1.0.0"', '"1.0.1"', 1)
        (mended / "manifest.toml").write_text(manifest.replace("[kernel]", 'compatible_with = ["1.0.0"]\n[kernel]', 1))
        third = grid.request("POST", "/v1/admin/problems", {"application": "squares@1.0.0", "name": "third", "priority": 8,
                                                            "parameters": '{"count": 1}'}, grid.admin_token)[2]["id"]
        grid.add_application(mended)
        call("POST", "/v1/admin/problems/{id}/application", third, {"application": "squares@1.0.1"}, summary="squares@1.0.1")
        for number in range(4):
            failing = FakeHost(grid, f"failing {number}")
            unit = failing.work()[1]["decoded"][0]["unit"]
            grid.request("POST", "/v1/failure", {"unit": unit, "kind": "kernel-crashed", "item": 0, "message": "signal 11"},
                         failing.token)
        call("POST", "/v1/admin/problems/{id}/retry", third, summary="third: running")

    def test_refusals_are_counted(self):
        with Grid() as grid:
            grid.start_server()
            ann = grid.admin_json("token", "add", "ann", "--role", "viewer")["token"]
            for number in range(7):
                self.assertEqual(grid.request("DELETE", f"/v1/admin/problems/{number}", None, "x" * 43)[0], 401)
                self.assertEqual(grid.request("POST", f"/v1/admin/hosts/{number}/revoke", {}, ann)[0], 403)
            grid.request("PUT", "/v1/admin/hosts/../../etc", None, "y" * 43)
            grid.admin("token", "withdraw", "ann", "--yes")
            grid.request("GET", "/v1/admin/hosts", None, ann)
            counted = {(each["actor"], each["kind"], each["action"]): each["times"]
                       for each in grid.admin_json("audit", "list")["refusals"]}
            self.assertEqual(counted[("unknown", "unauthorized", "problem delete")], 7)
            self.assertEqual(counted[("ann", "forbidden", "host revoke")], 7)
            self.assertEqual(counted[("ann", "unauthorized", "look")], 1)
            self.assertLessEqual(len(counted), 4)
            self.assertEqual([act["action"] for act in self.acts(grid)][-2:], ["token add", "token withdraw"])
            self.assertIn("unknown", grid.admin("audit", "list").stdout)
            only = grid.admin_json("audit", "list", "--actor", "ann", "--since", "1h")
            self.assertEqual((only["acts"], {each["actor"] for each in only["refusals"]}), ([], {"ann"}))

    @of_files("it is edited as a file, and put back")
    def test_an_edited_byte_is_found(self):
        with Grid() as grid:
            grid.start_server()
            for number in range(4):
                grid.admin("code", "add", f"lab-{number}")
            noted = self.head(grid)
            number = int(noted.split(":")[0])
            grid.admin("code", "add", "later")
            self.assertEqual(self.verify(grid, "--head", noted)[0], 0)
            grid.kill("server", signal.SIGTERM)
            shutil.copy(grid.project / "store.sqlite", grid.directory / "good.sqlite")
            # One byte of the file.
            path = grid.project / "store.sqlite"
            content = path.read_bytes()
            at = content.rindex(b"code addlab-2")
            path.write_bytes(content[:at + 12] + b"9" + content[at + 13:])
            grid.start_server()
            code, said = self.verify(grid)
            self.assertEqual(code, 5, said)
            self.assertIn(f"act {number} of the audit log does not fit: act {number - 1} is not what it was", said)

            def restored():
                shutil.copy(grid.directory / "good.sqlite", path)
                (grid.project / "store.generation").unlink(missing_ok=True)

            for sql, expected in (
                    ("UPDATE acts SET actor = 'eve' WHERE number = (SELECT max(number) FROM acts)", "is not what the server last"),
                    ("DELETE FROM acts WHERE number = 3", "acts were taken out"),
                    ("DELETE FROM acts WHERE number = (SELECT max(number) FROM acts)", "is missing"),
                    ("UPDATE acts SET at = at - 1 WHERE number = 1", "act 2 of the audit log does not fit")):
                grid.kill("server", signal.SIGTERM)
                restored()
                self.edit_stopped(grid, sql)
                grid.start_server()
                code, said = self.verify(grid)
                self.assertEqual(code, 5, (sql, said))
                self.assertIn(expected, said)
            # Who writes the whole chain anew is found by the head that was noted.
            grid.kill("server", signal.SIGTERM)
            restored()
            self.edit_stopped(grid, "DELETE FROM acts", "DELETE FROM named_values WHERE name LIKE 'acts_%'")
            # It was noted outside the store, too: `check` and `audit verify` find it without being told a head.
            checked = grid.run("gleaner-server", "check", grid.project, check=False)
            self.assertEqual(checked.returncode, 4, checked.stdout)
            self.assertIn("serious: audit-log: the audit log was cut", checked.stdout)
            grid.start_server()
            for number in range(2):
                grid.admin("code", "add", f"new-{number}")
            code, said = self.verify(grid)
            self.assertEqual(code, 5, said)
            self.assertIn("the audit log was cut", said)
            self.assertIn("the audit log was cut", " ".join(grid.admin_json("status")["warnings"]))
            # Who can write all of the server's files is found by a head that was noted elsewhere.
            grid.kill("server", signal.SIGTERM)
            (grid.project / "admin" / "audit.head").unlink()
            grid.start_server()
            self.assertEqual(self.verify(grid)[0], 0)
            code, said = self.verify(grid, "--head", noted)
            self.assertEqual(code, 5, said)
            self.assertIn("the audit log was cut", said)
            for number in range(6):
                grid.admin("code", "add", f"newer-{number}")
            code, said = self.verify(grid, "--head", noted)
            self.assertEqual(code, 5, said)
            self.assertIn("is not the one whose head was noted", said)
            self.assertEqual(self.verify(grid, "--head", "7")[0], 1)

    @of_files("its end is cut in the file")
    def test_a_cut_end_is_found_wherever_the_server_was_killed(self):
        """The note is behind the log, never ahead of it: a kill is no false alarm, and a cut is one."""
        with Grid() as grid:
            for number in range(6):
                grid.start_server()
                grid.admin("code", "add", f"lab-{number}")
                if number % 2:
                    grid.wait_until("the note", lambda: self.noted(grid) == int(self.head(grid).split(":")[0]), 30)
                grid.kill("server", signal.SIGKILL)
                checked = grid.run("gleaner-server", "check", grid.project, check=False)
                self.assertNotIn("audit-log", checked.stdout)
            store = sqlite3.connect(grid.project / "store.sqlite")
            last = store.execute("SELECT max(number) FROM acts").fetchone()[0]
            previous = store.execute("SELECT previous FROM acts WHERE number = ?", (last,)).fetchone()[0]
            store.close()
            previous = previous.hex() if isinstance(previous, bytes) else previous
            self.edit_stopped(grid, f"DELETE FROM acts WHERE number = {last}",
                              f"UPDATE named_values SET value = '{last - 1}:{previous}' WHERE name = 'acts_head'")
            self.assertEqual(grid.run("gleaner-server", "check", grid.project, check=False).returncode, 4)
            grid.start_server()
            code, said = self.verify(grid)
            self.assertEqual(code, 5, said)
            self.assertIn(f"it ends with act {last - 1}", said)
            # Given up in words, it goes on.
            grid.kill("server", signal.SIGTERM)
            grid.start_server("--accept-loss")
            self.assertEqual(self.verify(grid)[0], 0)

    def noted(self, grid):
        path = grid.project / "admin" / "audit.head"
        return int(path.read_text().split("\n")[1].split(":")[0]) if path.exists() else 0

    def edit_stopped(self, grid, *sqls):
        store = sqlite3.connect(grid.project / "store.sqlite")
        for sql in sqls:
            store.execute(sql)
        store.commit()
        store.close()


if __name__ == "__main__":
    main()
