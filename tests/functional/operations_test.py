"""What whoever is on call relies on: health and readiness, metrics and all that asks for them, backups."""
import json
import re
import shutil
import subprocess
import unittest

import yaml

from harness import SOURCE, SQUARES, FakeHost, Grid, main

MONITORING = SOURCE / "deploy" / "monitoring"
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"([a-z_][a-z0-9_]*)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-][0-9]+)?)")
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
                self.assertEqual(after["gleaner_requests_total", 'kind="commit",code="2xx"'], 1)
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

            with self.subTest("no host is named, and what is over is no series"):
                body = grid.request("GET", "/metrics", token=grid.admin_token)[2].decode()
                self.assertNotIn("kitchen", body)
                grid.admin("problem", "cancel", identity)
                self.assertNotIn("private matter", grid.request("GET", "/metrics", token=grid.admin_token)[2].decode())

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


if __name__ == "__main__":
    main()
