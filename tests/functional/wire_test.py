"""The server against its published contract: every operation of openapi.yaml, its schemas and its errors."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import time
import unittest
import zlib

import jsonschema
import yaml

from harness import CLUSTER, SOURCE, SQUARES, FakeHost, Grid, HostKey, from_base64url, main, signed_bytes
from rows import TableProblem

CONTRACT = yaml.safe_load((SOURCE / "server" / "http" / "openapi.yaml").read_text())


def resolve(node):
    """The contract with all references put in place (it has no cycles)."""
    if isinstance(node, dict):
        if "$ref" in node:
            target = CONTRACT
            for part in node["$ref"].split("/")[1:]:
                target = target[part]
            return resolve(target)
        return {key: resolve(value) for key, value in node.items()}
    if isinstance(node, list):
        return [resolve(value) for value in node]
    return node


class Strangers(unittest.TestCase):
    def test_who_has_not_logged_in_learns_nothing(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(SQUARES)
            FakeHost(grid, "kitchen-pc")
            grid.add_problem("squares", "private-matter", count=3)
            seen = ""
            for method, path, expected in (("GET", "/", 200), ("GET", "/status.json", 404), ("GET", "/?", 200),
                                           ("POST", "/", 404), ("GET", "/index.html", 404), ("GET", "/v1/project", 200),
                                           ("GET", "/v1/admin/problems", 401), ("GET", "/v1/admin/hosts", 401)):
                status, headers, reply = grid.request(method, path)
                self.assertEqual(status, expected, (path, reply))
                seen += f"{headers} {reply}"
            self.assertIn("join code", seen)
            for secret in ("kitchen-pc", "private-matter", "squares"):
                self.assertNotIn(secret, seen)


class Wire(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.grid = Grid().__enter__()
        cls.grid.change_settings("server.public_page = true")
        cls.grid.start_server()
        cls.covered = set()
        cls.archive = cls.grid.add_application(SQUARES)

    @classmethod
    def tearDownClass(cls):
        cls.grid.__exit__(None, None, None)

    def operation(self, method, path):
        for template, operations in CONTRACT["paths"].items():
            if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path.split("?")[0]) and method.lower() in operations:
                return template, operations[method.lower()]
        self.fail(f"{method} {path} is not in openapi.yaml")

    def call(self, method, path, body=None, token=None, headers=None, expect=200):
        """Calls, checks the status and that the reply is what the contract says."""
        template, operation = self.operation(method, path)
        status, reply_headers, reply = self.grid.request(method, path, body, token, headers)
        self.assertEqual(status, expect, reply)
        responses = operation["responses"]
        response = resolve(responses.get(str(status), responses["default"]))
        kind = reply_headers["Content-Type"].split(";")[0]
        self.assertIn(kind, response["content"], f"{method} {path}")
        schema = response["content"][kind].get("schema")
        if schema:
            jsonschema.validate(reply, schema)
        if status == 200:
            self.covered.add((method.lower(), template))
        return reply

    def rows(self, admin):
        """A table becomes longer, its failed rows run again, and it is looked at."""
        table = TableProblem(self.grid, FakeHost(self.grid, "rows"))
        one = f"/v1/admin/problems/{table.id}"
        longer = self.call("POST", f"{one}/append", table.more, admin)
        self.assertEqual((longer["state"], longer["items"], longer["accepted"]), ("running", 2, 1))
        self.call("POST", f"{one}/append", {"inputs": []}, admin, expect=409)
        self.call("POST", f"{one}/append", {"inputs": [{**table.more["inputs"][0], "digest": "0" * 64}]}, admin, expect=409)
        self.call("POST", "/v1/admin/problems/999999/append", table.more, admin, expect=404)
        table.deliver()
        again = self.call("POST", f"{one}/retry-failed", {}, admin)
        self.assertEqual((again["state"], again["accepted"]), ("running", 0))
        self.call("POST", f"{one}/retry-failed", {}, admin, expect=409)
        self.call("POST", "/v1/admin/problems/999999/retry-failed", {}, admin, expect=404)
        results = {each["name"]: each["digest"] for each in table.deliver()["results"]}
        path = f"/v1/admin/tables/{results['table.csv']}"
        page = self.call("GET", f"{path}?order=-row&failed=true&count=1", token=admin)
        self.assertEqual(page["columns"], ["row", "x", "status", "seconds", "host"])
        self.assertEqual((page["rows"], page["failed"], page["chosen"], page["first"]), (2, 2, 2, 0))
        self.assertEqual([row["values"] for row in page["page"]], [["2", "3", "exit 3", page["page"][0]["values"][3], "rows"]])
        self.assertIn(page["page"][0]["values"][3], ("0.500", "1.000"))  # of one delivery or of two
        self.assertEqual(self.call("GET", f"{path}?from=1", token=admin)["page"][0]["values"][0], "2")
        for wrong in ("order=none", "count=0", "count=501", "from=x"):
            self.call("GET", f"{path}?{wrong}", token=admin, expect=400)
        self.call("GET", f"/v1/admin/tables/{results['rows.tar']}", token=admin, expect=400)
        self.call("GET", f"/v1/admin/tables/{'0' * 64}", token=admin, expect=404)

    def mended_and_tried_again(self, admin):
        """Another version computes a problem, fails on every host, is stopped, and tried again."""
        mended = self.grid.directory / "mended"
        shutil.copytree(SQUARES, mended)
        manifest = (mended / "manifest.toml").read_text().replace('"1.0.0"', '"1.0.1"', 1)
        (mended / "manifest.toml").write_text(manifest.replace("[kernel]", 'compatible_with = ["1.0.0"]\n[kernel]', 1))
        third = self.call("POST", "/v1/admin/problems", {"application": "squares@1.0.0", "name": "third",
                                                         "parameters": '{"count": 1}'}, admin)["id"]
        self.grid.add_application(mended)
        changed = self.call("POST", f"/v1/admin/problems/{third}/application", {"application": "squares@1.0.1"}, admin)
        self.assertEqual(changed["application"], "squares@1.0.1")
        for number in range(4):
            failing = FakeHost(self.grid, f"failing {number}")
            unit = failing.work()[1]["decoded"][0]["unit"]
            self.call("POST", "/v1/failure", {"unit": unit, "kind": "kernel-crashed", "item": 0, "message": "signal 11"},
                      failing.token)
        self.assertEqual(self.grid.problem(third)["state"], "stopped")
        self.assertEqual(self.call("POST", f"/v1/admin/problems/{third}/retry", {}, admin)["state"], "running")
        self.grid.admin("problem", "cancel", third)

    def test_every_operation_answers_as_published(self):
        admin = self.grid.admin_token
        self.call("GET", "/v1/project")
        self.call("GET", "/v1/enrol/nonce")
        self.call("GET", "/")
        self.call("GET", "/status.json")
        self.call("GET", "/healthz")
        self.call("GET", "/readyz")
        self.call("GET", "/metrics", token=admin)
        host = FakeHost(self.grid, "wire")
        self.covered.add(("post", "/v1/enrol"))
        identity = self.grid.add_problem("squares", "wire", count=30, first=5)

        self.assertTrue(any(info["name"] == "wis" for info in self.call("GET", "/v1/admin/strategies", token=admin)["items"]))
        self.call("POST", f"/v1/admin/problems/{identity}/strategy", {"strategy": "rts", "straggler": "none"}, admin)
        changed = self.call("POST", f"/v1/admin/problems/{identity}/strategy", {"strategy": "wis", "straggler": "split"}, admin)
        self.assertEqual(changed["strategy"], "wis")
        self.call("POST", f"/v1/admin/problems/{identity}/strategy", {"strategy": "magic", "straggler": ""}, admin, expect=400)

        status, reply = host.work()
        self.assertEqual(status, 200)
        grant = reply["decoded"][0]
        begin, end = grant["range"]["begin"], grant["range"]["end"]
        output = self.call("GET", f"/v1/admin/problems/{identity}/output", token=admin)
        self.assertEqual((output["unit"], output["text"]), (grant["unit"], ""))
        self.call("GET", f"/v1/admin/problems/{identity}/output?host=999999", token=admin, expect=409)
        body = {"commits": [], "units": [host.report(grant["unit"])], "slots": [], "platforms": ["any"],
                "memory_bytes": 1 << 30, "cores": 1,
                "proposal": {"performance": 1, "queue_unloaded": 1, "queue_current": 1, "items": 0}}
        self.call("POST", "/v1/work", body, host.token)
        orders = self.call("POST", "/v1/heartbeat", {"units": [host.report(grant["unit"])]}, host.token)
        self.assertEqual(orders["units"][0]["action"], "go-on")
        items = [str((5 + i) ** 2).encode() for i in range(begin, end)]
        result = host.commit_body(grant["unit"], begin, items)
        former = self.grid.request("POST", "/v1/commit", {"version": 1, **result}, host.token)
        self.assertEqual(former[0], 404)
        self.assertIn("update the client", former[2]["detail"])
        body["commits"], body["units"] = [result], []
        reply = self.call("POST", "/v1/work", body, host.token)
        self.assertEqual([each["type"] for each in reply["acknowledgements"]], ["acknowledgement"])

        status, reply = host.work(reports=[])
        if reply["decoded"]:
            unit = reply["decoded"][0]["unit"]
            self.call("POST", "/v1/failure", {"unit": unit, "kind": "kernel-error", "item": 0, "message": "a test"},
                      host.token)

        data = os.urandom(1000)
        digest = hashlib.sha256(data).hexdigest()
        for method, body in (("GET", None), ("POST", {"bytes": 5})):  # who has an object store gives some: direct_test.py
            self.call(method, f"/v1/addresses/{digest}", body, host.token, expect=404)
            self.covered.add((method.lower(), "/v1/addresses/{digest}"))
        self.call("GET", f"/v1/uploads/{digest}", token=host.token)
        self.call("PATCH", f"/v1/uploads/{digest}", data[:600], host.token, {"Upload-Offset": "0", "Upload-Length": "1000"})
        self.call("PATCH", f"/v1/uploads/{digest}", zlib.compress(data[600:]), host.token,
                  {"Upload-Offset": "600", "Upload-Length": "1000", "Content-Encoding": "deflate"})
        self.assertEqual(self.call("GET", f"/v1/blobs/{digest}", token=host.token), data)
        self.assertEqual(self.call("GET", f"/v1/blobs/{digest}", token=host.token, headers={"Range": "bytes=10-19"},
                                   expect=206), data[10:20])
        self.call("GET", f"/v1/blobs/{digest}", token=host.token, headers={"Range": "bytes=1000-"}, expect=416)

        self.call("GET", "/v1/admin/status", token=admin)
        self.call("GET", "/v1/admin/applications", token=admin)
        self.assertEqual(self.call("GET", "/v1/admin/applications/squares@1.0.0", token=admin)["parameters"], [])
        self.call("POST", "/v1/admin/applications", json.loads(pathlib.Path(str(self.archive) + ".signed").read_text()), admin)
        added = self.call("POST", "/v1/admin/problems", {"application": "squares", "name": "second",
                                                         "parameters": '{"count": 3}'}, admin)
        estimate = self.call("POST", "/v1/admin/estimates", {"application": "squares", "name": "", "parameters": '{"count": 3}'}, admin)
        self.assertEqual((estimate["items"], estimate["cost"]), (3, 3))
        self.call("POST", "/v1/admin/estimates", {"application": "none", "name": "", "parameters": "{}"}, admin, expect=404)
        self.call("GET", "/v1/admin/problems", token=admin)
        for action in ("pause", "resume", "cancel"):
            self.call("POST", f"/v1/admin/problems/{added['id']}/{action}", {}, admin)
        self.call("DELETE", f"/v1/admin/problems/{added['id']}", token=admin)
        self.call("GET", f"/v1/admin/problems/{identity}", token=admin)
        self.call("GET", f"/v1/admin/problems/{identity}/decisions?count=5", token=admin)
        self.call("GET", "/v1/admin/hosts", token=admin)
        self.call("GET", f"/v1/admin/hosts/{host.host}", token=admin)
        preview = self.call("POST", f"/v1/admin/problems/{identity}/preview", {}, admin)
        self.assertEqual((preview["accepted"], [file["name"] for file in preview["files"]]), (end - begin, ["sum.txt"]))
        self.assertEqual(self.call("GET", f"/v1/blobs/{preview['files'][0]['digest']}", token=admin),
                         f"{sum(map(int, items))}\n".encode())
        self.call("POST", "/v1/admin/problems/999999/preview", {}, admin, expect=404)
        picture = f"/v1/admin/problems/{identity}/picture"
        self.assertEqual(self.call("GET", picture, token=admin)["files"], preview["files"])
        partial = self.call("POST", f"/v1/admin/problems/{identity}/partial", {}, admin)
        self.assertEqual(partial["files"], preview["files"])
        framed = [number.to_bytes(8, "little") + len(item).to_bytes(4, "little") + item for number, item in zip(range(begin, end), items)]
        accepted = f"/v1/admin/problems/{identity}/items"
        self.assertEqual(self.call("GET", accepted, token=admin), b"".join(framed))
        self.assertEqual(self.call("GET", f"{accepted}?stage=0&known={begin}-{begin + 1}", token=admin), b"".join(framed[1:]))
        self.call("GET", f"{accepted}?stage=1", token=admin, expect=409)
        for wrong in ("known=5", "known=5-5", "known=a-b", "stage=x", "stage=64", "known=" + ",".join(f"{i}-{i + 1}" for i in range(0, 1002, 2))):
            self.call("GET", f"{accepted}?{wrong}", token=admin, expect=400)
        self.call("POST", f"/v1/admin/problems/{identity}/retry", {}, admin, expect=409)  # nothing has failed
        self.call("POST", "/v1/admin/problems/999999/retry", {}, admin, expect=404)
        self.call("POST", f"/v1/admin/problems/{identity}/application", {"application": "squares"}, admin, expect=409)
        self.grid.admin("problem", "cancel", identity)
        self.rows(admin)
        self.mended_and_tried_again(admin)
        self.call("POST", "/v1/leave", {}, host.token)
        other = FakeHost(self.grid, "other")
        held = self.call("POST", f"/v1/admin/hosts/{other.host}/hold", {"reason": "an exam"}, admin)
        self.assertEqual(held["on_hold"], "an exam")
        self.assertEqual(self.call("POST", f"/v1/admin/hosts/{other.host}/release", {}, admin)["on_hold"], "")
        self.assertEqual(self.call("POST", f"/v1/admin/hosts/{other.host}/tags", {"tags": ["b", "a", "b"]}, admin)["tags"], ["a", "b"])
        self.call("POST", f"/v1/admin/hosts/{other.host}/tags", {"tags": [" a"]}, admin, expect=400)
        self.call("POST", "/v1/admin/hosts/999999/hold", {}, admin, expect=404)
        self.assertEqual(self.call("GET", f"/v1/admin/hosts/{host.host}/units?count=1", token=admin)["items"][0]["problem_name"], "wire")
        self.call("GET", f"/v1/admin/hosts/{host.host}/units?count=x", token=admin, expect=400)
        self.call("GET", "/v1/admin/hosts/999999/units", token=admin, expect=404)
        self.call("POST", f"/v1/admin/hosts/{other.host}/revoke", {}, admin)
        made = self.call("POST", "/v1/admin/codes", {"name": "lab", "hosts_max": 2, "own": False, "tags": ["b12"]}, admin)
        self.call("POST", "/v1/admin/codes", {"name": "lab"}, admin, expect=409)
        self.call("POST", "/v1/admin/codes", {"name": "a/b"}, admin, expect=400)
        self.assertNotEqual(self.call("POST", "/v1/admin/codes/lab/rotate", {}, admin)["join_code"], made["join_code"])
        self.call("POST", "/v1/admin/codes/lab/withdraw", {"with_hosts": True}, admin)
        self.call("POST", "/v1/admin/codes/none/withdraw", {}, admin, expect=404)
        self.assertEqual(self.call("GET", "/v1/admin/codes/lab", token=admin)["state"], "withdrawn")
        self.assertEqual(len(self.call("GET", "/v1/admin/codes", token=admin)["items"]), 3)  # with that of the hosts here
        self.relays(admin)
        made = self.call("POST", "/v1/admin/tokens", {"name": "ann", "role": "viewer", "lifetime_seconds": 3600}, admin)
        self.call("POST", "/v1/admin/tokens", {"name": "ann", "role": "owner"}, admin, expect=409)
        self.call("POST", "/v1/admin/tokens", {"name": "eve", "role": "king"}, admin, expect=400)
        self.call("POST", "/v1/admin/tokens", {"name": "eve", "role": "owner"}, made["token"], expect=403)
        self.call("POST", "/v1/admin/tokens/ann/withdraw", {}, admin)
        self.call("GET", "/v1/admin/tokens", token=made["token"], expect=401)
        self.call("POST", "/v1/admin/tokens/project/withdraw", {}, admin, expect=409)
        self.assertEqual([each["state"] for each in self.call("GET", "/v1/admin/tokens", token=admin)["items"]],
                         ["withdrawn", "valid"])

        self.call("POST", "/v1/admin/bans", {"kind": "network", "subject": "192.0.2.7/24", "reason": "spam"}, admin)
        self.call("POST", "/v1/admin/bans", {"kind": "network", "subject": "0.0.0.0/0", "reason": ""}, admin, expect=400)
        self.call("POST", "/v1/admin/bans", {"kind": "network", "subject": "127.0.0.0/8", "reason": ""}, admin, expect=409)
        self.call("POST", "/v1/admin/bans", {"kind": "code", "subject": "none", "reason": ""}, admin, expect=404)
        self.assertEqual([ban["subject"] for ban in self.call("GET", "/v1/admin/bans", token=admin)["items"]], ["192.0.2.0/24"])
        self.call("POST", "/v1/admin/bans/network/remove", {"subject": "192.0.2.0/24"}, admin)
        self.call("POST", "/v1/admin/bans/network/remove", {"subject": "192.0.2.0/24"}, admin, expect=404)
        self.assertGreater(len(self.call("GET", "/v1/admin/audit?after=1", token=admin)["acts"]), 10)
        self.assertGreater(len(self.call("GET", "/v1/admin/audit", token=admin)["refusals"]), 1)
        self.call("GET", "/v1/admin/audit?after=x", token=admin, expect=400)

        self.console(admin, identity)
        published = {(method, path) for path, operations in CONTRACT["paths"].items()
                     for method in operations if method != "parameters"}
        self.assertEqual(published - self.covered, set(), "operations that no test called")

    def certificate(self, statement, project):
        """What a relay's certificate says; the work key of the project must have signed it."""
        self.assertEqual(statement["type"], "relay-certificate")
        work = json.loads(from_base64url(project["work_certificate"]["payload"]))["key"]
        self.assertEqual(statement["key"], work)
        payload = from_base64url(statement["payload"])
        files = {name: self.grid.directory / f"certificate.{name}" for name in ("key", "text", "signature")}
        files["key"].write_bytes(HostKey.DER + from_base64url(work))
        files["text"].write_bytes(signed_bytes("relay-certificate", payload))
        files["signature"].write_bytes(from_base64url(statement["signature"]))
        subprocess.run(["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER", "-inkey", files["key"], "-in", files["text"],
                        "-sigfile", files["signature"]], check=True, capture_output=True)
        said = json.loads(payload)
        jsonschema.validate(said, resolve(CONTRACT["components"]["schemas"]["RelayCertificate"]))
        return said

    def relays(self, admin):
        """A relay is admitted, and a host through it; who is under whom is told."""
        made = self.call("POST", "/v1/admin/relays", {"name": "lab-b12", "children": 2}, admin)
        self.call("POST", "/v1/admin/relays", {"name": "lab-b12", "children": 2}, admin, expect=409)
        self.call("POST", "/v1/admin/relays", {"name": "x", "children": 0}, admin, expect=400)
        project = json.loads(from_base64url(self.call("GET", "/v1/project")["payload"]))
        self.call("GET", "/v1/relay", expect=404)  # of a relay only (relay_join_test.py)
        self.call("GET", "/v1/admin/relay", token=admin, expect=404)
        self.covered |= {("get", "/v1/relay"), ("get", "/v1/admin/relay")}
        relay, child = HostKey(), HostKey()
        tls_key = hashlib.sha256(b"tls").hexdigest()
        body = relay.request("named by its owner", secret=from_base64url(made["join_code"].rsplit("/", 1)[1])[33:49])
        self.call("POST", "/v1/enrol", body, expect=422)  # it does not prove its key
        body["proof"] = relay.proof(project["project"], self.call("GET", "/v1/enrol/nonce")["nonce"])
        self.call("POST", "/v1/enrol", body, expect=403)  # it does not say that it is a relay
        body["relay"] = {"tls_key": tls_key}
        self.call("POST", "/v1/enrol", body, expect=422)  # nor did it sign that
        body["proof"] = relay.proof(project["project"], self.call("GET", "/v1/enrol/nonce")["nonce"], tls_key=tls_key)
        joined = self.call("POST", "/v1/enrol", body)
        self.call("POST", "/v1/enrol", body, expect=422)  # once
        certificate = self.certificate(joined["certificate"], project)
        self.assertEqual((certificate["relay"], certificate["name"], certificate["children"]), (joined["host"], "lab-b12", 2))
        self.assertEqual(certificate["key"], body["host_key"])
        fresh = self.call("GET", "/v1/relay/certificate", token=joined["token"])
        self.assertEqual(self.certificate(fresh, project)["tls_key"], body["relay"]["tls_key"])
        self.call("GET", "/v1/relay/certificate?host=999999", token=joined["token"], expect=403)
        self.call("GET", "/v1/relay/certificate?host=x", token=joined["token"], expect=400)
        plain = FakeHost(self.grid, "no relay")
        self.call("GET", "/v1/relay/certificate", token=plain.token, expect=403)

        problem = self.stages(joined["token"], plain.token)
        host = child.request("bench 7", proof=self.grid.proof(child, joined["host"]))
        self.call("POST", "/v1/relay/hosts", host, expect=401)
        self.call("POST", "/v1/relay/hosts", host, plain.token, expect=403)
        self.call("POST", "/v1/relay/hosts", {**host, "host_key": relay.key}, joined["token"], expect=422)
        under = self.call("POST", "/v1/relay/hosts", host, joined["token"])["host"]
        self.assertEqual(self.call("GET", f"/v1/admin/hosts/{under}", token=admin)["relay"], joined["host"])
        told = self.grid.admin("host", "show", str(under)).stdout
        self.assertRegex(told, rf"under relay +lab-b12 \(host {joined['host']}\)\n")
        [told] = self.call("GET", "/v1/admin/relays", token=admin)["items"]
        self.assertEqual((told["state"], told["host"], told["hosts"], told["children"]), ("active", joined["host"], 1, 2))
        self.assertRegex(self.grid.admin("relay", "list").stdout, rf"lab-b12 +active +{joined['host']} +- +1 of 2 ")
        self.assertEqual(self.call("GET", "/v1/admin/relays/lab-b12/limit", token=admin)["limit"], "work")
        self.call("GET", "/v1/admin/relays/nobody/limit", token=admin, expect=404)
        self.call("POST", "/v1/admin/relays/lab-b12/quota", {"children": 0}, admin, expect=400)
        self.call("POST", "/v1/admin/relays/nobody/quota", {"children": 3}, admin, expect=404)
        self.call("POST", "/v1/admin/relays/default/quota", {"children": 3}, admin, expect=404)  # no relay's code
        told = self.call("POST", "/v1/admin/relays/lab-b12/quota", {"children": 3}, admin)
        self.assertEqual((told["state"], told["hosts"], told["children"]), ("active", 1, 3))
        self.assertIn("7 hosts may be under lab-b12; 1 are", self.grid.admin("relay", "quota", "lab-b12", 7).stdout)
        self.assertRegex(self.grid.admin("relay", "list").stdout, rf"lab-b12 +active +{joined['host']} +- +1 of 7 ")
        fresh = self.call("GET", "/v1/relay/certificate", token=joined["token"])
        self.assertEqual(self.certificate(fresh, project)["children"], 7)
        self.failed_below(joined["token"], problem, under, child, project, admin)
        self.call("POST", "/v1/relay/hosts/leave", {"host": under}, joined["token"])
        self.assertEqual(self.call("GET", f"/v1/admin/hosts/{under}", token=admin)["state"], "left")
        code = self.grid.admin("relay", "allow", "second", "--children", "5", "--strangers").stdout.strip()
        self.assertNotEqual(code, made["join_code"])
        self.assertEqual(self.call("GET", "/v1/admin/codes/second", token=admin)["children"], 5)
        quotas = [act for act in self.call("GET", "/v1/admin/audit", token=admin)["acts"] if act["action"] == "relay quota"]
        self.assertEqual([(act["object"], act["summary"]) for act in quotas],
                         [("lab-b12", "active: 1 hosts under it, of 3"), ("lab-b12", "active: 1 hosts under it, of 7")])
        self.assertIn("relay allow", [act["action"] for act in self.call("GET", "/v1/admin/audit", token=admin)["acts"]])

    def stages(self, relay, plain):
        """What a relay is told of a stage that is under way, and no other host."""
        uneven = self.grid.add_problem("squares", "uneven", count=5, uneven=True)
        path = f"/v1/relay/stages/{uneven}/0"
        told = self.call("GET", path, token=relay)
        self.assertEqual((told["name"], told["items"], told["costs"]), ("uneven", 5, True))
        self.assertIn('name = "squares"', told["manifest"])
        costs = zlib.decompress(self.call("GET", path + "/costs", token=relay))
        self.assertEqual(struct.unpack("<5d", costs), (1, 2, 3, 4, 5))
        self.assertEqual(zlib.decompress(self.call("GET", path + "/costs?from=3", token=relay)), costs[24:])
        self.call("GET", path + "/costs?from=5", token=relay, expect=404)
        self.call("GET", path + "/costs?from=x", token=relay, expect=400)
        self.call("GET", path, token=plain, expect=403)
        self.call("GET", path + "/costs", token=plain, expect=403)
        self.call("GET", f"/v1/relay/stages/{uneven}/1", token=relay, expect=404)
        return uneven

    def failed_below(self, relay, problem, host, key, project, admin):
        """A host under a relay says that its kernel failed: it is blamed, once, and the relay keeps its unit."""
        body = {"commits": [], "units": [], "slots": [{"slot": 0, "urgent": True}], "platforms": ["any"], "memory_bytes": 1 << 32, "cores": 4,
                "proposal": {"performance": 1000, "queue_unloaded": 1, "queue_current": 1, "items": 0},
                "relay": {"performance": 1000, "rate": 0, "slots": 4}}
        [grant] = self.call("POST", "/v1/work", body, relay)["grants"]
        grant = json.loads(from_base64url(grant["payload"]))
        said = {"project": project["project"], "host": host, "unit": 7, "problem": problem, "stage": 0, "kind": "kernel-crashed",
                "item": grant["range"]["begin"], "message": "signal 11", "at": int(time.time() * 1e6)}
        jsonschema.validate({"version": 1, **said}, resolve(CONTRACT["components"]["schemas"]["Failure"]))
        report = {"unit": grant["unit"], "kind": "kernel-error", "item": 0, "message": "as a relay would like it"}
        self.call("POST", "/v1/failure", {**report, "statement": HostKey().sign("failure", said)}, relay, expect=422)
        for _ in range(2):
            self.call("POST", "/v1/failure", {**report, "statement": key.sign("failure", said)}, relay)
        self.assertEqual(self.call("GET", f"/v1/admin/hosts/{host}", token=admin)["failures"], 1)
        [told] = self.call("GET", f"/v1/admin/problems/{problem}", token=admin)["errors"]
        self.assertEqual((told["message"], told["times"]), ("signal 11", 1))
        self.grid.admin("problem", "cancel", problem)

    def console(self, admin, identity):
        """What its page asks; the rest is console_test.py's."""
        for path in (f"problems/{identity}/map", f"problems/{identity}/history", "history", "days", "errors", "settings", "host-pages?text=e&state=left", "host-pages?relay=1"):
            self.call("GET", f"/v1/admin/{path}", token=admin)
        self.call("GET", "/v1/admin/problems/999999/map", token=admin, expect=404)
        self.call("GET", "/v1/admin/host-pages?state=asleep", token=admin, expect=400)
        self.call("GET", "/v1/admin/host-pages?relay=x", token=admin, expect=400)
        self.call("GET", "/v1/admin/host-pages?needs=python%3E%3D3.9,numpy", token=admin)
        self.call("GET", "/v1/admin/host-pages?needs=python%3E", token=admin, expect=400)
        fit = self.call("GET", f"/v1/admin/problems/{identity}/hosts", token=admin)
        self.assertEqual((fit["needs"], fit["hosts"] - fit["suited"]), ([], sum(group["hosts"] for group in fit["unsuited"])))
        self.call("GET", "/v1/admin/problems/999999/hosts", token=admin, expect=404)
        flow = {"name": "study", "nodes": [{"name": "one", "application": "squares"}, {"name": "two", "application": "squares", "after": [{"node": "one", "results": ["sum.txt"]}]}]}
        told = self.call("POST", "/v1/admin/flows", flow, admin)
        self.assertEqual([node["state"] for node in told["nodes"]], ["waiting", "waiting"])
        self.assertEqual(self.call("GET", "/v1/admin/flows/study", token=admin), told)
        self.call("GET", "/v1/admin/flows/none", token=admin, expect=404)
        self.call("POST", "/v1/admin/flows", {**flow, "nodes": flow["nodes"][::-1]}, admin, expect=400)
        self.covered.add(("get", "/v1/admin/events"))  # it has no end: console_test.py follows it
        link = self.call("POST", "/v1/console/links", {}, admin)
        self.call("POST", "/v1/console/links", {}, expect=401)
        self.call("POST", "/v1/console/session", {"link": "none"}, expect=401)
        status, headers, answer = self.grid.request("POST", "/v1/console/session", {"link": link["secret"]})
        self.assertEqual(status, 200)
        self.covered.add(("post", "/v1/console/session"))
        cookie = {"Cookie": headers["Set-Cookie"].split(";")[0], "X-Gleaner-Guard": answer["guard"]}
        self.assertEqual(self.call("GET", "/v1/console/session", headers=cookie), answer)
        self.call("DELETE", "/v1/console/session", headers=cookie)
        self.call("GET", "/v1/console/session", headers=cookie, expect=401)

    def test_repeats_are_answered_alike_and_counted_once(self):
        host = FakeHost(self.grid, "repeats")
        identity = self.grid.add_problem("squares", "repeats", count=5)
        _, reply = host.work()
        grant = next(g for g in reply["decoded"] if g["problem"] == identity)
        begin, end = grant["range"]["begin"], grant["range"]["end"]
        items = [str(i * i).encode() for i in range(begin, end)]
        answers = [host.commit(grant["unit"], begin, items)[1] for _ in range(3)]
        self.assertEqual(answers[0]["status"], "accepted")
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])
        share = next(s for s in self.grid.problem(identity)["shares"] if s["host"] == host.host)
        self.assertEqual(share["items"], end - begin)
        self.grid.admin("problem", "cancel", identity)

    def test_errors_are_problem_documents(self):
        admin = self.grid.admin_token
        host = FakeHost(self.grid, "errors")
        self.call("POST", "/v1/work", {"nonsense": True}, host.token, expect=400)
        self.call("POST", "/v1/work", b"{" * 10000, host.token, expect=400)
        self.call("POST", "/v1/work", b"[" * 5000 + b"]" * 5000, host.token, expect=413)
        self.call("POST", "/v1/work", b'{"version": 99}', host.token, expect=400)
        self.call("POST", "/v1/work", b"x" * (5 << 20), host.token, expect=413)
        self.call("POST", "/v1/heartbeat", {"units": []}, "wrong token", expect=401)
        self.call("GET", "/v1/admin/status", token="wrong token", expect=401)
        self.call("GET", "/v1/admin/status", token=host.token, expect=401)
        self.call("POST", "/v1/heartbeat", {"units": []}, admin, expect=401)
        # An object store that says it has none is not believed at once.
        self.call("GET", "/v1/blobs/" + "0" * 64, token=host.token, expect=503 if CLUSTER else 404)
        self.call("GET", "/v1/blobs/..%2f..%2fkeys%2fwork.key", token=host.token, expect=400)
        self.call("GET", "/v1/admin/problems/999999", token=admin, expect=404)
        self.call("POST", "/v1/admin/problems", {"application": "none", "name": "x", "parameters": "{}"}, admin, expect=404)
        self.call("POST", "/v1/admin/problems", {"application": "squares", "name": "x", "parameters": "{]"}, admin,
                  expect=400)
        error = self.call("POST", "/v1/admin/problems", {"application": "squares", "name": "x", "parameters": "{}",
                                                         "strategy": "best"}, admin, expect=400)
        self.assertIn("best", error["detail"])
        error = self.call("POST", "/v1/admin/problems", {"application": "squares", "name": "x",
                                                         "parameters": '{"count": 0}'}, admin, expect=400)
        self.assertIn("count", error["detail"])
        self.assertNotIn("x", [p["name"] for p in self.grid.admin_json("problem", "list")["items"]])
        digest = hashlib.sha256(b"right").hexdigest()
        self.call("PATCH", f"/v1/uploads/{digest}", b"right", host.token, {"Upload-Offset": "0", "Upload-Length": "5"},
                  expect=503)  # it holds no unit
        self.call("PATCH", f"/v1/uploads/{digest}", b"wrong", admin, {"Upload-Offset": "0", "Upload-Length": "5"},
                  expect=422)
        self.call("PATCH", f"/v1/uploads/{digest}", b"right", admin, {"Upload-Offset": "3", "Upload-Length": "8"},
                  expect=409)
        self.call("PATCH", f"/v1/uploads/{digest}", b"right", admin, {"Upload-Offset": "-1", "Upload-Length": "8"},
                  expect=400)


if __name__ == "__main__":
    main()
