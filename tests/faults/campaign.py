"""One campaign: a real server, real and simulated hosts, and what a seed says goes wrong; afterwards, what must hold.

A seed fixes the scenario: what fails, at which event or time, and who does what. It does not fix how threads interleave.
"""
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "tests" / "functional"), str(SOURCE / "tools")]

from check_ledger import check_ledger
from harness import SLOW, Calendar, Grid, free_port, managers_settings, sandbox_arguments

from hosts import Host, Ledger, call, enrol, expected_result
from plans import plan_of
from proxy import Proxy, Weather

APPLICATION = SOURCE / "tests" / "faults" / "app"
SERVER = "gleaner-faulty-server"
PATIENCE = 120  # seconds that a campaign may take
SETTINGS = """
work.commit_seconds = 1
work.heartbeat_seconds = 1
hosts.joins_per_hour = 100000
store.disk_reserve_megabytes = 0
managers.memory_megabytes = 128
managers.disk_megabytes = 64
"""
MANAGERS_OFF = "off: I accept that managers read this server's keys and everybody's results"


class Violation(Exception):
    pass


class Yard:
    """What all campaigns of one process start from: a project with an application and hosts, made once. Its ports are the
    campaigns' own."""

    def __init__(self):
        self.grid = Grid(SETTINGS)
        self.grid.__enter__()
        self.port, self.server_port = self.grid.port, free_port()
        self.bare = self.grid.directory / "bare"
        shutil.copytree(self.grid.project, self.bare)
        self.grid.start_server()
        self.grid.add_application(APPLICATION)
        self.hosts = [enrol(self.port, self.grid.own_secret, f"host {i}") for i in range(4)]
        self.grid.join("real")
        self.grid.kill("server", signal.SIGTERM)
        with contextlib.closing(sqlite3.connect(self.grid.project / "store.sqlite")) as store:
            self.migrations = store.execute("SELECT count(*) FROM schema_version").fetchone()[0]
        keys = self.grid.project / "keys"
        self.proxy = Proxy(self.port, self.server_port, (keys / "tls.pem", keys / "tls.key"))

    def close(self):
        self.proxy.close()
        self.grid.__exit__(None, None, None)


