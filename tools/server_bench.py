"""The server under load: `tools/bench server`. A real server in a temporary directory, loaded by gleaner-loadgen in a
process of its own on the same machine; what is quoted of it is the server's CPU time a request, which tells least of the
machine's other work. Every run ends with its ledger compared with the store."""
import asyncio
import collections
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import resource
import secrets
import signal
import sqlite3
import ssl
import statistics
import subprocess
import threading
import time

from check_ledger import check_ledger, read_ledger

SETTINGS = """hosts.joins_per_hour = 1000000
server.connections_max = 1000000
server.connections_per_network_max = 1000000
server.requests_per_second_per_network = 1000000
server.megabytes_per_second_per_network = 1000000
hosts.requests_per_second = 1000000
hosts.megabytes_per_second = 1000000
log.level = "warning"
"""
HOSTS = 2000
GOOD = 20
NETWORKS = 64  # addresses that many connections come from: the server counts them as networks


# ---- A store and its rows

@contextlib.contextmanager
def filling(store):
    """The store of a stopped server, which has everything in one file afterwards."""
    database = sqlite3.connect(store)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -1000000")
    with database:
        yield database
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


class Copies:
    """Rows of a table like one that is there, written ten thousand at a time."""

    def __init__(self, database, table, where="LIMIT 1"):
        cursor = database.execute(f"SELECT * FROM {table} {where}")
        self.database, names = database, [column[0] for column in cursor.description]
        self.model = dict(zip(names, cursor.fetchone()))
        self.command = f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})"
        self.rows = []

    def add(self, **changes):
        self.rows.append(tuple({**self.model, **changes}.values()))
        if len(self.rows) == 10_000:
            self.write()

    def write(self):
        self.database.executemany(self.command, self.rows)
        self.rows.clear()


# ---- A server and its load

