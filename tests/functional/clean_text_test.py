"""Text of strangers: whatever a name, a manifest, a failure or a kernel says, a line stays one line and no terminal obeys it."""
import os
import pty
import re
import subprocess
import unittest

from harness import BUILD, SQUARES, FakeHost, Grid, base64url, main
from kernels import kernel_bundle

TITLE = "\x1b]0;owned\x07"  # what sets a window's title
FORGED = "2026-11-27T02:00:00.000 warning admin token project is withdrawn by ann"
BIDI = "a\u202eb\u200bc\u2066\U000e0061d\u2028e"
UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


def on_terminal(arguments, directory):
    """What a program draws where it has a terminal."""
    keeper, its = pty.openpty()
    process = subprocess.Popen(arguments, stdin=its, stdout=its, stderr=its, cwd=directory, env={**os.environ, "TERM": "xterm"})
    os.close(its)
    drawn = b""
    while True:
        try:
            some = os.read(keeper, 4096)
        except OSError:  # its end
            break
        if not some:
            break
        drawn += some
    os.close(keeper)
    process.wait()
    return drawn.decode(errors="surrogateescape")


class CleanText(unittest.TestCase):
    def clean(self, text, allowed="\r"):
        found = [match for match in UNFIT.findall(text) if match not in allowed]
        self.assertEqual(found, [], text[:2000])

    def test_a_failure_forges_no_line_of_the_servers_log(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            host = FakeHost(grid, "stranger")
            grid.add_problem("squares", "p", count=10)
            grid.wait_until("a unit", lambda: host.work()[1].get("grants") or host.units)
            unit = next(iter(host.units))
            status, _, reply = grid.request("POST", "/v1/failure", {"unit": unit, "kind": "kernel-error", "item": 0,
                                                                    "message": f"it failed\n{FORGED}\n"}, host.token)
            self.assertIn(status, (200, 204), reply)
            grid.wait_until("the failure in the log", lambda: "it failed" in grid.log("server"))
            self.assertIn(FORGED, grid.log("server"))
            self.assertNotIn(FORGED, grid.log("server").splitlines())
            for line in grid.log("server").splitlines():
                self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} \S+ ")
            errors = grid.admin("problem", "errors").stdout
            self.clean(errors)

    def test_a_kernel_forges_no_line_of_the_clients_log(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(kernel_bundle(grid, "loud", f'''
    sys.stderr.write("help\\n{FORGED}\\n\\x1b[2J")
    sys.stderr.flush()
    sys.exit(7)
'''))
            grid.add_client("one")
            grid.add_problem("loud", "p", count=4)
            grid.wait_until("the kernel's words in the log", lambda: "withdrawn by ann" in grid.log("one"), 120)
            self.assertFalse([line for line in grid.log("one").splitlines() if line.startswith(FORGED)])
            self.clean(grid.log("one"))
            self.clean(grid.control("one", "log").stdout)

    def test_names_that_hide_something_are_refused(self):
        with Grid() as grid:
            grid.start_server()
            host = {"secret": base64url(grid.enrolment_secret), "host_key": "A" * 43, "machine": "0" * 64, "name": BIDI, "platform": "x86_64-linux",
                    "cores": 1, "memory_bytes": 1 << 30, "client_version": "test"}
            status, _, reply = grid.request("POST", "/v1/enrol", host)
            self.assertEqual(status, 400, reply)
            self.assertIn("name: expected text without control or invisible characters", str(reply))
            # The client says a name that can be shown in any case.
            grid.join("one", check=False)
            self.clean(grid.admin("host", "list").stdout)

    def test_names_from_before_are_cleaned_where_they_are_shown(self):
        with Grid() as grid:
            grid.start_server()
            FakeHost(grid, "old")
            grid.kill("server", 15)
            if grid.database is not None:
                self.skipTest("the store is PostgreSQL's")
            import sqlite3
            with sqlite3.connect(grid.project / "store.sqlite") as store:
                store.execute("UPDATE hosts SET name = ?", (BIDI,))
            store.close()
            grid.start_server()
            listed = grid.admin("host", "list").stdout
            self.assertIn("a b c  d e", listed)
            self.clean(listed)
            self.clean(grid.admin("--json", "host", "list").stdout)
            self.clean(grid.log("server"))

    def test_a_manifest_steers_no_terminal(self):
        with Grid() as grid:
            for field in ("title", "meaning", "comparison", "name", "version"):
                bundle = grid.directory / f"evil-{field}"
                subprocess.run(["cp", "-r", SQUARES, bundle], check=True)
                manifest = bundle / "manifest.toml"
                evil = 'x\\u001b]0;owned\\u0007\\u202e\\n' + "ok    determinism"
                text, count = re.subn(rf'^{field} = ".*?"', lambda _: f'{field} = "{evil}"', manifest.read_text(), flags=re.M)
                if not count:
                    text = re.sub(r"^\[items\]$", f'[items]\n{field} = "{evil}"', text, flags=re.M)
                self.assertIn(evil, text)
                manifest.write_text(text)
                for command in (["app", "check", bundle, "--param", "count=3"],
                                ["run-local", bundle, "--param", "count=3", "-o", grid.directory / "out"],
                                ["app", "sign", bundle, "--key", grid.offline / "signer.key"]):
                    done = grid.run("gleaner-admin", *command, check=False)
                    self.assertNotEqual(done.returncode, 0, (field, command))
                    self.clean(done.stdout + done.stderr)
                    self.assertNotIn("ok    determinism", (done.stdout + done.stderr).splitlines())
                    drawn = on_terminal([BUILD / "bin" / "gleaner-admin", *map(str, command)], grid.directory)
                    self.assertNotIn("\x1b]", drawn)
                    self.clean(re.sub("\x1b\\[[0-9]*[mAK]", "", drawn))

    def test_what_is_typed_wrong_is_said_without_it(self):
        with Grid() as grid:
            for program in ("gleaner-server", "gleaner-client", "gleaner-admin", "gleaner", "gleaner-relay"):
                done = grid.run(program, f"wrong{TITLE}", check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.clean(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
