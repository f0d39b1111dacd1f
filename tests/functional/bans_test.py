"""Bans over the wire and against real clients: networks, keys, codes; what the banned are told, and how often they ask."""
import http.client
import json
import ssl
import time
import unittest

from harness import SLOW, SQUARES, FakeHost, Grid, HostKey, from_base64url, main


def ask(grid, address, method, path, body=None, token=None):
    """(status, headers, reply), from another address of this machine."""
    connection = http.client.HTTPSConnection("127.0.0.1", grid.port, context=ssl._create_unverified_context(),
                                             timeout=30 * SLOW, source_address=(address, 0))
    try:
        connection.request(method, path, json.dumps({"version": 1, **body}) if body is not None else None,
                           {"Authorization": f"Bearer {token}"} if token else {})
        reply = connection.getresponse()
        return reply.status, dict(reply.headers), json.loads(reply.read() or b"{}")
    finally:
        connection.close()


def join(grid, address, secret, key=None):
    key, nonce = key or HostKey(), ask(grid, address, "GET", "/v1/enrol/nonce")
    if nonce[0] != 200:
        return nonce
    proof = key.proof(grid.project_id, nonce[2]["nonce"])
    return ask(grid, address, "POST", "/v1/enrol", key.request("pc", secret, proof=proof))


