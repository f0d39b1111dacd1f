"""Whoever leads a project is killed, frozen and restarted behind front ends that clients compute through; then everything is
restarted under load, as for an upgrade whose files are in place, and no request fails."""
import json
import pathlib
import signal
import subprocess
import time
import unittest

import postgres
from front_test import program
from fronts_test import COPIED, Fronts, Relay
from harness import SLOW, SOURCE, built, free_port, main, needs, seeded
from kernels import Held

PROXY = "127.0.0.2"  # the address that HAProxy connects from


@needs(not postgres.WHY_NOT, postgres.WHY_NOT)
class Leaders(unittest.TestCase):
    """Two servers on PostgreSQL, of which one leads, and two front ends that find it."""

    def test_the_leader_is_killed_and_frozen_under_front_ends(self):
        rng = seeded(self)
        with postgres.Postgres() as database, Fronts(f'store.url = "{database.url}"\nserver.proxies = "{PROXY}"\n') as grid:
            grid.run("gleaner-server", "link-key", grid.project / "keys" / "link.pem")
            places = {name: f"127.0.0.1:{free_port()}" for name in ("first", "second")}
            projects = {}
            for name, place in places.items():
                projects[name] = self.copy_of(grid, name, place)
                self.start(grid, name, projects[name])
            ports = {"one": free_port(), "two": free_port()}
            for name, port in ports.items():
                grid.make_front(name, servers=", ".join(places.values()), keys=(*COPIED, "keys/link.pem"))
                grid.start_front(name, port)
            relay = Relay(grid.port, ports.values())
            self.addCleanup(relay.close)
            for port in ports.values():
                grid.wait_ready(port)
            held = Held(grid, 600)
            identity = held.add()
            for name in ("a", "b"):
                held.add_client(name)
            accepted, changes = 0, []
            while (info := self.look(grid, identity))["state"] != "finished":
                self.assertGreaterEqual(info["accepted"], accepted, "an acknowledged segment was lost")
                accepted = info["accepted"]
                time.sleep(rng.uniform(0.3, 1))
                if len(changes) == 3:
                    held.let_go()
                    continue
                leader = grid.wait_until("a leader", lambda: self.leader(grid, places))
                how = (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM)[len(changes)]
                begun = time.monotonic()
                process = grid.processes[leader]
                process.send_signal(how)
                if how == signal.SIGSTOP:
                    grid.wait_until("the other leads", lambda: self.leader(grid, places) not in (None, leader))
                    process.send_signal(signal.SIGCONT)
                process.wait(timeout=60)
                grid.processes.pop(leader)
                self.look(grid, identity)
                changes.append((how.name, time.monotonic() - begun))
                self.begun[leader] = len(grid.log(leader))
                self.start(grid, leader, projects[leader])
            self.assertEqual(len(changes), 3)
            info = grid.wait_finished(identity)
            self.assertEqual(sum(share["items"] for share in info["shares"]), held.count, "counted twice or lost")
            self.assertEqual(grid.results(identity), held.expected)
            grid.admin("audit", "verify")
            print("answered again: " + ", ".join(f"{how} {seconds:.1f} s" for how, seconds in changes), flush=True)
            if program("haproxy"):
                for name in ("a", "b"):
                    grid.kill(name)
                self.restart_under_load(grid, places, projects, ports)
            else:
                print("nothing is restarted under load: haproxy is not installed", flush=True)

    def restart_under_load(self, grid, places, projects, ports):
        """One after the other: the server that stands by, the one that leads, the front ends, behind the HAProxy of deploy/fronts."""
        grid.add_application(built("bundles/load"))
        grid.add_problem("load", "load", "--strategy", "ss,mode=paper", "--straggler", "none", count=10**9)
        entry = self.start_proxy(grid, ports)
        grid.wait_until("the proxy", lambda: grid.answers(entry) == 200)
        load = subprocess.Popen([grid.program("gleaner-loadgen"), "run", "--join-code", grid.own_code, "--server", f"127.0.0.1:{entry}",
                                 "--hosts", "64", "--connections", "32", "--think", "20", "--warm-up", "0", "--seconds", str(8 * SLOW),
                                 "--json"], stdout=subprocess.PIPE, text=True)
        leader = grid.wait_until("a leader", lambda: self.leader(grid, places))
        for name in sorted(places, key=lambda name: name == leader):
            self.assertEqual(grid.kill(name, signal.SIGTERM), 0)
            self.begun[name] = len(grid.log(name))
            self.start(grid, name, projects[name])
            # Or leads once more, if it was quicker than the other.
            grid.wait_until("it is there", lambda: any(word in grid.log(name)[self.begun[name]:]
                                                       for word in ("standing by", "front ends find this server")))
        for name, port in ports.items():
            self.assertEqual(grid.kill(name, signal.SIGTERM), 0)
            grid.start_front(name, port)
            grid.wait_ready(port)
            time.sleep(1)  # HAProxy looks twice a second
        run = json.loads(load.communicate(timeout=120 * SLOW)[0])
        self.assertEqual((load.returncode, run["busy"], run["errors"], run["lost"]), (0, 0, 0, 0), run)
        self.assertEqual((run["whole_run"]["contradictions"], run["whole_run"]["refused_though_right"]), (0, 0), run)
        self.assertGreater(run["answers"], 100)
        print(f"everything restarted: {run['answers']} answers, none failed, {run['resent']} sent again on a new connection, "
              f"the longest took {run['latency_ms']['longest'] / 1000:.1f} s", flush=True)

    def start_proxy(self, grid, ports):
        entry = free_port()
        text = (SOURCE / "deploy" / "fronts" / "haproxy.cfg").read_text()
        for here, there in (("0.0.0.0:443", f"127.0.0.1:{entry}"), ("192.0.2.20:8443", f"127.0.0.1:{ports['one']}"),
                            ("192.0.2.21:8443", f"127.0.0.1:{ports['two']}"), ("option httpchk", f"source {PROXY}\n    option httpchk")):
            self.assertEqual(text.count(here), 1)
            text = text.replace(here, there)
        (grid.directory / "haproxy.cfg").write_text(text)
        grid.start("haproxy", pathlib.Path(program("haproxy")), "-db", "-f", grid.directory / "haproxy.cfg")
        return entry

    def copy_of(self, grid, name, place):
        """Servers of one project share its directory; here each has its own settings beside what they share."""
        directory = grid.directory / f"project-{name}"
        directory.mkdir()
        for shared in ("blobs", "bundles", "uploads", "problems", "decisions", "damaged"):
            (grid.project / shared).mkdir(exist_ok=True)
        for entry in grid.project.iterdir():
            if entry.name != "server.toml":
                (directory / entry.name).symlink_to(entry)
        text = (grid.project / "server.toml").read_text()
        (directory / "server.toml").write_text(text.replace(f'listen = "{grid.listen}"', f'listen = "{place}"'))
        return directory

    begun = {}

    def start(self, grid, name, project):
        grid.start(name, "gleaner-server", "run", project, "--port", free_port())

    def leader(self, grid, places):
        serving = [name for name in places if name in grid.processes and grid.processes[name].poll() is None and
                   "front ends find this server" in grid.log(name)[self.begun.get(name, 0):]]
        return serving[-1] if len(serving) == 1 else self.newest(grid, serving)

    def newest(self, grid, serving):
        """Of two that say so one is frozen: it said so first."""
        said = {name: max(line for line in grid.log(name).splitlines() if "front ends find this server" in line) for name in serving}
        return max(said, key=said.get) if said else None

    def look(self, grid, identity):
        return grid.wait_until("an answer", lambda: self.try_look(grid, identity), timeout=60)

    @staticmethod
    def try_look(grid, identity):
        try:
            return grid.problem(identity)
        except AssertionError:
            return None


if __name__ == "__main__":
    main()
