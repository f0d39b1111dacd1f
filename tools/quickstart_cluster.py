"""The demonstration on parts that may die: rows in PostgreSQL, files in Swift, an object store, from which the hosts fetch by
themselves, two front ends behind HAProxy, and two servers, each with a directory of its own, of which one leads. A front end is killed
when a quarter of the picture is there, the leader half-way. The picture comes all the same, and every result that was acknowledged
counts."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import quickstart

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(SOURCE / "tests" / "functional"))
FRONT_HAS = ("server.toml", *(f"keys/{name}" for name in ("root.public", "tls.pem", "tls.key", "link.pem", "blobs.keys")))


class Cluster(quickstart.Demonstration):
    def __enter__(self):
        import postgres  # which start one for tests
        import swift
        self.haproxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
        why_not = postgres.WHY_NOT or swift.WHY_NOT or (None if self.haproxy else "HAProxy is not installed (tools/setup cluster)")
        if why_not:
            sys.exit(f"no cluster here: {why_not}")
        self.database = postgres.Postgres().__enter__()
        self.swift, self.objects = swift, swift.Swift().__enter__()
        self.told = []
        return self

    def __exit__(self, *why):
        if self.keep:
            return
        self.objects.__exit__(*why)
        self.database.__exit__(*why)

    def set(self, directory, **changes):
        """In its server.toml: table_key = value, texts all."""
        settings = directory / "server.toml"
        text = settings.read_text()
        for name, value in changes.items():
            table, key = name.split("_", 1)
            text, found = re.subn(rf"(?ms)^(\[{table}\]$.*?^{key} = ).*?$", lambda match: match[1] + json.dumps(value), text, count=1)
            assert found, name
        settings.write_text(text)

    def make_parts(self, address):
        """Directories of two servers and two front ends, with what deploy/cluster and deploy/fronts say that they need."""
        server = self.make_project(address)
        self.set(server, server_proxies="127.0.0.1", store_url=self.database.url, blobs_url=self.objects.url("quickstart"),
                 blobs_public_url=f"http://127.0.0.1:{self.objects.port}")
        keys = server / "keys" / "blobs.keys"
        keys.write_text(f"{self.swift.KEY}\n{self.swift.SECRET}\n")
        keys.chmod(0o600)
        self.run(self.program("gleaner-server"), "link-key", str(server / "keys" / "link.pem"))
        links = [f"127.0.0.1:{port}" for port in quickstart.free_ports(2)]
        other = self.directory / "server-2"
        other.mkdir(mode=0o700)
        shutil.copy2(server / "server.toml", other)
        for part in ("keys", "admin"):
            shutil.copytree(server / part, other / part)
        fronts = [self.directory / f"front-{number}" for number in (1, 2)]
        for front in fronts:
            (front / "keys").mkdir(parents=True, mode=0o700)
            for file in FRONT_HAS:
                shutil.copy2(server / file, front / file)
            self.set(front, link_servers=", ".join(links))
        for directory, link in zip((server, other), links):
            self.set(directory, link_listen=link)
        return (server, other), fronts

    def start_server(self):
        front, *ports = quickstart.free_ports(5)
        servers, self.front_directories = self.make_parts(front)
        self.front_ports = ports[2:]
        self.servers = [self.start(f"server-{number}", self.program("gleaner-server"), "run", str(directory), "--port", str(port))
                        for number, (directory, port) in enumerate(zip(servers, ports), 1)]
        self.fronts = [self.start_front(index) for index in range(2)]
        proxy = self.directory / "haproxy.cfg"
        text = (SOURCE / "deploy" / "fronts" / "haproxy.cfg").read_text()
        for here, there in (("0.0.0.0:443", front), ("192.0.2.20:8443", self.front_ports[0]), ("192.0.2.21:8443", self.front_ports[1])):
            text = text.replace(here, f"127.0.0.1:{there}")
        proxy.write_text(text)
        self.start("haproxy", self.haproxy, "-db", "-f", str(proxy))
        self.await_(lambda: (self.leads(0) or self.leads(1)) and self.ask("problem", "list"))
        print("Rows in PostgreSQL, files in Swift; two front ends behind HAProxy; two servers: " +
              ", ".join(f"number {i + 1} {'leads' if self.leads(i) else 'stands by'}" for i in range(2)), flush=True)

    def start_front(self, index):
        return self.start(f"front-{index + 1}", self.program("gleaner-server"), "front", str(self.front_directories[index]), "--port",
                          str(self.front_ports[index]))

    def leads(self, index):
        return "serving" in (self.directory / f"server-{index + 1}.log").read_text()

    def ask(self, *arguments):
        """Null while nobody answers."""
        done = subprocess.run(self.admin_command("--json", *arguments), capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def watch(self, identity):
        """Until it is finished, whoever leads meanwhile."""
        killer = threading.Thread(target=self.kill_parts, args=(identity,), daemon=True)
        killer.start()
        while subprocess.run(self.admin_command("problem", "watch", identity)).returncode != 0:
            if all(server.poll() is not None for server in self.servers):
                sys.exit(f"no server is left: see the logs in {self.directory}")
            time.sleep(0.2)
        killer.join()

    def kill_parts(self, identity):
        accepted = self.await_share(identity, 0.25)
        self.fronts[0].send_signal(signal.SIGKILL)
        self.fronts[0].wait()
        self.fronts[0] = self.start_front(0)
        self.tell(f"front end 1 was killed when {accepted} scan-lines had been accepted, and started again")
        accepted = self.await_share(identity, 0.5)
        leader = 0 if self.leads(0) else 1
        killed = time.monotonic()
        self.servers[leader].send_signal(signal.SIGKILL)
        while not self.leads(1 - leader):
            time.sleep(0.02)
        took = time.monotonic() - killed
        while not (problem := self.ask("problem", "show", identity)):
            time.sleep(0.05)
        self.tell(f"server {leader + 1}, which led, was killed when {accepted} scan-lines had been accepted; server {2 - leader} led "
                  f"{took:.1f} s later and knew of {problem['accepted']}")

    def await_share(self, identity, share):
        """Of the picture; its scan-lines so far."""
        while True:
            problem = self.ask("problem", "show", identity)
            if problem and problem["accepted"] >= share * problem["items"]:
                return problem["accepted"]
            time.sleep(0.2)

    def tell(self, what):
        self.told.append(what)
        print(f"\n{what}", flush=True)

    def report(self, problem, picture):
        super().report(problem, picture)
        print("".join(f"\n  {what}" for what in self.told))
        stored = [key for key in self.objects.keys("quickstart") if key.startswith("blobs/")]
        print(f"  the object store has {len(stored)} files, which any server and front end of the project reads")


if __name__ == "__main__":
    quickstart.main(Cluster)
