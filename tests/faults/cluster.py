#!/usr/bin/env python3
"""A whole cluster whose parts are killed with -9 at random: the server that leads, the one that stands by, front ends, PostgreSQL's primary
(its synchronous standby is promoted, and what was killed becomes the next standby), the object store's servers. Meanwhile real hosts
compute pictures, killed at random, too, and gleaner-loadgen's deliver, all through one address of HAProxy's. Each picture must be that of one undisturbed
process, nothing that was acknowledged may be missing, and `gleaner-server check --deep` must find nothing.

  tests/faults/cluster.py [--kills N] [--seed S] [--every T] [--round T] [--seconds T] [--keep DIR]

  --kills N    at least so many (default 500)
  --seed S     of what is killed when (default 1)
  --every T    seconds from kill to kill, on average (default 3): parts start again after up to two, whatever else is down
  --round T    seconds of killing, after which all must come to rest, and the ledger is compared with the database (default 120)
  --seconds T  kill nothing after so many seconds
  --keep DIR   logs of what went wrong go there

GLEANER_BUILD names the build. Exit status: 0 as it should be, 1 not so, 2 wrong usage, or a cluster cannot be run here.
"""
import argparse
import collections
import http.client
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "tests" / "functional"), str(SOURCE / "tools")]

import postgres
import swift
from check_ledger import check_ledger
from front_test import program
from harness import MANDELBROT, SLOW, Grid, built, free_port

from cluster_parts import Failure, Pair, Program, Store

HOSTS = 20
CLIENTS = ("a", "b")
SETTINGS = """work.commit_seconds = 1
work.heartbeat_seconds = 2
work.unit_minimum_seconds = 1
hosts.joins_per_hour = 100000
hosts.requests_per_second = 100000
server.requests_per_second_per_network = 100000
server.proxies = "127.0.0.1"
"""
# Rows of 36 KB, so that many segments are objects.
PICTURE = {"width": 6000, "height": 120, "iterations": 6000}
FRONT_HAS = ("server.toml", *(f"keys/{name}" for name in ("root.public", "tls.pem", "tls.key", "link.pem", "blobs.keys")))
WEIGHTS = {"leader": 3, "standby": 2, "front end": 3, "primary": 2, "object store": 2, "client": 1}
PATIENCE = 300  # seconds for what was disturbed to come to an end, once nothing is killed any more


