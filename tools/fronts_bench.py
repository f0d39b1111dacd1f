"""Front ends under load: `tools/bench fronts`. One server and 1, 2 or 4 front ends of it on this machine, each loaded by a
gleaner-loadgen of its own. What counts is the processor time of each role a cycle, which tells least of the machine's other work: the
rate is that of one machine, which all of them share."""
import contextlib
import shutil
import subprocess
import time

from server_bench import HOSTS, LoadTrial, thread_seconds

WARM_UP = 4
COPIED = ("server.toml", "keys/root.public", "keys/tls.pem", "keys/tls.key", "keys/link.pem")


class FrontsTrial(LoadTrial):
    def __init__(self, options, tcp):
        import harness
        self.port_of_link = harness.free_port()
        self.free_port, self.tcp = harness.free_port, tcp
        super().__init__(options)

    def start_server(self):
        place = f"127.0.0.1:{self.port_of_link}" if self.tcp else f"unix:{self.grid.directory}/link.sock"
        key = self.grid.project / "keys" / "link.pem"
        if not key.exists():
            self.grid.run("gleaner-server", "link-key", key)
            self.grid.change_settings(f'link.listen = "{place}"')
        return super().start_server()

    @contextlib.contextmanager
    def fronts(self, count):
        """So many, each with its port and process."""
        begun = []
        for i in range(count):
            directory, port = self.grid.directory / f"front-{i}", self.free_port()
            shutil.rmtree(directory, ignore_errors=True)
            (directory / "keys").mkdir(parents=True)
            for file in COPIED:
                shutil.copy2(self.grid.project / file, directory / file)
            text = (directory / "server.toml").read_text()
            place = next(line.split('"')[1] for line in text.splitlines() if line.startswith("listen = "))
            (directory / "server.toml").write_text(text.replace('servers = ""', f'servers = "{place}"'))
            begun.append((port, self.grid.start(f"front-{i}", "gleaner-server", "front", directory, "--port", port)))
        time.sleep(1.5)
        yield begun
        for i in range(count):
            self.grid.kill(f"front-{i}")

    def run_through(self, ports, connections):
        """A run with the hosts and connections shared among the ports; the processor time of each role a cycle, in µs."""
        title, *known = self.hosts_file.read_text().splitlines()
        runs = []
        for i, port in enumerate(ports):
            some = self.grid.directory / f"hosts-{i}"
            some.write_text("\n".join([title, *known[i::len(ports)]]) + "\n")
            self.ledgers.append(self.grid.directory / f"ledger-{len(self.ledgers)}")
            command = self.command("run", "--server", f"127.0.0.1:{port}", "--seed", len(self.ledgers), "--seconds", self.options.load_seconds,
                                   "--warm-up", WARM_UP, "--hosts", len(known[i::len(ports)]), "--connections", connections // len(ports),
                                   "--ledger", self.ledgers[-1])
            command[command.index("--hosts-file") + 1] = str(some)
            runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return runs


def measure(trial, fronts, connections):
    ports = [port for port, _ in fronts] or [trial.grid.port]
    runs = trial.run_through(ports, connections)
    time.sleep(WARM_UP + 0.3)
    begun, threads = time.monotonic(), thread_seconds(trial.server.pid)
    before = sum(thread_seconds(process.pid).total() for _, process in fronts)
    time.sleep(trial.options.load_seconds - 0.6)
    seconds = time.monotonic() - begun
    threads = thread_seconds(trial.server.pid) - threads
    before = sum(thread_seconds(process.pid).total() for _, process in fronts) - before
    told = [trial.finish(run) for run in runs]
    rate = sum(run["cycles_per_second"] for run in told)
    p99 = max(run["latency_ms"]["p99"] for run in told)
    parts = {name: 1e6 * spent / (rate * seconds) for name, spent in threads.most_common(4)}
    return rate, p99, 1e6 * threads.total() / (rate * seconds), 1e6 * before / (rate * seconds), parts


def bench_fronts(options):
    fine = True
    for link in ("unix socket", "TCP, mutual TLS"):
        with FrontsTrial(options, link.startswith("TCP")) as trial:
            trial.enrol(HOSTS)
            print(f"\n{link}\n| front ends | cycles/s | p99 ms | leader µs/cycle | of it by thread | front ends µs/cycle |\n|---|---|---|---|---|---|",
                  flush=True)
            for count in (0, 1, 2, 4):
                with trial.fronts(count) as fronts:
                    rate, p99, leader, front, parts = sorted(measure(trial, fronts, options.connections) for _ in range(options.runs))[options.runs // 2]
                    by_thread = ", ".join(f"{name} {spent:.0f}" for name, spent in parts.items())
                    print(f"| {count} | {rate:,.0f} | {p99:,.0f} | {leader:,.0f} | {by_thread} | {front:,.0f} |", flush=True)
            fine = trial.check() and fine
    if not fine:
        raise SystemExit("fronts: a ledger and its store differ")
