"""Keys that are changed, stolen and revoked: real servers and clients, and thieves that show what they stole."""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import tempfile
import threading
import time
import unittest

from harness import SQUARES, FakeHost, Grid, base64url, free_port, from_base64url, main, of_files

QUICK = "work.heartbeat_seconds = 1\nwork.commit_seconds = 1\nwork.unit_minimum_seconds = 1"


class Project(Grid):
    """With its offline side at hand."""

    def root(self, *arguments, check=True, env=None):
        return self.run("gleaner-admin", "keys", arguments[0], "--root", self.offline / "root.key", *arguments[1:],
                        check=check, env=env)

    def revoke(self, *what):
        """The list is made offline and copied to the server, which takes it while it runs."""
        self.root("revoke", *what)
        shutil.copy(self.offline / "revocations.json", self.project / "keys" / "revocations.json")
        return json.loads(from_base64url(json.loads((self.offline / "revocations.json").read_text())["payload"]))["number"]

    def stop_server(self):
        self.kill("server", signal.SIGTERM)

    def rotate(self, name):
        """New keys hold from the next start on."""
        self.root("rotate", "--out", self.directory / name)
        self.run("gleaner-server", "take-keys", self.project, self.directory / name)

    def steal(self, *names):
        """Copies of key files, as they are now."""
        loot = self.directory / f"loot-{len(list(self.directory.glob('loot-*')))}"
        loot.mkdir()
        for name in names:
            shutil.copy(self.project / "keys" / name, loot / name)
        return loot

    def seen(self, name):
        """Number of the newest list that a client has seen."""
        path = self.membership(name) / "identity" / "revocations.json"
        if not path.exists():
            return 0
        return json.loads(from_base64url(json.loads(path.read_text())["payload"]))["number"]

    def status(self, name):
        """Empty while it is starting."""
        told = self.control(name, "--json", "status", check=False)
        return json.loads(told.stdout)["status"] if told.returncode == 0 else {"slots": [], "trouble": "", "revoked": False}

    def trouble(self, name):
        return self.status(name)["trouble"]

    def computes(self, name):
        return any(slot["state"] == "running" for slot in self.status(name)["slots"])

    def wait_computing(self, name):
        self.wait_until(f"{name} to compute", lambda: self.computes(name))

    def failures(self):
        """Units that hosts gave back as failed."""
        return sum(host["failures"] for host in self.admin_json("host", "list")["items"])

    def restart_client(self, name, env=None):
        """It asks at once, however long it was told to wait."""
        self.kill(name)
        self.start_client(name, env=env)

    def document(self):
        return self.request("GET", "/v1/project", raw=True)[2]


def new_key(path):
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, capture_output=True)
    return path


def sign(kind, payload, key, directory):
    """A signed statement, by a key that is a file."""
    text = json.dumps({"version": 1, **payload}) if isinstance(payload, dict) else payload
    message = directory / "message"
    message.write_bytes(b"gleaner-1\n" + kind.encode() + b"\n" + text.encode())
    signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", message], check=True,
                               capture_output=True).stdout
    public = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], check=True,
                            capture_output=True).stdout[-32:]
    return {"version": 1, "type": kind, "payload": base64url(text.encode()), "key": base64url(public),
            "signature": base64url(signature)}


