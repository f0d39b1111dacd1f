"""Attacks on what the others do not touch: archives of a signer who means harm, one project's files from another project,
reports in another user's name, checkpoints that lie, what the server's files give away."""
import base64
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import textwrap
import time
import unittest

from flood_test import resident_megabytes
from harness import AS_NOBODY, RAYTRACE, SQUARES, FakeHost, Grid, Stranger, base64url, main, others_reach
from sandbox_test import hostile


class Archives(unittest.TestCase):
    """Bundles that are signed rightly, by a signer who packs what no packer would."""

    def pack(self, *evil):
        """A bundle that is good but for these: (member, bytes)."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(SQUARES.iterdir()):
                if path.is_file():
                    archive.add(path, path.name)
            for member, data in evil:
                archive.addfile(member, io.BytesIO(data) if data is not None else None)
        return packed.getvalue()

    def sign(self, grid, archive):
        project = json.loads(grid.request("GET", "/v1/project", raw=True)[2])
        statement = json.dumps({
            "version": 1, "project": json.loads(base64.urlsafe_b64decode(project["payload"] + "=="))["project"], "name": "squares",
            "application_version": "1.0.0", "archive": hashlib.sha256(archive).hexdigest(), "archive_bytes": len(archive),
            "signed_at": int(time.time() * 1e6)}).encode()
        message = grid.directory / "message"
        message.write_bytes(b"gleaner-1\napplication\n" + statement)
        key = grid.offline / "signer.key"
        signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", message], capture_output=True,
                                   check=True).stdout
        public = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], capture_output=True,
                                check=True).stdout[-32:]
        return {"application": {"type": "application", "payload": base64url(statement), "key": base64url(public),
                                "signature": base64url(signature)},
                "signer": json.loads((grid.offline / "signer.certificate.json").read_text())}

    def add(self, grid, archive):
        digest = hashlib.sha256(archive).hexdigest()
        for begin in range(0, len(archive), 4 << 20):
            status, _, reply = grid.request("PATCH", f"/v1/uploads/{digest}", archive[begin:begin + (4 << 20)], grid.admin_token,
                                            {"Upload-Offset": str(begin), "Upload-Length": str(len(archive))})
            self.assertEqual(status, 200, reply)
        status, _, reply = grid.request("POST", "/v1/admin/applications", self.sign(grid, archive), grid.admin_token)
        return status, reply

    def member(self, name, **changes):
        member = tarfile.TarInfo(name)
        for key, value in changes.items():
            setattr(member, key, value)
        return member

    def test_links_devices_and_bombs(self):
        with Grid() as grid:
            server = grid.start_server()
            outside = grid.directory / "outside"
            outside.mkdir()
            zeros = bytes(300 << 20)
            attacks = {
                "link": [(self.member("link", type=tarfile.SYMTYPE, linkname=str(outside)), None),
                         (self.member("link/here", size=4), b"evil")],
                "link to a key": [(self.member("key", type=tarfile.SYMTYPE, linkname="../../keys/work.key"), None)],
                "hard link": [(self.member("hard", type=tarfile.LNKTYPE, linkname=str(grid.project / "keys/work.key")), None)],
                "device": [(self.member("disk", type=tarfile.BLKTYPE, devmajor=8, devminor=0), None)],
                "terminal": [(self.member("tty", type=tarfile.CHRTYPE, devmajor=5, devminor=0), None)],
                "pipe": [(self.member("pipe", type=tarfile.FIFOTYPE), None)],
                "parent": [(self.member("../here", size=4), b"evil")],
                "absolute": [(self.member(str(outside / "here"), size=4), b"evil")],
                "a second kernel": [(self.member("kernel.py", size=4, mode=0o6777), b"evil")],
                "bomb": [(self.member("zeros", size=len(zeros)), zeros)],
                "many": [(self.member(f"d{i}", size=0), b"") for i in range(5000)],
                "deep": [(self.member("/".join(["d"] * 2000), type=tarfile.DIRTYPE), None)],
            }
            before = resident_megabytes(server)
            unpacked = grid.directory / "unpacked"
            for name, evil in attacks.items():
                with self.subTest(name):
                    archive = self.pack(*evil)
                    self.assertLess(len(archive), 4 << 20)
                    status, reply = self.add(grid, archive)
                    self.assertIn(status, (400, 413), (name, reply))
                    # The client's helper says the same of it.
                    file = grid.directory / "archive"
                    file.write_bytes(archive)
                    done = grid.run("gleaner-unpack", file, hashlib.sha256(archive).hexdigest(), unpacked, check=False)
                    self.assertNotEqual(done.returncode, 0, name)
                    self.assertTrue(done.stderr.strip())
                    self.assertFalse(unpacked.exists())
            self.assertEqual(list(outside.iterdir()), [])
            self.assertEqual([path.name for path in grid.directory.iterdir() if path.name == "here"], [])
            self.assertEqual(grid.admin_json("app", "list")["items"], [])
            bundles = grid.project / "bundles"
            self.assertEqual(list(bundles.iterdir()) if bundles.exists() else [], [])
            self.assertLess(resident_megabytes(server) - before, 200)
            self.assertEqual(self.add(grid, self.pack())[0], 200)  # it is these that are refused


class OtherProjects(unittest.TestCase):
    def test_a_kernel_of_one_sees_nothing_of_another(self):
        with Grid(name="Atlas") as atlas, Grid(name="Birds") as birds:
            for grid in (atlas, birds):
                grid.start_server()
            probe = atlas.run("gleaner-client", "sandbox", "--state", atlas.state("desk"), check=False)
            if not probe.stdout.startswith("namespaces"):
                self.skipTest("this system permits less: " + probe.stdout + probe.stderr)
            atlas.add_application(SQUARES)
            for grid in (atlas, birds):
                atlas.join("desk", code=grid.own_code)
            finished = atlas.add_problem("squares", "private", count=50)
            atlas.start_client("desk")
            atlas.wait_finished(finished)
            projects = atlas.state("desk") / "projects"
            self.assertEqual(len(list(projects.iterdir())), 2)
            kept = sorted(str(path) for project in projects.iterdir() for path in project.rglob("*")
                          if path.is_file())[:200]
            self.assertGreater(len(kept), 5)
            birds.add_application(hostile(birds, "spy", f"""
                for path in {[str(projects), *map(str, projects.iterdir()), *kept]!r}:
                    tries.append(blocked("", lambda: os.listdir(path) if os.path.isdir(path) else open(path, "rb").read()))
                for root, names, files in os.walk("/"):
                    if root.startswith(("/proc", "/usr", "/lib")): continue
                    for name in files:
                        if name in ("host.key", "join-code", "host.json", "log"): tries.append("ESCAPED: " + root + name)
                tries = sorted(set(tries), key=lambda text: "ESCAPED" not in text)
                """))
            identity = birds.add_problem("spy", "spy", count=1)
            found = birds.wait_until("its report", lambda: birds.problem(identity)["set_aside"], 60)
            self.assertNotIn("ESCAPED", found[-1]["message"])
            self.assertIn("blocked", found[-1]["message"])


class AgentSocket(unittest.TestCase):
    REPORT = json.dumps({"version": 1, "session": "1", "display": ":0", "locked": False, "busy": [],
                         "inputs": [{"source": "a stranger", "active": True, "idle": 0, "how": "event"}]})

    @unittest.skipIf(os.geteuid() != 0, "needs the superuser's rights, to become others")
    def test_another_user_is_not_heard(self):
        with Grid() as grid:
            if not others_reach("/usr/bin/python3"):
                self.skipTest("here other users can run nothing")
            grid.start_server()
            grid.join("one")
            grid.start_client("one", run="when-idle")
            place = grid.state("one") / "agent.sock"
            grid.wait_until("the socket", place.exists)
            why = lambda: grid.control("one", "why").stdout
            said = []
            speak = textwrap.dedent(f"""
                import socket, time
                line = socket.socket(socket.AF_UNIX)
                line.settimeout(5)
                line.connect({str(place)!r})
                try:
                    line.sendall({self.REPORT!r}.encode() + b"\\n")
                    print("dropped" if line.recv(1) == b"" else "answered", flush=True)
                except ConnectionError: print("dropped", flush=True)
                except TimeoutError: print("heard", flush=True)
                """)

            def tell(before):
                return subprocess.run([*before, "/usr/bin/python3", "-c", speak], capture_output=True, text=True, timeout=60)

            # The way to it is closed; with the way open it is closed; and with both open nobody is heard.
            self.assertIn("Permission", tell(AS_NOBODY).stderr)
            for path in [grid.directory, grid.state("one")]:
                path.chmod(0o755)
            self.assertIn("Permission", tell(AS_NOBODY).stderr)
            place.chmod(0o666)
            done = tell(AS_NOBODY)
            self.assertEqual(done.stdout.strip(), "dropped", done.stderr)
            self.assertNotIn("a stranger", why())
            # The same words of the client's own user count.
            speaking = subprocess.Popen(["/usr/bin/python3", "-c", speak], stdout=subprocess.PIPE, text=True)
            try:
                grid.wait_until("its own user to be heard", lambda: "a stranger" in why())
            finally:
                said.append(speaking.communicate(timeout=60)[0].strip())
            self.assertEqual(said, ["heard"])


class Checkpoints(unittest.TestCase):
    PICTURE = {"scene": "D", "width": 200, "height": 6, "samples": 16}

    def test_what_a_liar_saved_is_begun_anew(self):
        """Hosts save garbage, a bomb, too much and nothing of the lines that they hold, and leave."""
        with Grid("work.commit_seconds = 1") as grid:
            server = grid.start_server()
            grid.add_application(RAYTRACE)
            expected = grid.run_local(RAYTRACE, **self.PICTURE)
            identity = grid.add_problem("raytrace", "picture", "--strategy", "ss", **self.PICTURE)
            before = resident_megabytes(server)
            kept = 0
            for name, data in (("garbage", os.urandom(2000)), ("bomb", bytes(60 << 20)), ("bulk", os.urandom(1 << 20)),
                               ("empty", b"")):
                host = FakeHost(grid, name)
                unit = host.work()[1]["decoded"][0]
                begin = unit["range"]["begin"]
                kept += host.save(unit["unit"], begin, 0.9, data) == 200
                host.save(unit["unit"], begin + 100, 0.9, data)  # no item of it
                host.units[unit["unit"] + 1000] = unit  # no unit of it
                host.save(unit["unit"] + 1000, begin, 0.9, data)
                self.assertIn(grid.request("POST", "/v1/leave", {}, host.token)[0], (200, 204))
            self.assertLess(resident_megabytes(server) - before, 100)
            self.assertGreater(kept, 0)
            grid.add_client("honest")
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["image.png"], expected["image.png"])


class Failures(unittest.TestCase):
    def test_failures_of_newcomers_set_nothing_aside(self):
        """Sixty hosts join, take what they get, and report that it cannot be computed."""
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            identity = grid.add_problem("squares", "wanted", "--strategy", "ss", "--validation", "none", count=20)
            reported = 0
            for i in range(60):
                host = Stranger(grid, f"newcomer-{i}")
                for grant in host.work()[1]["decoded"]:
                    failure = {"unit": grant["unit"], "kind": "kernel-crashed", "item": grant["range"]["begin"], "message": "so I say"}
                    reported += grid.request("POST", "/v1/failure", failure, host.token)[0] in (200, 204)
            self.assertGreater(reported, 20)
            info = grid.problem(identity)
            self.assertEqual(info["state"], "running", info)
            self.assertFalse([one for one in info["set_aside"] if one["message"].startswith("set aside")], info)
            grid.add_client("honest")
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % sum(i * i for i in range(20)))


class Secrets(unittest.TestCase):
    def test_the_store_lets_nobody_in(self):
        """Who reads the server's store and log holds no token that it takes: they hold digests."""
        with Grid() as grid:
            grid.start_server()
            host = FakeHost(grid, "one")
            made = grid.admin_json("token", "add", "ann", "--role", "operator")
            token = next(value for key, value in made.items() if key == "token")
            for one in (host.token, token, grid.admin_token):
                self.assertIn(grid.request("POST", "/v1/heartbeat", {"units": []}, one)[0], (200, 401))
            files = grid.stored()
            # But for the join code, which is told at every start, and ends with the enrolment secret: one in 16 shows it unbroken.
            files += grid.log("server").replace(grid.join_code, "").encode()
            self.assertGreater(len(files), 1000)
            for one in (host.token, token, grid.admin_token, base64url(grid.enrolment_secret)):
                self.assertFalse(one.encode() in files)
                self.assertIn(grid.request("GET", "/v1/admin/status", None, one[:-1])[0], (401,))
            for digest in re.findall(rb"[0-9a-f]{64}", files)[:200]:  # nor does a digest open
                self.assertEqual(grid.request("GET", "/v1/admin/status", None, digest.decode())[0], 401)


if __name__ == "__main__":
    main()
