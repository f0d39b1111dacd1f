"""Front ends before a server: hosts, administrators and the console see the project through them alone; they check results and hold
nothing that matters, whenever they are killed."""
import hashlib
import http.client
import json
import re
import shutil
import signal
import socket
import ssl
import struct
import threading
import time
import unittest

from harness import MANDELBROT, SOURCE, SQUARES, FakeHost, Grid, HostKey, code_at, free_port, from_base64url, main, seeded
from kernels import Held, squares_copy
from link_proxy import Link

SETTINGS = "work.commit_seconds = 1\nwork.heartbeat_seconds = 2\nwork.unit_minimum_seconds = 1\n"
COPIED = ("server.toml", "keys/root.public", "keys/tls.pem", "keys/tls.key")


class Fronts(Grid):
    """A grid whose server listens elsewhere; what asks the project asks a front end, or a relay before two."""

    def __init__(self, settings="", listen=None):
        super().__init__(SETTINGS + settings)
        self.listen = listen or f"unix:{self.directory}/link.sock"
        self.server_port = free_port()

    def __enter__(self):
        super().__enter__()
        self.change_settings(f'link.listen = "{self.listen}"')
        return self

    def start_leader(self, label="server", project=None):
        self.start(label, "gleaner-server", "run", project or self.project, "--port", self.server_port)
        self.wait_until("the server", lambda: "front ends find this server" in self.log(label))

    def make_front(self, name, servers=None, keys=COPIED):
        directory = self.directory / f"front-{name}"
        (directory / "keys").mkdir(parents=True)
        for file in {*keys, *(["keys/blobs.keys"] if self.database else [])}:
            shutil.copy2(self.project / file, directory / file)
        text = (directory / "server.toml").read_text()
        text = text.replace('servers = ""', f'servers = "{servers or self.listen}"').replace(f'listen = "{self.listen}"', 'listen = ""')
        (directory / "server.toml").write_text(text)
        return directory

    def start_two(self, test):
        """The leader and two front ends behind the grid's port: name -> port."""
        ports = {"one": free_port(), "two": free_port()}
        self.start_leader()
        for name, port in ports.items():
            self.make_front(name)
            self.start_front(name, port)
        test.addCleanup(Relay(self.port, ports.values()).close)
        for port in ports.values():
            self.wait_ready(port)
        return ports

    def start_front(self, name, port, *arguments):
        self.start(name, "gleaner-server", "front", self.directory / f"front-{name}", "--port", port, *arguments)

    def answers(self, port, path="/readyz"):
        try:
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context(), timeout=10)
            try:
                connection.request("GET", path)
                return connection.getresponse().status
            finally:
                connection.close()
        except (OSError, http.client.HTTPException):
            return None

    def wait_ready(self, port):
        self.wait_until("a front end", lambda: self.answers(port) == 200)


class Relay:
    """A balancer, as small as can be: each connection goes to the next port that takes it."""

    def __init__(self, port, ports):
        self.ports = list(ports)
        self.socket = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                accepted, _ = self.socket.accept()
            except OSError:
                return
            self.ports.append(self.ports.pop(0))
            for port in self.ports:
                try:
                    further = socket.create_connection(("127.0.0.1", port), timeout=10)
                    break
                except OSError:
                    continue
            else:
                accepted.close()
                continue
            further.settimeout(None)
            threading.Thread(target=self.connect, args=(accepted, further), daemon=True).start()

    def connect(self, one, other):
        with one, other:
            back = threading.Thread(target=self.copy, args=(other, one), daemon=True)
            back.start()
            self.copy(one, other)
            back.join()

    @staticmethod
    def copy(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for each in (one, other):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.socket.close()


class TwoFronts(unittest.TestCase):
    def test_killed_at_random_they_cost_nothing(self):
        rng = seeded(self)
        with Fronts() as grid:
            ports = grid.start_two(self)
            held = Held(grid, 600)
            identity = held.add()
            grid.add_application(MANDELBROT)  # by an upload in pieces that pass
            for name in ("a", "b"):
                held.add_client(name)
            accepted, kills, checked = 0, 0, 0
            while (info := grid.problem(identity))["state"] != "finished":
                self.assertGreaterEqual(info["accepted"], accepted, "an acknowledged segment was lost")
                accepted = info["accepted"]
                time.sleep(rng.uniform(0.3, 1))
                if kills == 6:
                    held.let_go()
                    continue
                name = rng.choice(sorted(ports))
                checked += self.figure(grid, ports[name], "gleaner_front_commits_checked_total")
                self.assertEqual(grid.kill(name), -signal.SIGKILL)
                grid.start_front(name, ports[name])
                grid.wait_ready(ports[name])
                kills += 1
            self.assertEqual(kills, 6)
            info = grid.wait_finished(identity)
            self.assertEqual(sum(share["items"] for share in info["shares"]), held.count, "counted twice or lost")
            self.assertEqual(grid.results(identity), held.expected)  # downloaded through a front end
            checked += sum(self.figure(grid, port, "gleaner_front_commits_checked_total") for port in ports.values())
            self.assertGreater(checked, 0, "no result was checked by a front end")
            grid.admin("audit", "verify")
            print(f"{checked:.0f} results checked by front ends", flush=True)

    def figure(self, grid, port, name):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context(), timeout=10)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {grid.admin_token}"})
        text = connection.getresponse().read().decode()
        connection.close()
        return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))


