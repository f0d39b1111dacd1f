"""One combination: a project with a few hosts, and what a seed says happens to them at once; afterwards, what must hold.

A seed fixes what happens, to whom, when and in which order. It does not fix how programs interleave.
"""
import contextlib
import json
import pathlib
import random
import sys
import time

from computers import SmallDisk, copy_state, elsewhere
from harness import SLOW, SOURCE, Calendar, Grid, code_at
from kernels import Held
from link_proxy import Link
from tree import SETTINGS, Tree

sys.path.append(str(SOURCE / "tools"))

ITEMS = 3000
BACK_WITHIN = 150  # seconds until each host computes again: a client looks once a minute whether its disk has room
DISK = 64  # megabytes of a client's disk
# What may happen, and how often it is drawn.
KINDS = {"clone": 4, "restore": 4, "rename": 3, "slow": 3, "cut": 2, "kill-client": 4, "kill-server": 3, "kill-relay": 2, "full": 3,
         "clock-client": 2, "clock-server": 2, "newcomer": 2, "put-out": 2}
LINE = {"up": 8000, "down": 8000, "latency": 0.05, "loss": 0.03, "breaks": 60_000}
JUMPS = [-7200, -30, 900, 7200, 3 * Calendar.DAY, -3 * Calendar.DAY]  # seconds


def draw(seed):
    """The combination of a seed: [(second, kind, number that says of whom, seconds that it lasts)] in order."""
    lots = random.Random(seed)
    count = lots.choices([2, 3, 4, 5], [3, 4, 3, 1])[0]
    relay = lots.random() < 0.4
    names = [kind for kind in KINDS if relay or kind != "kill-relay"]
    kinds = []
    while len(kinds) < count:
        kind = lots.choices(names, [KINDS[name] for name in names])[0]
        if kind not in kinds or kind.startswith("kill"):
            kinds.append(kind)
    happens = sorted((round(lots.uniform(0, 5), 1), kind, lots.randrange(1 << 30), round(lots.uniform(0.3, 4), 1)) for kind in kinds)
    return {"seed": seed, "relay": relay, "clients": lots.randint(2, 3), "item_bytes": lots.choice([1, 1, 3000, 30_000]),
            "backup": round(lots.uniform(0, 2), 1), "happens": happens}


class Violation(AssertionError):
    pass


