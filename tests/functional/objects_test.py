"""A server whose blobs are in an object store (OpenStack Swift, by S3): the store is killed, slow, lies and forgets in the middle
of a problem, and the server is killed, too; the result is byte for byte the same.
"""
import hashlib
import json
import re
import shutil
import time
import unittest

import swift
from harness import MANDELBROT, Grid, main, needs, seeded
from kernels import Held

SMALL = {"width": 1000, "height": 200, "iterations": 2000}
SETTINGS = "work.commit_seconds = 1\nwork.heartbeat_seconds = 2\nwork.unit_minimum_seconds = 1\nblobs.url = "
LIES = ("bytes", "gone", "stored", "slow", "error", "cut")


@needs(not swift.WHY_NOT, swift.WHY_NOT)
class OnObjects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = cls.enterClassContext(swift.Swift())

    def write_keys(self, grid, secret=swift.SECRET):
        keys = grid.project / "keys" / "blobs.keys"
        keys.write_text(f"{swift.KEY}\n{secret}\n")
        keys.chmod(0o600)

    def metric(self, grid, name):
        page = grid.request("GET", "/metrics", token=grid.admin_token, raw=True)[2].decode()
        return float(re.search(rf"^{name} (\S+)$", page, re.M)[1])

    def ready(self, grid):
        return grid.request("GET", "/readyz")[0]

    def test_a_problem_survives_a_store_that_dies_and_lies(self):
        rng = seeded(self)
        store = self.store
        with swift.Spoiler(store.port) as spoiler, Grid(SETTINGS + f'"{store.url("view", spoiler.port)}"') as grid:
            self.write_keys(grid, "another")
            refused = grid.run("gleaner-server", "run", grid.project, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("SignatureDoesNotMatch", refused.stderr)
            self.write_keys(grid)
            grid.start_server()
            held = Held(grid, 240, item_bytes=80000)  # each segment becomes an object
            expected = held.expected
            identity = held.add()
            for name in ("a", "b"):
                held.add_client(name)
            accepted, lies, kills = 0, list(LIES), 0
            while lies or kills < 2:
                info = grid.problem(identity)
                self.assertEqual(info["state"], "running")
                self.assertGreaterEqual(info["accepted"], accepted, "an acknowledged segment was lost")
                accepted = info["accepted"]
                if lies and kills != 1:
                    spoiler.lie = lies.pop(0)
                    time.sleep(rng.uniform(0.6, 1.2))
                    spoiler.lie = None
                elif kills < 2:
                    store.kill("object" if kills else "proxy")
                    grid.kill("server")  # and starts without it
                    grid.start_server()
                    time.sleep(1)
                    store.start("object" if kills else "proxy")
                    kills += 1
                time.sleep(0.3)
            held.let_go()
            info = grid.wait_finished(identity)
            print(f"{spoiler.lies} requests lied to", flush=True)
            self.assertGreater(spoiler.lies, 3)
            self.assertEqual(sum(share["items"] for share in info["shares"]), held.count, "counted twice or lost")
            self.assertEqual(grid.results(identity), expected)
            digests = {hashlib.sha256(data).hexdigest() for data in expected.values()}
            self.assertLess({f"blobs/{digest}" for digest in digests}, store.keys("view"))
            # A server without files has all of it.
            grid.kill("server")
            for shelf in (grid.project / "blobs").iterdir():
                for blob in shelf.iterdir():
                    blob.unlink()
            grid.start_server()
            spoiler.lie = "bytes"
            data, = (digest for digest, content in ((hashlib.sha256(c).hexdigest(), c) for c in expected.values()) if
                     content == max(expected.values(), key=len))
            self.assertEqual(grid.request("GET", f"/v1/blobs/{data}", token=grid.admin_token)[0], 503)
            spoiler.lie = None
            self.assertEqual(grid.results(identity), expected)
            self.assertGreater(self.metric(grid, "gleaner_object_store_wrong_answers_total"), 0)

    def test_a_server_says_that_its_store_is_away(self):
        store, rng = self.store, seeded(self)
        with Grid(SETTINGS + f'"{store.url("away")}"') as grid:
            self.write_keys(grid)
            grid.start_server()
            self.assertEqual(self.ready(grid), 200)
            self.assertEqual(self.metric(grid, "gleaner_object_store_up"), 1)
            body = rng.randbytes(9_000_000)  # goes on in parts
            path = f"/v1/uploads/{hashlib.sha256(body).hexdigest()}"

            def send(begin, end):
                headers = {"Upload-Offset": str(begin), "Upload-Length": str(len(body))}
                return grid.request("PATCH", path, body[begin:end], grid.admin_token, headers)

            self.assertEqual([send(begin, begin + 4_000_000)[0] for begin in (0, 4_000_000)], [200, 200])
            store.kill("proxy")
            status, _, said = send(8_000_000, len(body))
            self.assertEqual(status, 503, said)
            self.assertEqual(self.ready(grid), 503)
            self.assertEqual(self.metric(grid, "gleaner_object_store_up"), 0)
            self.assertIn("is not to be had", grid.admin("status").stdout)
            store.start("proxy")
            grid.wait_until("the store is back", lambda: self.ready(grid) == 200, timeout=60)
            state = grid.request("GET", path, token=grid.admin_token)[2]
            self.assertEqual((state["offset"], state["complete"]), (len(body), False))
            status, _, said = send(len(body), len(body))
            self.assertEqual((status, said.get("complete")), (200, True), said)
            self.assertEqual(store.request("GET", f"/{swift.BUCKET}/away/blobs/{path.rsplit('/')[-1]}")[2], body)

    def test_a_backup_finds_its_blobs_or_has_them(self):
        store = self.store
        with swift.Spoiler(store.port) as spoiler, Grid(SETTINGS + f'"{store.url("backup", spoiler.port)}"') as grid:
            self.write_keys(grid)
            grid.start_server()
            grid.add_application(MANDELBROT)
            identity = grid.add_problem("mandelbrot", "view", **SMALL)
            grid.add_client("a")
            grid.wait_finished(identity)
            expected = grid.results(identity)

            def backup(name, *arguments, code=0):
                into = grid.directory / name
                done = grid.run("gleaner-server", "backup", grid.project, into, "--with-keys", *arguments, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                return into, json.loads(done.stdout) if "--json" in arguments else done

            rows, told = backup("rows")
            self.assertIn("blobs stay in the object store", told.stdout)
            self.assertFalse((rows / "blobs").exists())
            # With all of them, first from a store that lies, then what there is more.
            spoiler.lie = "bytes"
            lies, told = backup("of-lies", "--objects", "--json", code=4)
            self.assertGreater(len(told["lost"]), 0)
            self.assertEqual((told["blobs"], [path for path in lies.glob("blobs/*/*")]), (0, []), "what is wrong was kept")
            spoiler.lie = None
            whole, told = backup("whole", "--objects", "--json")
            kept = {key for key in store.keys("backup") if key.startswith("blobs/")}
            self.assertEqual({f"blobs/{blob.name}" for blob in (whole / "blobs").glob("*/*")}, kept)
            self.assertEqual((told["blobs"], told["fetched"], told["lost"]), (len(kept), len(kept), []))
            second = grid.add_problem("mandelbrot", "second", **{**SMALL, "iterations": 3000})
            grid.wait_finished(second)
            more = {key for key in store.keys("backup") if key.startswith("blobs/")} - kept
            newest, told = backup("newest", "--objects", "--former", whole, "--json")
            self.assertEqual((told["linked"], told["fetched"]), (len(kept), len(more)))
            self.assertGreater(len(more), 0)
            self.assertIn("0 damaged and 0 gone", grid.run("gleaner-server", "check", rows, "--deep").stdout)
            grid.kill("server")
            # Of the rows alone, which find their blobs.
            restored = grid.directory / "restored"
            grid.run("gleaner-server", "restore", rows, restored)
            self.assertIn("0 damaged and 0 gone", grid.run("gleaner-server", "check", "--deep", restored).stdout)
            shutil.rmtree(restored)
            # Of all, in place of a store that has lost a part of them, and has another one changed.
            lost, changed, *_ = sorted(more | kept)
            store.request("DELETE", f"/{swift.BUCKET}/backup/{lost}")
            store.request("PUT", f"/{swift.BUCKET}/backup/{changed}", b"not that")
            done = grid.run("gleaner-server", "restore", newest, restored)
            self.assertIn("restore it with --objects", done.stderr)
            shutil.rmtree(restored)
            spoiler.lie = "stored"  # says so, and does not
            failed = grid.run("gleaner-server", "restore", "--objects", newest, restored, check=False)
            self.assertEqual(failed.returncode, 1)
            self.assertIn("is restored, but its blobs are in files", failed.stderr)
            spoiler.lie = None
            shutil.rmtree(restored)
            done = grid.run("gleaner-server", "restore", "--objects", newest, restored)
            self.assertIn(f"1 of its {len(kept | more)} blobs were not in the object store", done.stderr)
            self.assertIn("0 damaged and 0 gone", grid.run("gleaner-server", "check", "--deep", restored).stdout)
            shutil.rmtree(grid.project)
            restored.rename(grid.project)
            for blob in (grid.project / "blobs").glob("*/*"):
                blob.unlink()  # from the store, then
            grid.start_server()
            self.assertEqual(grid.results(identity), expected)
            # One that is gone is named, and the rest is there.
            store.request("DELETE", f"/{swift.BUCKET}/backup/{lost}")
            _, told = backup("without-one", "--objects", "--json", code=4)
            self.assertEqual([f"blobs/{digest}" for digest in told["lost"]], [lost])

    def test_what_is_lost_is_named(self):
        store = self.store
        with Grid(SETTINGS + f'"{store.url("check")}"') as grid:
            self.write_keys(grid)
            grid.start_server()
            grid.add_application(MANDELBROT)
            identity = grid.add_problem("mandelbrot", "view", **SMALL)
            grid.add_client("a")
            grid.wait_finished(identity)
            data = max(grid.results(identity).values(), key=len)
            running = grid.run("gleaner-server", "check", grid.project, check=False)
            self.assertIn("another gleaner-server is using", running.stderr)
            grid.kill("server")
            result = f"blobs/{hashlib.sha256(data).hexdigest()}"

            def check(*arguments):
                done = grid.run("gleaner-server", "check", "--json", grid.project, *arguments, check=False)
                return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

            def put(key, body):
                store.request("PUT", f"/{swift.BUCKET}/check/{key}", body)

            for deep in ([], ["--deep"]):
                code, said = check(*deep)
                self.assertEqual((code, said["blobs_missing"], said["blobs_damaged"]), (0, 0, 0), said)
                self.assertEqual((said["blobs"], said["blobs_read"]), (len(store.keys("check")) - 1, bool(deep)))
            put(result, data[:-1] + b"!")
            self.assertEqual(check()[0], 0, "its size says nothing")
            code, said = check("--deep")
            self.assertEqual((code, said["blobs_damaged"]), (4, 1), said)
            self.assertIn("result-damaged", [finding["kind"] for finding in said["findings"]])
            store.request("DELETE", f"/{swift.BUCKET}/check/{result}")
            put("blobs/stray", b"?")
            code, said = check()
            self.assertEqual((code, said["blobs_missing"]), (4, 1), said)
            self.assertLessEqual({"result-missing", "stranger"}, {finding["kind"] for finding in said["findings"]})
            code, said = check("--repair")
            self.assertEqual(code, 1)
            self.assertIn("--repair is for blobs in files", said)
            put(result, data)
            owner = store.request("GET", f"/{swift.BUCKET}/check/owner")[2]
            put("owner", owner[:-5] + b"0000\n")
            self.assertEqual([finding["kind"] for finding in check()[1]["findings"]], ["objects-foreign"])
            store.kill("proxy")
            code, said = check()
            self.assertEqual(code, 1)
            self.assertIn("is not to be had", said)
            store.start("proxy")
            store.wait_ready()

    def test_blobs_move_into_a_store_and_back(self):
        store = self.store
        with swift.Spoiler(store.port) as spoiler, Grid(SETTINGS + '""') as grid:
            url = store.url("moved", spoiler.port)
            self.write_keys(grid)
            grid.start_server()
            grid.add_application(MANDELBROT)
            expected = grid.run_local(MANDELBROT, **SMALL)
            first = grid.add_problem("mandelbrot", "first", **SMALL)
            grid.add_client("a")
            grid.wait_finished(first)
            files = {blob.name for blob in (grid.project / "blobs").glob("*/*")}

            def move(*arguments):
                return grid.run("gleaner-server", "migrate", grid.project, "--blobs", *arguments, check=False)

            self.assertRegex(move(url, "--ahead").stdout, f"^{len(files)} blobs are in")
            self.assertEqual(store.keys("moved"), {f"blobs/{name}" for name in files} | {"owner"})
            running = move(url)
            self.assertEqual(running.returncode, 1)
            self.assertIn("another gleaner-server is using", running.stderr)
            second = grid.add_problem("mandelbrot", "second", **{**SMALL, "iterations": 3000})
            grid.wait_finished(second)
            grid.kill("server")
            spoiler.lie = "error"
            self.assertEqual(move(url).returncode, 1)
            spoiler.lie = None
            self.assertRegex(move(url).stdout, "of them since before")
            unmoved = grid.run("gleaner-server", "run", grid.project, check=False)
            self.assertEqual(unmoved.returncode, 1)
            self.assertIn("blobs.url", unmoved.stderr)
            grid.change_settings(f'blobs.url = "{url}"')
            for blob in (grid.project / "blobs").glob("*/*"):
                blob.unlink()
            grid.start_server()
            self.assertEqual(grid.results(first), expected)
            grid.kill("server")
            # Back, into a directory that has none of them.
            for blob in (grid.project / "blobs").glob("*/*"):
                blob.unlink()
            spoiler.lie = "bytes"
            self.assertEqual(move("files").returncode, 1)
            spoiler.lie = None
            self.assertEqual(move("files").returncode, 0)
            grid.change_settings('blobs.url = ""')
            spoiler.lie = "error"
            grid.start_server()
            shown = grid.results(second)
            self.assertEqual(grid.results(first), expected)
            self.assertNotEqual(shown, expected)
            grid.kill("server")
            self.assertIn("0 damaged and 0 gone", grid.run("gleaner-server", "check", grid.project).stdout)


if __name__ == "__main__":
    main()