class Campaign:
    def __init__(self, yard, plan):
        self.yard, self.plan = yard, plan
        self.rng = random.Random(plan["rng"])
        self.directory = yard.grid.directory / f"campaign-{plan['seed']}"
        self.project = self.directory / "project"
        self.log = self.directory / "server.log"
        self.faults = []
        self.lives = list(plan["lives"])
        self.deaths = collections.Counter()
        self.server = None
        self.killing = False
        self.token = (yard.grid.project / "admin" / "token").read_text().strip()

    # ---- the server

    def environment(self, life):
        env = dict(self.calendar.env) if self.calendar else dict(os.environ)
        for name in ("GLEANER_FAILPOINT", "GLEANER_DISK"):
            env.pop(name, None)
        if "GLEANER_FAILPOINT" in life:
            env["GLEANER_FAILPOINT"] = life["GLEANER_FAILPOINT"]
        if "disk" in life:
            env["GLEANER_DISK"] = f"root={self.project},{life['disk']}"
        return env

    def run_server(self, project, env, log=None):
        with open(log or self.log, "a") as log:
            return subprocess.Popen([self.yard.grid.program(SERVER), "run", str(project), "--port", str(self.yard.server_port)],
                                    stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
                                    start_new_session=True)

    def start_server(self):
        self.life = self.lives.pop(0) if self.lives else {}
        self.life_begins = self.log.stat().st_size if self.log.exists() else 0
        self.server = self.run_server(self.project, self.environment(self.life))

    def watch_server(self):
        """A server that ended begins its next life. Only what was to end may end."""
        if self.server.poll() is None:
            return
        code = self.server.returncode
        with open(self.log, errors="replace") as log:
            log.seek(self.life_begins)
            said = log.read()
        wrong_disk = "full=" in self.life.get("disk", "") or "fail=" in self.life.get("disk", "")
        refused = code == 1 and (wrong_disk or ":error" in self.life.get("GLEANER_FAILPOINT", ""))
        if code == 1 and self.calendar and "check this computer's date" in said:
            self.jump(0)  # started before its keys were made: it says so, and its administrator sets the date
            refused = True
        if code == 1 and "two-servers" in self.plan["kinds"] and "another gleaner-server" in said:
            refused = True  # the second server was there while this one was down
        if code != -signal.SIGKILL and not refused:
            raise Violation(f"the server ended with {code}: {said[-500:]}")
        if code == -signal.SIGKILL and not self.killing and not self.life:
            raise Violation("the server was killed by nobody")
        self.killing = False
        self.deaths["refused to start" if refused else "killed"] += 1
        self.start_server()

    def kill_server(self):
        if self.server.poll() is None:
            self.killing = True
            self.server.kill()
            self.server.wait()

    # ---- what administrators do

    def admin(self, method, path, body=None):
        return call(self.yard.server_port, method, f"/v1/admin/{path}", body, self.token)

    def add_problem(self, name, **parameters):
        """Until it is there: an answer may have been lost."""
        body = {"application": "tally", "name": name, "parameters": json.dumps(
                    {"count": self.plan["items"], "bytes": self.plan["bytes"], "pause": self.plan["pause"], **parameters}),
                "strategy": self.plan["strategy"], "straggler": self.plan["straggler"]}

        def added():
            status, reply = self.admin("POST", "problems", body)
            if status == 200:
                return reply["id"]
            if status == 409 and "is here already" in reply.get("detail", ""):
                status, reply = self.admin("GET", "problems")
                return next((p["id"] for p in reply["items"] if p["name"] == name), None) if status == 200 else None
            if "mishap" in parameters and reply and "manager" in reply.get("detail", ""):
                return -1
            if status not in (0, 409, 429, 500, 503):
                raise Violation(f"adding a problem was answered {status} {reply}")
            return None

        return self.wait(f"problem {name} to be added", added)

    def wait(self, what, condition):
        while True:
            self.watch_server()
            self.act()
            value = condition()
            if value:
                return value
            if time.monotonic() > self.deadline:
                raise Violation(f"timed out waiting for {what}: {self.shown()}")
            time.sleep(0.05)

    def shown(self):
        status, reply = self.admin("GET", "problems")
        return [{key: p[key] for key in ("name", "state", "message", "items", "accepted", "units")
                 if key in p} for p in reply["items"]] if status == 200 else f"status {status}"

    def finished(self, identity):
        """The problem, when it is. What failed for reasons that the scenario made says so, and is tried again."""
        status, reply = self.admin("GET", f"problems/{identity}")
        if status != 200:
            return None
        if reply["state"] == "failed":
            self.failed(reply)
            self.admin("POST", f"problems/{identity}/retry", {})
        if reply["state"] in ("paused", "stopped"):
            raise Violation(f"the problem is {reply['state']}: {reply['message']}")
        return reply if reply["state"] == "finished" else None

    def failed(self, reply):
        self.deaths["problem failed and was tried again"] += 1
        reasons = {"manager-killed": "manager", "manager-stopped": "manager"}
        if not any(words in reply["message"] for kind, words in reasons.items() if kind in self.plan["kinds"]):
            raise Violation(f"the problem failed: {reply['message']}")

    # ---- what happens meanwhile

    def schedule(self):
        """[(seconds after the beginning, what is done)]"""
        rng, kinds, plans = self.rng, self.plan["kinds"], []
        if "kill" in kinds:
            plans += [(rng.uniform(0.1, 3), self.kill_server) for _ in range(rng.randint(1, 3))]
        if "clock" in kinds:
            plans += [(rng.uniform(0.2, 3), lambda seconds=rng.choice([-7200, 7200, -30, 15, 3 * Calendar.DAY]):
                       self.jump(seconds)) for _ in range(rng.randint(1, 3))]
        if "month" in kinds:
            plans.append((rng.uniform(0.5, 2), self.month))
        if "vanish" in kinds or "month" in kinds:
            plans.append((rng.uniform(1.5, 4), self.come_back))
        if "two-servers" in kinds:
            plans.append((rng.uniform(0.1, 2), self.second_server))
        for kind, how in (("manager-killed", signal.SIGKILL), ("manager-stopped", signal.SIGSTOP)):
            if kind in kinds:
                plans += [(rng.uniform(0.05, 3), lambda how=how: self.signal_managers(how)) for _ in range(rng.randint(1, 3))]
        if "client" in kinds:
            plans.append((rng.uniform(0, 0.5), self.start_client))
            plans += [(rng.uniform(0.5, 3), self.restart_client) for _ in range(rng.randint(0, 2))]
        return sorted(plans, key=lambda plan: plan[0])

    def act(self):
        while self.plans and time.monotonic() - self.begun > self.plans[0][0]:
            self.plans.pop(0)[1]()

    def jump(self, seconds):
        if self.calendar:
            self.calendar.jump(seconds)

    def month(self):
        self.jump(31 * Calendar.DAY)

    def come_back(self):
        for host in self.hosts:
            host.returns.set()

    def second_server(self):
        second = self.run_server(self.project, dict(os.environ), self.directory / "second.log")
        alone = self.server.poll() is not None
        try:
            code = second.wait(timeout=10 * SLOW)
        except subprocess.TimeoutExpired:
            second.kill()
            second.wait()
            if alone or self.server.poll() is not None:  # the first had ended: the second had every right
                return
            raise Violation("a second server runs on the same directory")
        if code != 1 and not alone:
            raise Violation(f"a second server on the same directory ended with {code}")

    def managers(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and str(self.directory).encode() in (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
        return [pid for pid in found if self.server is None or pid != self.server.pid]

    @staticmethod
    def describe(pid):
        with contextlib.suppress(OSError):
            words = (pathlib.Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            return f"{pid} {(pathlib.Path('/proc') / str(pid) / 'stat').read_text().split()[1:6]} {words[:60]} ... {words[-120:]}"
        return f"{pid}, gone by now"

    def signal_managers(self, how):
        group = set()
        for entry in pathlib.Path("/proc").iterdir():  # the server's children, whatever user they run as
            with contextlib.suppress(OSError, ValueError):
                if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == self.server.pid:
                    group.add(int(entry.name))
        for pid in group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, how)
                if how == signal.SIGSTOP:
                    pause = self.rng.uniform(0.2, 1.5)
                    threading.Timer(pause, lambda pid=pid: contextlib.suppress(ProcessLookupError).__enter__() or self.go_on(pid)).start()

    @staticmethod
    def go_on(pid):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGCONT)

    def start_client(self):
        state = self.directory / "client"
        if not state.exists():
            shutil.copytree(self.yard.grid.state("real"), state)
        with open(self.directory / "client.log", "a") as log:
            self.client = subprocess.Popen(
                [self.yard.grid.program("gleaner-client"), "run", "--state", str(state),
                 *sandbox_arguments(state), "--run", "always", "--cores", "1", "--cpu-share", "1.0", "--priority", "normal",
                 "--benchmark-mflops", "1000"], stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                start_new_session=True)

    def stop_client(self):
        if self.client is not None:
            self.client.kill()
            self.client.wait()
            self.client = None

    def restart_client(self):
        self.stop_client()
        self.start_client()

    # ---- all of it

    def run(self):
        """What is wrong, a sentence each."""
        self.directory.mkdir()
        shutil.copytree(self.yard.grid.project, self.project)
        if not self.plan["sandbox"]:
            path = self.project / "server.toml"
            path.write_text(re.sub(r'^sandbox = .*$', f'sandbox = "{MANAGERS_OFF}"', path.read_text(), flags=re.MULTILINE))
        self.client, self.hosts = None, []
        dated = {"clock", "month"} & set(self.plan["kinds"])
        self.calendar = Calendar(self.directory) if dated and SLOW == 1 else None
        self.ledger = Ledger(self.directory / "ledger")
        try:
            self.work()
        except Violation as violation:
            self.faults.append(str(violation))
        finally:
            self.end()
        return self.faults

    def work(self):
        self.begun = time.monotonic()
        self.deadline = self.begun + PATIENCE * SLOW
        if "first-start" in self.plan["kinds"]:
            self.first_start()
        self.yard.proxy.begin(Weather(self.plan["rng"], self.plan["weather"], self.plan["partition"]))
        self.plans = self.schedule()
        self.start_server()
        spoiled = self.add_problem("bad", mishap=self.plan["mishap"]) if "mishap" in self.plan else None
        identity = self.add_problem("good")
        self.start_hosts()
        info = self.wait("the problem", lambda: self.finished(identity))
        if spoiled and spoiled > 0:
            self.check_spoiled(spoiled)
        for plan in self.plans:  # what was to come later comes now
            plan[1]()
        self.plans = []
        self.wait("a server", lambda: self.admin("GET", "status")[0] == 200)
        self.settle()
        self.check_result(identity, info)

    def start_hosts(self):
        kinds = self.plan["kinds"]
        for number in range(self.plan["hosts"]):
            manners = {"replays": 0.3 if "replay" in kinds else 0.02}
            if ("vanish" in kinds or "month" in kinds) and number > 0:
                manners["vanishes"] = self.rng.randint(0, 3)
            self.hosts.append(Host(self.yard.port, self.yard.hosts[number], self.rng.randrange(1 << 30), manners, self.ledger,
                                   lambda grant: json.loads(grant["parameters"])["bytes"], self.plan["pause"]))
        for host in self.hosts:
            host.start()

    def settle(self):
        """Hosts say all they have to say once more, then they end."""
        self.yard.proxy.begin(Weather())
        for host in self.hosts:
            host.stopped.set()
        for host in self.hosts:
            host.join(timeout=30)
            host.stopped.clear()
            host.replay_all()
            self.faults += host.faults
            host.close_ledger()
        self.stop_client()
        self.ledger.close()

    def first_start(self):
        """The first start of a project, whose store is made step by step, is killed or fails; the next one succeeds."""
        project = self.directory / "bare"
        shutil.copytree(self.yard.bare, project)
        seed = self.rng.randrange(1 << 30)
        what = self.rng.choice(["kill", "error", "cut"])
        life = self.rng.choice([
            {"GLEANER_FAILPOINT": f"{self.rng.choice(['migration-step', 'migration-synced'])}:{self.rng.randint(1, self.yard.migrations)}:{what}",
             "GLEANER_DISK": f"root={project},seed={seed}"},
            {"GLEANER_DISK": f"root={project},seed={seed},cut={self.rng.randint(1, 60)}"}])
        server = self.run_server(project, {**os.environ, **life})
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=1)
        server.kill()
        server.wait()
        server = self.run_server(project, dict(os.environ))
        try:
            while call(self.yard.server_port, "GET", "/v1/project")[0] != 200:
                if server.poll() is not None:
                    raise Violation(f"after {life} the project's next first start ended with {server.returncode}")
                time.sleep(0.02)
        finally:
            server.kill()
            server.wait()

    def check_spoiled(self, identity):
        when = self.plan["mishap"].split()[0]

        def over():
            status, reply = self.admin("GET", f"problems/{identity}")
            return reply if status == 200 and (reply["state"] in ("failed", "stopped") or when == "validate") else None

        reply = self.wait("the bad problem to be given up", over)
        says = reply["message"] + reply.get("waits", "")
        if when != "validate" and not any(word in says for word in ("manager", "combining", "planning")):
            raise Violation(f"a problem whose manager went wrong says: {says}")

    def check_result(self, identity, info):
        if sum(share["items"] for share in info["shares"]) != self.plan["items"]:
            raise Violation(f"items counted twice or not: {info['shares']}")
        for file in info["results"]:
            def fetched():
                status, data = call(self.yard.server_port, "GET", f"/v1/blobs/{file['digest']}", token=self.token)
                return None if status in (0, 429, 500, 503) else (status, data)

            status, data = self.wait("the result", fetched)
            if status != 200 or data != expected_result(self.plan["items"], self.plan["bytes"]):
                raise Violation(f"the result is not that of an undisturbed run: {status} {data!r:.200}")
        if len(info["results"]) != 1:
            raise Violation(f"results: {info['results']}")

    def end(self):
        for host in self.hosts:
            host.stopped.set()
        self.stop_client()
        if self.server is None:
            return
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
        try:
            code = self.server.wait(timeout=20 * SLOW)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
            code = "no end"
        if code != 0 and not self.faults and self.life == {}:
            self.faults.append(f"the server ended with {code} when it was asked to")
        if not self.faults:
            self.check_store()
        if not self.faults:
            self.check_left_over()

    def check_store(self):
        # What a last life left to be mended is mended by the next start; that is what is checked.
        done = subprocess.run([self.yard.grid.program("gleaner-server"), "check", str(self.project), "--json"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            findings = json.loads(done.stdout)["findings"] if done.stdout.startswith("{") else done.stderr
            self.faults.append(f"gleaner-server check exits with {done.returncode}: {findings}")
        wrong = check_ledger(self.project / "store.sqlite", [self.directory / "ledger"])
        if "client" in self.plan["kinds"]:  # of its results there is no ledger
            wrong = [fault for fault in wrong if "was never sent" not in fault]
        self.faults += wrong

    def check_left_over(self):
        end = time.monotonic() + 5 * SLOW
        self.server = None
        while left := self.managers():
            if time.monotonic() > end and all("(bwrap)" in self.describe(pid) for pid in left):
                # Bubblewrap whose first process was killed before it let its second go on: that one waits for ever, and holds
                # nothing (bubblewrap 0.8, which ties its life to the first one's only later).
                self.deaths["bubblewrap left waiting"] += len(left)
                for pid in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return
            if time.monotonic() > end:
                self.faults.append(f"processes are left over: {[self.describe(pid) for pid in left]}")
                return
            time.sleep(0.05)


def run(yard, seed, keep=None):
    """(plan, faults, seconds, what happened, log) of a seed's campaign."""
    plan = plan_of(seed)
    begun = time.monotonic()
    campaign = Campaign(yard, plan)
    faults = campaign.run()
    log = "\n".join(campaign.log.read_text(errors="replace").splitlines()[-60:]) if faults and campaign.log.exists() else ""
    if faults and keep:
        shutil.copytree(campaign.directory, pathlib.Path(keep) / f"seed-{seed}", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("*.sock"))
    shutil.rmtree(campaign.directory, ignore_errors=True)
    return plan, faults, time.monotonic() - begun, dict(campaign.deaths), log