class Combination:
    """`grid`: entered, a Tree where the plan has a relay."""

    def __init__(self, grid, plan):
        self.grid, self.plan = grid, plan
        self.told = []  # what happened
        self.links, self.disks, self.calendars, self.before = {}, {}, {}, {}
        self.codes = {}
        self.backup, self.out = None, set()  # `out`: who was put out and has not joined again

    def run(self):
        with contextlib.ExitStack() as ends:
            self.ends = ends
            self.begin()
            self.let_happen()
            self.make_good()
            self.check_that_all_compute()
            self.check_the_end()

    # ---- the project and its hosts

    def begin(self):
        grid = self.grid
        self.calendars["server"] = Calendar(grid.directory)
        grid.start_server(env=self.calendars["server"].env)
        self.held = Held(grid, ITEMS, pause=0.1, item_bytes=self.plan["item_bytes"])
        self.problem = self.held.add()
        self.code = grid.own_code
        if self.plan["relay"]:
            grid.add_relay("lab")
        for number in range(self.plan["clients"]):
            self.add_client("abc"[number], under_relay=self.plan["relay"] and number != 1)
        self.wait("results", lambda: grid.problem(self.problem)["accepted"] > 10, 60)

    def add_client(self, name, under_relay=False):
        grid = self.grid
        self.disks[name] = SmallDisk(grid.state(name), DISK)
        self.ends.callback(self.disks[name].close)
        self.links[name] = Link(grid.relay_ports["lab"] if under_relay else grid.port)
        self.ends.callback(self.links[name].close)
        self.codes[name] = code_at(grid.relay_code("lab") if under_relay else self.code, f"127.0.0.1:{self.links[name].port}")
        grid.join(name, code=self.codes[name])
        grid.control(name, "prefs", "set", "disk_free_megabytes", "2")
        self.calendars[name] = Calendar(grid.directory)
        self.before[name] = elsewhere(grid, name, f"{random.Random(name).getrandbits(128):032x}", f"pc-{name}")
        self.start_client(name)

    def start_client(self, name):
        self.held.start_client(name, before=self.before[name], env=self.calendars[name].env)

    def wait(self, what, condition, seconds):
        """The first true value of `condition`, which may also raise while the server is away."""
        end = time.monotonic() + seconds * SLOW
        while True:
            last = None
            try:
                if value := condition():
                    return value
            except (AssertionError, OSError) as error:
                last = error
            if time.monotonic() > end:
                raise Violation(f"not within {seconds} s: {what}" + (f" ({last})" if last else ""))
            time.sleep(0.1)

    # ---- what happens

    def let_happen(self):
        plans = [(at, lambda kind=kind, which=which, lasts=lasts: self.happen(kind, which, lasts))
                 for at, kind, which, lasts in self.plan["happens"]]
        plans.append((self.plan["backup"], self.make_backup))
        begun = time.monotonic()
        while plans:
            plans.sort(key=lambda plan: plan[0])
            at, what = plans.pop(0)
            time.sleep(max(0, begun + at - time.monotonic()))
            undo = what()
            if undo:  # (seconds that it lasts, what ends it)
                plans.append((time.monotonic() - begun + undo[0], undo[1]))

    def happen(self, kind, which, lasts):
        names = sorted(self.before)
        name = names[which % len(names)]
        self.told.append(f"{kind} {name} for {lasts} s")
        return getattr(self, kind.replace("-", "_"))(name, which, lasts)

    def make_backup(self):
        if "restore" in [kind for _, kind, _, _ in self.plan["happens"]] and self.backup is None and "server" in self.grid.processes:
            self.backup = self.grid.directory / "backup"
            self.grid.run("gleaner-server", "backup", self.grid.project, self.backup)

    def clone(self, name, which, lasts):
        """The disk of one that runs is copied; the copy runs on another computer."""
        copy = f"{name}-{len(self.before)}"
        copy_state(self.grid.state(name), self.grid.state(copy))
        self.calendars[copy], self.links[copy] = Calendar(self.grid.directory), self.links[name]
        self.codes[copy] = self.codes[name]
        self.out |= {copy} if name in self.out else set()
        self.before[copy] = elsewhere(self.grid, copy, f"{random.Random(copy).getrandbits(128):032x}", f"pc-{copy}")
        self.start_client(copy)

    def restore(self, name, which, lasts):
        if self.backup is None:
            self.make_backup()
        if "server" in self.grid.processes:
            self.calendars["server"].jump(0)  # it does not start before its work key's certificate begins
            self.grid.restore_server(self.backup, env=self.calendars["server"].env)

    def rename(self, name, which, lasts):
        self.stop(name)
        self.before[name] = elsewhere(self.grid, name, f"{which:032x}", f"renamed-{which % 1000}")
        self.start_client(name)

    def slow(self, name, which, lasts):
        self.links[name].shape(**LINE)
        return 2 * lasts, self.links[name].shape

    def cut(self, name, which, lasts):
        self.links[name].cut(silent=which % 2 == 1)
        return lasts, self.links[name].restore

    def stop(self, name):
        if name in self.grid.processes:
            self.grid.kill(name)

    def kill_client(self, name, which, lasts):
        self.stop(name)
        return lasts / 4, lambda: self.start_again(name)

    def start_again(self, name):
        if name not in self.grid.processes:
            self.start_client(name)

    def kill_server(self, name, which, lasts):
        self.stop("server")
        return lasts, self.start_server_again

    def start_server_again(self):
        if "server" not in self.grid.processes:
            self.calendars["server"].jump(0)
            self.grid.start_server(env=self.calendars["server"].env)

    def kill_relay(self, name, which, lasts):
        self.stop("lab")
        return lasts, self.start_relay_again

    def start_relay_again(self):
        if "lab" not in self.grid.processes:
            self.grid.start_relay("lab")

    def full(self, name, which, lasts):
        disk = self.disks.get(name) or self.disks["a"]  # a copy has none of its own
        disk.fill()
        return lasts, disk.empty

    def clock_client(self, name, which, lasts):
        self.calendars[name].jump(JUMPS[which % len(JUMPS)])
        return lasts, lambda: self.calendars[name].jump(0)

    def clock_server(self, name, which, lasts):
        return self.clock_client("server", which, lasts)

    def newcomer(self, name, which, lasts):
        if "server" in self.grid.processes:
            self.add_client("new")

    def put_out(self, name, which, lasts):
        """An administrator revokes it and lets it return: its owner joins with its code again."""
        number = self.host_of(name)
        sharing = {each for each in self.before if self.host_of(each) == number}
        revoked = "server" in self.grid.processes and self.grid.admin("host", "revoke", number, "--may-return", "--yes", check=False)
        if not revoked or revoked.returncode != 0:
            return None
        self.out |= sharing
        return lasts, self.all_return

    def all_return(self):
        for name in sorted(self.out):
            if "server" in self.grid.processes:
                self.return_to_project(name)

    def return_to_project(self, name):
        """True if it has joined; else it is tried again in the end."""
        joined = self.grid.run("gleaner-client", "join", "--state", self.grid.state(name), self.codes[name], env=self.calendars[name].env,
                               check=False, timeout=240)  # a client that runs joins within three minutes, or says why not
        # Without a word of the server a client that has joined before says that, too.
        states = {host["id"]: host["state"] for host in self.grid.admin_json("host", "list")["items"]} if joined.returncode == 0 else {}
        if states.get(self.host_of(name)) != "active":
            return False
        self.out.discard(name)
        return True

    def make_good(self):
        """Whatever still is wrong when all has happened ends."""
        for link in self.links.values():
            link.restore()
            link.shape()
        for disk in self.disks.values():
            disk.empty()
        self.start_server_again()
        if self.plan["relay"]:
            self.start_relay_again()
        for name in self.before:
            self.start_again(name)
        for name in sorted(self.out):
            self.wait(f"{name} to join again", lambda name=name: self.return_to_project(name), 60)

    # ---- what must hold

    def host_of(self, name):
        return json.loads((self.grid.membership(name) / "identity" / "host.json").read_text())["host"]

    def items_of(self):
        """{client: items that were accepted of it}; of clients with a number of their own."""
        hosts = {host["id"]: host["items_accepted"] for host in self.grid.admin_json("host", "list")["items"]}
        numbers = {name: self.host_of(name) for name in self.before}
        return {name: hosts[number] for name, number in numbers.items()
                if number in hosts and list(numbers.values()).count(number) == 1}

    def check_that_all_compute(self):
        begun = time.monotonic()
        self.wait("a server", self.items_of, 60)
        first, back = {}, {}

        def all_compute():
            now = self.items_of()
            for name, items in now.items():
                key = name, self.host_of(name)
                if items > first.setdefault(key, items):
                    back.setdefault(name, time.monotonic() - begun)
            return set(back) == set(self.before)

        try:
            self.wait("all to compute", all_compute, BACK_WITHIN)
        except Violation as late:
            missing = sorted(set(self.before) - set(back))
            raise Violation(f"{late}: {', '.join(missing)} did not: "
                            + "; ".join(self.grid.control(name, "why", check=False).stdout.strip() for name in missing)) from None
        self.slowest = max(back.values())

    def check_the_end(self):
        grid = self.grid
        self.held.let_go()
        info = grid.wait_finished(self.problem, 180)
        self.expect(grid.results(self.problem) == self.held.expected, "the result is not that of an undisturbed run")
        self.expect(sum(share["items"] for share in info["shares"]) == ITEMS, f"counted twice or not: {info['shares']}")
        hosts = grid.admin_json("host", "list")["items"]
        self.expect(sum(host["items_accepted"] for host in hosts) == ITEMS, f"hosts' items are not the problem's: {hosts}")
        ranges = sorted(tuple(map(int, row)) for row in
                        grid.rows(f"SELECT range_begin, range_end FROM accepted WHERE problem = {self.problem}"))
        ends = [0, *(end for _, end in ranges)]
        self.expect([begin for begin, _ in ranges] == ends[:-1] and ends[-1] == ITEMS, f"accepted ranges: {ranges}")
        # Nothing was held against the application, or against a host.
        self.expect(not info["set_aside"], f"failures of the application: {info['set_aside']}")
        self.expect(not any(host["failures"] for host in hosts), f"failures of hosts: {hosts}")
        # Each finished result had its answer, and none was refused but for one that the end of the problem overtook.
        for name in self.before:
            self.wait(f"an answer for all that {name} has", lambda name=name: not list(grid.membership(name).glob("units/*")), 60)
        for name in self.before:  # a client asks twice before it takes a refusal
            refused = [line for line in grid.log(name).splitlines()
                       if "the server refused items" in line and "needs no more results" not in line]
            self.expect(not refused, f"{name}: {refused}")
        grid.kill("server", how=15)
        checked = grid.run("gleaner-server", "check", grid.project, check=False)
        # The act of putting somebody out, after the backup, is missing in what was restored: it says so.
        kinds = {kind for _, kind, _, _ in self.plan["happens"]}
        serious = [line for line in checked.stdout.splitlines() if line.startswith("serious:")]
        act_is_gone = kinds >= {"restore", "put-out"} and len(serious) == 1 and serious[0].startswith("serious: audit-log:")
        self.expect(checked.returncode == 0 or act_is_gone, f"gleaner-server check: {checked.stdout}")

    @staticmethod
    def expect(holds, what):
        if not holds:
            raise Violation(what)


def run(seed, keep=None):
    """(plan, what is wrong or None, seconds, seconds until all computed again) of a seed."""
    plan = draw(seed)
    begun = time.monotonic()
    wrong, slowest = None, None
    with (Tree() if plan["relay"] else Grid(SETTINGS)) as grid:
        combination = Combination(grid, plan)
        try:
            combination.run()
            slowest = combination.slowest
        except (AssertionError, OSError) as error:
            wrong = f"{error} after {combination.told}"
            if keep:
                target = pathlib.Path(keep) / f"seed-{seed}"
                target.mkdir(parents=True, exist_ok=True)
                for log in grid.directory.glob("*.log"):
                    (target / log.name).write_bytes(log.read_bytes())
    return plan, wrong, time.monotonic() - begun, slowest
