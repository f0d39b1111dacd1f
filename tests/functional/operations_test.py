"""What whoever is on call relies on: health and readiness, metrics and all that asks for them, backups."""
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import time
import unittest

import yaml

from harness import SOURCE, SQUARES, FakeHost, Grid, main, of_files
from kernels import Held

MONITORING = SOURCE / "deploy" / "monitoring"
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"([a-z_][a-z0-9_]*)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-][0-9]+)?)")
SECRETS = ("keys/work.key", "keys/tls.key", "keys/enrolment.secret", "admin/token")
NAME = re.compile(r"\bgleaner_[a-z0-9_]+")


def samples_of(text):
    """The samples of a page in the text format 0.0.4, as {(name, labels): value}; each family with help and type, once."""
    families, present, found = {}, None, {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            present = line.split(" ", 3)[2]
            assert present not in families, f"{present} comes twice"
            assert len(line.split(" ", 3)[3]) > 5
            continue
        if line.startswith("# TYPE "):
            _, _, name, families[present] = line.split(" ")
            assert name == present
            continue
        match = SAMPLE.fullmatch(line)
        assert match, f"no sample: {line}"
        name, labels, value = match.groups()
        endings = ("_bucket", "_sum", "_count") if families[present] == "histogram" else ("",)
        assert name in [present + ending for ending in endings], f"{name} in {present}"
        assert (name, labels) not in found, f"{line} comes twice"
        found[name, labels] = float(value.replace("Inf", "inf"))
    return found


class Watching(unittest.TestCase):
    def metrics(self, grid, token=None):
        status, headers, body = grid.request("GET", "/metrics", token=token or grid.admin_token)
        self.assertEqual(status, 200, body)
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        return samples_of(body.decode())

    def test_health_readiness_and_figures(self):
        with Grid() as grid:
            grid.start_server()
            for path, answer in (("/healthz", b"ok\n"), ("/readyz", b"ready\n")):
                self.assertEqual(grid.request("GET", path)[::2], (200, answer))
                self.assertEqual(grid.request("POST", path, {})[0], 404)

            with self.subTest("who may read them"):
                host = FakeHost(grid, "kitchen-pc")
                self.assertEqual(grid.request("GET", "/metrics")[0], 401)
                self.assertEqual(grid.request("GET", "/metrics", token=host.token)[0], 401)
                viewer = grid.admin_json("token", "add", "prometheus", "--role", "viewer")["token"]
                before = self.metrics(grid, viewer)
                self.assertEqual(before["gleaner_requests_total", 'kind="operations",code="4xx"'], 4)
                self.assertEqual(before["gleaner_requests_refused_total", 'reason="unauthorized"'], 2)

            with self.subTest("they follow what happens"):
                grid.add_application(SQUARES)
                identity = grid.add_problem("squares", "private matter", count=30)
                _, reply = host.work()
                grant = reply["decoded"][0]
                begin, end = grant["range"]["begin"], grant["range"]["end"]
                host.commit(grant["unit"], begin, [str((1 + i) ** 2).encode() for i in range(begin, end)])
                host.units.clear()
                other = host.work()[1]["decoded"][0]
                grid.request("POST", "/v1/failure", {"unit": other["unit"], "kind": "kernel-crashed", "item": other["range"]["begin"],
                                                     "message": "signal 11"}, host.token)
                labels = f'problem="{identity}",name="private matter"'
                # Who looks may be shown what is ten seconds old; the next look is shown a newer one.
                after = grid.wait_until("the figures", lambda: (
                    lambda now: now if now["gleaner_failures_total", None] == 1 else None)(self.metrics(grid)))
                self.assertEqual(after["gleaner_hosts_known", None], 1)
                self.assertEqual(after["gleaner_hosts_online", None], 1)
                self.assertEqual(after["gleaner_problems", 'state="running"'], 1)
                self.assertEqual(after["gleaner_items_accepted_total", None], end - begin)
                self.assertEqual(after["gleaner_items_open", None], 30 - (end - begin))
                self.assertAlmostEqual(after["gleaner_problem_done_ratio", labels], (end - begin) / 30)
                self.assertEqual(after["gleaner_requests_total", 'kind="work",code="2xx"'], 3)
                self.assertEqual(after["gleaner_requests_total", 'kind="failure",code="2xx"'], 1)
                self.assertGreater(after["gleaner_connections_total", None], before["gleaner_connections_total", None])
                self.assertEqual(after["gleaner_ready", None], 1)
                self.assertGreater(after["gleaner_disk_free_bytes", None], 1 << 20)
                self.assertGreater(after["gleaner_store_bytes", None], 4096)
                operations = after["gleaner_writer_operation_seconds_count", None]
                self.assertEqual(operations, after["gleaner_writer_batch_operations_sum", None])
                self.assertEqual(operations, after["gleaner_writer_operation_seconds_bucket", 'le="+Inf"'])
                tls, work = (after["gleaner_certificate_not_after_seconds", f'certificate="{name}"'] for name in ("tls", "work"))
                self.assertAlmostEqual(tls, work, delta=2)

            with self.subTest("waste is the same number everywhere"):
                wasted = grid.problem(identity)["wasted"]
                self.assertGreater(wasted, 0)
                self.assertAlmostEqual(after["gleaner_problem_wasted_ratio", labels], wasted)
                self.assertRegex(grid.admin("problem", "show", identity).stdout, rf"wasted +{100 * wasted:.1f} %")

            with self.subTest("no host is named, and what is over is no series"):
                body = grid.request("GET", "/metrics", token=grid.admin_token)[2].decode()
                self.assertNotIn("kitchen", body)
                grid.admin("problem", "cancel", identity)
                self.assertNotIn("private matter", grid.request("GET", "/metrics", token=grid.admin_token)[2].decode())

            if shutil.which("promtool"):
                with self.subTest("Prometheus's own checker has nothing against them"):
                    body = grid.request("GET", "/metrics", token=grid.admin_token)[2]
                    checked = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True)
                    self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""))

            with self.subTest("dashboard and alerts ask for what there is"):
                self.asked_for({name for name, _ in after})

            with self.subTest("what it cannot store it does not ask for"):
                grid.kill("server")
                grid.change_settings("store.disk_reserve_megabytes = 1048576")  # a terabyte
                grid.start_server()
                status, headers, reply = grid.request("GET", "/readyz")
                self.assertEqual((status, reply["detail"].split(":")[0]), (503, "disk"))
                self.assertIn("Retry-After", headers)
                self.assertEqual(grid.request("GET", "/healthz")[0], 200)
                self.assertEqual(self.metrics(grid)["gleaner_ready", None], 0)

    def asked_for(self, there):
        dashboard = json.loads((MONITORING / "grafana-dashboard.json").read_text())
        alerts = yaml.safe_load((MONITORING / "gleaner-alerts.yml").read_text())
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        expressions += [variable["query"]["query"] for variable in dashboard["templating"]["list"]
                        if isinstance(variable["query"], dict)]
        rules = [rule for group in alerts["groups"] for rule in group["rules"]]
        for rule in rules:
            self.assertIn(rule["labels"]["severity"], ("page", "ticket"))
            self.assertTrue(rule["annotations"]["summary"] and rule["annotations"]["description"])
        texts = expressions + [rule["expr"] for rule in rules] + [(MONITORING / "README.md").read_text()]
        asked = {name for text in texts for name in NAME.findall(text)} - {"gleaner_writer_operation_seconds",
                                                                           "gleaner_writer_commit_seconds",
                                                                           "gleaner_writer_batch_operations"}
        self.assertGreater(len(asked), 30)
        self.assertLessEqual(asked, there)
        numbers = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(numbers), len(set(numbers)))
        if shutil.which("promtool"):
            subprocess.run(["promtool", "check", "rules", MONITORING / "gleaner-alerts.yml"], check=True, capture_output=True)


