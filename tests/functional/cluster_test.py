"""Two servers of one project on PostgreSQL behind the HAProxy of deploy/cluster: whoever leads is killed, or upgraded, in the
middle of a problem that clients compute through the one address, and the result is the same byte for byte. Both of one directory;
and each with one of its own, where the large things are in an object store."""
import pathlib
import shutil
import signal
import time
import unittest

import postgres
import swift
from front_test import program
from harness import SOURCE, Grid, free_port, main, needs, seeded
from kernels import Held

SETTINGS = ('work.commit_seconds = 1\nwork.heartbeat_seconds = 2\nwork.unit_minimum_seconds = 1\nserver.proxies = "127.0.0.1"\n'
            "store.url = ")


@needs(not postgres.WHY_NOT, postgres.WHY_NOT)
@needs(program("haproxy"), "haproxy is not installed")
class BehindOneAddress(unittest.TestCase):
    def start(self, grid, name):
        grid.start(name, "gleaner-server", "run", self.directories.get(name, grid.project), "--port", self.ports[name])

    def start_proxy(self, grid):
        text = (SOURCE / "deploy" / "cluster" / "haproxy.cfg").read_text()
        for here, there in (("0.0.0.0:443", grid.port), ("127.0.0.1:8443", self.ports["first"]), ("127.0.0.1:8444", self.ports["second"])):
            self.assertEqual(text.count(here), 1)
            text = text.replace(here, f"127.0.0.1:{there}")
        (grid.directory / "haproxy.cfg").write_text(text)
        grid.start("haproxy", pathlib.Path(program("haproxy")), "-db", "-f", grid.directory / "haproxy.cfg")

    def answers(self, grid):
        try:
            return grid.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def leader(self, grid):
        """The one whose log told last that it serves."""
        serving = [name for name in self.ports if grid.processes[name].poll() is None and "serving" in self.since_start(grid, name)]
        return serving[0] if len(serving) == 1 else None

    def since_start(self, grid, name):
        return grid.log(name)[self.begun.get(name, 0):]

    def begin(self, grid):
        """Both servers behind the proxy."""
        self.ports, self.begun = {"first": free_port(), "second": free_port()}, {}
        for name in self.ports:
            self.start(grid, name)
        self.start_proxy(grid)
        grid.wait_until("an answer", lambda: self.answers(grid))

    def change(self, grid, how):
        """Ends whoever leads, starts it again, and waits for an answer: seconds until there is one."""
        leader = grid.wait_until("a leader", lambda: self.leader(grid))
        begun = time.monotonic()
        code = grid.kill(leader, how)
        self.assertEqual(code, 0 if how == signal.SIGTERM else -signal.SIGKILL)
        self.begun[leader] = len(grid.log(leader))
        self.start(grid, leader)  # perhaps of a newer version: it stands by, or leads if it is the faster
        grid.wait_until("an answer", lambda: self.answers(grid))
        return time.monotonic() - begun

    def compute(self, grid, held, changes_wanted):
        """A problem in whose middle the lead changes."""
        rng = seeded(self)
        identity = held.add()
        for name in ("a", "b"):
            held.add_client(name)
        accepted, changes = 0, []
        while (info := grid.problem(identity))["state"] != "finished":
            self.assertGreaterEqual(info["accepted"], accepted, "an acknowledged segment was lost")
            accepted = info["accepted"]
            time.sleep(rng.uniform(0.3, 1))
            if len(changes) < changes_wanted:
                how = (signal.SIGKILL, signal.SIGTERM)[len(changes) % 2]
                changes.append((how.name, self.change(grid, how)))
            else:
                held.let_go()
        self.assertEqual(len(changes), changes_wanted)
        info = grid.wait_finished(identity)
        self.assertEqual(sum(share["items"] for share in info["shares"]), held.count, "counted twice or lost")
        self.assertEqual(grid.results(identity), held.expected)
        grid.admin("audit", "verify")
        print("answered again: " + ", ".join(f"{how} {seconds:.1f} s" for how, seconds in changes), flush=True)

    def test_kills_and_upgrades_of_the_leader(self):
        self.directories = {}
        with postgres.Postgres() as database, Grid(SETTINGS + f'"{database.url}"') as grid:
            self.begin(grid)
            self.compute(grid, Held(grid, 600), 4)

    @needs(not swift.WHY_NOT, swift.WHY_NOT)
    def test_servers_without_a_directory_in_common(self):
        """Keys and settings are copied once; rows and objects are all that they share."""
        with postgres.Postgres() as database, swift.Swift() as store, \
                Grid(SETTINGS + f'"{database.url}"\nblobs.url = "{store.url("sites")}"') as grid:
            (grid.project / "keys" / "blobs.keys").write_text(f"{swift.KEY}\n{swift.SECRET}\n")
            (grid.project / "keys" / "blobs.keys").chmod(0o600)
            elsewhere = grid.directory / "elsewhere"
            elsewhere.mkdir(mode=0o700)
            shutil.copy2(grid.project / "server.toml", elsewhere)
            for part in ("keys", "admin"):
                shutil.copytree(grid.project / part, elsewhere / part)
            self.directories = {"second": elsewhere}
            self.begin(grid)
            self.compute(grid, Held(grid, 200, item_bytes=80000), 3)  # segments become objects
            self.assertFalse((elsewhere / "store.sqlite").exists())


if __name__ == "__main__":
    main()
