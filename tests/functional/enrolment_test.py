"""Codes with which hosts join, attacked over the wire and by a real client."""
import hashlib
import os
import re
import unittest

from harness import Grid, base64url, from_base64url, main


def secret_of(join_code):
    return from_base64url(join_code.rsplit("/", 1)[1])[33:49]


def join(grid, secret, name, key=None):
    """(status, reply) of a host that says what it likes."""
    status, _, reply = grid.request("POST", "/v1/enrol", {
        "secret": base64url(secret), "host_key": base64url(key or os.urandom(32)),
        "machine": hashlib.sha256(os.urandom(8)).hexdigest(), "name": name, "platform": "x86_64-linux", "cores": 1,
        "memory_bytes": 1 << 32, "client_version": "test"})
    return status, reply


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
            self.assertIn("its enrolment code was withdrawn", answer["detail"])

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

    def test_a_revoked_client_is_told_why_it_may_not_return(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_client("bad")
            grid.admin("host", "revoke", grid.host_id("bad"), "--yes")
            grid.wait_until("it to notice", lambda: (grid.membership("bad") / "identity" / "revoked").exists())
            self.assertIn("revoked", grid.control("bad", "why").stdout.lower())
            grid.kill("bad")
            again = grid.run("gleaner-client", "join", grid.join_code, "--state", grid.state("bad"), "--name", "other",
                             check=False)
            self.assertNotEqual(again.returncode, 0)
            self.assertRegex(again.stderr, "administrator revoked this computer")
            grid.admin("host", "revoke", 1, "--may-return", "--yes")
            grid.join("bad")
            self.assertEqual(len(grid.admin_json("host", "list")["items"]), 1)


if __name__ == "__main__":
    main()
