#!/usr/bin/env python3
"""A PostgreSQL primary is killed with -9 under load, its synchronous standby promoted, and the server goes on there: nothing that was
acknowledged may be missing.

  tests/faults/replica.py [--trials N] [--seed S] [--seconds T] [--asynchronous]

  --trials N       so many (default 100), each from the same start: an empty problem, 200 hosts, primary and standby
  --seed S         of when it is killed (default 1); trial K has the seed S + K
  --seconds T      begin no trial after so many seconds
  --asynchronous   the control: without synchronous_standby_names, and with a standby that received nothing in the last second, results
                   are missing, the ledger says so, and the server refuses to go on by itself

Each trial ends with gleaner-loadgen's ledger compared with the promoted database (tools/check_ledger.py). GLEANER_BUILD names the build.

Exit status: 0 as it should be in every trial, 1 not so, 2 wrong usage, or PostgreSQL cannot be run here.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "tests" / "functional"), str(SOURCE / "tools")]

import postgres
from check_ledger import check_ledger
from harness import SLOW, Grid, built

HOSTS = 200
SETTINGS = """hosts.joins_per_hour = 100000
hosts.requests_per_second = 100000
server.requests_per_second_per_network = 100000
"""
PRIMARY = ["synchronous_standby_names=FIRST 1 (standby)"]
STANDBY = ["wal_retrieve_retry_interval=100ms"]  # else a promotion may take five seconds


class Failure(Exception):
    pass


class Node(postgres.Postgres):
    """A PostgreSQL whose data come and go."""

    @property
    def data(self):
        return self.directory / "data"

    def run(self, name, *words):
        done = subprocess.run([*self.as_user, postgres.PROGRAMS / name, *words], capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"{name}: {done.stderr}{done.stdout}")

    def begin(self, template):
        shutil.rmtree(self.data, ignore_errors=True)
        subprocess.run(["cp", "-a", template, self.data], check=True)
        self.start()

    def follow(self, primary):
        shutil.rmtree(self.data, ignore_errors=True)
        self.run("pg_basebackup", "-D", self.data, "-R", "-c", "fast", "-X", "stream", "--no-sync", "-d",
                 f"host={primary.directory} user=gleaner application_name=standby")
        self.settings = STANDBY
        self.start()

    def children(self, title=""):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) if entry.name.isdigit() else 0
                if parent == self.process.pid and title in (entry / "cmdline").read_text():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def kill(self):
        """As if the machine were gone."""
        pids = self.children()
        self.process.kill()
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()


class Trials:
    def __init__(self, grid, nodes, asynchronous):
        self.grid, self.primary, self.standby, self.asynchronous = grid, *nodes, asynchronous
        self.template, self.hosts = grid.directory / "template", grid.directory / "hosts"

    def prepare(self):
        """What every trial starts from."""
        self.primary.__enter__()
        self.grid.change_settings(f'store.url = "{self.primary.url}"')
        self.grid.start_server()
        self.grid.add_application(built("bundles/load"))
        self.grid.add_problem("load", "load", "--strategy", "ss,mode=paper", "--straggler", "none", count=10**9)
        self.grid.run("gleaner-loadgen", "enrol", "--join-code", self.grid.own_code, "--hosts", HOSTS, "--hosts-file", self.hosts)
        self.grid.kill("server", signal.SIGTERM)
        self.primary.stop()
        subprocess.run(["cp", "-a", self.primary.data, self.template], check=True)
        both = f"{self.primary.directory},{self.standby.directory}"
        self.grid.change_settings(
            f'store.url = "postgresql:///postgres?host={both}&user=gleaner&target_session_attrs=read-write"')

    def begin(self):
        (self.grid.project / "store.generation").unlink(missing_ok=True)
        self.primary.settings = [] if self.asynchronous else PRIMARY
        self.primary.begin(self.template)
        self.standby.follow(self.primary)
        self.grid.wait_until("the standby", lambda: self.primary.query(
            "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'") == [["async" if self.asynchronous else "sync"]])
        self.grid.start_server()

    def end(self):
        for label in list(self.grid.processes):
            self.grid.kill(label)
        for node in (self.primary, self.standby):
            if node.process.poll() is None:
                node.kill()

    def load(self, ledger):
        return subprocess.Popen(
            [self.grid.program("gleaner-loadgen"), "run", "--join-code", self.grid.own_code, "--hosts", str(HOSTS), "--hosts-file",
             self.hosts, "--connections", "16", "--warm-up", "0", "--seconds", str(5 * SLOW), "--drain", "30", "--ledger", ledger],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def one(self, rng):
        """(acknowledged before the kill, in all; seconds until the next server was there)."""
        ledger = self.grid.directory / "ledger"
        ledger.unlink(missing_ok=True)
        server = self.grid.processes["server"]
        load = self.load(ledger)
        try:
            self.grid.wait_until("acknowledgements", lambda: ledger.exists() and ledger.read_text().count("accepted") > 20)
            time.sleep(rng.uniform(0, 1.5))
            if self.asynchronous:
                receiver, = self.standby.children("walreceiver")
                os.kill(receiver, signal.SIGSTOP)
                time.sleep(1.5)  # a note of the generation at least
            before = ledger.read_text().count("accepted")
            self.primary.kill()
            killed = time.monotonic()
            if self.asynchronous:
                os.kill(receiver, signal.SIGCONT)
            self.standby.run("pg_ctl", "promote", "-w", "-D", self.standby.data)
            if server.wait(timeout=30 * SLOW) != 1:
                raise Failure(f"the server ended with {server.returncode}")
            del self.grid.processes["server"]
            if self.asynchronous:
                load.kill()
                load.wait()
                text = ledger.read_text()
                ledger.write_text(text[:text.rindex("\n") + 1])  # whole lines
                return self.check_control(ledger), 0, 0
            self.grid.start_server()
            back = time.monotonic() - killed
            said, _ = load.communicate(timeout=120 * SLOW)
            if load.returncode:
                raise Failure(f"gleaner-loadgen ended with {load.returncode}: {said}")
        finally:
            load.kill()
            load.wait()
        self.grid.kill("server", signal.SIGTERM)
        faults = self.faults(ledger)
        if faults:
            raise Failure("\n".join(faults[:20]))
        return before, ledger.read_text().count("accepted"), back

    def faults(self, ledger):
        return check_ledger(self.standby.url, [ledger], bytes_every=500, blobs=self.grid.project / "blobs")

    def check_control(self, ledger):
        missing = sum("the store does not have it" in fault for fault in self.faults(ledger))
        if not missing:
            raise Failure("nothing is missing, though nothing was replicated: this comparison finds nothing")
        refused = self.grid.run("gleaner-server", "run", self.grid.project, check=False)
        if refused.returncode != 1 or "is older than it was" not in refused.stderr:
            raise Failure(f"the server goes on with a database that lacks what it acknowledged: {refused.stderr}")
        return missing


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--asynchronous", action="store_true")
    options = parser.parse_args(arguments)
    if postgres.WHY_NOT:
        print(postgres.WHY_NOT, file=sys.stderr)
        return 2
    began, done, total, failed = time.monotonic(), 0, 0, []
    nodes = [Node(), Node()]
    try:
        with Grid(SETTINGS) as grid:
            trials = Trials(grid, nodes, options.asynchronous)
            trials.prepare()
            for seed in range(options.seed, options.seed + options.trials):
                if time.monotonic() - began > options.seconds:
                    break
                try:
                    trials.begin()
                    before, acknowledged, back = trials.one(random.Random(seed))
                    print(f"trial {seed}: {before} acknowledged results are missing, as they must be" if options.asynchronous else
                          f"trial {seed}: {before} results were acknowledged before the kill and {acknowledged - before} after it, none is "
                          f"missing; served again after {back:.1f} s", flush=True)
                    total += acknowledged
                except (Failure, AssertionError, subprocess.TimeoutExpired) as fault:
                    failed.append(seed)
                    print(f"trial {seed}: {fault}\n{grid.log('server')[-1500:]}", flush=True)
                finally:
                    trials.end()
                done += 1
    finally:
        for node in nodes:
            shutil.rmtree(node.directory, ignore_errors=True)
    print(f"{done} trials in {time.monotonic() - began:.0f} s, {total} acknowledged results; " +
          (f"not as it should be: {failed}" if failed else "all as it should be"))
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