class SlowUpload(unittest.TestCase):
    """What comes of a piece before its connection breaks is the leader's, and the next piece comes to another front end. A front end
    that is killed loses the piece that it reads."""

    LINE, RESULT = 8000, 200_000  # bytes a second; bytes that cannot be compressed
    PIECE = 5 * LINE  # at most (shared/transport/piece_size.h)
    CONNECTION = 6000  # bytes up at most, as in slow_line_test.py

    def bytes_of_an_upload(self, happens, after):
        """(bytes, connections) that crossed the line. `happens(link, start_anew)` after so many bytes each."""
        with Fronts("work.heartbeat_seconds = 60\n") as grid:
            ports = grid.start_two(self)
            grid.add_application(squares_copy(grid.directory / "large", "large", self.RESULT))
            link = Link(grid.port)
            self.addCleanup(link.close)
            grid.join("pc", code=code_at(grid.own_code, f"127.0.0.1:{link.port}"))
            link.shape(up=self.LINE, latency=0.05)

            def start_anew():
                for name, port in ports.items():
                    self.assertEqual(grid.kill(name), -signal.SIGKILL)
                    grid.start_front(name, port)
                    grid.wait_ready(port)

            connections, begun = link.connections, link.bytes["up"]
            identity = grid.add_problem("large", "large", count=1)
            grid.start_client("pc")
            at = begun
            for more in after:
                at += more
                grid.wait_until("a part of it", lambda: link.bytes["up"] >= at, 120)
                happens(link, start_anew)
            grid.wait_finished(identity, 240)
            sent, connections = link.bytes["up"] - begun, link.connections - connections
            print(f"{sent} of {self.RESULT} bytes, {connections} connections", flush=True)
            return sent, connections

    # The first piece has 32 KiB, the next 40 kB; of one that broke, the next has a quarter.
    AFTER = (67_000, 48_000, 48_000)

    def test_of_a_line_that_breaks_each_byte_crosses_about_once(self):
        def breaks(link, _):
            link.cut()
            link.restore()

        sent, connections = self.bytes_of_an_upload(breaks, self.AFTER)
        self.assertLess(sent, 1.05 * self.RESULT + self.CONNECTION * connections)

    def test_front_ends_that_are_killed_cost_a_piece(self):
        sent, connections = self.bytes_of_an_upload(lambda _, start_anew: start_anew(), self.AFTER)
        self.assertLess(sent, 1.05 * self.RESULT + self.CONNECTION * connections + self.PIECE * len(self.AFTER))


