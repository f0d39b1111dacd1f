"""Who somebody is must be proven: joins as a host or a relay of which only is known what relays and backups have, recorded joins, a front
end's key with a backup of the store. All with the settings that `init` writes."""
import hashlib
import os
import socket
import ssl
import struct
import subprocess
import unittest

from fronts_test import DONE, ERROR, HELLO, VERSION, WHO, Fronts, frame, number, text
from harness import SQUARES, FakeHost, Grid, HostKey, base64url, free_port, from_base64url, main
from liar import Liar
from tree import Tree, code_via

TLS_KEY = hashlib.sha256(b"a thief's").hexdigest()


def secret_of(code):
    return from_base64url(code.rsplit("/", 1)[1])[33:49]


class Target(HostKey):
    """A host of the project as who has a backup of the store, or was a relay above it, knows it; its private half is another's."""

    def __init__(self, grid, name):
        super().__init__()
        (key, self.machine), = grid.rows(f"SELECT hex(public_key), machine FROM hosts WHERE name = '{name}'")
        self.key = base64url(bytes.fromhex(key))


class Takeovers(unittest.TestCase):
    def all_refused(self, grid, target, secret, relay=None, tls_key=None):
        """Whatever a thief can make of the public half; `relay`: (number, token) of one that says it."""
        own, nonce, project = HostKey(), grid.nonce(), grid.project_id
        own.machine = target.machine
        number, token = relay or (None, None)
        proofs = {"none": None,
                  "by another key, which it names": own.proof(project, nonce, number, tls_key),
                  "by another key, in the host's name": target.proof(project, nonce, number, tls_key),
                  "the host's own word of something else": {**target.proof(project, nonce, number, tls_key), "type": "delivery"}}
        for name, proof in proofs.items():
            with self.subTest(name):
                body = target.request("thief", b"" if relay else secret, **({"proof": proof} if proof else {}),
                                      **({"relay": {"tls_key": tls_key}} if tls_key else {}))
                path = "/v1/relay/hosts" if relay else "/v1/enrol"
                status, _, answer = grid.request("POST", path, body, token)
                self.assertEqual((status, answer.get("type")), (422, "urn:gleaner:error:untrusted"), answer)
                self.assertNotIn("token", answer)

    def test_a_stranger_with_a_code_takes_no_host(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_client("ann")
            identity = grid.add_problem("squares", "one", count=20)
            grid.wait_finished(identity)
            self.all_refused(grid, Target(grid, "ann"), grid.enrolment_secret)
            grid.wait_finished(grid.add_problem("squares", "two", count=20))  # by ann, who did not notice
            self.assertFalse((grid.membership("ann") / "identity" / "revoked").exists())
            host, = grid.admin_json("host", "list")["items"]
            self.assertEqual((host["name"], host["state"]), ("ann", "active"))

    def test_a_nonce_is_the_servers_own_and_of_now(self):
        with Grid() as grid, Grid() as other:
            for one in (grid, other):
                one.start_server()
            key = HostKey()
            old = grid.nonce()

            def answer(nonce):
                body = key.request("pc", grid.enrolment_secret, proof=key.proof(grid.project_id, nonce))
                status, _, reply = grid.request("POST", "/v1/enrol", body)
                return status, reply.get("detail", "")

            changed = bytearray(from_base64url(old))
            changed[7] ^= 1
            for nonce in (other.nonce(), base64url(changed), base64url(os.urandom(72)), base64url(b"0"), base64url(bytes(72))):
                status, why = answer(nonce)
                self.assertEqual(status, 422, why)
                self.assertIn("nonce", why)
            grid.kill("server")
            grid.start_server()
            self.assertEqual(answer(old)[0], 200, "a restart forgets no nonce")
            self.assertEqual(answer(old)[0], 422, "it counted already")

    def test_a_recorded_join_is_worth_nothing(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            listener = Liar(grid.port, grid.project / "keys" / "tls.pem", grid.project / "keys" / "tls.key")
            self.addCleanup(listener.close)
            grid.join("ann", code=code_via(grid.join_code, listener.port))
            recorded, = [asked for path, asked, status, _ in listener.heard if path == "/v1/enrol" and status == 200]
            for _ in range(2):
                status, _, answer = grid.request("POST", "/v1/enrol", recorded)
                self.assertEqual(status, 422, answer)
                self.assertIn("was used already", answer["detail"])
                grid.kill("server")
                grid.start_server()
            relay = HostKey()
            code = grid.admin_json("relay", "allow", "lab", "--children", 5)["join_code"]
            status, lab = grid.enrol(relay, "lab", secret_of(code), tls_key=TLS_KEY)
            self.assertEqual(status, 200, lab)
            status, _, answer = grid.request("POST", "/v1/relay/hosts", {**recorded, "secret": ""}, lab["token"])
            self.assertEqual(status, 422, answer)
            self.assertIn("directly", answer["detail"])
            grid.start_client("ann")
            one = grid.add_problem("squares", "one", count=20)  # which waits for another stranger's opinion then
            grid.wait_until("its results", lambda: grid.problem(one)["accepted"] == 20)

    def test_a_join_that_was_recorded_at_a_relay_is_worth_nothing(self):
        with Tree() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_relay("upper")
            grid.add_relay("lab", parent="upper")
            directory, port = grid.relay_directory("lab"), grid.relay_ports["lab"]
            listener = Liar(port, directory / "keys" / "tls.pem", directory / "keys" / "tls.key")
            self.addCleanup(listener.close)
            grid.join("ann", code=code_via(grid.relay_code("lab"), listener.port))
            recorded, = [asked for path, asked, status, _ in listener.heard if path == "/v1/enrol" and status == 200]
            for _ in range(2):
                status, _, answer = grid.request("POST", "/v1/enrol", recorded, port=port)
                self.assertEqual(status, 422, answer)
                self.assertIn("was used already", answer["detail"])
                grid.kill("lab")
                grid.start_relay("lab")
            for place, secret in ((grid.port, grid.enrolment_secret), (grid.relay_ports["upper"], secret_of(grid.relay_code("upper")))):
                status, _, answer = grid.request("POST", "/v1/enrol", {**recorded, "secret": base64url(secret)}, port=place)
                self.assertEqual(status, 422, answer)
            grid.start_client("ann")
            grid.wait_finished(grid.add_problem("squares", "one", count=20))

    def test_a_relay_takes_nobody_who_did_not_just_ask_to_join_it(self):
        with Grid() as grid:
            grid.start_server()
            ann, bob = FakeHost(grid, "ann"), HostKey()
            relays = []
            for name in ("lab", "attic"):
                code = grid.admin_json("relay", "allow", name, "--children", 5)["join_code"]
                status, joined = grid.enrol(HostKey(), name, secret_of(code), tls_key=TLS_KEY)
                self.assertEqual(status, 200, joined)
                relays.append((joined["host"], joined["token"]))
            lab, attic = relays
            self.all_refused(grid, Target(grid, "ann"), b"", relay=lab)
            self.all_refused(grid, Target(grid, "attic"), b"", relay=lab)
            self.assertEqual(grid.request("POST", "/v1/heartbeat", {"units": []}, ann.token)[0], 200)
            asked = bob.request("bob", proof=grid.proof(bob, lab[0]))
            with self.subTest("what it was told for another relay"):
                self.assertEqual(grid.request("POST", "/v1/relay/hosts", asked, attic[1])[0], 403)
            status, _, under = grid.request("POST", "/v1/relay/hosts", asked, lab[1])
            self.assertEqual(status, 200, under)
            with self.subTest("what it was told before the host went elsewhere"):
                status, bobs = grid.enrol(bob, "bob")
                self.assertEqual((status, bobs["host"]), (200, under["host"]))
                status, _, answer = grid.request("POST", "/v1/relay/hosts", asked, lab[1])
                self.assertEqual(status, 422, answer)
                self.assertEqual(grid.request("POST", "/v1/heartbeat", {"units": []}, bobs["token"])[0], 200)
            with self.subTest("or left"):
                self.assertEqual(grid.request("POST", "/v1/leave", {}, bobs["token"])[0], 200)
                self.assertEqual(grid.request("POST", "/v1/relay/hosts", asked, lab[1])[0], 422)

    def test_nobody_puts_out_a_relay_with_its_hosts(self):
        with Tree() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_relay("lab")
            code = grid.relay_code("lab")
            for name in ("ann", "bob"):
                grid.join(name, code=code)
                grid.start_client(name)
            grid.wait_finished(grid.add_problem("squares", "one", count=20))
            target = Target(grid, "lab")
            self.all_refused(grid, target, grid.enrolment_secret)
            spare = secret_of(grid.admin_json("relay", "allow", "spare", "--children", 5)["join_code"])
            self.all_refused(grid, target, spare, tls_key=TLS_KEY)
            with self.subTest("a thief's relay that has another's join in hand signs no TLS key into it"):
                key = HostKey()
                body = key.request("spare", spare, proof=grid.proof(key, tls_key=hashlib.sha256(b"its own").hexdigest()),
                                   relay={"tls_key": TLS_KEY})
                status, _, answer = grid.request("POST", "/v1/enrol", body)
                self.assertEqual(status, 422, answer)
                self.assertIn("another TLS key", answer["detail"])
            self.assertEqual({host["name"]: host["state"] for host in grid.admin_json("host", "list")["items"]},
                             {"lab": "active", "ann": "active", "bob": "active"})
            grid.wait_finished(grid.add_problem("squares", "two", count=20))


class StolenLink(unittest.TestCase):
    """link.pem and a backup of the store: what a front end says is not enough to be one of its hosts."""

    def said(self, grid, caller):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(grid.project / "keys" / "link.pem")
        host, port = grid.listen.rsplit(":", 1)
        with context.wrap_socket(socket.create_connection((host, int(port)), timeout=30)) as link:
            link.sendall(frame(0, HELLO, number(VERSION) + text(grid.project_id.encode())))
            link.sendall(frame(1, WHO, text(caller) + text(b"127.0.0.1") + text(b"127.0.0.1")))
            answers = {}
            data = b""
            while 1 not in answers:
                more = link.recv(1 << 16)
                self.assertTrue(more, "the link ended")
                data += more
                while len(data) >= 13 and len(data) >= 13 + struct.unpack("<I", data[:4])[0]:
                    length, identity, kind = struct.unpack("<IQB", data[:13])
                    answers[identity] = (kind, data[13:13 + length])
                    data = data[13 + length:]
            return answers[1]

    def test_a_digest_of_a_token_is_nobody(self):
        with Fronts(listen=f"127.0.0.1:{free_port()}") as grid:
            grid.run("gleaner-server", "link-key", grid.project / "keys" / "link.pem")
            grid.start_leader()
            grid.wait_until("the leader", lambda: grid.answers(grid.server_port) == 200)
            status, host = grid.enrol(HostKey(), "ann", port=grid.server_port)
            self.assertEqual(status, 200, host)
            (digest,), = grid.rows("SELECT hex(token_digest) FROM hosts")
            kind, answer = self.said(grid, bytes.fromhex(digest))
            self.assertEqual(kind, ERROR, answer)
            kind, answer = self.said(grid, host["token"].encode())  # as a front end does, which was shown it
            self.assertEqual((kind, answer[:8]), (DONE, number(host["host"])))


class Inspection(unittest.TestCase):
    """A proxy that ends TLS, by an authority that the computer trusts, as companies have and malware installs."""

    def inspect(self, grid):
        """Stands between from now on; (who it is, environment of a computer that trusts it)."""
        place = grid.directory
        for arguments in (
                ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=Inspection Inc.",
                 "-keyout", "authority.key", "-out", "authority.pem"],
                ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "between.key",
                 "-out", "between.csr"],
                ["x509", "-req", "-in", "between.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-days", "2",
                 "-extfile", "names", "-out", "between.pem"]):
            (place / "names").write_text("subjectAltName=IP:127.0.0.1\n")
            subprocess.run(["openssl", *arguments], cwd=place, check=True, capture_output=True)
        between = Liar(grid.port, place / "between.pem", place / "between.key")
        self.addCleanup(between.close)
        return between, {**os.environ, "SSL_CERT_FILE": str(place / "authority.pem")}

    def join(self, grid, name, code, environment):
        return grid.run("gleaner-client", "join", code, "--state", grid.state(name), "--name", name, check=False, env=environment)

    def test_it_is_told_nothing_when_joining_nor_after(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            between, trusting = self.inspect(grid)
            refused = self.join(grid, "ann", code_via(grid.join_code, between.port), trusting)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("something between here and the server reads this connection", refused.stderr)
            self.assertIn("Inspection Inc.", refused.stderr)
            grid.join("ann")
            place = grid.membership("ann") / "identity" / "join-code"
            place.write_text(code_via(grid.join_code, between.port))  # the network leads it there
            grid.start_client("ann", env=trusting)
            grid.wait_until("it to say so", lambda: "reads this connection" in grid.log("ann"))
            self.assertEqual([(path, asked) for path, asked, *_ in between.heard if path not in ("/v1/project", "/v1/relay")], [])
            self.assertIsNone(between.token)
            grid.kill("ann")
            place.write_text(grid.join_code)
            grid.start_client("ann", env=trusting)
            grid.wait_finished(grid.add_problem("squares", "one", count=20))

    def test_a_code_says_that_a_public_certificate_is_meant(self):
        with Grid("server.public_certificate = true") as grid:
            grid.start_server()
            between, trusting = self.inspect(grid)
            code = code_via(grid.join_code, between.port)
            made = grid.admin_json("code", "add", "lab")["join_code"]
            self.assertEqual([from_base64url(one.rsplit("/", 1)[1])[0] for one in (code, made)], [3, 3])
            self.assertNotEqual(self.join(grid, "bob", code, dict(os.environ)).returncode, 0, "nobody vouches for it there")
            joined = self.join(grid, "ann", code, trusting)
            self.assertEqual(joined.returncode, 0, joined.stderr)
            self.assertEqual(self.join(grid, "bob", grid.join_code, dict(os.environ)).returncode, 0, "the project's own counts, too")


if __name__ == "__main__":
    main()
