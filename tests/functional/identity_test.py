"""Who a host is: a disk that was copied becomes a new host, and root leaves nothing that the client's user cannot read."""
import os
import pwd
import shutil
import subprocess
import unittest

from harness import MANDELBROT, Grid, main, others_reach


def may_mount():
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True) if os.geteuid() == 0 else None
    return done is not None and done.returncode == 0


class Identity(unittest.TestCase):
    @unittest.skipUnless(may_mount(), "another machine id needs a mount namespace")
    def test_a_copied_disk_becomes_a_new_host(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_client("one")
            problem = grid.add_problem("mandelbrot", "work", width=200, height=600, iterations=20000)
            grid.wait_until("results", lambda: (grid.membership("one") / "receipts" / "log").exists(), 60)
            # The image is taken while it computes: with a unit in hand, receipts and the host's key.
            grid.kill("one")
            shutil.copytree(grid.state("one"), grid.state("copy"), symlinks=True,
                            ignore=shutil.ignore_patterns("*.sock"))
            first = grid.host_id("one")
            key = (grid.membership("one") / "identity" / "host.key").read_text()
            other = grid.directory / "machine-id"
            other.write_text("0123456789abcdef0123456789abcdef\n")
            grid.start_client("one")
            # The copy runs on a computer with another machine id.
            starter = grid.directory / "elsewhere"
            starter.write_text(f'#!/bin/sh\nmount --bind {other} /etc/machine-id && exec "$@"\n')
            starter.chmod(0o755)
            log = open(grid.directory / "copy.log", "a")
            grid.processes["copy"] = subprocess.Popen(
                ["unshare", "-m", starter, grid.program("gleaner-client"), "run", "--state", grid.state("copy"), "--run", "always",
                 "--cores", "1", "--priority", "normal", "--benchmark-mflops", "1000", "--sandbox",
                 "off: I accept that kernels run with my rights"], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True)
            log.close()
            grid.wait_until("a second host", lambda: len(grid.admin_json("host", "list")["items"]) == 2)
            self.assertIn("copied from another computer", grid.log("copy"))
            self.assertNotEqual((grid.membership("copy") / "identity" / "host.key").read_text(), key)
            grid.wait_finished(problem)
            self.assertNotEqual(grid.results(problem)["image.png"], b"")
            hosts = {host["id"] for host in grid.admin_json("host", "list")["items"]}
            self.assertEqual(len(hosts), 2)
            self.assertIn(first, hosts)
            # Its receipts are its own.
            told = grid.control("copy", "receipts")
            self.assertNotIn("NOT GENUINE", told.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "only root can act as somebody else")
    def test_root_acts_as_the_owner_of_the_state(self):
        with Grid() as grid:
            grid.start_server()
            os.chmod(grid.directory, 0o755)
            if not others_reach(grid.state("one")):
                self.skipTest("other users cannot reach the state here")
            owner = pwd.getpwnam("nobody").pw_uid
            state = grid.state("one")
            state.mkdir(mode=0o750)
            os.chown(state, owner, -1)
            joined = grid.join("one")
            self.assertIn("it runs as nobody", joined.stdout)
            grid.control("one", "prefs", "set", "idle_minutes", "7")
            files = [state, *state.rglob("*")]
            self.assertGreater(len(files), 5)
            self.assertEqual({path.lstat().st_uid for path in files}, {owner})
            grid.run("gleaner-client", "leave", "--state", state)
            self.assertFalse((state / "projects").exists())


if __name__ == "__main__":
    main()