class Certificates(unittest.TestCase):
    def shown(self, grid):
        return ssl.get_server_certificate(("127.0.0.1", grid.port))

    def test_a_renewed_certificate_is_taken_without_ending_a_connection(self):
        with Grid() as grid:
            grid.start_server()
            former = self.shown(grid)
            connection = http.client.HTTPSConnection("127.0.0.1", grid.port, context=ssl._create_unverified_context(), timeout=30)

            def alive():
                connection.request("GET", "/healthz")
                return connection.getresponse().read() == b"ok\n"

            self.assertTrue(alive())
            kept = connection.sock
            chain, key = grid.project / "keys" / "tls.pem", grid.project / "keys" / "tls.key"
            with self.subTest("one that does not fit its key is refused"):
                good = chain.read_text()
                self.renew(grid, chain, grid.directory / "unused.key")
                grid.processes["server"].send_signal(signal.SIGHUP)
                grid.wait_until("the refusal", lambda: "the former certificate is shown further" in grid.log("server"))
                self.assertEqual(self.shown(grid), former)
                chain.write_text(good)
            self.renew(grid, chain, key)
            grid.processes["server"].send_signal(signal.SIGHUP)
            grid.wait_until("the new one", lambda: self.shown(grid) == chain.read_text())
            self.assertTrue(alive())
            self.assertIs(connection.sock, kept)
            token = grid.admin_token
            ends = re.search(r'not_after_seconds{certificate="tls"} (\d+)', grid.request("GET", "/metrics", token=token)[2].decode())
            self.assertAlmostEqual(int(ends[1]), time.time() + 5 * 86400, delta=600)
            connection.close()

    def renew(self, grid, chain, key):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "5",
                        "-subj", "/CN=renewed", "-keyout", key, "-out", chain], check=True, capture_output=True)
        key.chmod(0o600)


