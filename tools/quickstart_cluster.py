"""The demonstration on parts that may die: rows in PostgreSQL, files in Swift, an object store, from which the hosts fetch by
themselves, two servers behind HAProxy, of which the one that leads is killed half-way. The picture comes all the same, and every
result that was acknowledged counts."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import quickstart

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(SOURCE / "tests" / "functional"))


class Cluster(quickstart.Demonstration):
    def __enter__(self):
        import postgres  # which start one for tests
        import swift
        self.haproxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
        why_not = postgres.WHY_NOT or (None if self.haproxy else "HAProxy is not installed (tools/setup cluster)")
        if why_not:
            sys.exit(f"no cluster here: {why_not}")
        self.database = postgres.Postgres().__enter__()
        self.objects = None
        if swift.WHY_NOT:
            print(f"Files are in the project's directory and in no object store: {swift.WHY_NOT}", flush=True)
        else:
            self.swift, self.objects = swift, swift.Swift().__enter__()
        return self

    def __exit__(self, *why):
        if self.keep:
            return
        if self.objects:
            self.objects.__exit__(*why)
        self.database.__exit__(*why)

    def use_objects(self, server):
        address = f"http://127.0.0.1:{self.objects.port}"
        self.change_settings(server, '\nurl = ""', f'\nurl = "{self.objects.url("quickstart")}"')
        self.change_settings(server, '\npublic_url = ""', f'\npublic_url = "{address}"')
        keys = server / "keys" / "blobs.keys"
        keys.write_text(f"{self.swift.KEY}\n{self.swift.SECRET}\n")
        keys.chmod(0o600)

    def start_server(self):
        front, *ports = quickstart.free_ports(3)
        server = self.make_project(front)
        self.change_settings(server, 'proxies = ""', 'proxies = "127.0.0.1"')
        self.change_settings(server, '\nurl = ""', f'\nurl = "{self.database.url}"')
        if self.objects:
            self.use_objects(server)
        self.servers = [self.start(f"server-{number}", self.program("gleaner-server"), "run", str(server), "--port", str(port))
                        for number, port in enumerate(ports, 1)]
        proxy = self.directory / "haproxy.cfg"
        text = (SOURCE / "deploy" / "cluster" / "haproxy.cfg").read_text()
        for here, there in (("0.0.0.0:443", f"127.0.0.1:{front}"), *((f"127.0.0.1:{8443 + i}", f"127.0.0.1:{port}") for i, port in enumerate(ports))):
            text = text.replace(here, there)
        proxy.write_text(text)
        self.start("haproxy", self.haproxy, "-db", "-f", str(proxy))
        self.await_(lambda: (self.leads(0) or self.leads(1)) and self.ask("problem", "list"))
        print(f"Rows in PostgreSQL{', files in Swift' if self.objects else ''}; two servers behind HAProxy: " +
              ", ".join(f"number {i + 1} {'leads' if self.leads(i) else 'stands by'}" for i in range(2)), flush=True)

    def leads(self, index):
        return "serving" in (self.directory / f"server-{index + 1}.log").read_text()

    def ask(self, *arguments):
        """Null while nobody answers."""
        done = subprocess.run(self.admin_command("--json", *arguments), capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def watch(self, identity):
        """Until it is finished, whoever leads meanwhile."""
        killer = threading.Thread(target=self.kill_half_way, args=(identity,), daemon=True)
        killer.start()
        while subprocess.run(self.admin_command("problem", "watch", identity)).returncode != 0:
            if all(server.poll() is not None for server in self.servers):
                sys.exit(f"no server is left: see the logs in {self.directory}")
            time.sleep(0.2)
        killer.join()

    def kill_half_way(self, identity):
        while True:
            problem = self.ask("problem", "show", identity)
            if problem and problem["accepted"] * 2 >= problem["items"]:
                break
            time.sleep(0.2)
        leader = 0 if self.leads(0) else 1
        killed, accepted = time.monotonic(), problem["accepted"]
        self.servers[leader].send_signal(signal.SIGKILL)
        while not self.leads(1 - leader):
            time.sleep(0.02)
        took = time.monotonic() - killed
        while not (problem := self.ask("problem", "show", identity)):
            time.sleep(0.05)
        self.told = (f"server {leader + 1}, which led, was killed when {accepted} scan-lines had been accepted; server {2 - leader} led "
                     f"{took:.1f} s later and knew of {problem['accepted']}")
        print(f"\n{self.told}", flush=True)

    def report(self, problem, picture):
        super().report(problem, picture)
        print(f"\n  {self.told}")
        if self.objects:
            stored = [key for key in self.objects.keys("quickstart") if key.startswith("blobs/")]
            print(f"  the object store has {len(stored)} files, which any server of the project reads")


if __name__ == "__main__":
    quickstart.main(Cluster)
