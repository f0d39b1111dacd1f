"""Those who take what belongs to others: connections, the disk, memory. The honest go on."""
import collections
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
import unittest
import zlib

from harness import SLOW, SQUARES, FakeHost, Grid, Stranger, base64url, main, of_files


def resident_megabytes(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


class Floods(unittest.TestCase):
    def test_silent_connections_of_one_address(self):
        with Grid("server.connections_max = 300") as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "wanted", count=1000)
            honest = FakeHost(grid, "honest")
            self.assertTrue(honest.work()[1]["decoded"])
            stop = threading.Event()
            made = []

            def flood():  # each connection is replaced when the server closes it
                held = []
                while not stop.is_set():
                    try:
                        held.append(socket.create_connection(("127.0.0.1", grid.port), timeout=1, source_address=("127.0.0.2", 0)))
                        made.append(1)
                    except OSError:
                        time.sleep(0.01)
                    if len(held) > 700:
                        held.pop(0).close()
                for each in held:
                    each.close()

            attackers = [threading.Thread(target=flood) for _ in range(2)]
            for each in attackers:
                each.start()
            try:
                grid.wait_until("a flood", lambda: len(made) > 1000)
                for _ in range(20):
                    status, reply = honest.work(slots=0)
                    self.assertEqual(status, 200, reply)
            finally:
                stop.set()
                for each in attackers:
                    each.join()

    def test_slow_drips(self):
        """Headers and bodies that come a byte at a time, for as long as the server lets them: it ends each, and serves others."""
        with Grid("server.connections_max = 300") as grid:
            grid.start_server()
            honest = FakeHost(grid, "honest")
            context = ssl._create_unverified_context()
            drips, begun = [], time.monotonic()
            for i in range(250):
                # Many addresses, as drips have that mean it.
                plain = socket.create_connection(("127.0.0.1", grid.port), timeout=30 * SLOW, source_address=(f"127.0.1.{i}", 0))
                drips.append(context.wrap_socket(plain))
                drips[-1].sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: " if i % 2 else
                                  b"POST /v1/enrol HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{")
            slowest, ended = 0, set()
            while time.monotonic() < begun + 25 * SLOW and len(ended) < 125:
                for i, drip in enumerate(drips):
                    try:
                        drip.sendall(b"x")
                    except OSError:
                        ended.add(i)
                asked = time.monotonic()
                self.assertEqual(honest.work(slots=0)[0], 200)
                slowest = max(slowest, time.monotonic() - asked)
                time.sleep(0.5)
            for drip in drips:
                drip.close()
            print(f"{len(ended)} drips ended, the slowest answer to others took {slowest:.2f} s")
            self.assertGreaterEqual(len(ended), 125)  # the headers: 15 s; bodies have a minute and their bytes
            self.assertLess(slowest, 5 * SLOW)

    def test_large_bodies_that_are_only_begun(self):
        """Strangers' are not taken at all, and those of a network's hosts have so much memory and no more."""
        with Grid() as grid:
            server = grid.start_server()
            vandal, honest = Stranger(grid, "vandal", address="127.0.0.1"), FakeHost(grid, "honest")
            context = ssl._create_unverified_context()
            body = bytes(4 << 20)

            def begin(path, token):
                """The answer to one that announces 4 MiB: 100 if it is to go on, which it does but for the last byte."""
                plain = socket.create_connection(("127.0.0.1", grid.port), timeout=30 * SLOW, source_address=("127.0.0.2", 0))
                connection = context.wrap_socket(plain)
                held.append(connection)
                connection.sendall((f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
                                    f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n").encode())
                status = int(connection.recv(4096).split()[1])
                if status == 100:
                    connection.sendall(body[1:])
                return status

            held, before = [], resident_megabytes(server)
            for path, expected in (("/v1/enrol", 413), ("/v1/work", 401), ("/v1/uploads/" + "0" * 64, 401), ("/v1/admin/problems", 401)):
                self.assertEqual(begin(path, "nobody's"), expected, path)
            said = [begin("/v1/work", vandal.token) for _ in range(60)]
            self.assertEqual(said.count(503), 28, said)
            self.assertEqual(said.count(100), 32, said)
            self.assertLess(resident_megabytes(server) - before, 200)
            self.assertEqual(honest.work(slots=0)[0], 200)
            junk = os.urandom(1 << 20)
            status, _, reply = grid.request("PATCH", f"/v1/uploads/{hashlib.sha256(junk).hexdigest()}", junk, grid.admin_token,
                                            {"Upload-Offset": "0", "Upload-Length": str(len(junk))})
            self.assertEqual(status, 200, reply)
            for connection in held:
                connection.close()

    def test_a_host_without_a_unit_fills_no_disk(self):
        with Grid() as grid:
            grid.start_server()
            host = Stranger(grid, "vandal")
            junk = os.urandom(1 << 20)
            digest = hashlib.sha256(junk).hexdigest()
            status, _, reply = grid.request("PATCH", f"/v1/uploads/{digest}", junk, host.token,
                                            {"Upload-Offset": "0", "Upload-Length": str(len(junk))})
            self.assertEqual(status, 503, reply)
            self.assertIn("commit", reply["detail"])
            self.assertEqual(list((grid.project / "uploads").iterdir()), [])

    def test_zeros_that_inflate(self):
        with Grid() as grid:
            server = grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "inflated", count=1000)
            host = Stranger(grid, "vandal")
            unit = host.work()[1]["decoded"][0]
            before = resident_megabytes(server)
            zeros = bytes(512 << 20)
            digest = hashlib.sha256(zeros).hexdigest()
            packed = zlib.compress(zeros[:4 << 20])
            status, _, _ = grid.request("PATCH", f"/v1/uploads/{digest}", packed, host.token,
                                        {"Upload-Offset": "0", "Upload-Length": str(len(zeros)), "Content-Encoding": "deflate"})
            self.assertEqual(status, 503)
            small = zlib.compress(zeros[:64 << 20])
            _, answer = host.commit(unit["unit"], unit["range"]["begin"], [b"1"], digest=digest, bytes=len(zeros),
                                    data=base64url(small))
            self.assertEqual(answer["status"], "refused")
            self.assertIn("more than so many items", answer["reason"])
            self.assertLess(resident_megabytes(server) - before, 100)

    def test_requests_without_end_of_one_host(self):
        """It is told to come again; hosts of its own network and of others are served as before, and so is it in the end."""
        with Grid("hosts.requests_per_second = 2") as grid:  # 120 at once
            grid.start_server()
            vandal, neighbour, other = (Stranger(grid, name, address=f"127.0.0.{n}") for name, n in
                                        (("vandal", 2), ("neighbour", 2), ("other", 3)))
            stop, said = threading.Event(), collections.Counter()
            waits = set()

            def flood():
                kept = http.client.HTTPSConnection("127.0.0.1", grid.port, context=ssl._create_unverified_context(),
                                                   timeout=30 * SLOW, source_address=("127.0.0.2", 0))
                fields = {"Authorization": f"Bearer {vandal.token}"}
                while not stop.is_set():
                    kept.request("POST", "/v1/heartbeat", json.dumps({"version": 1, "units": []}), fields)
                    answer = kept.getresponse()
                    answer.read()
                    said[answer.status] += 1
                    waits.add(answer.headers.get("Retry-After"))
                kept.close()

            attackers = [threading.Thread(target=flood) for _ in range(16)]
            begun = time.monotonic()
            for each in attackers:
                each.start()
            try:
                grid.wait_until("a flood", lambda: said[503] > 50)
                for _ in range(50):
                    for host in (neighbour, other):
                        status, reply = host.work(slots=0)
                        self.assertEqual(status, 200, reply)
            finally:
                stop.set()
                for each in attackers:
                    each.join()
            print(f"{said} in {time.monotonic() - begun:.1f} s")
            self.assertEqual(set(said), {200, 503})
            self.assertLessEqual(said[200], 120 + 2 * (time.monotonic() - begun) + 1)
            self.assertGreaterEqual(said[200], 119)
            # A connection that was refused rests for a second, whatever is asked on it.
            self.assertLessEqual(said[503], len(attackers) * (1 + time.monotonic() - begun))
            self.assertEqual({int(seconds) for seconds in waits if seconds} - set(range(5, 21)), set())
            self.assertGreater(len(waits), 5)
            grid.wait_until("the vandal's turn", lambda: vandal.work(slots=0)[0] == 200)
            (counted,) = [line for line in grid.request("GET", "/metrics", token=grid.admin_token, raw=True)[2].decode().splitlines()
                          if line.startswith('gleaner_requests_refused_total{reason="unavailable"}')]
            self.assertGreaterEqual(int(float(counted.split()[1])), said[503])

    def test_requests_of_many_strangers_of_one_network(self):
        """More than their network may make: strangers there are told to come again, hosts there that have delivered, and others, not."""
        with Grid("server.requests_per_second_per_network = 2") as grid:  # 60 at once of strangers, 120 in all
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_problem("squares", "known", count=4)
            known = Stranger(grid, "known", address="127.0.0.2")
            unit = known.work()[1]["decoded"][0]
            items = range(unit["range"]["begin"], unit["range"]["end"])
            self.assertEqual(known.commit(unit["unit"], items.start, [str(i * i).encode() for i in items])[1]["status"], "accepted")
            crowd = [Stranger(grid, f"stranger {i}", address="127.0.0.2") for i in range(5)]
            elsewhere = Stranger(grid, "elsewhere", address="127.0.0.3")
            said = collections.Counter(crowd[i % 5].work(slots=0)[0] for i in range(150))
            self.assertEqual(set(said), {200, 503})
            self.assertGreater(said[503], 20)
            status, _, reply = grid.request("GET", "/v1/project", address="127.0.0.2")
            self.assertEqual(status, 503)
            self.assertIn("one network", reply["detail"])
            for host in [known] * 30 + [elsewhere] * 30:
                status, reply = host.work(slots=0)
                self.assertEqual(status, 200, reply)
            status, _, _ = grid.request("GET", "/v1/admin/problems", token=grid.admin_token, address="127.0.0.2")
            self.assertEqual(status, 200)

    def test_requests_with_wrong_tokens_are_requests(self):
        """Nobody that the server knows asks without end: it is told to come again like any stranger, and others are served."""
        with Grid("server.requests_per_second_per_network = 2") as grid:  # 60 at once of strangers
            grid.start_server()
            elsewhere = Stranger(grid, "elsewhere", address="127.0.0.3")
            for path in ("/v1/work", "/v1/blobs/" + "0" * 64):
                address = "127.0.0.2" if path == "/v1/work" else "127.0.0.4"
                method = "POST" if path == "/v1/work" else "GET"
                said = collections.Counter(
                    grid.request(method, path, {} if method == "POST" else None, "wrong", address=address)[0] for _ in range(100))
                self.assertEqual(set(said), {401, 503}, path)
                self.assertGreater(said[503], 20)
                self.assertGreaterEqual(said[401], 60)
            self.assertEqual(elsewhere.work(slots=0)[0], 200)

    def test_bytes_without_end_of_one_host(self):
        """It fetches what it may again and again; it is told to come again, and nothing that it sends is read meanwhile."""
        with Grid("hosts.megabytes_per_second = 1\nserver.megabytes_per_second_per_network = 4") as grid:  # 60, 240 at once
            grid.start_server()
            size = 4 << 20
            content = os.urandom(size)
            blob = hashlib.sha256(content).hexdigest()
            upload = {"Upload-Offset": "0", "Upload-Length": str(size)}
            self.assertEqual(grid.request("PATCH", f"/v1/uploads/{blob}", content, grid.admin_token, upload)[0], 200)
            vandal, neighbour, other = (Stranger(grid, name, address=f"127.0.0.{n}") for name, n in
                                        (("vandal", 2), ("neighbour", 2), ("other", 3)))

            def fetch(host, **more):
                return grid.request("GET", f"/v1/blobs/{blob}", token=host.token, address=host.address, raw=True, **more)

            begun, fetched = time.monotonic(), 0
            while (answer := fetch(vandal))[0] == 200:
                fetched += 1
                self.assertEqual(answer[2], content)
                self.assertLessEqual(fetched, 16 + (time.monotonic() - begun) / 4)  # 64 MiB, and what comes meanwhile
            self.assertEqual(answer[0], 503)
            self.assertIn(int(answer[1]["Retry-After"]), range(5, 21))
            self.assertGreaterEqual(fetched, 15)
            # A body that it announces is not waited for.
            plain = socket.create_connection(("127.0.0.1", grid.port), timeout=30 * SLOW, source_address=("127.0.0.2", 0))
            with ssl._create_unverified_context().wrap_socket(plain) as connection:
                connection.sendall((f"PATCH /v1/uploads/{'0' * 64} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {vandal.token}\r\n"
                                    f"Upload-Offset: 0\r\nUpload-Length: {size}\r\nContent-Length: {size}\r\n\r\n").encode())
                self.assertIn(b" 503 ", connection.recv(4096).split(b"\r\n")[0])
            # It is heard all the same, and others move what they like; also an administrator of the same network.
            self.assertEqual(vandal.work(slots=0)[0], 200)
            for host in (neighbour, other):
                for _ in range(5):
                    self.assertEqual(fetch(host)[0], 200)
            # What does not go is not counted: of what only the beginning, or the head, was asked for.
            for _ in range(20):
                self.assertEqual(fetch(other, headers={"Range": "bytes=0-9"})[0], 206)
            for _ in range(40):
                plain = socket.create_connection(("127.0.0.1", grid.port), timeout=30 * SLOW, source_address=("127.0.0.3", 0))
                with ssl._create_unverified_context().wrap_socket(plain) as connection:
                    connection.sendall(f"HEAD /v1/blobs/{blob} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {other.token}\r\n\r\n".encode())
                    self.assertIn(b" 200 ", connection.recv(4096).split(b"\r\n")[0])
            self.assertEqual(fetch(other)[0], 200)
            status, _, _ = grid.request("PATCH", f"/v1/uploads/{blob}", content, grid.admin_token, upload, address="127.0.0.2")
            self.assertEqual(status, 200)

    def test_joins_of_one_address(self):
        with Grid("hosts.joins_per_hour = 20") as grid:
            grid.start_server()
            for i in range(20):
                FakeHost(grid, f"host-{i}")
            with self.assertRaises(AssertionError) as refused:
                FakeHost(grid, "one too many")
            self.assertIn("more than 20 joinings were tried from 127.0.0.1", str(refused.exception))
            self.assertEqual(len(grid.admin_json("host", "list")["items"]), 20)


class SmallDisk(Grid):
    """A project on a disk of its own, of 300 MB."""

    def __enter__(self):
        self.project.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", self.project], capture_output=True, text=True)
        if mounted.returncode != 0:
            raise unittest.SkipTest("no disk may be mounted here: " + mounted.stderr)
        return super().__enter__()

    def __exit__(self, *failure):
        for label in list(self.processes):
            self.kill(label)
        subprocess.run(["umount", self.project], check=True)
        super().__exit__(*failure)


class Uploads(unittest.TestCase):
    PIECE = 4 << 20

    def upload(self, host, blob):
        """The last status, and the digest: all of it was sent, or a piece was refused."""
        digest = hashlib.sha256(blob).hexdigest()
        for begin in range(0, len(blob), self.PIECE):
            headers = {"Upload-Offset": str(begin), "Upload-Length": str(len(blob))}
            status, _, reply = host.grid.request("PATCH", f"/v1/uploads/{digest}", blob[begin:begin + self.PIECE], host.token, headers,
                                                 address=host.address)
            if status != 200:
                return status, reply
        return status, digest

    @of_files("results are in the object store")
    def test_junk_of_one_network_leaves_room_for_results(self):
        """Ten hosts of one address deliver an item each, take another, and upload what is none of it."""
        with SmallDisk("store.disk_reserve_megabytes = 16") as grid:
            grid.start_server()
            large = grid.directory / "large"
            shutil.copytree(SQUARES, large)
            manifest = large / "manifest.toml"
            manifest.write_text(manifest.read_text().replace("item_bytes = 64", f"item_bytes = {32 << 20}"))
            grid.add_application(large)
            grid.add_problem("squares", "large", "--strategy", "ss", count=200, first=7)
            vandals = [Stranger(grid, f"vandal {i}", address="127.0.0.66") for i in range(10)]
            for vandal in vandals:
                unit = vandal.work()[1]["decoded"][0]
                begin = unit["range"]["begin"]
                self.assertEqual(vandal.commit(unit["unit"], begin, [str((7 + begin) ** 2).encode()])[1]["status"], "accepted")
            for vandal in vandals:
                vandal.units.clear()
                self.assertEqual(len(vandal.work()[1]["decoded"]), 1)
                for megabytes in (30, 60):
                    self.upload(vandal, os.urandom(megabytes << 20))
            honest = Stranger(grid, "honest")
            while True:  # first it may be asked for its opinion of what the vandals delivered
                unit = honest.work()[1]["decoded"][0]
                begin = unit["range"]["begin"]
                if begin >= 20:
                    break
                honest.commit(unit["unit"], begin, [str((7 + begin) ** 2).encode()])
                honest.units.clear()
            result = honest.segment([str((7 + begin) ** 2).encode().rjust(20_000_000, b"0")])
            status, digest = self.upload(honest, result)
            self.assertEqual(status, 200, digest)
            body = honest.commit_body(unit["unit"], begin, [b"1"], digest=digest, bytes=len(result))
            del body["data"]
            status, reply = honest.deliver(body)
            self.assertEqual(status, 200, reply)
            self.assertEqual(reply["status"], "accepted")


if __name__ == "__main__":
    main()