class Thief:
    """Answers on the project's own address as its server would, as far as what was stolen reaches."""

    def __init__(self, grid, chain, tls_key, document, grants=(), port=None, blobs=None, number=None):
        self.grid, self.document, self.grants, self.blobs = grid, document, list(grants), blobs or {}
        self.named = {} if number is None else {"revocations": number}  # in answers
        self.calls, self.connections, self.redirect = [], [], None
        thief = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def reply(self, body, status=200, **headers):
                data = body if isinstance(body, bytes) else json.dumps({"version": 1, **body}).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                thief.calls.append(self.path)
                if thief.redirect:
                    return self.reply({}, 307, Location=thief.redirect + self.path)
                if self.path == "/v1/project":
                    return self.reply(thief.document)
                blob = thief.blobs.get(self.path.rsplit("/", 1)[1])
                if blob is None:
                    return self.reply({"type": "", "title": "no", "status": 404, "detail": "no"}, 404)
                begin, end = map(int, self.headers["Range"].split("=")[1].split("-"))
                self.reply(blob[begin:end + 1], 206)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                thief.calls.append(self.path)
                if thief.redirect:
                    return self.reply({}, 307, Location=thief.redirect + self.path)
                common = {"units": [], "interval_seconds": 1, **thief.named}
                if self.path == "/v1/heartbeat":
                    return self.reply(common)
                if self.path != "/v1/work":
                    return self.reply({})
                slots = [slot["slot"] for slot in body["slots"]][:len(thief.grants)]
                given, thief.grants = thief.grants[:len(slots)], thief.grants[len(slots):]
                self.reply({**common, "acknowledgements": [], "grants": given, "grant_slots": slots,
                            "retry_after_seconds": 1, "slowest_performance": 0, "reason": "work for you"})

            do_PATCH = do_POST

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_):
                pass  # a client that does not believe it hangs up

            def get_request(self):
                thief.calls.append("a connection")
                connection, address = super().get_request()
                thief.connections.append(connection)
                return connection, address

        self.port = port or grid.port
        self.server = Server(("127.0.0.1", self.port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, tls_key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
        for connection in self.connections:  # as when the network is the project's again
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Rotation(unittest.TestCase):
    def test_keys_are_changed_under_load(self):
        count = 600
        with Project(QUICK + "\nwork.unit_maximum_seconds = 5") as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "rotated", "--validation", "checks", count=count, pause=0.05)
            for name in ("one", "two"):
                grid.add_client(name)
                grid.wait_computing(name)
            before = grid.steal("work.key", "work.certificate.json", "tls.pem")
            for number in range(2):
                grid.rotate(f"new-{number}")
                grid.stop_server()
                grid.start_server()
                time.sleep(4)
                self.assertEqual({name: grid.trouble(name) for name in ("one", "two")}, {"one": "", "two": ""})
                self.assertEqual(grid.failures(), 0)
            document = json.loads(from_base64url(json.loads(grid.document())["payload"]))
            self.assertEqual(len(document["former_work_certificates"]), 2)
            # The first of them was stolen, as it turns out; the clients compute on.
            number = grid.revoke("--work-key", before / "work.certificate.json", "--tls-key", before / "tls.pem")
            for name in ("one", "two"):
                grid.wait_until("the list", lambda: grid.seen(name) == number)
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % sum(i * i for i in range(count)))
            self.assertEqual(grid.failures(), 0)
            for name in ("one", "two"):
                self.assertNotIn("untrusted", grid.log(name))
            self.assertNotIn("failed on host", grid.log("server"))
            receipts = grid.control("one", "receipts").stdout
            self.assertNotIn("NOT GENUINE", receipts)

    def test_a_server_whose_keys_are_revoked_says_what_to_do(self):
        with Project(QUICK) as grid:
            grid.revoke("--tls-key", grid.project / "keys" / "tls.pem", "--reason", "stolen")
            ended = grid.run("gleaner-server", "run", grid.project, check=False)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("keys rotate", ended.stderr)
            grid.rotate("new")
            grid.start_server()
            grid.join("one")  # its first connection is to the new key


class Revoked(unittest.TestCase):
    def test_a_revoked_application_ends_within_a_heartbeat(self):
        with Project(QUICK) as grid:
            grid.start_server()
            archive = grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "bad", count=100000, pause=0.05)
            grid.add_client("one")
            grid.wait_computing("one")
            grid.revoke("--archive", archive, "--reason", "it lies")
            begun = time.monotonic()
            grid.wait_until("the kernel's end", lambda: not grid.kernels_of("one"))
            self.assertLess(time.monotonic() - begun, 5)  # a tick of the server, a heartbeat, and a loaded machine
            info = grid.problem(identity)
            self.assertEqual(info["state"], "stopped")
            self.assertIn("it lies", info["message"])
            self.assertIn("it lies", grid.log("one"))
            refused = grid.admin("problem", "resume", identity, check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("revoked", refused.stderr)
            # Neither a restart of the client nor one of the server brings it back.
            grid.kill("one")
            grid.stop_server()
            grid.start_server()
            grid.start_client("one")
            time.sleep(3)
            self.assertEqual(grid.kernels_of("one"), [])
            self.assertEqual(grid.failures(), 0)

    @of_files("a copy of the directory is no project of its own")
    def test_a_server_that_lost_its_list_is_refused_and_results_are_kept(self):
        with Project(QUICK) as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            backup = grid.directory / "backup"
            grid.stop_server()
            shutil.copytree(grid.project, backup)
            grid.start_server()
            number = grid.revoke("--application", "squares", "--below", "0.1")
            identity = grid.add_problem("squares", "kept", count=200, pause=0.05)
            grid.add_client("one")
            grid.wait_computing("one")
            grid.wait_until("the list", lambda: grid.seen("one") == number)
            # Back to a backup from before the list, with the host and the problem that it knew nothing of gone: the
            # client must not even ask it.
            grid.stop_server()
            shutil.move(grid.project, grid.directory / "good")
            shutil.move(backup, grid.project)
            grid.start_server()
            grid.wait_until("the refusal", lambda: "put the newest list back" in grid.trouble("one"))
            self.assertIn("put the newest list back", grid.control("one", "why").stdout)
            self.assertFalse(grid.status("one")["revoked"])
            self.assertGreater(len(list((grid.membership("one") / "units").iterdir())), 0)
            grid.stop_server()
            shutil.rmtree(grid.project)
            shutil.move(grid.directory / "good", grid.project)
            grid.start_server()
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % sum(i * i for i in range(200)))


