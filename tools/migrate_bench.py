"""How long a project stands still while its rows are moved: `tools/bench migrate`. A server with a full store under load, moved
into a PostgreSQL and back, with and without `--ahead`; every run ends with its ledgers compared with the store."""
import json
import os
import signal
import subprocess
import time

from server_bench import HOSTS, LoadTrial

FILE = "store.sqlite"


class Moves:
    def __init__(self, trial, database):
        self.trial, self.database = trial, database

    def migrate(self, to, *arguments):
        """What it reports, and seconds: by the clock, of its processor time, of the database's."""
        database, begun = self.database.processor_seconds(), time.monotonic()
        process = subprocess.Popen([self.trial.grid.program("gleaner-server"), "migrate", self.trial.grid.project, "--to", to, "--json",
                                    *arguments], stdout=subprocess.PIPE, text=True)
        told = process.stdout.read()
        _, code, usage = os.wait4(process.pid, 0)
        if code != 0:
            raise RuntimeError(f"gleaner-server migrate ended with {code}")
        report = json.loads(told)
        report["took"] = (time.monotonic() - begun, usage.ru_utime + usage.ru_stime, self.database.processor_seconds() - database)
        report["peak"] = usage.ru_maxrss / 1e3
        return report

    def load(self, seconds):
        return self.trial.run("--hosts", HOSTS, "--connections", 64, "--warm-up", 0, seconds=seconds)["answers"]

    def pause(self, what, to, where):
        """The server is stopped, everything moved, and the server started where it is then."""
        begun = time.monotonic()
        self.trial.stop_server(signal.SIGTERM)
        stopped = time.monotonic() - begun
        report = self.migrate(to)
        self.trial.grid.change_settings(f'store.url = "{where}"')
        started = self.trial.start_server()
        print_row(what, report, time.monotonic() - begun, stopped, started)


def print_row(what, report, pause=None, stopped=None, started=None):
    seconds, processor, database = report["took"]
    steps = "; ".join(f"{step['step']} {step['seconds']:.1f}, {step['processor_seconds']:.1f}" for step in report["steps"])
    whole = f"{pause:.1f} | {stopped:.1f} + {seconds:.1f} + {started:.1f}" if pause else f"none | {seconds:.1f}"
    print(f"| {what} | {whole} | {processor:.1f} + {database:.1f} | {steps} | {report['rows']:,}, {report['rows'] - report['rows_there']:,} | "
          f"{report['peak']:.0f} MB |", flush=True)


def bench_migrate(options):
    import postgres
    hosts = int(float((options.hosts or ["1e5"])[0]))
    with postgres.Postgres() as database, LoadTrial(options) as trial:
        database.query("CREATE DATABASE second")
        moves = Moves(trial, database)
        trial.enrol(1)
        trial.fill(hosts - 1)
        trial.fill_units(delivered=9)
        title, *known = trial.hosts_file.read_text().splitlines()
        trial.hosts_file.write_text("\n".join([title, *known[::max(1, hosts // HOSTS)]]) + "\n")
        print("| | pause s | stop + migrate + start, s | processor s of migrate + of PostgreSQL | its steps: s, processor s | rows, of them not there before | "
              "peak |\n|---|---|---|---|---|---|---|", flush=True)
        second = database.url_of("second")
        moves.load(options.load_seconds)
        moves.pause("SQLite → PostgreSQL, at once", database.url, database.url)
        for what, to, where in (("PostgreSQL → SQLite", FILE, ""), ("SQLite → PostgreSQL", second, second)):
            print_row(f"{what}, ahead", moves.migrate(to, "--ahead"))
            moves.load(options.load_seconds)
            print_row("once more ahead", moves.migrate(to, "--ahead"))
            answers = moves.load(options.load_seconds)
            moves.pause(f"then, {answers:,} cycles later", to, where)
        moves.load(options.load_seconds)
        moves.pause("PostgreSQL → SQLite, at once", FILE, "")
        if not trial.check():
            raise SystemExit("migrate: a ledger and its store differ")
