"""Hosts that fetch from the server's object store (OpenStack Swift), and put results there, by addresses that the server signs: the
store learns nothing of them, and whatever it does, or somebody in its place, the result is byte for byte the same.
"""
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import jsonschema
import swift
from harness import MANDELBROT, FakeHost, Grid, from_base64url, main, needs, seeded
from wire_test import CONTRACT, resolve

PROBLEM = {"width": 6000, "height": 120, "iterations": 20000}
SETTINGS = "work.commit_seconds = 1\nwork.heartbeat_seconds = 2\nwork.unit_minimum_seconds = 1\n"


def send(address, method="PUT", body=None, headers=None):
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", body, headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


@needs(not swift.WHY_NOT, swift.WHY_NOT)
class Direct(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = cls.enterClassContext(swift.Swift())

    def grid(self, place, spoiler=None):
        """A project whose server speaks with the store itself, and whose hosts through the spoiler."""
        public = f'blobs.public_url = "http://127.0.0.1:{spoiler.port}"\n' if spoiler else ""
        return Grid(f'{SETTINGS}blobs.url = "{self.store.url(place)}"\n{public}')

    def start(self, grid):
        keys = grid.project / "keys" / "blobs.keys"
        keys.write_text(f"{swift.KEY}\n{swift.SECRET}\n")
        keys.chmod(0o600)
        grid.start_server()

    def moved(self, grid, kind):
        page = grid.request("GET", "/metrics", token=grid.admin_token, raw=True)[2].decode()
        return sum(float(n) for n in re.findall(rf'^gleaner_requests_total{{[^}}]*kind="{kind}"[^}}]*}} (\S+)$', page, re.M))

    def test_bytes_do_not_pass_the_server(self):
        with swift.Spoiler(self.store.port) as spoiler, self.grid("direct", spoiler) as grid:
            self.start(grid)
            grid.add_application(MANDELBROT)
            expected = grid.run_local(MANDELBROT, **PROBLEM)
            identity = grid.add_problem("mandelbrot", "view", **PROBLEM)
            grid.add_client("a")
            grid.wait_finished(identity)
            self.assertEqual(self.moved(grid, "blobs"), 0, "a host fetched through the server")
            self.assertGreater(self.moved(grid, "addresses"), 1)
            self.assertEqual(grid.results(identity), expected)
            self.assertEqual(grid.problem(identity)["shares"][0]["items"], PROBLEM["height"])
            fetched = [path for method, path, _, _ in spoiler.seen if method == "GET"]
            put = [bytes for method, _, _, bytes in spoiler.seen if method == "PUT"]
            self.assertTrue(fetched)
            self.assertGreater(min(put), 64 << 10)
            self.assertEqual([key for key in self.store.keys("direct") if key.startswith("sent/")], [], "left behind")
            for method, path, headers, _ in spoiler.seen:
                names = {name.lower() for name in headers}
                self.assertLessEqual(names, {"host", "accept", "range", "content-length"}, "the store is told more than it needs")
                self.assertNotIn("gleaner", f"{path}{headers}".lower().replace(f"/{swift.BUCKET}/direct", ""))

    def authority(self, directory):
        """Files of its certificate, and of a certificate of this computer and its key."""
        authority, own, chain, key = (directory / name for name in ("authority.pem", "authority.key", "store.pem", "store.key"))
        make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        subprocess.run([*make, "-subj", "/CN=an authority of one's own", "-keyout", own, "-out", authority], check=True, capture_output=True)
        subprocess.run([*make, "-subj", "/CN=store", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
                        "-CA", authority, "-CAkey", own, "-keyout", key, "-out", chain], check=True, capture_output=True)
        return authority, (chain, key)

    def test_a_store_behind_tls_is_believed_by_who_knows_its_authority(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        authority, tls = self.authority(directory)
        knows = {**os.environ, "SSL_CERT_FILE": str(authority)}
        with swift.Spoiler(self.store.port, tls) as spoiler:
            address = self.store.url("tls", spoiler.port).replace("s3+http:", "s3+https:")
            with Grid(f'{SETTINGS}blobs.url = "{address}"\nblobs.public_url = "https://127.0.0.1:{spoiler.port}"\n') as grid:
                keys = grid.project / "keys" / "blobs.keys"
                keys.write_text(f"{swift.KEY}\n{swift.SECRET}\n")
                keys.chmod(0o600)
                grid.start("doubting", "gleaner-server", "run", grid.project)
                grid.wait_until("its doubt", lambda: "certificate authorities do not vouch for 127.0.0.1" in grid.log("doubting"))
                grid.kill("doubting")
                grid.start_server(env=knows)
                grid.add_application(MANDELBROT)
                expected = grid.run_local(MANDELBROT, **PROBLEM)
                identity = grid.add_problem("mandelbrot", "view", **PROBLEM)
                grid.join("a")
                grid.start_client("a", env=knows)
                grid.wait_finished(identity)
                self.assertEqual(self.moved(grid, "blobs"), 0, "a host fetched through the server")
                self.assertTrue(spoiler.seen)
                self.assertEqual(grid.results(identity), expected)
                # Who does not know it goes round it.
                grid.kill("a", signal.SIGTERM)
                seen, fetched = len(spoiler.seen), self.moved(grid, "blobs")
                again = grid.add_problem("mandelbrot", "again", **{**PROBLEM, "height": 40})
                grid.add_client("b")
                grid.wait_finished(again)
                self.assertGreater(self.moved(grid, "blobs"), fetched)
                self.assertEqual(len(spoiler.seen), seen)

    def test_a_store_that_lies_to_hosts_costs_a_way_round(self):
        rng = seeded(self)
        with swift.Spoiler(self.store.port) as spoiler, swift.Spoiler(self.store.port) as other, self.grid("liar", spoiler) as grid:
            self.start(grid)
            spoiler.elsewhere = f"http://127.0.0.1:{other.port}/?X-Amz-Signature=1"
            lies = [("GET", lie) for lie in ("bytes", "gone", "endless", "redirect", "cut", "error")]
            rng.shuffle(lies)
            spoiler.direct = lies + [("PUT", "stored"), ("PUT", "kept"), ("PUT", "error"), ("PUT", "redirect")]
            grid.add_application(MANDELBROT)
            expected = grid.run_local(MANDELBROT, **PROBLEM)
            identity = grid.add_problem("mandelbrot", "view", **PROBLEM)
            for number in range(len(lies)):
                grid.add_client(f"client-{number}", share=0.3)
            info = grid.wait_finished(identity)
            self.assertFalse([lie for lie in spoiler.direct if lie[0] == "GET"], "these lies were not told")
            self.assertLess(len(spoiler.direct), 3, "few results were put")
            self.assertEqual(other.seen, [], "a redirect was followed")
            self.assertEqual(sum(share["items"] for share in info["shares"]), PROBLEM["height"])
            self.assertEqual(grid.results(identity), expected)

    def test_addresses_are_given_within_bounds(self):
        rng = seeded(self)
        with swift.Spoiler(self.store.port) as spoiler, self.grid("bounds", spoiler) as grid:
            self.start(grid)
            grid.add_application(MANDELBROT)
            grid.add_problem("mandelbrot", "view", **{**PROBLEM, "height": 4000})
            host = FakeHost(grid, "one")
            host.work()

            def ask(body, expect=200, method="POST", token=host.token):
                path = f"/v1/addresses/{hashlib.sha256(body).hexdigest()}"
                status, _, reply = grid.request(method, path, {"bytes": len(body)} if method == "POST" else None, token)
                self.assertEqual(status, expect, reply)
                if status != 200:
                    return reply
                said = json.loads(from_base64url(reply["payload"]))
                jsonschema.validate(said, resolve(CONTRACT["components"]["schemas"]["BlobAddress" if method == "GET" else "PutAddresses"]))
                return said

            def finish(body):
                digest, end = hashlib.sha256(body).hexdigest(), str(len(body))
                return grid.request("PATCH", f"/v1/uploads/{digest}", b"", host.token, {"Upload-Offset": end, "Upload-Length": end})

            small = rng.randbytes(100_000)
            digest = hashlib.sha256(small).hexdigest()
            self.assertEqual(grid.request("POST", f"/v1/addresses/{digest}", {"bytes": 5})[0], 401)
            self.assertEqual(grid.request("POST", f"/v1/addresses/{digest[1:]}", {"bytes": 5}, host.token)[0], 400)
            told = ask(small)
            self.assertEqual((told["host"], told["digest"], told["bytes"]), (host.host, digest, len(small)))
            part, = told["parts"]
            self.assertLess(told["ends_at"] / 1e6 - time.time(), 15 * 60 + 1)
            self.assertEqual(send(part["address"], body=small + b"!")[0], 403, "more than was told")
            self.assertEqual(send(part["address"], "GET")[0], 403, "for another method")
            self.assertEqual(send(part["address"].replace(digest, "0" * 64), body=small)[0], 403, "for another blob")
            self.assertEqual(send(part["address"].replace("X-Amz-Expires=900", "X-Amz-Expires=9000"), body=small)[0], 403)
            # Other bytes of that length: refused, removed, and no blob.
            self.assertEqual(send(part["address"], body=small[:-1] + b"!")[0], 200)
            self.assertNotEqual(finish(small)[0], 200)
            self.assertEqual([key for key in self.store.keys("bounds") if digest in key], [])
            self.assertEqual(send(part["address"], body=small)[0], 200)
            self.assertEqual(grid.request("GET", f"/v1/uploads/{digest}", token=host.token)[2]["offset"], len(small))
            self.assertEqual(ask(small)["parts"], [], "it is there")
            self.assertEqual((finish(small)[0], finish(small)[2]["complete"]), (200, True))
            self.assertIn(f"blobs/{digest}", self.store.keys("bounds"))
            self.assertNotIn(f"sent/{host.host}/{digest}", self.store.keys("bounds"))
            self.assertEqual(send(ask(small, method="GET")["address"], "GET"), (200, small))
            # In parts, of which one is put before the host asks again.
            large = rng.randbytes(9_000_000)
            first, second = ask(large)["parts"]
            self.assertEqual(send(first["address"], body=large[:first["bytes"]])[0], 200)
            again, = ask(large)["parts"]
            self.assertEqual((again["offset"], again["bytes"]), (second["offset"], second["bytes"]))
            self.assertEqual(send(again["address"], body=large[second["offset"]:])[0], 200)
            self.assertEqual(ask(large)["parts"], [])
            status, _, said = finish(large)
            self.assertEqual((status, said.get("complete")), (200, True), said)
            self.assertEqual(self.store.request("GET", f"/{swift.BUCKET}/bounds/blobs/{hashlib.sha256(large).hexdigest()}")[2], large)
            # No more than its units may give.
            status, _, said = grid.request("POST", f"/v1/addresses/{'1' * 64}", {"bytes": 1 << 30}, host.token)
            self.assertEqual(status, 503, said)
            idle = FakeHost(grid, "two")
            ask(rng.randbytes(10_000), 503, token=idle.token)

    def test_a_server_that_gives_none_says_so(self):
        with self.grid("none") as grid:
            self.start(grid)
            host = FakeHost(grid, "one")
            self.assertEqual(grid.request("GET", f"/v1/addresses/{'0' * 64}", token=host.token)[0], 404)
            self.assertEqual(grid.request("POST", f"/v1/addresses/{'0' * 64}", {"bytes": 5}, host.token)[0], 404)


if __name__ == "__main__":
    main()
