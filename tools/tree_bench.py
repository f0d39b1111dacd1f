"""A tree of relays, live and in virtual time: `tools/bench tree`. Clients under relays three deep compute items that take as long as a
sleep; gleaner-sim is given the same hosts, links and starts. Processes are real, links are shaped (link_proxy.py), kernels are not
confined: a hundred sandboxes would be what is measured."""
import json
import pathlib
import shutil
import time

from policy_bench import simulator

CHILDREN = (2, 2, 2)  # relays under the server, under each of those, and so on
LINK_MBIT, LINK_SECONDS = 50, 0.02  # of relays: both ways; one way
STARTS = 0.25  # seconds between two clients' starts
COMMIT_SECONDS = 20
OFF = 0.05  # of a simulated makespan from the live one
# Seconds and number of items of a client, bytes of an item's input and result, and Mbit/s of hosts' links, in turn: (down, up).
SHAPES = {
    "plain": (2, 120, 0, 0, [(0, 0)]),
    "inputs": (6, 40, 100_000, 0, [(2, 2), (1, 1), (0.5, 0.5), (0.25, 0.25)]),
    "results": (6, 40, 100_000, 100_000, [(0.5, 2), (2, 0.5), (1, 1)]),
}
INPUTS_MAX = 1000  # files of a problem


def relay_names():
    """(name, name of the one above or None) from the top down, and the names of the lowest."""
    names, above = [], [None]
    for count in CHILDREN:
        level = [(f"{parent or 'r'}{i}", parent) for parent in above for i in range(count)]
        names += level
        above = [name for name, _ in level]
    return names, above


def mbit(rate):
    return rate * 1e6 / 8 or None


class TreeTrial:
    def __init__(self, clients, rule, shape):
        import harness
        import link_proxy
        import tree
        self.harness, self.link, self.rule = harness, link_proxy.Link, rule
        self.item_seconds, each, self.bytes_in, self.bytes_out, self.rates = SHAPES[shape]
        self.clients, self.items = [f"pc-{i}" for i in range(clients)], clients * each
        self.grid = tree.Tree(f"work.commit_seconds = {COMMIT_SECONDS}\nwork.unit_minimum_seconds = 1\nwork.heartbeat_seconds = 60\n")
        self.host_links, self.started = {}, {}

    def __enter__(self):
        self.grid.__enter__()
        self.grid.start_server()
        self.grid.add_application(self.bundle())
        relays, lowest = relay_names()
        for name, parent in relays:
            self.grid.add_relay(name, parent, children=2 * len(self.clients), settings=f'work.service = "{self.rule}"\nhosts.joins_per_hour = 100000',
                                up=mbit(LINK_MBIT), down=mbit(LINK_MBIT), latency=LINK_SECONDS)
        # As the simulation divides them: in order.
        for i, name in enumerate(self.clients):
            relay = lowest[i * len(lowest) // len(self.clients)]
            down, up = self.rates[i % len(self.rates)]
            link = self.host_links[name] = self.link(self.grid.relay_ports[relay], up=mbit(up), down=mbit(down))
            self.grid.join(name, code=self.tree_code(relay, link.port))
        return self

    def __exit__(self, *error):
        self.grid.__exit__(*error)
        for link in self.host_links.values():
            link.close()

    def tree_code(self, relay, port):
        import tree
        return tree.code_via(self.grid.relay_code(relay), port)

    def bundle(self):
        """Squares with inputs and results of that size."""
        import kernels
        path = kernels.squares_copy(self.grid.directory / "sleeper", "sleeper", self.bytes_out)
        if self.bytes_in:
            together = -(-self.items // INPUTS_MAX)
            kernels.change(path / "manager.py", ("def answer(text)", f"""\
def parts():
    lines, count = [], int(parameters["count"])
    for begin in range(0, count, {together}):
        end = min(begin + {together}, count)
        open(f"part-{{begin}}", "wb").write(os.urandom((end - begin) * {self.bytes_in}))
        lines.append(f"input part-{{begin}} part-{{begin}} {{begin}} {{end}}\\n")
    return "".join(lines)

def answer(text)"""), ("{hints()}ok", "{parts()}ok"))
        return path

    def run(self):
        """(makespan from the first client's start, the problem's identity)"""
        identity = self.grid.add_problem("sleeper", "sleeper", count=self.items, pause=self.item_seconds)
        begun = time.time()
        for i, name in enumerate(self.clients):
            time.sleep(max(0, begun + i * STARTS - time.time()))
            self.started[name] = time.time() - begun
            self.grid.start_client(name, sandbox=self.harness.SANDBOX_OFF)
        self.grid.wait_finished(identity, 20 * self.items / len(self.clients) * self.item_seconds)
        info = self.grid.problem(identity)
        return info["finished_at"] / 1e6 - begun, info

    def scenario(self):
        lines = [f"""name = "tree"
[problem]
items = {self.items}
item_seconds = {self.item_seconds}
transfer_share = 0
bytes_in = {self.bytes_in}
bytes_out = {max(self.bytes_out, 8)}
[network]
request_delay = 0.05
commit_seconds = {COMMIT_SECONDS}
[server]
knows_benchmark = false
rules.unit_minimum = 1
[relays]
children = [{", ".join(map(str, CHILDREN))}]
service = "{self.rule}"
latency = {LINK_SECONDS}
up_mbit = {LINK_MBIT}
down_mbit = {LINK_MBIT}
"""]
        for i, name in enumerate(self.clients):
            down, up = self.rates[i % len(self.rates)]
            lines.append(f"[[fleet]]\nspeeds = [1]\nbenchmarks = [1000]\njoins = [{self.started[name]:.3f}]\ndown_mbit = {down}\nup_mbit = {up}\n")
        return "".join(lines)

    def simulated(self):
        path = self.grid.directory / "tree.toml"
        path.write_text(self.scenario())
        return json.loads(simulator("run", str(path), "--json"))


def bench_tree(options):
    clients = int((options.hosts or [100])[0])
    shapes = options.scenario or list(SHAPES)
    rules = options.strategy or ["fifo", "bc", "geo"]
    print(f"{clients} clients under {' x '.join(map(str, CHILDREN))} relays\n")
    print("| links and bytes | service order | live s | simulated s | off |")
    print("|---|---|---:|---:|---:|")
    off = []
    for shape in shapes:
        for rule in rules:
            with TreeTrial(clients, rule, shape) as trial:
                live, info = trial.run()
                told = trial.simulated()
                if options.files:
                    pathlib.Path(options.files).mkdir(parents=True, exist_ok=True)
                    shutil.copytree(trial.grid.directory, pathlib.Path(options.files) / f"{shape}-{rule}", dirs_exist_ok=True, ignore=shutil.ignore_patterns("part-*", "*.sock"))
                    (pathlib.Path(options.files) / f"{shape}-{rule}.json").write_text(json.dumps({"live": live, "info": info, "simulated": told}, indent=1))
            ours = told["strategies"][0]["runs"][0]["makespan"]
            off.append(ours / live - 1)
            print(f"| {shape} | {rule} | {live:.1f} | {ours:.1f} | {100 * off[-1]:+.1f} % |", flush=True)
    if max(map(abs, off)) > OFF:
        raise SystemExit(f"tree: more than {100 * OFF:.0f} % off")