class Stolen(unittest.TestCase):
    @contextlib.contextmanager
    def victim(self, env=None, settings=""):
        """A grid whose client waits for work, and a genuine grant as the thief saw one."""
        with Project(QUICK + settings) as grid:
            grid.start_server()
            archive = grid.add_application(SQUARES)
            grid.add_problem("squares", "bait", count=1000)
            reply = FakeHost(grid, "the thief's own host").work()[1]
            grid.template = reply["decoded"][0]
            statement = json.loads(from_base64url(grid.template["application"]["payload"]))
            grid.archive = {statement["archive"]: archive.read_bytes()}
            grid.admin("problem", "cancel", "bait")
            grid.join("one")
            grid.start_client("one", env=env)
            grid.wait_until("the client", lambda: (grid.state("one") / "control.sock").exists())
            grid.host = grid.host_id("one")
            yield grid

    def forged(self, grid, key, unit=900001):
        """The genuine grant, made out to the victim, with a work key or with whatever the thief has."""
        now = int(time.time() * 1e6)
        parameters = '{"count": 500, "pause": 0.1}'
        return sign("grant", {**grid.template, "unit": unit, "host": grid.host, "range": {"begin": 0, "end": 500},
                              "parameters": parameters,
                              "parameters_digest": hashlib.sha256(parameters.encode()).hexdigest(), "issued_at": now, "deadline": now + 3600 * 10 ** 6}, key, grid.directory)

    def runs_nothing(self, grid, seconds=6):
        """Whatever the thief says in that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.assertEqual(grid.kernels_of("one"), [])
            time.sleep(0.2)

    def change_and_revoke(self, grid, loot):
        """What an administrator does who notices: new keys, a list, and clients that hear of it."""
        grid.rotate("after-the-theft")
        grid.stop_server()
        grid.start_server()
        number = grid.revoke("--work-key", loot / "work.certificate.json", "--tls-key", loot / "tls.pem")
        grid.wait_until("the list", lambda: grid.seen("one") == number, 60)
        grid.stop_server()

    def test_a_stolen_tls_key_grants_nothing_and_is_refused_once_revoked(self):
        with self.victim() as grid:
            loot = grid.steal("tls.key", "tls.pem", "work.certificate.json")
            document = grid.document()
            grid.stop_server()
            # Not revoked yet: the thief is taken for the server, but cannot sign what would run.
            made_up = new_key(grid.directory / "made-up.key")
            with Thief(grid, loot / "tls.pem", loot / "tls.key", document, [self.forged(grid, made_up)], blobs=grid.archive) as thief:
                grid.wait_until("the answer to it", lambda: "/v1/failure" in thief.calls, 60)
                self.runs_nothing(grid, 3)
                # Nor does it lead the client elsewhere.
                with Thief(grid, loot / "tls.pem", loot / "tls.key", document, port=free_port()) as elsewhere:
                    thief.redirect = f"https://127.0.0.1:{elsewhere.port}"
                    asked = len(thief.calls)
                    grid.wait_until("more calls", lambda: len(thief.calls) >= asked + 2, 60)
                    self.assertEqual(elsewhere.calls, [])
            grid.start_server()
            self.change_and_revoke(grid, loot)
            with Thief(grid, loot / "tls.pem", loot / "tls.key", document, [self.forged(grid, made_up)], blobs=grid.archive) as thief:
                grid.restart_client("one")
                grid.wait_until("the refusal", lambda: "TLS key was revoked" in grid.trouble("one"), 60)
                self.runs_nothing(grid)
                self.assertEqual(set(thief.calls), {"a connection"})

    def test_a_stolen_work_key_runs_nothing_once_revoked(self):
        with contextlib.ExitStack() as stack:
            # A certificate authority that the victim's system trusts has made the thief one for the server's name, which its join
            # code says is as good.
            authority = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-keyout", authority / "tls.key", "-out", authority / "tls.pem", "-days", "2", "-subj", "/CN=thief",
                            "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
            env = {**os.environ, "SSL_CERT_FILE": str(authority / "tls.pem")}
            grid = stack.enter_context(self.victim(env, "\nserver.public_certificate = true"))
            loot = grid.steal("work.key", "work.certificate.json", "tls.pem")
            document = grid.document()
            grid.stop_server()
            # Not revoked yet: it hands out what signers have signed, and nothing else.
            evil = json.loads(from_base64url(grid.template["application"]["payload"]))
            forged_application = {**grid.template, "application": sign("application", {**evil, "name": "evil"}, loot / "work.key",
                                                                       grid.directory)}
            genuine, grid.template = grid.template, forged_application
            forged = self.forged(grid, loot / "work.key", unit=900002)
            grid.template = genuine
            with Thief(grid, authority / "tls.pem", authority / "tls.key", document,
                       [forged, self.forged(grid, loot / "work.key")], blobs=grid.archive) as thief:
                grid.wait_until("the refusal of an application by the work key", lambda: "/v1/failure" in thief.calls, 60)
                grid.wait_until("the kernel of a signed one", lambda: grid.kernels_of("one"), 60)
            grid.start_server()
            self.change_and_revoke(grid, loot)
            grid.wait_until("the end of what the thief granted", lambda: not grid.kernels_of("one"))
            with Thief(grid, authority / "tls.pem", authority / "tls.key", document,
                       [self.forged(grid, loot / "work.key", unit=900003)], blobs=grid.archive) as thief:
                grid.restart_client("one", env)
                grid.wait_until("the refusal", lambda: "brings no revocation list" in grid.trouble("one"), 60)
                self.runs_nothing(grid)
                self.assertLess(thief.calls.count("/v1/work"), 2)  # one, whose answer named no list
                # With the list it would have to show that its own key is on it.
                stolen = json.loads(from_base64url(json.loads(document)["payload"]))
                stolen["revocations"] = json.loads((grid.offline / "revocations.json").read_text())
                thief.document = json.dumps(sign("project", stolen, loot / "work.key", grid.directory)).encode()
                grid.wait_until("the refusal", lambda: "work key" in grid.trouble("one"), 90)
                self.runs_nothing(grid, 3)
                self.assertLess(thief.calls.count("/v1/work"), 2)

    @of_files("a copy of the directory is no project of its own")
    def test_a_whole_stolen_server_is_worth_nothing_once_its_keys_are_revoked(self):
        with self.victim() as grid:
            loot = grid.steal("work.certificate.json", "tls.pem")
            grid.stop_server()
            stolen = grid.directory / "stolen"
            shutil.copytree(grid.project, stolen)
            genuine = grid.project
            grid.start_server()
            self.change_and_revoke(grid, loot)
            # The thief serves the copy at the project's own address, with the token of an administrator.
            grid.project = stolen
            grid.start_server()
            grid.add_problem("squares", "evil", count=1000)
            grid.restart_client("one")
            grid.wait_until("the refusal", lambda: "TLS key was revoked" in grid.trouble("one"), 60)
            self.runs_nothing(grid)
            # A client that sees the real server again goes on with it.
            grid.stop_server()
            grid.project = genuine
            grid.start_server()
            identity = grid.add_problem("squares", "good", count=100)
            grid.restart_client("one")
            grid.wait_finished(identity)

    def test_an_old_version_that_a_thief_grants_is_refused(self):
        with self.victim() as grid:
            loot = grid.steal("work.key", "tls.key", "tls.pem", "work.certificate.json")
            number = grid.revoke("--application", "squares", "--below", "99")
            grid.wait_until("the list", lambda: grid.seen("one") == number, 60)
            document = grid.document()  # the newest one: nobody has noticed that the keys are gone
            grid.stop_server()
            with Thief(grid, loot / "tls.pem", loot / "tls.key", document, [self.forged(grid, loot / "work.key")],
                       blobs=grid.archive, number=number):
                grid.restart_client("one")
                grid.wait_until("the refusal", lambda: "every version below 99" in grid.log("one"), 60)
                self.runs_nothing(grid, 3)


class Modes(unittest.TestCase):
    def test_secrets_that_others_may_read_are_refused(self):
        with Project(QUICK) as grid:
            for name in ("keys/work.key", "keys/tls.key", "keys/enrolment.secret", "admin/token"):
                path = grid.project / name
                for mode in (0o640, 0o604, 0o620):
                    path.chmod(mode)
                    ended = grid.run("gleaner-server", "run", grid.project, check=False)
                    self.assertEqual(ended.returncode, 1, name)
                    self.assertIn(f"chmod 600 {path}", ended.stderr)
                path.chmod(0o600)
            grid.start_server()
            (grid.offline / "root.key").chmod(0o644)
            self.assertIn("chmod 600", grid.root("revoke", "--application", "a", "--below", "1", check=False).stderr)
            (grid.project / "admin" / "token").chmod(0o644)
            self.assertIn("chmod 600", grid.admin("status", check=False).stderr)
            (grid.project / "admin" / "token").chmod(0o600)
            grid.join("one")
            for name in ("host.key", "host.json", "join-code"):
                path = grid.membership("one") / "identity" / name
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
                path.chmod(0o644)
                ended = grid.run("gleaner-client", "run", "--state", grid.state("one"), check=False)
                self.assertNotEqual(ended.returncode, 0, name)
                self.assertIn(f"chmod 600 {path}", ended.stderr)
                path.chmod(0o600)


if __name__ == "__main__":
    main()
