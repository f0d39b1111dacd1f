"""Bad codes, keys, files, kernels and disks: each gets a message that says what to do, and nothing is lost."""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
import unittest

from harness import CLUSTER, LONG, MANDELBROT, SANDBOX_OFF, SQUARES, Calendar, FakeHost, Grid, dated, main, of_files
from kernels import Held, kernel_bundle

ROWS = {"width": 100, "height": 60, "iterations": 1000}


def bundle(grid, name, kernel_unit):
    return kernel_bundle(grid, name, kernel_unit, ("item_seconds = 60", "item_seconds = 1"))


class BadInput(unittest.TestCase):
    def test_join_codes(self):
        with Grid() as grid:
            refused = grid.join("x", check=False, code=grid.join_code)
            self.assertNotEqual(refused.returncode, 0)
            self.assertRegex(refused.stderr, "(?i)running|reach|connect")
            grid.start_server()
            mistyped = grid.join_code[:-3] + ("AAA" if not grid.join_code.endswith("AAA") else "BBB")
            self.assertRegex(grid.join("x", check=False, code=mistyped).stderr, "(?i)mistyped|code")
            with Grid() as other:
                # Right secret's form, another root: the server is not the one the code speaks of.
                wrong = other.join_code.replace(str(other.port), str(grid.port))
                self.assertRegex(grid.join("x", check=False, code=wrong).stderr, "(?i)mistyped|code|root|trust")
                other.port = grid.port
                other.change_settings(f"server.port = {grid.port}")
                code = other.run("gleaner-server", "join-code", other.project).stdout.strip()
                answer = grid.join("x", check=False, code=code)
                self.assertNotEqual(answer.returncode, 0)
                self.assertRegex(answer.stderr, "(?i)root|trust|another")
            secret = grid.project / "keys" / "enrolment.secret"
            grid.kill("server", 15)
            secret.write_text("00" * 16 + "\n")
            grid.start_server()
            self.assertRegex(grid.join("x", check=False, code=grid.join_code).stderr, "(?i)secret|join code")

    def test_revoked_host_stops_and_says_so(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_client("bad")
            grid.add_problem("mandelbrot", "long", **LONG)
            grid.wait_until("work", lambda: grid.kernels_of("bad"))
            grid.admin("host", "revoke", grid.host_id("bad"), "--yes")
            grid.wait_until("it to stop", lambda: "revoked" in grid.control("bad", "why", check=False).stdout.lower()
                            or "join" in grid.control("bad", "why", check=False).stdout.lower(), 90)
            grid.wait_until("its kernels' end", lambda: not grid.kernels_of("bad"))

    def test_server_refuses_to_start_on_bad_files(self):
        with Grid() as grid:
            def start(*arguments):
                done = grid.run("gleaner-server", "run", grid.project, *arguments, check=False, timeout=30)
                self.assertEqual(done.returncode, 1, done.stderr)
                return done.stderr

            settings = grid.project / "server.toml"
            good = settings.read_text()
            settings.write_text(good.replace("port =", "prot ="))
            self.assertRegex(start("--check-config"), r"server\.toml:\d+: .*prot")
            settings.write_text(good.replace(f"port = {grid.port}", "port = 99999"))
            self.assertRegex(start(), r"server\.toml:\d+: .*port.*65535")
            settings.write_text(good)
            self.assertEqual(grid.run("gleaner-server", "run", grid.project, "--check-config").returncode, 0)

            with socket.socket() as holder:
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                holder.bind(("127.0.0.1", grid.port))
                holder.listen()
                self.assertRegex(start(), f"(?i)port {grid.port} is in use")

            if not CLUSTER:  # where it would stand by
                grid.start_server()
                self.assertRegex(start("--port", "0"), "(?i)another|in use|locked|running")
                grid.kill("server", 15)
                store = grid.project / "store.sqlite"
                whole = store.read_bytes()
                store.write_bytes(b"not a database" * 400)
                self.assertRegex(start(), "(?i)damaged|backup")
                store.write_bytes(whole[: len(whole) // 2])
                self.assertRegex(start(), "(?i)damaged|backup")
                store.write_bytes(whole)

            key = grid.project / "keys" / "work.key"
            key.chmod(0o644)
            self.assertRegex(start(), "(?i)work.key.*(mode|chmod|read)")
            key.chmod(0o600)
            self.assertRegex(grid.run("gleaner-server", "init", grid.project, check=False).stderr, "already holds")
            self.assertRegex(grid.run("gleaner-server", "run", grid.directory / "nowhere", check=False).stderr, "init")

    def test_a_work_certificate_for_another_key(self):
        with Grid() as grid, Grid() as other:
            shutil.copy(other.project / "keys" / "work.certificate.json", grid.project / "keys" / "work.certificate.json")
            done = grid.run("gleaner-server", "run", grid.project, check=False, timeout=30)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "(?i)certif.*keys work")

    @dated
    def test_an_expired_work_certificate(self):
        with Grid() as grid:
            late = Calendar(grid.directory, 4000 * Calendar.DAY)
            done = grid.run("gleaner-server", "run", grid.project, check=False, timeout=30, env=late.env)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "(?i)keys work.*expired")
            # A client that is years ahead takes no work, and says why.
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_problem("mandelbrot", "later", **ROWS)
            grid.join("ahead")
            grid.start_client("ahead", env=late.env)
            grid.wait_until("a reason", lambda: re.search("(?i)expired|clock", grid.log("ahead")), 60)
            time.sleep(2)
            self.assertEqual(grid.problem(1)["accepted"], 0)
            self.assertEqual(grid.kernels_of("ahead"), [])

    @dated
    def test_clocks_that_jump(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 2") as grid:
            calendars = {name: Calendar(grid.directory) for name in ("server", "a", "b")}
            grid.start_server(env=calendars["server"].env)
            grid.add_application(MANDELBROT)
            held = Held(grid, 300)
            for name in ("a", "b"):
                grid.join(name)
                grid.start_client(name, env=calendars[name].env, sandbox=SANDBOX_OFF)
            identity = held.add()
            for name, seconds in (("a", 10800), ("server", 2400), ("b", -7200), ("server", -3600), ("a", -Calendar.DAY), ("a", 0),
                                  ("server", 0), ("b", 0)):
                time.sleep(0.7)
                calendars[name].jump(seconds)
            held.let_go()
            grid.wait_finished(identity, 120)
            self.assertEqual(grid.results(identity), held.expected)

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small disk, which takes root")
    def test_a_full_client_disk_loses_nothing(self):
        with Grid("work.commit_seconds = 1") as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.state("small").mkdir()
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", grid.state("small")],
                                     capture_output=True, text=True)
            if mounted.returncode != 0:
                self.skipTest("root may not mount here: " + mounted.stderr)
            try:
                held = Held(grid, 1000, item_bytes=5000)
                held.add_client("small")
                identity = held.add()
                grid.wait_until("some results", lambda: grid.problem(identity)["accepted"] > 20, 60)
                ballast = grid.state("small") / "ballast"

                def paused():
                    # To the brim, again and again: what is delivered makes room.
                    with open(ballast, "ab", buffering=0) as file:
                        for piece in (1 << 20, 1 << 12):
                            with contextlib.suppress(OSError):
                                while file.write(bytes(piece)) == piece:
                                    pass
                    return "cannot be written" in grid.control("small", "why").stdout

                grid.wait_until("a pause with its reason", paused, 60)
                ballast.unlink()
                held.let_go()
                grid.wait_finished(identity, 180)
                self.assertEqual(grid.results(identity), held.expected)
            finally:
                grid.kill("small")
                subprocess.run(["umount", "--lazy", grid.state("small")], check=True)

    def test_tampered_and_unsigned_applications(self):
        with Grid() as grid:
            grid.start_server()
            archive = grid.add_application(SQUARES)
            data = bytearray(archive.read_bytes())
            data[len(data) // 2] ^= 1
            archive.write_bytes(data)
            self.assertNotEqual(grid.admin("app", "add", archive, check=False).returncode, 0)
            with Grid() as other:
                signed = grid.directory / "foreign"
                signed.mkdir()
                other.run("gleaner-admin", "app", "sign", MANDELBROT, "--key", other.offline / "signer.key",
                          "--certificate", other.offline / "signer.certificate.json", "-o", signed)
                done = grid.admin("app", "add", next(signed.glob("*.tar.gz")), check=False)
                self.assertEqual(done.returncode, 5, done.stderr)

    @of_files("objects_test.py has a store that lies")
    def test_a_blob_damaged_on_the_server_is_never_sent(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            blobs = [path for path in (grid.project / "blobs").rglob("*") if path.is_file()]
            biggest = max(blobs, key=lambda path: path.stat().st_size)
            data = bytearray(biggest.read_bytes())
            data[len(data) // 2] ^= 1
            biggest.chmod(0o644)
            biggest.write_bytes(data)
            grid.add_problem("mandelbrot", "tampered", **ROWS)
            grid.add_client("careful")
            grid.wait_until("the problem to wait for its application", lambda: grid.problem(1)["state"] == "stopped", 60)
            self.assertIn("damaged or gone", grid.problem(1)["message"])
            # What it has started is its own look at what confines kernels here, which ends by itself.
            grid.wait_until("no kernel", lambda: not grid.kernels_of("careful"), 60)

    def kernel_fails(self, name, unit, expected):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(bundle(grid, name, unit))
            grid.add_client("one")
            identity = grid.add_problem(name, name, count=3)
            info = grid.wait_until("the failure to be reported", lambda: (
                lambda problem: problem if problem["set_aside"] else None)(grid.problem(identity)), 120)
            message = info["set_aside"][-1]["message"]
            self.assertRegex(message, expected)
            grid.wait_until("it to be held back", lambda: "gets no work of" in grid.log("server"), 60)

    def test_kernel_crashes(self):
        self.kernel_fails("crasher", "sys.stderr.write('out of luck'); sys.stderr.flush(); os.kill(os.getpid(), 11)",
                          "(?s)kernel-crashed.*signal 11.*out of luck")

    def test_kernel_exits_early(self):
        self.kernel_fails("leaver", "sys.exit(0)", "(?s)kernel-crashed|bad-output")

    def test_kernel_writes_garbage(self):
        self.kernel_fails("babbler", "say('blah blah'); time.sleep(60)", "bad-output")

    def test_kernel_writes_too_much(self):
        self.kernel_fails("shouter", "say(f'item {begin} 999999999')", "bad-output")

    def test_kernel_hangs(self):
        self.kernel_fails("sleepwalker", """
            while True: pass""", "kernel-hung.*longest time that the manifest allows")

    def test_kernel_reports_an_error(self):
        self.kernel_fails("complainer", "say('error the parameters are beyond me')", "kernel-error.*beyond me")

    def test_an_application_that_fails_on_every_host_is_stopped(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "cursed", "--strategy", "rts", count=1)
            for number in range(5):
                host = FakeHost(grid, f"h{number}")
                _, reply = host.work()
                if not reply["decoded"]:
                    break
                grid.request("POST", "/v1/failure", {"unit": reply["decoded"][0]["unit"], "kind": "kernel-crashed",
                                                     "item": 0, "message": "signal 11"}, host.token)
            info = grid.wait_until("the end", lambda: (
                lambda problem: problem if problem["state"] == "stopped" else None)(grid.problem(identity)), 30)
            self.assertRegex(info["message"], "stopped: squares@1.0.0: it fails on 4 of 4 hosts.*signal 11")
            self.assertTrue(any("signal 11" in entry["message"] for entry in info["set_aside"]))

    def test_a_full_server_disk_loses_nothing(self):
        with Grid("store.disk_reserve_megabytes = 1048576") as grid:  # 1 TiB: "full"
            grid.start_server()
            # The administrator is told as well; the application gets in before the disk fills.
            self.assertTrue(grid.admin_json("status")["warnings"])
            grid.kill("server", 15)
            grid.change_settings("store.disk_reserve_megabytes = 0")
            grid.start_server()
            grid.add_application(MANDELBROT)
            identity = grid.add_problem("mandelbrot", "kept", **ROWS)
            grid.kill("server", 15)
            grid.change_settings("store.disk_reserve_megabytes = 1048576")
            grid.start_server()
            grid.add_client("patient")
            grid.wait_until("a result that has to wait",
                            lambda: "disk is nearly full" in grid.log("patient"), 60)
            self.assertTrue(any((grid.membership("patient") / "units").iterdir()), "the result is kept on disk")
            self.assertEqual(grid.problem(identity)["accepted"], 0)
            grid.kill("server", 15)
            grid.change_settings("store.disk_reserve_megabytes = 0")
            grid.start_server()
            grid.wait_finished(identity, 180)
            self.assertEqual(grid.results(identity), grid.run_local(MANDELBROT, **ROWS))

    def test_admin_token_that_others_can_read(self):
        with Grid() as grid:
            grid.start_server()
            (grid.project / "admin" / "token").chmod(0o644)
            done = grid.admin("status", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("chmod", done.stderr)


if __name__ == "__main__":
    main()