class OneFront(unittest.TestCase):
    """What a host or an administrator is told through a front end is what the server itself says."""

    def start(self, grid, *arguments):
        grid.start_leader()
        grid.make_front("one")
        grid.start_front("one", grid.port, *arguments)
        grid.wait_ready(grid.port)

    def test_answers_are_the_server_s(self):
        with Fronts() as grid:
            self.start(grid)
            grid.add_application(SQUARES)
            host = FakeHost(grid, "kitchen-pc")
            identity = grid.add_problem("squares", "numbers", count=40)
            status, reply = host.work()
            self.assertEqual(status, 200, reply)
            grant = reply["decoded"][0]
            begin = grant["range"]["begin"]
            with self.subTest("a good result is acknowledged, and the same again is answered alike"):
                first = host.commit(grant["unit"], begin, [str((1 + begin) ** 2).encode()], last=False)
                self.assertEqual(first, host.commit(grant["unit"], begin, [str((1 + begin) ** 2).encode()], last=False))
                self.assertEqual(grid.problem(identity)["accepted"], 1)
            with self.subTest("a front end that was just started takes a host's first request although it is large, and no stranger's"):
                grid.kill("one")
                grid.start_front("one", grid.port)
                grid.wait_ready(grid.port)
                again = host.commit_body(grant["unit"], begin, [str((1 + begin) ** 2).encode()], last=False)
                large = json.dumps(host.work_body(slots=0, commits=[again])) + " " * (80 << 10)
                self.assertEqual(grid.request("POST", "/v1/work", large, "wrong")[0], 401)
                status, _, reply = grid.request("POST", "/v1/work", large, host.token)
                self.assertEqual(status, 200, reply)
                self.assertEqual((status, json.loads(from_base64url(reply["acknowledgements"][0]["payload"]))), first)
            with self.subTest("a wrong one is refused, for the manager's reason"):
                answer = host.commit(grant["unit"], begin + 1, [b"wrong"])
                self.assertIn("refused", str(answer))
                self.assertIn("the application finds it invalid", str(answer))
                self.assertEqual(grid.problem(identity)["accepted"], 1)
            with self.subTest("a relay's word for itself and for a host under it"):
                code = grid.admin_json("relay", "allow", "lab", "--children", "3", "--own")["join_code"]
                relay, child = HostKey(), HostKey()
                status, joined = grid.enrol(relay, "lab", from_base64url(code.rsplit("/", 1)[1])[33:49],
                                            tls_key=hashlib.sha256(b"tls").hexdigest())
                self.assertEqual((status, joined.get("certificate", {}).get("type")), (200, "relay-certificate"), joined)
                self.assertEqual(grid.request("GET", "/v1/relay/certificate", token=joined["token"])[0], 200)
                self.assertEqual(grid.request("GET", "/v1/relay/certificate", token=host.token)[0], 403)
                body = child.request("bench", proof=grid.proof(child, joined["host"]))
                self.assertEqual(grid.request("POST", "/v1/relay/hosts", body, host.token)[0], 403)
                status, _, under = grid.request("POST", "/v1/relay/hosts", body, joined["token"])
                self.assertEqual(status, 200, under)
                self.assertEqual(grid.request("POST", "/v1/relay/hosts/leave", {"host": under["host"]}, joined["token"])[0], 200)
            with self.subTest("a token that is none"):
                status, _, answer = grid.request("POST", "/v1/heartbeat", {"units": []}, "wrong")
                self.assertEqual((status, answer["type"]), (401, "urn:gleaner:error:unauthorized"))
            with self.subTest("a host that was revoked is not served, though it is remembered"):
                grid.admin("host", "revoke", "--yes", grid.host_id("kitchen-pc"))
                status, _, answer = grid.request("POST", "/v1/heartbeat", {"units": []}, host.token)
                self.assertEqual((status, answer["type"]), (403, "urn:gleaner:error:forbidden"), answer)
            with self.subTest("a blob, and a part of it; none for strangers"):
                digest = grid.admin_json("app", "list")["items"][0]["archive"]
                status, _, whole = grid.request("GET", f"/v1/blobs/{digest}", token=grid.admin_token, raw=True)
                self.assertEqual(status, 200)
                status, _, part = grid.request("GET", f"/v1/blobs/{digest}", token=grid.admin_token, raw=True,
                                               headers={"Range": "bytes=10-19"})
                self.assertEqual((status, part), (206, whole[10:20]))
                self.assertEqual(grid.request("GET", f"/v1/blobs/{digest}", token="wrong")[0], 401)
            with self.subTest("figures are for those who may see the server's"):
                self.assertEqual(grid.request("GET", "/metrics")[0], 401)
            with self.subTest("the console's page, and events as they happen"):
                self.assertEqual(grid.request("GET", "/console", raw=True, headers={"Accept-Encoding": "gzip"})[0], 200)
                self.assertIn(b"data: ", self.first_event(grid))

    def first_event(self, grid):
        connection = http.client.HTTPSConnection("127.0.0.1", grid.port, context=ssl._create_unverified_context(), timeout=20)
        connection.request("GET", "/v1/admin/events", headers={"Authorization": f"Bearer {grid.admin_token}"})
        reply = connection.getresponse()
        self.assertEqual(reply.status, 200)
        text = b""
        while b"data: " not in text:
            text += reply.read1()
        connection.close()
        return text

    def test_without_a_server_it_says_so_and_asks_to_come_again(self):
        with Fronts() as grid:
            self.start(grid, "--hold", "1")
            host = FakeHost(grid, "kitchen-pc")
            grid.kill("server")
            status, headers, _ = grid.request("POST", "/v1/heartbeat", {"units": []}, host.token)  # waits, in vain
            self.assertEqual(status, 503)
            grid.wait_until("the broken link", lambda: grid.answers(grid.port) == 503)
            status, headers, _ = grid.request("POST", "/v1/heartbeat", {"units": []}, host.token)
            self.assertEqual(status, 503)
            self.assertGreater(int(headers["Retry-After"]), 0)
            self.assertEqual(grid.answers(grid.port, "/healthz"), 200)
            grid.start_leader()
            grid.wait_ready(grid.port)
            self.assertEqual(grid.request("POST", "/v1/heartbeat", {"units": []}, host.token)[0], 200)
            grid.processes["one"].terminate()
            self.assertEqual(grid.processes["one"].wait(timeout=30), 0)


