"""What volunteers of other projects were hurt by, on a computer that a test makes up: terminals dated in the future, batteries that call
themselves something else, sensors in unusual places, a zone that changes, no figures of memory. The client computes when it may,
stands still when it must, and says why."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from computers import may_unshare
from harness import LONG, MANDELBROT, Grid, main, sandbox_arguments

COMPUTING = r"^computing long\b"
HOUR = 3600
ZONES = pathlib.Path("/usr/share/zoneinfo")


class Made:
    """/dev, /proc and /sys of a computer."""

    def __init__(self, root):
        self.root = root
        self.put("proc/pressure/memory", "some avg10=0 avg60=0 avg300=0 total=0\nfull avg10=0 avg60=0 avg300=0 total=0\n")

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(path.name + ".new")
        new.write_text(text)  # as a whole: half a file would say something else
        new.rename(path)

    def supply(self, name, **facts):
        for fact, value in facts.items():
            self.put(f"sys/class/power_supply/{name}/{fact}", f"{value}\n")

    def remove(self, name):
        (self.root / name).unlink()

    def chip(self, degrees):
        self.put("sys/class/hwmon/hwmon0/name", "k10temp\n")
        self.put("sys/class/hwmon/hwmon0/temp1_input", f"{degrees * 1000}\n")


class Field(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.grid = Grid()
        cls.enterClassContext(cls.grid)
        cls.grid.start_server()
        cls.grid.add_application(MANDELBROT)
        cls.grid.add_problem("mandelbrot", "long", **LONG)

    def client(self, name, computer, *preferences, before=()):
        """Joins and runs; it may compute beside nobody, and goes on at once when it may."""
        grid = self.grid
        grid.join(name)
        (grid.state(name) / "preferences.toml").write_text(
            'run = "when-idle"\npause_minutes_min = 0\nload_max = 1\ncpu_share = 0.1\n' + "".join(line + "\n" for line in preferences))
        grid.start(name, "gleaner-client", "run", "--state", grid.state(name), *sandbox_arguments(grid.state(name)), "--cores", 1,
                   "--benchmark-mflops", 1000, env=dict(os.environ, GLEANER_COMPUTER=str(computer.root)), before=before)
        self.addCleanup(grid.kill, name)

    def status(self, name):
        told = self.grid.control(name, "--json", "why", check=False)
        return json.loads(told.stdout)["status"] if told.returncode == 0 else None

    def says(self, name, pattern, timeout=60):
        def said():
            status = self.status(name)
            return status is not None and (status if re.search(pattern, status["reason"]) else None)

        try:
            return self.grid.wait_until(f"{pattern!r}", said, timeout)
        except AssertionError:
            raise AssertionError(f"not {pattern!r}, but {self.status(name)}; {self.grid.log(name)[-500:]}") from None

    def made(self, name):
        return Made(self.grid.directory / f"made-{name}")

    def test_a_terminal_dated_in_the_future_is_no_sign_of_life(self):
        computer = self.made("future")
        computer.put("dev/pts/0", "")
        ahead = time.time() + 2 * HOUR
        os.utime(computer.root / "dev/pts/0", (ahead, ahead))
        self.client("future", computer)
        self.says("future", COMPUTING)

    def test_batteries_and_what_they_call_themselves(self):
        computer = self.made("battery")
        computer.supply("AC", type="Mains", online=1)
        computer.supply("BAT0", type="Battery", status="Not charging", capacity=80)
        computer.supply("mouse", type="Battery", scope="Device", status="Discharging", capacity=10)
        self.client("battery", computer)
        self.says("battery", COMPUTING)
        computer.supply("AC", online=0)
        self.says("battery", r"^not computing: this computer runs on its battery \(BAT0\)")
        computer.supply("BAT0", status="Charging")
        self.says("battery", COMPUTING)
        computer.supply("ups", type="UPS", status="Discharging", capacity=90)
        self.says("battery", r"^not computing: this computer runs on its battery \(ups\)")

    def test_sensors_beside_thermal_zones(self):
        computer = self.made("heat")
        computer.chip(99)
        self.client("heat", computer)
        self.says("heat", r"^not computing: .*99 degrees \(k10temp\)")
        computer.chip(50)
        self.says("heat", COMPUTING)
        # What no processor could be.
        computer.put("sys/class/thermal/thermal_zone0/type", "acpitz\n")
        computer.put("sys/class/thermal/thermal_zone0/temp", "127800\n")
        told = self.grid.wait_until("the sensor", lambda: (lambda lines: lines if "acpitz" in lines else None)(
            "\n".join(self.status("heat")["details"])), 60)
        self.assertRegex(told, r"acpitz says 127.8 degrees, which no processor has: ignored")
        self.says("heat", COMPUTING)

    def test_without_a_sensor_that_is_said(self):
        self.client("blind", self.made("blind"))
        self.says("blind", COMPUTING)
        self.assertIn("temperature: this computer shows none, so heat neither throttles nor pauses", self.status("blind")["details"])

    def test_without_figures_of_pressure_what_is_available_counts(self):
        computer = self.made("memory")
        computer.remove("proc/pressure/memory")
        computer.put("proc/meminfo", "MemTotal: 8000000 kB\nMemFree: 100000 kB\nMemAvailable: 200000 kB\n")
        self.client("memory", computer)
        self.says("memory", r"^not computing: memory is short: 3 % of it is available")
        computer.put("proc/meminfo", "MemTotal: 8000000 kB\nMemFree: 100000 kB\nMemAvailable: 4000000 kB\n")
        self.says("memory", COMPUTING)

    @unittest.skipUnless(may_unshare() and (ZONES / "Asia/Tokyo").exists(), "takes root and the zones of tzdata")
    def test_a_zone_that_changes_holds_at_once(self):
        zone = self.grid.directory / "zone"
        zone.write_bytes((ZONES / "Asia/Tokyo").read_bytes())
        os.utime(zone, (0, 0))  # the C library looks at the second of the last change
        # Four hours from now in New York.
        there = subprocess.run(["date", "-d", "+4 hours 1 minute", "+%H"], env={"TZ": "America/New_York", "PATH": os.environ["PATH"]}, check=True,
                               capture_output=True, text=True).stdout.strip()
        begin = int(there)
        environment = ["env", "-u", "TZ"]
        place = ["unshare", "-m", "sh", "-c", f'mount --bind {zone} /etc/localtime && exec "$@"', "sh"]
        self.client("traveller", self.made("traveller"), f'hours = ["{begin:02}:00-{(begin + 1) % 24:02}:00"]', before=[*place, *environment])
        waits = r"in (\d+) hours"
        first = re.search(waits, self.says("traveller", waits)["reason"])
        self.assertGreater(int(first[1]), 5, first[0])
        zone.write_bytes((ZONES / "America/New_York").read_bytes())
        self.says("traveller", r"in ([34] hours|2\d\d minutes)", 90)

    def test_a_long_path_of_the_state(self):
        with tempfile.TemporaryDirectory() as root:
            state = pathlib.Path(root) / ("long" * 40) / "state"
            joined = self.grid.run("gleaner-client", "join", self.grid.own_code, "--state", state, "--name", "long-path", check=False)
            self.assertEqual(joined.returncode, 0, joined.stderr)
            self.grid.start("long-path", "gleaner-client", "run", "--state", state, *sandbox_arguments(state), "--run", "always",
                            "--cores", 1, "--cpu-share", 0.1, "--benchmark-mflops", 1000)
            self.addCleanup(self.grid.kill, "long-path")
            self.grid.wait_until("work", lambda: "started mandelbrot" in self.grid.log("long-path"), 60)


if __name__ == "__main__":
    main()