class Bans(unittest.TestCase):
    def ban(self, grid, address, **fields):
        status, _, answer = ask(grid, address, "POST", "/v1/admin/bans", {"reason": "", **fields}, grid.admin_token)
        self.assertEqual(status, 200, answer)
        return answer

    def refused(self, answer, *why):
        status, headers, document = answer
        self.assertEqual(status, 403, document)
        self.assertEqual(document["type"], "urn:gleaner:error:banned")
        self.assertNotIn("Retry-After", headers)
        for words in why:
            self.assertIn(words, document["detail"])

    def test_networks(self):
        with Grid() as grid:
            grid.start_server()
            token = FakeHost(grid, "here").token
            far = join(grid, "127.0.9.1", grid.enrolment_secret)[2]["token"]
            grid.admin("ban", "add", "--network", "127.0.9.0/24", "--reason", "a flood", "--expires", "1h")
            for restart in (False, True):
                if restart:
                    grid.kill("server")
                    grid.start_server()
                for address in ("127.0.9.1", "127.0.9.255"):
                    for answer in (join(grid, address, grid.enrolment_secret),
                                   ask(grid, address, "POST", "/v1/heartbeat", {"units": []}, far),
                                   ask(grid, address, "GET", "/v1/project"), ask(grid, address, "GET", "/"),
                                   ask(grid, address, "GET", "/v1/admin/hosts", token=grid.admin_token)):
                        self.refused(answer, "the network 127.0.9.0/24 is banned", "until 20", "a flood")
                self.assertEqual(ask(grid, "127.0.8.1", "GET", "/v1/project")[0], 200)
                self.assertEqual(grid.request("POST", "/v1/heartbeat", {"units": []}, token)[0], 200)
            self.assertIn("a flood", grid.admin("ban", "list").stdout)
            # The host was not put out: from another network, or later, it goes on.
            self.assertEqual(ask(grid, "127.0.8.1", "POST", "/v1/heartbeat", {"units": []}, far)[0], 200)
            grid.admin("ban", "remove", "--network", "127.0.9.7/24")
            self.assertEqual(ask(grid, "127.0.9.1", "POST", "/v1/heartbeat", {"units": []}, far)[0], 200)
            self.assertEqual(grid.admin_json("ban", "list")["items"], [])
            self.assertEqual(grid.admin("ban", "remove", "--network", "127.0.9.7/24", check=False).returncode, 4)
            # It ends by itself.
            grid.admin("ban", "add", "--network", "127.0.9.1", "--expires", "2s")
            self.refused(ask(grid, "127.0.9.1", "GET", "/v1/project"), "the network 127.0.9.1 is banned")
            self.assertEqual(ask(grid, "127.0.9.2", "GET", "/v1/project")[0], 200)
            grid.wait_until("the ban's end", lambda: ask(grid, "127.0.9.1", "GET", "/v1/project")[0] == 200)
            # Nobody keeps himself out by mistake; viewers ban nobody.
            refused = grid.admin("ban", "add", "--network", "127.0.0.0/16", check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("you speak from 127.0.0.1", refused.stderr)
            ann = grid.admin_json("token", "add", "ann", "--role", "viewer")["token"]
            self.assertEqual(grid.request("POST", "/v1/admin/bans", {"kind": "network", "subject": "127.0.9.1", "reason": ""},
                                          ann)[0], 403)
            grid.admin("ban", "add", "--network", "127.0.0.0/16", "--force", "--expires", "2s")
            self.assertEqual(grid.request("GET", "/v1/admin/hosts", token=grid.admin_token)[0], 403)
            grid.wait_until("the ban's end", lambda: grid.request("GET", "/v1/project")[0] == 200)

    def test_keys_and_codes(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "p", count=1000)
            key = HostKey()
            bad = join(grid, "127.0.0.1", grid.enrolment_secret, key)[2]
            grid.admin("ban", "add", "--host", bad["host"], "--reason", "wrong results")
            self.assertEqual(grid.admin_json("ban", "list")["items"][0]["subject"], key.own.public.hex())
            for _ in range(2):
                self.refused(ask(grid, "127.0.0.1", "POST", "/v1/heartbeat", {"units": []}, bad["token"]),
                             "this computer is banned", "wrong results")
                self.refused(ask(grid, "127.0.0.1", "GET", "/v1/uploads/" + "0" * 64, token=bad["token"]), "wrong results")
                self.refused(join(grid, "127.0.0.1", grid.enrolment_secret, key), "this computer is banned")
                grid.kill("server")
                grid.start_server()
            self.assertEqual(join(grid, "127.0.0.1", grid.enrolment_secret)[0], 200)
            grid.admin("ban", "remove", "--key", key.own.public.hex())
            self.assertEqual(join(grid, "127.0.0.1", grid.enrolment_secret, key)[0], 200)

            made = grid.admin_json("code", "add", "lab")["join_code"]
            secret = from_base64url(made.rsplit("/", 1)[1])[33:49]
            keys = [HostKey() for _ in range(3)]
            tokens = [join(grid, "127.0.0.1", secret, one)[2]["token"] for one in keys]
            other = FakeHost(grid, "other")
            grid.admin("ban", "add", "--code", "lab", "--reason", "it was on a forum")
            self.assertEqual(grid.admin_json("code", "show", "lab")["state"], "withdrawn")
            self.refused(join(grid, "127.0.0.1", secret), "the join code lab", "it was on a forum")
            for one, token in zip(keys, tokens):
                self.refused(ask(grid, "127.0.0.1", "POST", "/v1/heartbeat", {"units": []}, token), "it was on a forum")
                self.refused(join(grid, "127.0.0.1", grid.enrolment_secret, one), "it was on a forum")  # nor with another
            self.assertEqual(other.work()[0], 200)
            grid.admin("ban", "remove", "--code", "lab")
            self.assertEqual(join(grid, "127.0.0.1", grid.enrolment_secret, keys[0])[0], 200)
            self.assertEqual(join(grid, "127.0.0.1", secret)[0], 403)  # it stays withdrawn

    def test_a_banned_client_slows_down_and_says_why(self):
        with Grid() as grid:
            grid.start_server("--log-level", "debug")
            grid.add_application(SQUARES)
            client = grid.add_client("pc")
            grid.wait_until("the first contact", lambda: grid.control("pc", "status", check=False).returncode == 0)
            self.ban(grid, "127.0.7.7", kind="network", subject="127.0.0.1", reason="the whole pool")
            grid.wait_until("it to notice", lambda: "the whole pool" in grid.control("pc", "status").stdout, timeout=120)
            self.assertNotIn("revoked", grid.control("pc", "status").stdout)
            asked = json.loads(grid.control("pc", "--json", "status").stdout)["status"]["work_requests"]
            time.sleep(8)
            again = json.loads(grid.control("pc", "--json", "status").stdout)["status"]["work_requests"]
            self.assertLessEqual(again - asked, 1)
            self.assertIsNone(client.poll())
            # Who would join is told, and a client that is started to join waits instead of being started over and over.
            refused = grid.join("late", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("the whole pool", refused.stderr)
            directory = grid.state("new") / "identity"
            directory.mkdir(parents=True)
            (directory / "join-code").write_text(grid.own_code)
            waiting = grid.start_client("new")
            grid.wait_until("it to say why", lambda: "the whole pool" in grid.control("new", "status", check=False).stderr)
            self.assertIsNone(waiting.poll())
            grid.control("new", "why", check=False)
            # It joins with another code meanwhile, if that is taken.
            self.assertIn("the whole pool", grid.join("new", check=False).stderr)
            self.assertEqual(ask(grid, "127.0.7.7", "POST", "/v1/admin/bans/network/remove", {"subject": "127.0.0.1"}, grid.admin_token)[0], 200)
            self.assertIn("The client that runs here serves it from now on", grid.join("new").stdout)
            grid.wait_until("it to serve the project", lambda: grid.control("new", "status", check=False).returncode == 0)
            self.assertIsNone(waiting.poll())
            self.assertEqual(grid.kill("new", 15), 0)


if __name__ == "__main__":
    main()
