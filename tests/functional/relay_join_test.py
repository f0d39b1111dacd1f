"""Relays join, in a tree of two; computers join through them; all of them leave. Real programs throughout."""
import hashlib
import json
import os
import signal
import socket
import unittest

import jsonschema

from harness import Grid, free_port, main
from wire_test import CONTRACT, resolve


class Relay:
    def __init__(self, grid, name):
        self.grid, self.name, self.port = grid, name, free_port()
        self.directory = grid.directory / f"relay-{name}"

    def run(self, *arguments, check=True):
        return self.grid.run("gleaner-relay", *arguments, "--relay", self.directory, check=check)

    def join(self, code, *arguments, check=True):
        return self.run("join", code, "--address", "127.0.0.1", "--port", self.port, *arguments, check=check)

    def start(self):
        process = self.grid.start(self.name, "gleaner-relay", "run", "--relay", self.directory)

        def listening():
            if process.poll() is not None:
                raise AssertionError(f"{self.name} ended: " + self.grid.log(self.name)[-2000:])
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        self.grid.wait_until(self.name, listening)

    def code(self):
        return self.run("code").stdout.strip()

    def status(self):
        return json.loads(self.run("status", "--json").stdout)

    def request(self, *arguments, **more):
        """As Grid.request, of this relay."""
        port, self.grid.port = self.grid.port, self.port
        try:
            return self.grid.request(*arguments, **more)
        finally:
            self.grid.port = port

    def admin(self, *arguments, check=True):
        return self.grid.run("gleaner-admin", "--project", self.directory, *arguments, check=check)


def upload(grid, data):
    """Its digest, of a blob that the server has now."""
    digest, piece = hashlib.sha256(data).hexdigest(), 1 << 20
    for offset in range(0, len(data), piece):
        status, _, reply = grid.request("PATCH", f"/v1/uploads/{digest}", data[offset:offset + piece], grid.admin_token,
                                        {"Upload-Offset": str(offset), "Upload-Length": str(len(data)),
                                         "Content-Type": "application/octet-stream"})
        assert status == 200, reply
    return digest


class RelayJoin(unittest.TestCase):
    def test_tree(self):
        with Grid() as grid:
            grid.start_server()

            def hosts():
                return {host["name"]: host for host in grid.admin_json("host", "list")["items"]}

            lab, room = Relay(grid, "lab"), Relay(grid, "room")
            allowed = grid.admin_json("relay", "allow", "lab", "--children", 3, "--own")["join_code"]
            self.assertIn("has not joined", lab.run("run", check=False).stderr)
            self.assertIn("admits hosts, not relays", lab.join(grid.join_code, check=False).stderr)
            self.assertIn("as the relay lab", lab.join(allowed).stdout)
            lab.join(allowed)  # again is the same
            lab.start()
            self.assertEqual([(relay["name"], relay["state"]) for relay in grid.admin_json("relay", "list")["items"]], [("lab", "active")])
            self.assertIn("is running", lab.join(allowed, check=False).stderr)

            grid.join("pc1", code=lab.code())
            self.assertEqual(hosts()["pc1"]["relay"], hosts()["lab"]["id"])

            # Its code names the server; it is to be under the first.
            second = grid.admin_json("relay", "allow", "room", "--children", 2, "--own")["join_code"]
            self.assertIn("as the relay room", room.join(second, "--via", f"127.0.0.1:{lab.port}").stdout)
            room.start()
            grid.join("pc2", code=room.code())
            self.assertEqual(hosts()["room"]["relay"], hosts()["lab"]["id"])
            self.assertEqual(hosts()["pc2"]["relay"], hosts()["room"]["id"])
            self.assertIn("of 3 that the administrator allowed", grid.join("pc3", code=room.code(), check=False).stderr)

            status = lab.status()
            self.assertEqual((status["name"], status["parent"], status["hosts"]), ("lab", f"127.0.0.1:{grid.port}", 3))
            self.assertEqual(room.status()["parent"], f"127.0.0.1:{lab.port}")
            listed = {host["name"]: host for host in json.loads(lab.admin("--json", "host", "list").stdout)["items"]}
            self.assertEqual({name: host["id"] for name, host in listed.items()},
                             {name: hosts()[name]["id"] for name in ("pc1", "pc2", "room")})
            self.assertIn("this is a relay", lab.admin("host", "revoke", listed["pc1"]["id"], "--yes", check=False).stderr)

            # As published. Anyone may hear that it is a relay.
            jsonschema.validate(status, resolve(CONTRACT["components"]["schemas"]["RelayStatus"]))
            certificate = lab.request("GET", "/v1/relay")
            self.assertEqual(certificate[0], 200)
            jsonschema.validate(certificate[2], resolve(CONTRACT["components"]["schemas"]["SignedStatement"]))
            self.assertEqual(lab.request("GET", "/v1/project")[2], grid.request("GET", "/v1/project")[2])

            # Three pieces at least, through both, with the token that the second gave.
            data = os.urandom(9 << 20)
            digest = upload(grid, data)
            token = json.loads((grid.membership("pc2") / "identity" / "host.json").read_text())["token"]
            status, _, body = room.request("GET", f"/v1/blobs/{digest}", token=token, raw=True)
            self.assertTrue(status == 200 and body == data, status)
            self.assertEqual(lab.request("GET", f"/v1/blobs/{digest}", token=token)[0], 401)

            # Who leaves while the server is away has left when it is back, whatever happens to the relays meanwhile.
            grid.kill("server")
            grid.run("gleaner-client", "leave", "--state", grid.state("pc2"))
            grid.kill("room")
            grid.kill("lab")
            grid.start_server()
            lab.start()
            room.start()
            grid.wait_until("the good-bye", lambda: hosts()["pc2"]["state"] == "left")

            # The same computer again is the same host.
            number = hosts()["pc1"]["id"]
            grid.run("gleaner-client", "leave", "--state", grid.state("pc1"))
            grid.wait_until("the good-bye", lambda: hosts()["pc1"]["state"] == "left")
            grid.join("pc4", code=room.code())
            self.assertNotEqual(hosts()["pc4"]["id"], number)

            self.assertIn("is running", room.run("leave", check=False).stderr)
            self.assertEqual(grid.kill("room", signal.SIGTERM), 0)
            key = room.directory / "keys" / "host.key"
            kept = key.read_bytes()
            key.unlink()
            self.assertIn("not those that the project certified", room.run("code", check=False).stderr)
            key.write_bytes(kept)
            room.run("leave")
            grid.wait_until("the good-bye", lambda: hosts()["room"]["state"] == "left")
            self.assertEqual(hosts()["pc4"]["state"], "left")
            self.assertIn("has not joined", room.run("code", check=False).stderr)


if __name__ == "__main__":
    main()
