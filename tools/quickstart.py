"""Runs the demonstration that tools/quickstart builds: one server, four clients, one picture, one report."""
import argparse
import base64
import json
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import zlib

SHARES = {"fast": 1.0, "half": 0.5, "fifth": 0.2, "tenth": 0.1}  # speeds 10:5:2:1


def speed_of(share):
    """A host's own rate over the whole run, in cost units per second: what it computed by the time that it computed."""
    return (share["cost"] + share["wasted_cost"]) / share["busy_seconds"] if share["busy_seconds"] > 0 else 0.0


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def reachable(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Demonstration:
    def __init__(self, options):
        self.binaries = pathlib.Path(options.binaries).resolve()
        self.directory = pathlib.Path(options.directory).resolve()
        self.scene = options.scene
        self.keep = options.keep
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *why):
        pass

    def program(self, name):
        return str(self.binaries / "bin" / name)

    def run(self, *command, quiet=True):
        done = subprocess.run(command, capture_output=quiet, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{(done.stderr or '') + (done.stdout or '')}")
        return done.stdout

    def admin_command(self, *arguments):
        return [self.program("gleaner-admin"), "--project", str(self.directory / "server" / "admin"), *arguments]

    def admin(self, *arguments, quiet=True):
        return self.run(*self.admin_command(*arguments), quiet=quiet)

    def watch(self, identity):
        self.admin("problem", "watch", identity, quiet=False)

    def start(self, name, *command):
        log = open(self.directory / f"{name}.log", "a")
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        self.processes.append((name, process))
        return process

    def make_project(self, port):
        """Whose clients connect to that port."""
        server = self.directory / "server"
        self.run(self.program("gleaner-server"), "init", str(server), "--offline", str(self.directory / "offline-keys"),
                 "--name", "Quick start", "--address", "127.0.0.1", "--port", str(port))
        self.accept_what_is_missing(server)
        self.change_settings(server, "public_page = false", "public_page = true")
        self.address = f"https://127.0.0.1:{port}/"
        self.port = port
        return server

    def start_server(self):
        port, = free_ports(1)
        server = self.make_project(port)
        self.start("server", self.program("gleaner-server"), "run", str(server))
        self.await_(lambda: reachable(port))

    def await_(self, ready):
        """All that was started goes on until it is."""
        end = time.monotonic() + 30
        while not ready():
            for name, process in self.processes:
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit(f"{name} did not start:\n{(self.directory / (name + '.log')).read_text()}")
            time.sleep(0.05)

    def change_settings(self, server, line, changed):
        settings = server / "server.toml"
        settings.write_text(settings.read_text().replace(line, changed, 1))

    def accept_what_is_missing(self, server):
        """The manager is our own, too: where nothing can confine it, the server is told in words, and says so."""
        told = self.run(self.program("gleaner-server"), "run", str(server), "--check-config")
        words = re.search(r'managers cannot be confined.* sandbox = ("[^"]+")', told)
        if words:
            print(words[0], flush=True)
            settings = server / "server.toml"
            head, managers = settings.read_text().split("[managers]")
            settings.write_text(head + "[managers]" + re.sub(r'(?m)^sandbox = .*$', lambda _: f"sandbox = {words[1]}", managers,
                                                             count=1))

    def sandbox_arguments(self):
        """The kernels are our own: where nothing can confine them, the demonstration goes on without, and says so."""
        probe = subprocess.run([self.program("gleaner-client"), "sandbox", "--state", str(self.directory / "sandbox")],
                               capture_output=True, text=True)
        if probe.returncode == 0:
            return []
        print("Kernels run without a sandbox here: " + probe.stderr.strip(), flush=True)
        return ["--sandbox", "off: I accept that kernels run with my rights"]

    def make_own_code(self):
        """For our own computers; where clients connect, which need not be the server's own port."""
        made, address = self.admin("code", "add", "own", "--own").strip(), f"127.0.0.1:{self.port}"
        rest = base64.urlsafe_b64decode(made.rsplit("/", 1)[1] + "==")[:-4]
        whole = rest + struct.pack(">I", zlib.crc32(address.encode() + rest))
        self.join_code = f"gleaner://{address}/{base64.urlsafe_b64encode(whole).rstrip(b'=').decode()}"

    def start_clients(self):
        sandbox = self.sandbox_arguments()
        self.make_own_code()
        for name, share in SHARES.items():
            state = self.directory / f"client-{name}"
            self.run(self.program("gleaner-client"), "join", self.join_code, "--state", str(state), "--name", name)
            self.start(f"client-{name}", self.program("gleaner-client"), "run", "--state", str(state), "--cores", "1",
                       "--cpu-share", str(share), "--priority", "normal", "--run", "always", *sandbox)

    def add_application(self):
        keys = self.directory / "offline-keys"
        self.admin("app", "sign", str(self.binaries / "bundles" / "raytrace"), "--key", str(keys / "signer.key"),
                   "--certificate", str(keys / "signer.certificate.json"), "-o", str(self.directory))
        archive = next(self.directory.glob("raytrace-*.tar.gz"))
        self.admin("app", "add", str(archive))

    def stop(self):
        if self.keep:
            return
        for _, process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for _, process in reversed(self.processes):
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def report(self, problem, picture):
        elapsed = problem["elapsed_seconds"]
        cost = problem["cost"]
        shares = [share | {"speed": speed_of(share)} for share in problem["shares"]]
        fleet = sum(share["speed"] for share in shares)
        wasted = problem["wasted_cost"]
        print(f"\nScene {self.scene}, {problem['items']} scan-lines by {len(problem['shares'])} hosts in {elapsed:.1f} s\n")
        print(f"  {'host':<8}{'speed':>9}{'requests':>10}{'units':>7}{'items':>7}{'of the work':>13}")
        for share in sorted(shares, key=lambda s: -s["speed"]):
            print(f"  {share['name']:<8}{share['speed']:>7.2f}/s{share['requests']:>10}{share['units']:>7}{share['items']:>7}"
                  f"{100 * share['cost'] / cost:>11.1f} %")
        print(f"\n  splits {problem['splits']}   ranges re-covered {problem['recovered']}   duplicates {problem['duplicates']}")
        print(f"  committed work {100 * cost / (cost + wasted):.2f} %   wasted {100 * wasted / (cost + wasted):.2f} %")
        print(f"  achieved {100 * cost / elapsed / fleet:.1f} % of the fleet's speed (the sum of the hosts' measured rates)")
        print(f"\n  picture   {picture}\n  all files {self.directory}")

    def run_all(self):
        if self.directory.exists():
            if not (self.directory / ".gleaner-quickstart").exists():
                sys.exit(f"{self.directory} exists and is not from an earlier quick start: choose another --directory")
            shutil.rmtree(self.directory)
        self.directory.mkdir(parents=True)
        (self.directory / ".gleaner-quickstart").touch()
        try:
            self.start_server()
            self.start_clients()
            self.add_application()
            print(f"Status page {self.address}", flush=True)
            parameters = json.dumps({"scene": self.scene, "width": 840, "height": 640})
            parameters_file = self.directory / "parameters.json"
            parameters_file.write_text(parameters)
            added = json.loads(self.admin("--json", "problem", "add", "--app", "raytrace", "--name", "picture",
                                          "--parameters", str(parameters_file)))
            identity = str(added["id"])
            self.watch(identity)
            self.admin("problem", "result", identity, "-o", str(self.directory / "result"))
            picture = next((self.directory / "result").glob("*.png"))
            self.report(json.loads(self.admin("--json", "problem", "show", identity)), picture)
            if self.keep:
                print(f"\n  the server goes on: status page {self.address}\n  join code {self.join_code}\n  end it with: kill "
                      + " ".join(str(p.pid) for _, p in self.processes), flush=True)
                self.admin("console", quiet=False)
        finally:
            self.stop()


def main(kind):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", default="build/release", help="the build directory")
    parser.add_argument("--directory", default="gleaner-quickstart", help="where everything goes")
    parser.add_argument("--scene", default="D", choices=list("ABCD"))
    parser.add_argument("--keep", action="store_true", help="leave server and clients running")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with kind(parser.parse_args()) as demonstration:
        demonstration.run_all()


if __name__ == "__main__":
    main(Demonstration)