HELLO, WHO, PASS, BLOB, DONE, ERROR = 1, 2, 9, 10, 64, 65  # server/link/frame.h
VERSION = int(re.search(r"version = (\d+);", (SOURCE / "server" / "link" / "messages.h").read_text())[1])


def number(value):
    return struct.pack("<q", value)


def text(value):
    return number(len(value)) + value


def frame(identity, kind, body=b""):
    return struct.pack("<IQB", len(body), identity, kind) + body


class Attacks(unittest.TestCase):
    """The link over TCP: only who holds the project's link.pem is heard, and it, too, within bounds."""

    def start(self, grid):
        grid.run("gleaner-server", "link-key", grid.project / "keys" / "link.pem")
        grid.start_leader()
        grid.make_front("one", keys=(*COPIED, "keys/link.pem"))
        grid.start_front("one", grid.port)
        grid.wait_ready(grid.port)

    def connect(self, grid, identity=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if identity:
            context.load_cert_chain(identity)
        host, port = grid.listen.rsplit(":", 1)
        return context.wrap_socket(socket.create_connection((host, int(port)), timeout=30))

    def answer(self, link):
        """The next frame: its id, kind and body."""
        head = self.exactly(link, 13)
        length, identity, kind = struct.unpack("<IQB", head)
        return identity, kind, self.exactly(link, length)

    @staticmethod
    def exactly(link, count):
        data = b""
        while len(data) < count:
            more = link.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def is_deaf(self, link, data):
        """Nothing is answered, and the connection ends."""
        try:
            link.sendall(data)
            return link.recv(1) == b""
        except OSError:
            return True

    def test_who_is_let_in_and_how_much(self):
        with Fronts(listen=f"127.0.0.1:{free_port()}") as grid:
            self.start(grid)
            own = grid.project / "keys" / "link.pem"
            hello = frame(0, HELLO, number(VERSION) + text(b"0" * 64))
            with self.subTest("who holds the key is answered; of another project, with a refusal"):
                with self.connect(grid, own) as link:
                    self.assertEqual(link.version(), "TLSv1.3")
                    link.sendall(hello)
                    identity, kind, body = self.answer(link)
                    self.assertEqual((identity, kind), (0, ERROR))
                    self.assertIn(b"another project", body)
            with self.subTest("no certificate"):
                try:
                    with self.connect(grid) as link:
                        self.assertTrue(self.is_deaf(link, hello))
                except (ssl.SSLError, OSError):
                    pass  # as good
            with self.subTest("another certificate, made alike"):
                other = grid.directory / "other.pem"
                grid.run("gleaner-server", "link-key", other)
                try:
                    with self.connect(grid, other) as link:
                        self.assertTrue(self.is_deaf(link, hello))
                except (ssl.SSLError, OSError):
                    pass
            with self.subTest("a front end with another key serves nobody"):
                directory = grid.make_front("two", keys=COPIED)
                shutil.copy2(other, directory / "keys" / "link.pem")
                port = free_port()
                grid.start_front("two", port)
                grid.wait_until("its failure", lambda: "no link to the project's server" in grid.log("two"))
                grid.wait_until("its refusal", lambda: grid.answers(port) == 503)
                self.assertEqual(grid.answers(port, "/healthz"), 200)
            with self.subTest("no TLS at all"):
                host, port = grid.listen.rsplit(":", 1)
                with socket.create_connection((host, int(port)), timeout=30) as link:
                    link.sendall(hello)
                    link.recv(100)  # an alert
                    self.assertTrue(self.is_deaf(link, hello))
            with self.subTest("bytes that are no frames, and a frame that would be huge"):
                for data in (b"GET / HTTP/1.1\r\n\r\n" * 10, struct.pack("<IQB", 0xFFFFFFF0, 1, PASS) + b"x" * 1000,
                             frame(1, DONE)):
                    with self.connect(grid, own) as link:
                        self.assertTrue(self.is_deaf(link, data))
            with self.subTest("bodies that are no messages are refused one by one"):
                with self.connect(grid, own) as link:
                    for kind in range(1, 11):
                        link.sendall(frame(kind, kind, b"\xff" * 40))
                        self.assertEqual(self.answer(link)[:2], (kind, ERROR))
            with self.subTest("who asks for much and does not read is cut off"):
                archive = grid.add_application(MANDELBROT)
                name = hashlib.sha256(archive.read_bytes()).hexdigest().encode()
                with self.connect(grid, own) as link:
                    link.settimeout(60)
                    asked = b"".join(frame(i, BLOB, text(name) + number(0)) for i in range(2000))
                    self.assertGreater(2000 * archive.stat().st_size, 3 * (64 << 20))
                    try:
                        link.sendall(asked)
                    except OSError:
                        pass
                    grid.wait_until("the end", lambda: "the other side does not read" in grid.log("server"))
            self.assertEqual(grid.answers(grid.port), 200)  # all the time


if __name__ == "__main__":
    main()