class LoadTrial:
    """A server with the application of load tests and one problem of a thousand million items, one a unit."""

    def __init__(self, options, settings=""):
        import harness
        import postgres
        self.database = postgres.Postgres() if options.postgres else None
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        harness.SLOW = 10  # a large store takes its time to open
        self.options, self.built = options, harness.built
        if self.database:
            settings += f'store.url = "{self.database.url}"\n'
        self.grid = harness.Grid(SETTINGS + settings, name="Load")
        self.ledgers = []

    def __enter__(self):
        if self.database:
            self.database.__enter__()
        self.grid.__enter__()
        self.start_server()
        self.grid.add_application(self.built("bundles/load"))
        self.grid.add_problem("load", "load", "--strategy", "ss,mode=paper", "--straggler", "none", count=10**9)
        return self

    def __exit__(self, *why):
        self.grid.__exit__(*why)
        if self.database:
            self.database.__exit__(*why)

    def start_server(self):
        begun = time.monotonic()
        self.server = self.grid.start_server()
        self.grid.request("GET", "/v1/project")
        return time.monotonic() - begun

    def stop_server(self, how=signal.SIGTERM):
        self.grid.kill("server", how)

    @property
    def store(self):
        return self.database.url if self.database else self.grid.project / "store.sqlite"

    @property
    def hosts_file(self):
        return self.grid.directory / "hosts"

    def status(self, name):
        lines = pathlib.Path(f"/proc/{self.server.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def command(self, verb, *arguments):
        return [self.grid.program("gleaner-loadgen"), verb, "--join-code", self.grid.own_code, "--hosts-file",
                str(self.hosts_file), "--server-pid", str(self.server.pid), "--json", *map(str, arguments)]

    def enrol(self, count, file=None, connections=4):
        command = self.command("enrol", "--hosts", count, "--connections", connections)
        if file:
            command[command.index("--hosts-file") + 1] = str(file)
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def fill(self, count):
        """So many hosts more, as copies of the first one's row, with keys and tokens of their own: written into the store,
        which takes seconds where enrolments take minutes. The server is stopped meanwhile."""
        self.stop_server()
        title, *known = self.hosts_file.read_text().splitlines()
        with filling(self.store) as database:
            first = database.execute("SELECT max(id) FROM hosts").fetchone()[0] + 1
            rows = Copies(database, "hosts", "ORDER BY id LIMIT 1")
            for host in range(first, first + count):
                token, key = secrets.token_urlsafe(32), secrets.token_bytes(32)
                known.append(f"{host} {token}")
                rows.add(id=host, name=f"load-{host}", public_key=key, machine=hashlib.sha256(key).hexdigest(),
                         token_digest=hashlib.sha256(token.encode()).digest())
            rows.write()
        self.hosts_file.write_text("\n".join([title, *known]) + "\n")
        return self.start_server()

    def fill_units(self, delivered=1):
        """Every host but the first has delivered as many units as the first one's, and holds one like it: the rows of that, and a
        ledger. Hosts that work later know nothing of their unit; the server gives it back then."""
        self.run("--hosts", 1, "--connections", 1, "--warm-up", 0, "--rounds", 2, seconds=60)
        self.stop_server()
        self.ledgers.append(self.grid.directory / f"ledger-{len(self.ledgers)}")
        with filling(self.store) as database, open(self.ledgers[-1], "w", encoding="utf-8") as ledger:
            hosts = [row[0] for row in database.execute("SELECT id FROM hosts ORDER BY id")][1:]
            unit = database.execute("SELECT next FROM sequences WHERE name = 'unit'").fetchone()[0]
            segment = database.execute("SELECT next FROM sequences WHERE name = 'segment'").fetchone()[0]
            item = database.execute("SELECT max(range_end) FROM units").fetchone()[0]
            done, held = (Copies(database, "units", f"WHERE state = {state} ORDER BY id LIMIT 1") for state in (2, 1))
            records, segments, contents, accepted = (
                Copies(database, table) for table in ("host_records", "segments", "segment_bytes", "accepted"))
            size = len(contents.model["bytes"])
            ledger.write("gleaner-ledger 1\n")
            for host in hosts:
                records.add(host=host)
                for _ in range(delivered):
                    data = secrets.token_bytes(size)
                    digest = hashlib.sha256(data)
                    place = {"range_begin": item, "range_end": item + 1}
                    done.add(id=unit, group_unit=unit, host=host, committed=item + 1, finished=item + 1, handed_end=item + 1, **place)
                    segments.add(id=segment, unit=unit, host=host, digest=digest.digest(), **place)
                    contents.add(segment=segment, bytes=data)
                    accepted.add(segment=segment, **place)
                    ledger.write(f"accepted {unit} {host} {item} {item + 1} {digest.hexdigest()}\n")
                    unit, segment, item = unit + 1, segment + 1, item + 1
                held.add(id=unit, group_unit=unit, host=host, range_begin=item, range_end=item + 1, committed=item, finished=item,
                         handed_end=item + 1)
                unit, item = unit + 1, item + 1
            for rows in (records, done, held, segments, contents, accepted):
                rows.write()
            database.execute("UPDATE sequences SET next = ? WHERE name = 'unit'", (unit,))
            database.execute("UPDATE sequences SET next = ? WHERE name = 'segment'", (segment,))
        return self.start_server()

    def start(self, *arguments, seconds=None, ledger=True):
        if ledger:
            self.ledgers.append(self.grid.directory / f"ledger-{len(self.ledgers)}")
            arguments = (*arguments, "--ledger", self.ledgers[-1])
        return subprocess.Popen(self.command("run", "--seed", len(self.ledgers) + 1, "--seconds", seconds or self.options.load_seconds,
                                             *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        out, error = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"gleaner-loadgen ended with {process.returncode}: {error}{out}")
        return json.loads(out)

    def run(self, *arguments, **changes):
        before = self.database.processor_seconds() if self.database else 0
        run = self.finish(self.start(*arguments, **changes))
        if self.database:  # of what it did in the warm-up, too, which is none then
            run["database_us"] = 1e6 * (self.database.processor_seconds() - before) / max(run["answers"], 1)
        return run

    def check(self):
        self.stop_server()
        faults = check_ledger(self.store, self.ledgers, 200 if self.database else 20, self.grid.project / "blobs")
        lines = sum(1 for ledger in self.ledgers for _ in read_ledger(ledger))
        print(f"\nledger: {lines} results, {len(faults)} of them not as acknowledged" + "".join(f"\n  {fault}" for fault in faults[:10]))
        return not faults


# ---- The rows

def medians(trial, *arguments):
    """The run whose rate is the median, with the rates of all."""
    runs = sorted((trial.run(*arguments) for _ in range(trial.options.runs)), key=lambda run: run["answers_per_second"])
    chosen = runs[len(runs) // 2]
    rate = "cycles_per_second" if chosen["cycles"] else "answers_per_second"
    chosen["rates"] = [run[rate] for run in runs]
    return chosen


def print_row(what, run):
    latency = run["latency_ms"]
    units = f" = {run['units_per_second']:,.0f} units/s" if run["units"] > 1.5 * run["answers"] else ""
    busy = f"; busy {run['busy']}" if run["busy"] else ""
    database = f" + {run['database_us']:,.0f} of PostgreSQL" if "database_us" in run else ""
    print(f"| {what} | {statistics.median(run['rates']):,.0f} ({run['rates'][0]:,.0f}–{run['rates'][-1]:,.0f}){units}{busy} | "
          f"{latency['p50']:.3g}/{latency['p95']:.3g}/{latency['p99']:.3g} | {run['server_cpu_us']:,.0f}{database} | "
          f"{run['generator_cpu_us']:,.0f} | {run['bytes_up']:,.0f} / {run['bytes_down']:,.0f} |", flush=True)


TABLE = {
    "cycle": [(f"cycle, {connections} kept", ["--connections", connections]) for connections in (1, 8, 32, 128, 512)],
    "tls": [(f"{name}, new TLS each, {how}", ["--mode", name, "--reconnect", how, "--connections", 32, "--networks", NETWORKS])
            for name in ("cycle", "project") for how in ("full", "resumed")],
    "batch": [(f"{units} units a request, 32 kept", ["--units-per-request", units, "--connections", 32]) for units in (20, 64)],
    "same": [("cycle, identical bytes, 128 kept", ["--connections", 128, "--same-bytes"])],
    "ask": [("ask only, 32 kept", ["--mode", "ask", "--connections", 32])],
    "heartbeat": [("heartbeat, 32 kept", ["--mode", "heartbeat", "--connections", 32])],
    "project": [("GET /v1/project, 32 kept", ["--mode", "project", "--connections", 32])],
}


def bench_table(options, names):
    with LoadTrial(options) as trial:
        trial.enrol(HOSTS)
        print("| what | cycles or answers/s (range) | p50/p95/p99 ms | server CPU µs/answer | generator's | bytes up / down |\n|---|---|---|---|---|---|", flush=True)
        for name in names:
            for what, arguments in TABLE[name]:
                # Eight hosts a connection, as far as there are: each has been given something when the warm-up is over.
                connections = arguments[arguments.index("--connections") + 1]
                print_row(what, medians(trial, "--hosts", min(HOSTS, 8 * connections), "--warm-up", 0 if options.postgres else 4,
                                              *arguments))
        return trial.check()


def bench_idle(options, connections=10_000):
    """Each connection asks for the project every few seconds, which keeps it open; memory with and without them."""
    with LoadTrial(options) as trial:
        trial.enrol(connections, None) if connections <= HOSTS else (trial.enrol(1), trial.fill(connections - 1))
        idle = ["--mode", "project", "--think", 5000]
        trial.run("--hosts", 100, "--connections", 100, *idle, ledger=False)
        before = trial.status("VmRSS")
        run = trial.run("--hosts", connections, "--connections", connections, "--networks", NETWORKS, "--warm-up", 30, *idle, ledger=False)
        print(f"idle: {connections} connections: {(run['server_resident_bytes'] - before) / connections:,.0f} bytes each; "
              f"{run['lost']} lost, {run['connections_opened']} opened anew in {run['seconds']:.0f} s", flush=True)


def thread_seconds(pid):
    """Seconds of each thread, by its name."""
    seconds = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        seconds[(task / "comm").read_text().strip()] += int((task / "schedstat").read_text().split()[0]) / 1e9
    return seconds


def page_seconds(trial):
    begun = time.monotonic()
    trial.grid.request("GET", "/status.json", raw=True)
    return time.monotonic() - begun


def bench_scale(options):
    """One server at each size; every host has delivered once and holds a unit, and up to 2,000 are active."""
    print("| hosts | cycle µs | by thread | ask µs | enrolment µs, alone ms | start s, of it processor | memory, peak | bytes a host, a unit | one page ms |\n"
          "|---|---|---|---|---|---|---|---|---|", flush=True)
    sizes = [int(float(size)) for size in options.hosts or ()] or [10**3, 10**4, 10**5, *([10**6] if options.large else [])]
    return all([scale_row(options, count) for count in sizes])


def scale_row(options, count):
    with LoadTrial(options, "server.public_page = true\n") as trial:
        trial.enrol(1)
        alone = trial.status("VmRSS")
        trial.fill(count - 1)
        with_hosts = trial.status("VmRSS")
        start = trial.fill_units()
        begun = trial.processor_seconds()
        memory, peak = trial.status("VmRSS"), trial.status("VmHWM")
        # As many as are active at a time, from all over the store.
        title, *known = trial.hosts_file.read_text().splitlines()
        trial.hosts_file.write_text("\n".join([title, *known[::max(1, count // HOSTS)]]) + "\n")
        active = min(count, HOSTS)
        before = thread_seconds(trial.server.pid)
        cycle = trial.run("--hosts", active, "--connections", 128, "--warm-up", 4)
        threads = thread_seconds(trial.server.pid) - before
        parts = ", ".join(f"{name} {cycle['server_cpu_us'] * seconds / threads.total():.0f}" for name, seconds in threads.most_common(3))
        ask = trial.run("--hosts", active, "--mode", "ask", "--connections", 32)
        joined = trial.enrol(2000, trial.grid.directory / "more", connections=32)
        alone_ms = trial.enrol(200, trial.grid.directory / "few", connections=1)["latency_ms"]["p50"]
        page = page_seconds(trial)
        print(f"| {count:,} | {cycle['server_cpu_us']:,.0f} | {parts} | {ask['server_cpu_us']:,.0f} | {joined['server_cpu_us']:,.0f}, {alone_ms:.2f} | "
              f"{start:.2f}, {begun:.2f} | {memory / 1e6:,.0f} MB, {peak / 1e6:,.0f} MB | {(with_hosts - alone) / count:,.0f}, {(memory - with_hosts) / count:,.0f} | "
              f"{1e3 * page:.1f} |", flush=True)
        return trial.check()


def bench_page(options, count=10**5):
    """The status page, polled ten times a second beside the cycles."""
    with LoadTrial(options, "server.public_page = true\n") as trial:
        trial.enrol(1)
        trial.fill(count - 1)
        runs = {}
        for polled in (False, True):
            process = trial.start("--hosts", HOSTS, "--connections", 128)
            while process.poll() is None:
                if polled:
                    trial.grid.request("GET", "/", raw=True)
                time.sleep(0.1)
            runs[polled] = trial.finish(process)
        print("page: at {} hosts {:,.0f} cycles a second ({:,.0f} µs of the server's processor time each), and {:,.0f} ({:,.0f} µs) with / polled ten times a second"
              .format(count, *(runs[polled][key] for polled in (False, True) for key in ("cycles_per_second", "server_cpu_us"))), flush=True)
        return trial.check()


def bench_overload(options, connections=2000):
    """Stubborn hosts on as many connections, and twenty good ones that ask as often as clients do."""
    seconds = max(options.load_seconds, 20)
    with LoadTrial(options) as trial:
        trial.enrol(HOSTS)
        good = trial.grid.directory / "good"
        trial.enrol(GOOD, good)
        crowd = trial.start("--hosts", HOSTS, "--connections", connections, "--networks", NETWORKS, "--stubborn", "--warm-up", 15, seconds=seconds)
        command = trial.command("run", "--hosts", GOOD, "--connections", GOOD, "--think", 5000, "--warm-up", 15, "--seconds", seconds,
                                "--seed", 99, "--ledger", trial.grid.directory / "ledger-good")
        command[command.index("--hosts-file") + 1] = str(good)
        one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        trial.ledgers.append(trial.grid.directory / "ledger-good")
        many = trial.finish(crowd)
        print(f"overload: {connections} connections: {many['answers_per_second']:,.0f} answers a second, p99 {many['latency_ms']['p99']:,.0f} ms, "
              f"{many['busy'] / many['seconds']:,.0f} refused as busy a second (p99 {many['busy_latency_ms']['p99']:,.0f} ms), {many['lost']} "
              f"lost; good hosts' p50 {one['latency_ms']['p50']:,.0f}, p99 {one['latency_ms']['p99']:,.0f} ms of {one['answers']} answers, {one['busy']} times refused", flush=True)
        return trial.check()


class Viewers:
    """So many people with the console open: each follows the events, as the page does."""

    def __init__(self, grid, count):
        self.grid, self.count, self.events, self.bytes = grid, count, 0, 0

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self.follow_all(),))
        self.thread.start()
        return self

    def __exit__(self, *why):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join()
        self.loop.close()

    async def follow_all(self):
        self.over = asyncio.Event()
        context = ssl._create_unverified_context()
        following = [asyncio.create_task(self.follow(context, f"127.0.1.{1 + i % NETWORKS}")) for i in range(self.count)]
        await self.over.wait()
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)

    async def follow(self, context, address):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.grid.port, ssl=context, local_addr=(address, 0))
                writer.write(f"GET /v1/admin/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {self.grid.admin_token}\r\n\r\n".encode())
                while more := await reader.read(1 << 20):
                    self.bytes += len(more)
                    self.events += more.count(b"\ndata: ")
            except OSError:
                await asyncio.sleep(1)


def answer_cost(trial, path, times=5, apart=1.1):
    """Of the server's processor time, in milliseconds an answer: the median; and bytes. More than a second apart, so that none is
    the one before once more."""
    connection = http.client.HTTPSConnection("127.0.0.1", trial.grid.port, context=ssl._create_unverified_context(), timeout=60)
    headers = {"Authorization": f"Bearer {trial.grid.admin_token}"}
    costs = []
    for _ in range(times + 1):
        begun = thread_seconds(trial.server.pid).total()
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{path} was answered {reply.status}: {body[:200]}")
        costs.append(1e3 * (thread_seconds(trial.server.pid).total() - begun))
        time.sleep(apart)
    connection.close()
    return statistics.median(costs[1:]), len(body)  # without the first, which connects


def share_of_a_core(trial, seconds):
    begun, spent = time.monotonic(), thread_seconds(trial.server.pid).total()
    time.sleep(seconds)
    return 100 * (thread_seconds(trial.server.pid).total() - spent) / (time.monotonic() - begun)


def bench_viewers(options, viewers=200):
    """What people who watch cost: 200 of them, while some hosts work; and what the console's pages ask for, of a problem of ten
    million items, and of one where each second item is accepted and each of the others held by another host."""
    for count in [int(float(size)) for size in options.hosts or ()] or [10**5]:
        with LoadTrial(options) as trial:
            trial.enrol(1)
            trial.fill(count - 1)
            trial.fill_units()
            trial.grid.admin("problem", "pause", "1")
            identity = trial.grid.add_problem("load", "watched", "--strategy", "ss,mode=paper", "--straggler", "none", count=10**7)
            work = ["--hosts", 20, "--connections", 4, "--think", 2000, "--warm-up", 0]
            shares = {}
            for watching in (0, viewers, 0, viewers):
                process = trial.start(*work, seconds=options.load_seconds + 4)
                with Viewers(trial.grid, watching) as crowd:
                    time.sleep(3)  # all are there
                    before = crowd.events, crowd.bytes
                    shares.setdefault(watching, []).append(share_of_a_core(trial, options.load_seconds))
                    events, size = crowd.events - before[0], crowd.bytes - before[1]
                trial.finish(process)
            each = events / options.load_seconds / viewers
            print(f"viewers: at {count:,} hosts {viewers} of them, {each:.2f} events of {size / max(1, events):,.0f} bytes a second each: the server takes "
                  f"{' and '.join(f'{share:.2f}' for share in shares[viewers])} % of a core; without them "
                  f"{' and '.join(f'{share:.2f}' for share in shares[0])} %", flush=True)
            for path in ("/v1/admin/status", "/v1/admin/problems", f"/v1/admin/problems/{identity}", "/v1/admin/problems/1", f"/v1/admin/problems/{identity}/map",
                         "/v1/admin/problems/1/map", f"/v1/admin/problems/{identity}/history", "/v1/admin/history", "/v1/admin/host-pages",
                         "/v1/admin/host-pages?text=no-such-host", "/v1/admin/errors", "/v1/admin/days", "/metrics"):
                cost, size = answer_cost(trial, path)
                print(f"  {path}: {cost:.2f} ms of processor time, {size:,} bytes", flush=True)
            cost, size = answer_cost(trial, "/v1/admin/host-pages?order=delivered", apart=10.5)
            print(f"  the same in the order of what was delivered, put in order anew: {cost:.2f} ms, {size:,} bytes", flush=True)


SINGLE = {"viewers": bench_viewers, "idle": bench_idle, "scale": bench_scale, "page": bench_page, "overload": bench_overload}


def bench_server(options):
    names = options.only.split(",") if options.only else [*TABLE, *SINGLE]
    for name in names:
        if name not in TABLE and name not in SINGLE:
            raise SystemExit(f"server: --only {name}: known are {', '.join([*TABLE, *SINGLE])}")
    fine = True
    if table := [name for name in names if name in TABLE]:
        fine = bench_table(options, table)
    for name in (name for name in names if name in SINGLE):
        fine = SINGLE[name](options) is not False and fine
    if not fine:
        raise SystemExit("server: a ledger and its store differ")
