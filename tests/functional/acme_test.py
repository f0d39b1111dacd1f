"""A certificate of a public authority, by certbot's webroot: what the authority asks is answered, and only that; what it
issues is taken without ending a connection; and clients trust it as this system's authorities do."""
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import time
import unittest

from harness import SOURCE, SQUARES, FakeHost, Grid, free_port, main, needs

HOOK = SOURCE / "deploy" / "acme" / "certbot-deploy-hook"
NAME = "grid.localhost"  # which curl takes for this machine
PLACE = ".well-known/acme-challenge"
MISSING = [name for name in ("certbot", "pebble", "pebble-challtestsrv", "systemd-socket-activate") if not shutil.which(name)]


class Challenge(unittest.TestCase):
    def setUp(self):
        self.grid = Grid()
        self.addCleanup(shutil.rmtree, self.grid.directory)
        self.webroot = self.grid.directory / "webroot"
        self.proofs = self.webroot / PLACE
        self.proofs.mkdir(parents=True)

    def ask(self, sent, *more, wait=None):
        """What comes back on the socket that systemd would have passed, and how the program ended."""
        ours, theirs = socket.socketpair()
        with ours:
            process = subprocess.Popen([self.grid.program("gleaner-server"), "challenge", self.webroot], stdin=theirs, stdout=theirs,
                                       stderr=subprocess.PIPE)
            theirs.close()
            for part in (sent, *more):
                ours.sendall(part)
                time.sleep(0.05 if more else 0)
            answer = b""
            try:
                while part := ours.recv(65536):
                    answer += part
            except ConnectionResetError:  # it ended before it had read all of this
                answer = b""
        _, errors = process.communicate(timeout=60)
        return answer, process.returncode, errors.decode()

    def status_of(self, target, method="GET"):
        answer, code, _ = self.ask(f"{method} {target} HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        self.assertEqual(code, 0)
        return int(answer.split()[1]), answer.split(b"\r\n\r\n", 1)[1]

    def test_a_proof_is_answered_and_nothing_else(self):
        (self.proofs / "abc-DEF_123").write_text("abc-DEF_123.thumbprint")
        self.assertEqual(self.status_of(f"/{PLACE}/abc-DEF_123"), (200, b"abc-DEF_123.thumbprint"))
        self.assertEqual(self.status_of(f"/{PLACE}/abc%2DDEF_123")[0], 200)  # the same name (RFC 3986)
        with self.subTest("in pieces"):
            answer, code, _ = self.ask(b"GET /.well-known/acme-", b"challenge/abc-DEF_123 HTTP/1.1\r\nHost: ", b"a\r\n\r\n")
            self.assertEqual((answer.split()[1], code), (b"200", 0))
        secret = self.webroot / "secret"
        secret.write_text("secret")
        (self.proofs / "link").symlink_to(secret)
        (self.proofs / "directory").mkdir()
        (self.proofs / "long").write_bytes(b"x" * 5000)
        (self.proofs / "dot.txt").write_text("no token")
        for target in ("/", "/secret", f"/{PLACE}/", f"/{PLACE}/absent", f"/{PLACE}/link", f"/{PLACE}/directory", f"/{PLACE}/long",
                       f"/{PLACE}/dot.txt", f"/{PLACE}/../../secret", f"/{PLACE}/..%2F..%2Fsecret", f"/{PLACE}/%2e%2e/%2e%2e/secret",
                       f"/{PLACE}//abc-DEF_123", f"/{PLACE}/{'a' * 256}", "/.well-known/acme-challengeabc-DEF_123"):
            with self.subTest(target):
                status, body = self.status_of(target)
                self.assertIn(status, (400, 404))
                self.assertNotIn(b"secret", body)
        for method in ("POST", "PUT", "DELETE", "HEAD"):
            self.assertEqual(self.status_of(f"/{PLACE}/abc-DEF_123", method)[0], 404)

    def test_what_is_no_request_is_refused_or_left_alone(self):
        for sent in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"):
            with self.subTest(sent):
                answer, code, _ = self.ask(sent)
                self.assertEqual((answer.split()[1], code), (b"400", 0))
        answer, code, _ = self.ask(b"GET / HTTP/1.1\r\nHost: " + b"a" * 70000)
        self.assertEqual((answer.split()[1:2] or [b"431"], code), ([b"431"], 0))
        begun = time.monotonic()
        answer, code, _ = self.ask(b"GET / HT")
        self.assertEqual((answer, code), (b"", 0))
        self.assertLess(time.monotonic() - begun, 60)


@needs(not MISSING, f"not installed: {', '.join(MISSING)}")
class Authority(unittest.TestCase):
    """Pebble, Let's Encrypt's own test server, and certbot."""

    def start_authority(self, grid):
        own, key = grid.directory / "pebble.pem", grid.directory / "pebble.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", own],
                       check=True, capture_output=True)
        self.port, self.management, self.http, names = (free_port() for _ in range(4))
        settings = {"listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{self.management}", "certificate": str(own),
                    "privateKey": str(key), "httpPort": self.http, "tlsPort": free_port(), "ocspResponderURL": "", "externalAccountBindingRequired": False}
        (grid.directory / "pebble.json").write_text(json.dumps({"pebble": settings}))
        nothing = ["-http01", "", "-https01", "", "-tlsalpn01", ""]
        grid.start("names", pathlib.Path(shutil.which("pebble-challtestsrv")), "-dns01", f"127.0.0.1:{names}", "-management",
                   f"127.0.0.1:{free_port()}", "-defaultIPv6", "", *nothing)
        grid.start("pebble", pathlib.Path(shutil.which("pebble")), "-config", grid.directory / "pebble.json", "-dnsserver", f"127.0.0.1:{names}",
                   env={**os.environ, "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "5"})
        self.trust = ssl.create_default_context(cafile=own)
        self.own = own
        grid.wait_until("the authority", lambda: self.fetch("/dir", self.port))

    def fetch(self, path, port):
        connection = http.client.HTTPSConnection("localhost", port, context=self.trust, timeout=30)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        except OSError:
            return None
        finally:
            connection.close()

    def certbot(self, grid, *arguments):
        place = grid.directory / "letsencrypt"
        environment = {**os.environ, "REQUESTS_CA_BUNDLE": str(self.own), "GLEANER_PROJECT": str(grid.project), "PATH": f"{grid.directory}:{os.environ['PATH']}"}
        done = subprocess.run(["certbot", *arguments, "--non-interactive", "--server", f"https://localhost:{self.port}/dir", "--config-dir", place,
                               "--work-dir", place / "work", "--logs-dir", place / "log"], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def shown(self, grid):
        return ssl.get_server_certificate(("127.0.0.1", grid.port))

    def test_certbot_obtains_and_renews_a_certificate_that_the_server_takes_and_clients_trust(self):
        with Grid(f'server.public_host = "{NAME}"\nserver.public_certificate = true') as grid:
            self.start_authority(grid)
            webroot = grid.directory / "webroot"
            webroot.mkdir()
            grid.start("challenge", pathlib.Path(shutil.which("systemd-socket-activate")), "--accept", "--inetd", "-l", f"127.0.0.1:{self.http}",
                       grid.program("gleaner-server"), "challenge", webroot)
            server = grid.start_server()
            own = self.shown(grid)
            code = grid.admin_json("code", "add", "lab", "--own")["join_code"]
            # What the hook tells systemd reaches this server.
            systemctl = grid.directory / "systemctl"
            systemctl.write_text(f'#!/bin/sh\n[ "$1" = reload ] || exit 0\nkill -HUP {server.pid}\n')
            systemctl.chmod(0o755)
            connection = http.client.HTTPSConnection("127.0.0.1", grid.port, context=ssl._create_unverified_context(), timeout=60)

            def alive():
                connection.request("GET", "/healthz")
                return connection.getresponse().read() == b"ok\n"

            self.assertTrue(alive())
            kept = connection.sock
            self.certbot(grid, "certonly", "--webroot", "--webroot-path", webroot, "--domain", NAME, "--agree-tos", "--register-unsafely-without-email",
                         "--deploy-hook", HOOK)
            grid.wait_until("the certificate", lambda: self.shown(grid) != own)
            issued = self.shown(grid)
            self.assertTrue((grid.project / "keys" / "tls.pem").read_text().startswith(issued))
            self.assertEqual((grid.project / "keys" / "tls.key").stat().st_mode & 0o777, 0o600)
            self.assertTrue(alive())

            root = grid.directory / "authority.pem"
            root.write_bytes(self.fetch("/roots/0", self.management))
            with self.subTest("a client that does not know the authority joins nothing"):
                refused = grid.join("a", code=code, check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn("authorities do not vouch for", refused.stderr)
            with self.subTest("one that does computes"):
                environment = {**os.environ, "SSL_CERT_FILE": str(root)}
                grid.run("gleaner-client", "join", code, "--state", grid.state("b"), "--name", "b", env=environment)
                os.environ["SSL_CERT_FILE"] = str(root)
                self.addCleanup(os.environ.pop, "SSL_CERT_FILE")
                profile = grid.project / "admin" / "admin.json"  # as `init --public-certificate` would have made it
                profile.write_text(profile.read_text().replace("127.0.0.1", NAME).replace("{", '{"public_certificate": true,', 1))
                grid.add_application(SQUARES)
                identity = grid.add_problem("squares", "numbers", count=20)
                grid.start_client("b", env=environment)
                grid.wait_finished(identity)
            with self.subTest("a renewed one is shown without ending a connection"):
                self.certbot(grid, "renew", "--force-renewal", "--no-random-sleep-on-renew")
                grid.wait_until("the renewed one", lambda: self.shown(grid) not in (own, issued))
                self.assertTrue(alive())
                self.assertIs(connection.sock, kept)
            connection.close()
            grid.kill("server")
            grid.start_server()  # with key and chain that fit
            self.assertNotIn(self.shown(grid), (own, issued))


if __name__ == "__main__":
    main()
