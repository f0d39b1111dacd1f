"""Those who take what belongs to others: connections, the disk, memory. The honest go on."""
import hashlib
import os
import pathlib
import socket
import ssl
import threading
import time
import unittest
import zlib

from harness import SLOW, SQUARES, FakeHost, Grid, base64url, main


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
            vandal, honest = (FakeHost(grid, name) for name in ("vandal", "honest"))
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
            said = [begin("/v1/commit", vandal.token) for _ in range(60)]
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
            host = FakeHost(grid, "vandal")
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
            host = FakeHost(grid, "vandal")
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

    def test_joins_of_one_address(self):
        with Grid("hosts.joins_per_hour = 20") as grid:
            grid.start_server()
            for i in range(20):
                FakeHost(grid, f"host-{i}")
            with self.assertRaises(AssertionError) as refused:
                FakeHost(grid, "one too many")
            self.assertIn("more than 20 joinings were tried from 127.0.0.1", str(refused.exception))
            self.assertEqual(len(grid.admin_json("host", "list")["items"]), 20)


if __name__ == "__main__":
    main()
