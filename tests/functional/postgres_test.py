"""A server whose rows are in PostgreSQL: killed and replaced in the middle of a problem, byte for byte the same result;
a standby that takes over from one that was killed, and from one that stood still and wakes.
"""
import json
import re
import signal
import time
import unittest

import postgres
from harness import MANDELBROT, SLOW, Grid, free_port, main, needs, seeded
from kernels import Held

PROBLEM = {"width": 320, "height": 240, "iterations": 40000}
ITEMS = 600
SETTINGS = "work.commit_seconds = 1\nwork.heartbeat_seconds = 2\nwork.unit_minimum_seconds = 1\nstore.url = "


@needs(not postgres.WHY_NOT, postgres.WHY_NOT)
class OnPostgres(unittest.TestCase):
    def start_standby(self, grid, label, port):
        """The same project on another port."""
        process = grid.start(label, "gleaner-server", "run", grid.project, "--port", port)
        grid.wait_until("the standby", lambda: f"standing by on port {port}" in grid.log(label))
        return process

    def status(self, grid, port, path="/readyz"):
        front, grid.port = grid.port, port
        try:
            return grid.request("GET", path)[0]
        except OSError:
            return 0
        finally:
            grid.port = front

    def test_results_survive_kills_of_the_server(self):
        rng = seeded(self)
        with postgres.Postgres() as database, Grid(SETTINGS + f'"{database.url}"') as grid:
            grid.start_server()
            held = Held(grid, ITEMS)
            identity = held.add()
            for name in ("a", "b"):
                held.add_client(name)
            accepted = kills = 0
            while grid.problem(identity)["state"] != "finished":
                time.sleep(rng.uniform(0.2, 1.5))
                info = grid.problem(identity)
                self.assertGreaterEqual(info["accepted"], accepted, "an acknowledged segment was lost")
                accepted = info["accepted"]
                if kills == 5:
                    held.let_go()
                    continue
                grid.kill("server")
                grid.start_server()
                kills += 1
            info = grid.wait_finished(identity)
            self.assertEqual(kills, 5)
            self.assertEqual(sum(share["items"] for share in info["shares"]), ITEMS, "counted twice or lost")
            self.assertEqual(grid.results(identity), held.expected)
            self.assertFalse((grid.project / "store.sqlite").exists())
            self.assertEqual(database.query("SELECT sum(range_end - range_begin) FROM accepted"), [[str(ITEMS)]])
            epoch, = database.query("SELECT epoch FROM leader")
            self.assertEqual(int(epoch[0]), kills + 1)

    def check(self, grid, directory, code, *arguments):
        done = grid.run("gleaner-server", "check", directory, "--json", *arguments, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return {finding["kind"]: finding["message"] for finding in json.loads(done.stdout)["findings"]}

    def test_damage_is_found_and_a_backup_that_was_made_beside_the_server_is_restored(self):
        """Rows that are gone, a page that is not what it was; then the database is lost, and made anew of the backup."""
        with postgres.Postgres() as database, Grid(SETTINGS + f'"{database.url}"') as grid:
            grid.start_server()
            held = Held(grid, ITEMS)
            identity = held.add()
            held.add_client("a")
            grid.wait_until("some results", lambda: int(database.query("SELECT count(*) FROM segments")[0][0]) > 5)
            backup = grid.directory / "backup"
            grid.run("gleaner-server", "backup", grid.project, backup, "--with-keys")
            metrics = grid.request("GET", "/metrics", token=grid.admin_token, raw=True)[2].decode()
            size, = database.query("SELECT pg_database_size('postgres')")
            told = float(re.search(r"^gleaner_store_bytes (\S+)", metrics, re.M)[1])
            self.assertLess(abs(told / float(size[0]) - 1), 0.2)
            refused = grid.run("gleaner-server", "check", grid.project, check=False)
            self.assertEqual(refused.returncode, 1)
            grid.kill("a")
            grid.kill("server")
            for directory in (grid.project, backup):
                self.assertLessEqual(set(self.check(grid, directory, 0)), {"orphan"})

            database.query("DELETE FROM segments WHERE id = (SELECT min(id) FROM segments)")
            self.assertIn("computed again", self.check(grid, grid.project, 3)["segment-row-missing"])
            self.check(grid, grid.project, 0, "--repair")
            self.assertLessEqual(set(self.check(grid, grid.project, 0)), {"orphan"})

            (relation,), = database.query("SELECT pg_relation_filepath('segments')")
            database.stop()
            file = database.directory / "data" / relation
            page = bytearray(file.read_bytes())
            page[8000] ^= 1
            file.write_bytes(page)
            database.start()
            self.assertIn("segments: the database postgres", self.check(grid, grid.project, 4)["store-broken"])

            database.query("CREATE DATABASE anew")
            lost = grid.project.rename(grid.directory / "lost")
            told = grid.run("gleaner-server", "restore", backup, grid.project)
            self.assertIn("--from store.sqlite", told.stderr)
            grid.run("gleaner-server", "migrate", grid.project, "--from", "store.sqlite", "--to", database.url_of("anew"))
            grid.change_settings(f'store.url = "{database.url_of("anew")}"')
            grid.start_server()
            held.let_go()
            held.start_client("a")
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity), held.expected)
            self.assertTrue(lost.exists())

    def test_a_standby_takes_over_from_the_dead_and_the_frozen(self):
        with postgres.Postgres() as database, Grid(SETTINGS + f'"{database.url}"') as grid:
            first_port, second_port, third_port = grid.port, free_port(), free_port()
            grid.start_server()
            grid.add_application(MANDELBROT)
            self.assertEqual(self.status(grid, first_port), 200)
            self.start_standby(grid, "second", second_port)
            self.assertEqual(self.status(grid, second_port), 503)
            self.assertEqual(self.status(grid, second_port, "/v1/status"), 503)
            self.assertEqual(self.status(grid, second_port, "/healthz"), 200)
            killed = time.monotonic()
            grid.kill("server")
            grid.wait_until("the second", lambda: self.status(grid, second_port) == 200)
            print(f"after a kill: ready after {time.monotonic() - killed:.2f} s", flush=True)
            self.start_standby(grid, "third", third_port)
            second = grid.processes["second"]
            frozen = time.monotonic()
            second.send_signal(signal.SIGSTOP)
            grid.wait_until("the third", lambda: self.status(grid, third_port) == 200)
            print(f"after a freeze: ready after {time.monotonic() - frozen:.2f} s", flush=True)
            grid.port = third_port
            profile, = (path for path in (grid.project / "admin").iterdir() if str(first_port) in path.read_text())
            profile.write_text(profile.read_text().replace(str(first_port), str(third_port)))
            grid.add_problem("mandelbrot", "view", **PROBLEM)
            second.send_signal(signal.SIGCONT)
            self.assertEqual(second.wait(timeout=30), 1)
            del grid.processes["second"]
            self.assertRegex(grid.log("second"), "(another server (leads|may lead) this project|did not say what became of a transaction).*: this server ends")
            self.assertEqual(self.status(grid, third_port), 200)
            self.assertEqual(grid.admin_json("problem", "list")["items"][0]["name"], "view")
            # A standby that is told to end does so.
            self.start_standby(grid, "fourth", second_port)
            self.assertEqual(grid.kill("fourth", signal.SIGTERM), 0)

    @unittest.skipIf(postgres.Network.why_not(), postgres.Network.why_not())
    def test_a_standby_takes_over_from_one_that_is_cut_off_and_one_that_stands_still_over_tcp(self):
        """The leader's cable to the database is pulled while clients deliver; it is put back when another leads."""
        with postgres.Network() as network, postgres.Postgres(network=network) as database, Grid(SETTINGS + '""') as grid:
            first_port, second_port = grid.port, free_port()
            grid.change_settings(f'store.url = "{database.url_by(1)}"')
            first = grid.start_server()
            grid.add_application(MANDELBROT)
            expected = grid.run_local(MANDELBROT, **PROBLEM)
            identity = grid.add_problem("mandelbrot", "view", **PROBLEM)
            grid.change_settings(f'store.url = "{database.url_by(2)}"')
            self.start_standby(grid, "second", second_port)
            client = grid.add_client("a", share=0.5)
            grid.wait_until("some results", lambda: grid.problem(identity)["accepted"] > 5)
            pulled = time.monotonic()
            network.pull(1)
            grid.wait_until("the second", lambda: self.status(grid, second_port) == 200)
            ready = time.monotonic() - pulled
            self.assertEqual(first.wait(timeout=30), 1)
            ended = time.monotonic() - pulled
            print(f"after a cut: the other one ready after {ready:.2f} s, this one ended after {ended:.2f} s", flush=True)
            if SLOW == 1:
                self.assertLess(ready, 5)
            self.assertRegex(grid.log("server"), "(the connection to|did not say what became of).*: this server ends")
            del grid.processes["server"]
            network.plug_in(1)
            # Back as a standby, and the other one stands still: its kernel goes on answering for it.
            self.assertIsNone(client.poll())
            grid.change_settings(f'store.url = "{database.url_by(1)}"')
            self.start_standby(grid, "server", first_port)
            second, frozen = grid.processes.pop("second"), time.monotonic()
            second.send_signal(signal.SIGSTOP)
            grid.wait_until("the first", lambda: self.status(grid, first_port) == 200)
            if SLOW == 1:
                self.assertLess(time.monotonic() - frozen, 5)
            second.send_signal(signal.SIGCONT)
            self.assertEqual(second.wait(timeout=30), 1)
            info = grid.wait_finished(identity)
            self.assertEqual(sum(share["items"] for share in info["shares"]), PROBLEM["height"], "counted twice or lost")
            self.assertEqual(grid.results(identity), expected)


if __name__ == "__main__":
    main()
