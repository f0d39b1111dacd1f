"""Many hosts behind one relay: `tools/bench relay`. gleaner-loadgen is the hosts, at a relay and then at the server itself, with the same
problem: how many requests the server gets, how much later the problem ends, and what the relay takes for hosts that only say that they
are there."""
import json
import os
import pathlib
import subprocess
import time

from server_bench import SETTINGS

ITEMS = 60  # of each host
ITEM_SECONDS = 2
RESTING_SECONDS = 120
LIMITS = {"requests": 1 / 50, "makespan": 1.02, "megabytes": 64, "core": 0.05}


def process_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid):
    """Of its own memory and what it has read."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1000


class RelayTrial:
    def __init__(self, hosts):
        import harness
        import tree
        self.harness, self.hosts, self.problems = harness, hosts, 0
        # Paces are the server's own.
        self.grid = tree.Tree(SETTINGS + "work.commit_seconds = 60\nwork.heartbeat_seconds = 60\nwork.unit_minimum_seconds = 1\n")

    def __enter__(self):
        self.grid.__enter__()
        self.grid.start_server()
        self.grid.add_application(self.harness.built("bundles/load"))
        self.grid.add_relay("lab", children=self.hosts, settings="hosts.joins_per_hour = 1000000")
        self.codes = {"relay": self.grid.relay_code("lab"), "server": self.grid.own_code}
        for place in self.codes:
            self.load(place, "enrol").check_returncode()
        return self

    def __exit__(self, *error):
        self.grid.__exit__(*error)

    def command(self, place, what, *arguments):
        return [self.grid.program("gleaner-loadgen"), what, "--join-code", self.codes[place], "--hosts", str(self.hosts), "--hosts-file",
                str(self.grid.directory / f"hosts-{place}"), "--connections", "64", "--json", *map(str, arguments)]

    def load(self, place, what, *arguments):
        return subprocess.run(self.command(place, what, *arguments), stdout=subprocess.PIPE, text=True)

    def add_problem(self, count):
        self.problems += 1
        return self.grid.add_problem("load", f"load {self.problems}", count=count)

    def asked(self, relay=None):
        kinds = tuple(f'gleaner_requests_total{{kind="{kind}"' for kind in ("work", "heartbeat"))
        return sum(value for name, value in self.grid.figures(relay).items() if name.startswith(kinds))

    def makespan(self, place):
        """(seconds from the first request to the end of the problem, requests to the server meanwhile)"""
        identity = self.add_problem(self.hosts * ITEMS)
        before, begun = self.asked(), time.monotonic()
        run = subprocess.Popen(self.command(place, "run", "--same-bytes", "--item", 1000 * ITEM_SECONDS, "--warm-up", 0, "--seconds", 100 * ITEMS * ITEM_SECONDS),
                               stdout=subprocess.PIPE, text=True)
        try:
            self.grid.wait_finished(identity, 10 * ITEMS * ITEM_SECONDS)
            return time.monotonic() - begun, self.asked() - before
        finally:
            run.kill()
            run.communicate()

    def resting(self):
        """(share of a core, MB) that the relay takes while all of its hosts compute and say so once a minute; requests to server and relay."""
        identity = self.add_problem(10_000 * self.hosts)
        relay = self.grid.processes["lab"].pid
        run = subprocess.Popen(self.command("relay", "run", "--mode", "heartbeat", "--think", 60_000, "--warm-up", 0, "--seconds", 30 + RESTING_SECONDS),
                               stdout=subprocess.PIPE, text=True)
        time.sleep(30)  # all have been given their units
        asked, seconds = (self.asked(), self.asked("lab")), process_seconds(relay)
        time.sleep(RESTING_SECONDS)
        share, memory = (process_seconds(relay) - seconds) / RESTING_SECONDS, resident_megabytes(relay)
        asked = self.asked() - asked[0], self.asked("lab") - asked[1]
        told = json.loads(run.communicate()[0])
        if told["whole_run"]["contradictions"] or told["errors"]:
            raise SystemExit(f"relay: {told['fault'] or told['trouble']}")
        self.grid.admin("problem", "cancel", identity)
        return share, memory, asked


def bench_relay(options):
    hosts = int((options.hosts or [500])[0])
    with RelayTrial(hosts) as trial:
        share, memory, (above, below) = trial.resting()
        print(f"{hosts} hosts that compute, a heartbeat a minute each: the relay takes {100 * share:.2f} % of a core and {memory:.0f} MB; "
              f"{below:.0f} requests came to it, {above:.0f} of its own to the server", flush=True)
        direct, asked_directly = trial.makespan("server")
        relayed, asked = trial.makespan("relay")
        print(f"{ITEMS} items of {ITEM_SECONDS} s for each: {direct:.1f} s and {asked_directly:.0f} requests to the server directly; {relayed:.1f} s "
              f"({relayed / direct:.3f}) and {asked:.0f} ({asked / asked_directly:.4f}) through the relay", flush=True)
    faults = [name for name, value in (("requests", asked / asked_directly), ("makespan", relayed / direct), ("megabytes", memory), ("core", share))
              if value > LIMITS[name]]
    if faults:
        raise SystemExit(f"relay: over the limit: {', '.join(faults)}")
