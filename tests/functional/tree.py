"""Trees: relays on top of a Grid, each behind a link of its own, and hosts that join by relays' codes."""
import contextlib
import hashlib
import http.client
import json
import socket
import sqlite3
import ssl

from harness import Grid, HostKey, code_at, free_port, from_base64url
from link_proxy import Link

SETTINGS = "work.commit_seconds = 1\nwork.heartbeat_seconds = 1\nwork.unit_minimum_seconds = 1\n"


def code_via(code, port):
    """The same join code for another port of this machine."""
    return code_at(code, f"127.0.0.1:{port}")


def active(grid):
    return [host for host in grid.admin_json("host", "list")["items"] if host["state"] == "active"]


def admit_relay(grid, name, host):
    """A relay for nine hosts that is no process, with one of that name under it. Returns its token."""
    code = grid.admin_json("relay", "allow", name, "--children", "9")["join_code"]
    child = HostKey()
    status, relay = grid.enrol(HostKey(), name, from_base64url(code.rsplit("/", 1)[1])[33:49], tls_key=hashlib.sha256(b"tls").hexdigest())
    assert status == 200, relay
    status, _, reply = grid.request("POST", "/v1/relay/hosts", child.request(host, proof=grid.proof(child, relay["host"])), relay["token"])
    assert status == 200, reply
    return relay["token"]


class Tree(Grid):
    """`links`: by the name of the relay below. A relay's log and process have its name."""

    def __init__(self, settings="", **options):
        super().__init__(SETTINGS + settings, **options)
        self.links, self.relay_ports, self.codes = {}, {}, {}

    def __exit__(self, *error):
        for link in self.links.values():
            link.close()
        super().__exit__(*error)

    def relay_directory(self, name):
        return self.directory / f"relay-{name}"

    def relay(self, name, *arguments, check=True):
        return self.run("gleaner-relay", *arguments, "--relay", self.relay_directory(name), check=check)

    def add_relay(self, name, parent=None, children=20, through=None, settings="", env=None, code=None, **shape):
        """Allowed, joined through a link of that shape (link_proxy.py), and running. `through`: the port to which its link leads.
        `settings`: of its relay.toml, as change_settings() takes them. `code`: of a relay that was allowed before."""
        self.links[name] = Link(through or (self.relay_ports[parent] if parent else self.port), **shape)
        self.relay_ports[name] = free_port()
        code = code or self.admin("relay", "allow", name, "--children", children, "--own").stdout.strip()
        self.relay(name, "join", code_via(code, self.links[name].port), "--name", name, "--port", self.relay_ports[name],
                   "--address", "127.0.0.1", "--public-host", "127.0.0.1")
        self.change_settings(settings, self.relay_directory(name) / "relay.toml")
        self.start_relay(name, env=env)

    def start_relay(self, name, before=(), env=None):
        process = self.start(name, "gleaner-relay", "run", "--relay", self.relay_directory(name), before=before, env=env)

        def listening():
            if process.poll() is not None:
                raise AssertionError(f"relay {name} ended: " + self.log(name)[-2000:])
            try:
                socket.create_connection(("127.0.0.1", self.relay_ports[name]), timeout=1).close()
                return True
            except OSError:
                return False

        self.wait_until(f"relay {name}", listening)
        return process

    def relay_code(self, name):
        if name not in self.codes:
            self.codes[name] = self.relay(name, "code").stdout.strip()
        return self.codes[name]

    def relay_status(self, name):
        return json.loads(self.relay(name, "status", "--json").stdout)

    def add_under(self, relay, held, name):
        """A client that computes `held` under a relay."""
        self.join(name, code=self.relay_code(relay))
        held.start_client(name)

    def figures(self, relay=None):
        """Of /metrics of the server or of a relay: the sum of a figure over its labels, by name; that of one of them with its labels."""
        port, directory = (self.relay_ports[relay], self.relay_directory(relay)) if relay else (self.port, self.project)
        token = (directory / "admin" / "token").read_text().strip()
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context(), timeout=30)
        try:
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
            text = connection.getresponse().read().decode()
        finally:
            connection.close()
        sums = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                for key in {name, name.split("{")[0]}:
                    sums[key] = sums.get(key, 0) + float(value)
        return sums

    def relay_rows(self, name, sql):
        """Of a relay's store, beside it if it runs."""
        with contextlib.closing(sqlite3.connect(self.relay_directory(name) / "store.sqlite", timeout=10)) as store, store:
            return store.execute(sql).fetchall()

    def kept_units(self, client):
        """Directories of units whose results the client still keeps."""
        return sorted(self.membership(client).glob("units/*"))


class HostUnder:
    """A host under a relay that says what the test wants, in the published protocol."""

    def __init__(self, grid, relay, name, key=None):
        self.grid, self.port, self.key = grid, grid.relay_ports[relay], key or HostKey()
        certificate = json.loads(from_base64url(self.call("GET", "/v1/relay")["payload"]))
        secret = from_base64url(grid.relay_code(relay).rsplit("/", 1)[1])[33:49]
        self.token = None
        proof = grid.proof(self.key, certificate["relay"], port=self.port)
        reply = self.call("POST", "/v1/enrol", self.key.request(name, secret, proof=proof))
        self.host, self.token = reply["host"], reply["token"]

    def call(self, method, path, body=None, headers=None, raw=False):
        """The answer, which must be a good one."""
        status, _, answer = self.grid.request(method, path, body, getattr(self, "token", None), headers, raw, port=self.port)
        assert status in (200, 206), answer
        return answer