class Backups(unittest.TestCase):
    def back_up(self, grid, into, *arguments):
        return json.loads(grid.run("gleaner-server", "backup", grid.project, into, "--json", *arguments).stdout)

    def refused(self, grid, words, *arguments):
        done = grid.run("gleaner-server", *arguments, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(words, done.stderr)

    def check(self, grid, directory):
        report = json.loads(grid.run("gleaner-server", "check", directory, "--json").stdout)  # exits with 0
        self.assertLessEqual({finding["kind"] for finding in report["findings"]}, {"orphan"})
        return report

    @of_files("postgres_test.py and objects_test.py have backups of that")
    def test_a_backup_under_load_goes_on_to_the_same_result(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1") as grid:
            grid.start_server()
            held = Held(grid, 400, pause=0.2, item_bytes=80000)  # each segment is a blob
            identity = held.add()
            held.add_client("a")
            held.add_client("b")
            accepted = lambda: grid.problem(identity)["accepted"]
            grid.wait_until("some items", lambda: accepted() >= 4)
            safe = grid.directory / "safe"
            made = self.back_up(grid, safe, "--with-keys")
            self.assertGreater(made["linked"], 0)
            then = self.check(grid, safe)
            self.assertEqual(then["transactions"], made["transactions"])
            self.assertEqual((then["blobs_missing"], then["blobs_damaged"]), (0, 0))
            had = then["problems"][0]["accepted"]
            self.assertGreaterEqual(had, 4)
            self.refused(grid, "is not empty", "backup", grid.project, safe)
            self.refused(grid, "is not empty", "restore", safe, grid.project)

            # It goes on, and all of it is lost with its disk.
            grid.wait_until("more items", lambda: accepted() > had)
            grid.kill("server")
            lost = grid.directory / "lost"
            grid.project.rename(lost)
            self.assertEqual(json.loads(grid.run("gleaner-server", "restore", safe, grid.project, "--json").stdout)["missing"], [])
            restored = self.check(grid, grid.project)
            self.assertEqual(restored["problems"][0]["accepted"], had)
            now = json.loads(grid.run("gleaner-server", "check", lost, "--json", check=False).stdout)["transactions"]
            self.assertGreater(restored["transactions"], now)
            grid.start_server()
            acts = grid.admin_json("audit", "list")["acts"]
            self.assertIn("store restore", [act["action"] for act in acts])
            held.let_go()
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity), held.expected)
            grid.admin("audit", "verify")

            with self.subTest("the lost store, put back beside the newer note, is refused"):
                grid.kill("server")
                for name in ("store.sqlite", "store.sqlite-wal"):
                    shutil.copy(lost / name, grid.project / name)
                self.refused(grid, "is older than it was", "run", grid.project)

    @of_files("what it makes has no key of the object store, which `check` of it needs")
    def test_the_nightly_unit_makes_one_and_drops_what_is_old(self):
        with Grid() as grid:
            grid.start_server()
            kept = grid.directory / "kept"
            kept.mkdir()
            (kept / "old" / "blobs").mkdir(parents=True)
            os.utime(kept / "old", (time.time() - 20 * 86400,) * 2)
            unit = (SOURCE / "deploy" / "systemd" / "gleaner-backup.service").read_text()
            for line in re.findall(r"^ExecStart(?:Post)?=(.*)$", unit, re.M):
                line = line.replace("$$", "$").replace("%%", "%").replace("/var/lib/gleaner-server-backups", str(kept))
                line = line.replace("/var/lib/gleaner-server", str(grid.project)).replace("/usr/bin/gleaner-server", grid.program("gleaner-server"))
                subprocess.run(shlex.split(line), check=True, capture_output=True)
            made, = kept.iterdir()
            self.assertRegex(made.name, r"^\d{4}-\d\d-\d\d-\d{6}$")
            self.check(grid, made)

    def test_without_keys_nothing_secret_is_copied_and_what_is_missing_is_named(self):
        with Grid() as grid:
            grid.start_server()
            bare = grid.directory / "bare"
            told = grid.run("gleaner-server", "backup", grid.project, bare, "--copy").stdout
            self.assertIn("no secret keys", told)
            for path in bare.rglob("*"):
                self.assertEqual(path.stat().st_nlink if path.is_file() else 1, 1)
            secrets = [(grid.project / name).read_bytes().strip() for name in SECRETS]
            for path in filter(lambda path: path.is_file(), bare.rglob("*")):
                for secret in secrets:
                    self.assertNotIn(secret, path.read_bytes())
            other = grid.directory / "other"
            told = grid.run("gleaner-server", "restore", bare, other).stdout
            for name in ("keys/work.key", "keys/tls.key", "admin/token"):
                self.assertIn(f"put it at {other / name}", told)
            self.assertEqual(grid.run("gleaner-server", "run", other, check=False).returncode, 1)
            (bare / "gleaner-backup").unlink()
            self.refused(grid, "is no whole backup", "restore", bare, grid.directory / "third")


if __name__ == "__main__":
    main()