class Cluster:
    def __init__(self, grid, options):
        self.grid, self.options, self.rng = grid, options, random.Random(options.seed)
        self.killed, self.ended, self.ledgers = collections.Counter(), collections.Counter(), []
        self.pictures, self.accepted = 0, 0

    # ---- beginning

    def begin(self):
        grid = self.grid
        self.pair = Pair(self.rng)
        self.store = Store(self.rng)
        links = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        grid.change_settings(f'store.url = "{self.pair.url}"\nblobs.url = "{self.store.swift.url("cluster")}"\n'
                             f'link.servers = "{", ".join(links)}"')
        keys = grid.project / "keys" / "blobs.keys"
        keys.write_text(f"{swift.KEY}\n{swift.SECRET}\n")
        keys.chmod(0o600)
        grid.run("gleaner-server", "link-key", grid.project / "keys" / "link.pem")
        fronts = [self.part_of_project(f"front-{i}", FRONT_HAS) for i in (1, 2)]
        elsewhere = self.part_of_project("elsewhere", ("server.toml",))
        for part in ("keys", "admin"):
            shutil.copytree(grid.project / part, elsewhere / part, dirs_exist_ok=True)
        servers = []
        for directory, link in zip((grid.project, elsewhere), links):
            text = (directory / "server.toml").read_text()
            (directory / "server.toml").write_text(re.sub(r'(?ms)(^\[link\]$.*?^listen = )""', rf'\1"{link}"', text))
            servers.append(directory)
        self.servers = [Program(grid, f"server-{i}", self.rng, "run", directory) for i, directory in enumerate(servers, 1)]
        self.fronts = [Program(grid, f"front-{i}", self.rng, "front", directory) for i, directory in enumerate(fronts, 1)]
        for each in self.servers + self.fronts:
            each.start()
        text = (SOURCE / "deploy" / "cluster" / "haproxy.cfg").read_text()
        for here, there in (("0.0.0.0:443", grid.port), *((f"127.0.0.1:{8443 + i}", self.fronts[i].port) for i in range(2))):
            text = text.replace(here, f"127.0.0.1:{there}")
        (grid.directory / "haproxy.cfg").write_text(text)
        grid.start("haproxy", pathlib.Path(program("haproxy")), "-db", "-f", grid.directory / "haproxy.cfg")
        self.wait("an answer", self.answers)
        self.add_work()

    def part_of_project(self, name, files):
        directory = self.grid.directory / name
        (directory / "keys").mkdir(parents=True, mode=0o700)
        for file in files:
            shutil.copy2(self.grid.project / file, directory / file)
        return directory

    def add_work(self):
        """Pictures for the clients, whose application wants two cores, and an endless problem for gleaner-loadgen's hosts, of one."""
        grid = self.grid
        pictures = grid.directory / "pictures"
        shutil.copytree(MANDELBROT, pictures)
        manifest = pictures / "manifest.toml"
        manifest.write_text(manifest.read_text().replace('"mandelbrot"', '"pictures"', 1).replace("threads = 1", "threads = 2"))
        grid.add_application(pictures)
        grid.add_application(built("bundles/load"))
        self.expected = grid.run_local(pictures, **PICTURE)
        grid.add_problem("load", "load", "--strategy", "ss,mode=paper", "--straggler", "none", "--priority", "-8", count=10**9)
        grid.run("gleaner-loadgen", "enrol", "--join-code", grid.own_code, "--hosts", HOSTS, "--hosts-file", grid.directory / "hosts")
        for name in CLIENTS:
            grid.add_client(name, cores=2)

    # ---- what is asked, of whoever answers

    def answers(self):
        try:
            return self.grid.request("GET", "/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def ask(self, *arguments):
        """Null while nobody answers."""
        done = self.grid.admin("--json", *arguments, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def wait(self, what, condition):
        end = time.monotonic() + PATIENCE * SLOW
        while not (value := condition()):
            if time.monotonic() > end:
                raise Failure(f"timed out waiting for {what}")
            self.step()
            time.sleep(0.05)
        return value

    # ---- killing

    def step(self):
        """What was killed, or ended since a part that it needs was, begins again; the next standby is made."""
        self.pair.step()
        self.store.step()
        for each in self.servers + self.fronts:
            if why := each.step():
                self.ended[why] += 1
        for name in (*CLIENTS, "haproxy"):
            if (process := self.grid.processes.get(name)) and process.poll() is not None:
                raise Failure(f"{name} ended with {process.returncode}: {self.grid.log(name)[-500:]}")

    def victims(self):
        """{kind: how to kill one}, of what runs."""
        leader = [server for server in self.servers if server.runs() and server.serves()]
        standby = [server for server in self.servers if server.runs() and not server.serves()]
        fronts = [front for front in self.fronts if front.runs()]
        found = {}
        for kind, programs in (("leader", leader), ("standby", standby), ("front end", fronts)):
            if programs:
                found[kind] = self.rng.choice(programs).kill
        found["client"] = lambda: self.restart(self.rng.choice(CLIENTS))
        if self.pair.safe():
            found["primary"] = self.pair.kill_primary
        if self.store.all_run():
            found["object store"] = self.store.kill
        return found

    def kill_one(self):
        victims = self.victims()
        if victims:
            kind, = self.rng.choices(list(victims), [WEIGHTS[kind] for kind in victims])
            victims[kind]()
            self.killed[kind] += 1

    def restart(self, name):
        self.grid.kill(name)
        self.grid.start_client(name, cores=2)

    # ---- a round

    def load(self):
        ledger = self.grid.directory / f"ledger-{len(self.ledgers)}"
        self.ledgers.append(ledger)
        return self.grid.start("load", "gleaner-loadgen", "run", "--join-code", self.grid.own_code, "--hosts", HOSTS, "--hosts-file",
                               self.grid.directory / "hosts", "--connections", 8, "--compute", 1000, "--warm-up", 0, "--seconds",
                               self.options.round, "--drain", 60, "--seed", self.options.seed + len(self.ledgers), "--ledger", ledger)

    def look(self, identity):
        """Whether it is finished, and right as far as it is."""
        info = self.ask("problem", "show", identity)
        if info is None:
            return False
        if info["state"] not in ("planning", "running", "combining", "finished"):
            raise Failure(f"picture {identity} is {info['state']}: {info['message']}")
        if info["accepted"] < self.accepted:
            raise Failure(f"picture {identity}: {self.accepted} rows were accepted, now {info['accepted']}")
        self.accepted = info["accepted"]
        if info["state"] != "finished":
            return False
        if sum(share["items"] for share in info["shares"]) != PICTURE["height"]:
            raise Failure(f"picture {identity}: rows counted twice or lost: {info['shares']}")
        return True

    def take(self, identity):
        target = self.grid.directory / f"result-{identity}"
        if self.grid.admin("problem", "result", identity, "-o", target, check=False).returncode != 0:
            return False
        if {path.name: path.read_bytes() for path in target.iterdir()} != self.expected:
            raise Failure(f"picture {identity} is not that of one process")
        self.pictures, self.accepted = self.pictures + 1, 0
        return True

    def add_picture(self):
        name = f"picture-{self.pictures}"
        pairs = [word for key, value in PICTURE.items() for word in ("--param", f"{key}={value}")]
        added = self.ask("problem", "add", "--app", "pictures", "--name", name, "--priority", "8", *pairs)
        if added:
            return added["id"]
        found = self.ask("problem", "list")  # the answer may have been lost
        return next((each["id"] for each in found["items"] if each["name"] == name), None) if found else None

    def round(self, end):
        load = self.load()
        picture = self.wait("a picture to be added", self.add_picture)
        at = time.monotonic()
        while load.poll() is None:
            self.step()
            if self.look(picture) and self.take(picture):
                picture = self.wait("a picture to be added", self.add_picture)
            if at <= time.monotonic() < end:
                self.kill_one()
                at += self.rng.uniform(0, 2 * self.options.every)
            time.sleep(0.05)
        del self.grid.processes["load"]
        if load.returncode != 0:
            raise Failure(f"gleaner-loadgen ended with {load.returncode}: {self.grid.log('load')[-1000:]}")
        self.wait("an answer", self.answers)
        for name in CLIENTS:  # which may have come to wait for minutes until they ask again
            self.restart(name)
        self.wait("the picture", lambda: self.look(picture) and self.take(picture))
        self.check()

    def check(self):
        """The ledger against the database, all of it so far. Of the clients' results there is no ledger."""
        self.wait("a standby of the database", self.pair.safe)
        faults = check_ledger(self.pair.primary.url, self.ledgers, bytes_every=200)
        own = {row[0] for row in self.pair.primary.query("SELECT units.id FROM units JOIN hosts ON hosts.id = units.host WHERE hosts.name IN "
                                                         f"({', '.join(repr(name) for name in CLIENTS)})")}
        faults = [fault for fault in faults if not ("was never sent" in fault and re.match(r"unit (\d+)", fault)[1] in own)]
        if faults:
            raise Failure("\n".join(faults[:20]))

    def acknowledged(self):
        return sum(ledger.read_text().count("\naccepted ") for ledger in self.ledgers)

    def finish(self):
        """All end as they are asked to, and the project is whole."""
        self.grid.admin("audit", "verify")
        for each in self.fronts + self.servers:
            if (code := each.end()) != 0:
                raise Failure(f"{each.label} ended with {code} when it was asked to")
        done = self.grid.run("gleaner-server", "check", self.grid.project, "--deep", "--json", check=False)
        if done.returncode != 0:
            raise Failure(f"gleaner-server check exits with {done.returncode}: {done.stdout[-2000:]}{done.stderr}")

    def close(self):
        for part in ("pair", "store"):
            if hasattr(self, part):
                getattr(self, part).close()


def run(grid, options):
    cluster, began = Cluster(grid, options), time.monotonic()
    try:
        cluster.begin()
        rounds, fault, first = 0, None, time.monotonic()
        while sum(cluster.killed.values()) < options.kills and time.monotonic() - first < options.seconds:
            cluster.round(first + options.seconds)
            rounds += 1
            print(f"round {rounds}: {sum(cluster.killed.values())} kills, {cluster.pictures} pictures, {cluster.acknowledged()} results "
                  "acknowledged, none is missing", flush=True)
        cluster.finish()
    except (Failure, AssertionError, OSError, subprocess.SubprocessError) as problem:
        fault = f"{type(problem).__name__}: {problem}"
    finally:
        cluster.close()
    print(f"{sum(cluster.killed.values())} kills in {time.monotonic() - began:.0f} s: " +
          ", ".join(f"{kind} {count}" for kind, count in sorted(cluster.killed.items())))
    print(f"{cluster.pictures} pictures, {cluster.acknowledged()} results of generated load; " +
          ("; ".join(f"{why}: {count}" for why, count in sorted(cluster.ended.items())) or "nothing ended by itself"))
    print(f"not as it should be (seed {options.seed}): {fault}" if fault else "all as it should be")
    return fault


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=3)
    parser.add_argument("--round", type=float, default=120)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--keep")
    options = parser.parse_args(arguments)
    if options.help:
        print(__doc__)
        return 0
    why_not = postgres.WHY_NOT or swift.WHY_NOT or (None if program("haproxy") else "HAProxy is not installed (tools/setup cluster)")
    if why_not:
        print(why_not, file=sys.stderr)
        return 2
    with Grid(SETTINGS) as grid:
        fault = run(grid, options)
        if fault and options.keep:
            shutil.copytree(grid.directory, options.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock"))
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
