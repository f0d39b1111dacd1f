"""Codes with which hosts join, attacked over the wire and by a real client."""
import os
import re
import unittest

from harness import Grid, HostKey, base64url, main, secret_of


def join(grid, secret, name, key=None):
    """(status, reply) of a host that says what it likes."""
    return grid.enrol(key or HostKey(), name, secret)


class Enrolment(unittest.TestCase):
    def refused(self, answer, why):
        self.assertEqual(answer[0], 403, answer)
        self.assertIn(why, answer[1]["detail"])

    def add(self, grid, *arguments):
        return secret_of(grid.admin_json("code", "add", *arguments)["join_code"])

    def test_codes(self):
        with Grid() as grid:
            grid.start_server()
            lab = self.add(grid, "lab", "--hosts", 20, "--strangers", "--tag", "b12")
            for i in range(20):
                self.assertEqual(join(grid, lab, f"host-{i}")[0], 200)
            self.refused(join(grid, lab, "host-20"), "admits 20 hosts")
            once = self.add(grid, "once", "--once")
            token = join(grid, once, "first")[1]["token"]
            self.refused(join(grid, once, "second"), "admits 1 host")
            brief = self.add(grid, "brief", "--expires", "1s")
            grid.wait_until("the code's end", lambda: grid.admin_json("code", "show", "brief")["state"] == "expired")
            self.refused(join(grid, brief, "late"), "expired on")
            self.refused(join(grid, os.urandom(16), "guesser"), "not valid here")
            grid.admin("code", "withdraw", "once", "--with-hosts", "--yes")
            status, _, answer = grid.request("POST", "/v1/heartbeat", {"units": []}, token)
            self.assertEqual((status, answer["type"]), (403, "urn:gleaner:error:forbidden"))
            self.assertIn("its code was withdrawn", answer["detail"])

            grid.kill("server")
            grid.start_server()
            self.refused(join(grid, lab, "host-20"), "admits 20 hosts")
            self.refused(join(grid, once, "third"), "withdrawn")
            self.refused(join(grid, brief, "late"), "expired on")
            self.assertEqual(join(grid, grid.enrolment_secret, "as ever")[0], 200)
            host = grid.admin_json("host", "show", "host-7")
            self.assertEqual((host["code"], host["tags"]), ("lab", ["b12"]))
            # Of the secrets the server keeps nothing that would let anybody join.
            files = grid.stored()
            for secret in (lab, once, brief):
                self.assertFalse(secret in files or secret.hex().encode() in files or base64url(secret).encode() in files)

            before = grid.enrolment_secret
            fresh = secret_of(grid.admin_json("code", "rotate", "default")["join_code"])
            self.refused(join(grid, before, "old code"), "not valid here")
            self.assertEqual(join(grid, fresh, "new code")[0], 200)
            told = grid.run("gleaner-server", "join-code", grid.project, check=False)
            self.assertEqual(told.returncode, 1)
            self.assertIn("gleaner-admin code add", told.stderr)

    def test_hosts_are_strangers_unless_their_code_says_otherwise(self):
        with Grid() as grid:
            other = grid.directory / "other"
            told = grid.run("gleaner-server", "init", other, "--offline", grid.directory / "other-keys").stdout
            self.assertIn("volunteers", told)
            self.assertIn(f"gleaner-admin --project {other}/admin code add lab --own", told)
            self.assertIn("volunteers", grid.run("gleaner-server", "join-code", grid.project).stderr)
            settings = grid.project / "server.toml"  # as an earlier server wrote it
            settings.write_text(settings.read_text().replace("[hosts]\n", "[hosts]\nown = true\n"))
            grid.start_server()
            self.assertIn("hosts.own has no effect", grid.log("server"))
            self.assertIn("for volunteers", next(line for line in grid.log("server").splitlines() if "join code" in line))
            for arguments, meaning in ((("web",), "volunteers"), (("lab", "--own"), "project's own"), (("net", "--strangers"), "volunteers")):
                self.assertIn(meaning, grid.admin("code", "add", *arguments).stderr)
            self.assertIn("volunteers", grid.admin("relay", "allow", "school", "--children", 5).stderr)
            self.assertIn("project's own", grid.admin("relay", "allow", "room", "--children", 5, "--own").stderr)
            self.assertEqual({code["name"]: code["own"] for code in grid.admin_json("code", "list")["items"]},
                             {"default": False, "web": False, "lab": True, "net": False, "school": False, "room": True})
            join(grid, grid.enrolment_secret, "default")
            join(grid, secret_of(grid.admin_json("code", "rotate", "lab")["join_code"]), "lab")
            self.assertEqual(dict(grid.rows("select name, own from hosts")), {"default": "0", "lab": "1"})

    def test_a_revoked_client_is_told_why_it_may_not_return(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_client("bad")
            grid.admin("host", "revoke", grid.host_id("bad"), "--yes")
            grid.wait_until("it to notice", lambda: (grid.membership("bad") / "identity" / "revoked").exists())
            self.assertIn("revoked", grid.control("bad", "why").stdout.lower())
            grid.kill("bad")
            kept = {path for path in grid.membership("bad").rglob("*") if path.is_file()}
            again = grid.run("gleaner-client", "join", grid.join_code, "--state", grid.state("bad"), "--name", "other",
                             check=False)
            self.assertNotEqual(again.returncode, 0)
            self.assertRegex(again.stderr, "administrator revoked this computer")
            self.assertEqual(kept - set(grid.membership("bad").rglob("*")), set())
            grid.admin("host", "revoke", 1, "--may-return", "--yes")
            grid.join("bad")
            self.assertEqual(len(grid.admin_json("host", "list")["items"]), 1)


if __name__ == "__main__":
    main()
