"""A day at a desktop, played in a minute and a half: what `gleaner why` says of it, in order, and nothing else.

GLEANER_WHY_SCALE=20 plays it in about a quarter of an hour; GLEANER_RECORD=FILE keeps what was said.
"""
import contextlib
import json
import os
import pathlib
import re
import threading
import time
import unittest

from harness import MANDELBROT, Grid, main, sandbox_arguments

SCALE = float(os.environ.get("GLEANER_WHY_SCALE", 1))
COMPUTING = r"computing long on 1 of 1 core: kernels use at most 10 % of a core each"
WAITS = r"not computing: it waits \d+ seconds? more, to be sure that this is over: "


class Computer:
    """What the client sees of a computer of its own: /dev, /proc and /sys below a directory."""

    def __init__(self, root):
        self.root = root
        self.terminal = root / "dev/pts/0"
        self.battery = root / "sys/class/power_supply/BAT0/status"
        self.temperature = root / "sys/class/thermal/thermal_zone0/temp"
        self.fan = root / "sys/class/hwmon/hwmon0/fan1_input"
        self.memory = root / "proc/pressure/memory"
        self.program = root / "proc/77/comm"
        for path, text in ((self.terminal, ""), (self.battery.parent / "type", "Battery\n"), (self.battery, "Charging\n"),
                           (self.temperature, "45000\n"), (self.temperature.parent / "type", "x86_pkg_temp\n"),
                           (self.fan, "900\n"), (self.fan.parent / "name", "it8728\n")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.memory.parent.mkdir(parents=True)
        self.memory_waits(0)
        os.utime(self.terminal, (0, 0))

    def type(self):
        os.utime(self.terminal)

    def memory_waits(self, percent):
        # As a whole: a line that is half written would say something else.
        new = self.memory.with_suffix(".new")
        new.write_text(f"some avg10={percent} avg60=0 avg300=0 total=0\nfull avg10={percent} avg60=0 avg300=0 total=0\n")
        new.rename(self.memory)

    def starts(self, name):
        self.program.parent.mkdir(exist_ok=True)
        self.program.write_text(name + "\n")

    def stops(self):
        self.program.unlink()


class Recording:
    """Every sentence, with when it was first said; a number that counts does not make it another one."""

    def __init__(self, ask):
        self.ask, self.said, self.modes = ask, [], []
        self.began, self.going = time.monotonic(), True
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        while self.going:
            status = self.ask()
            if status is not None:
                if not self.said or re.sub(r"\d+ \w+", "", self.said[-1][1]) != re.sub(r"\d+ \w+", "", status["reason"]):
                    self.said.append((time.monotonic() - self.began, status["reason"]))
                if not self.modes or self.modes[-1][1] != status["mode"]:
                    self.modes.append((time.monotonic() - self.began, status["mode"]))
            time.sleep(0.2)

    def end(self):
        self.going = False
        self.thread.join()

    def text(self):
        return "".join(f"{int(at) // 60:02}:{int(at) % 60:02}  {sentence}\n" for at, sentence in self.said)


class Why(unittest.TestCase):
    def play(self, grid, computer, recording):
        """The day: each thing that happens, and the sentence that is waited for."""
        heard = []

        def hears(pattern, timeout=60):
            def found():
                # From the last one heard on: the day goes forward.
                for place in range(heard[-1] if heard else 0, len(recording.said)):
                    if re.fullmatch(pattern, recording.said[place][1]):
                        return place + 1
                return None

            heard.append(grid.wait_until(f"the sentence {pattern!r} after\n{recording.text()}", found, timeout * SCALE))

        def control(*words):
            grid.control("one", *words)

        quiet = lambda: time.sleep(2 * SCALE)
        hears(COMPUTING)
        quiet()
        computer.type()
        hears(r"not computing: somebody used this computer \d+ seconds? ago \(terminal pts/0\): it computes after \d+ \w+ without")
        quiet()
        computer.type()
        hears(COMPUTING)
        quiet()
        computer.starts("game")
        hears(r"not computing: game runs, which is to have it alone")
        computer.stops()
        hears(WAITS + "game runs, which is to have it alone")
        hears(COMPUTING)
        quiet()
        computer.battery.write_text("Discharging\n")
        hears(r"not computing: this computer runs on its battery \(BAT0\)")
        computer.battery.write_text("Charging\n")
        hears(COMPUTING)
        quiet()
        computer.temperature.write_text("91000\n")
        hears(r"not computing: it is too hot: 91 degrees \(x86_pkg_temp\); it computes below 80")
        computer.temperature.write_text("60000\n")
        # A step up takes a minute, and so does the wait in the long form: there nothing is left of it.
        if SCALE < 10:
            hears(r"computing long on 1 of 1 core: it is warm: 60 degrees .*: kernels use 75 % of what they may, and stand still at 85")
        else:
            hears(COMPUTING)
        computer.fan.write_text("3200\n")
        hears(r"not computing: a fan is too fast: 3200 rpm \(it8728 fan 1\); it computes below 2400")
        computer.fan.write_text("1000\n")
        if SCALE < 10:
            hears(r"computing long on 1 of 1 core: a fan is fast: 1000 rpm .*: kernels use 75 % of what they may, and stand still at 3000")
        hears(COMPUTING, 120)
        quiet()
        computer.memory_waits(30)
        hears(r"not computing: memory is short: programs wait for it")
        computer.memory_waits(0)
        hears(COMPUTING)
        quiet()
        control("pause", "30m")
        hears(r"not computing: you paused it for \d+ more minutes, until \d+:\d\d")
        control("resume")
        hears(COMPUTING)
        quiet()
        if time.localtime()[3:5] > (0, 1) and time.localtime()[3] < 23:
            control("prefs", "set", "hours", "mon 0:00-0:01")
            hears(r"not computing: outside of the hours in the preferences; they begin (on \w+ )?at \d+:\d\d, in \d+ \w+")
            control("prefs", "set", "hours", "")
            hears(COMPUTING)
        quiet()
        grid.admin("problem", "pause", "1")
        hears(r"not computing: the problem is paused")
        grid.kill("server")
        hears(r"not computing: the server cannot be asked for work \(.+\)", 120)
        grid.start_server()
        grid.admin("problem", "resume", "1")
        hears(COMPUTING, 120)
        quiet()
        grid.admin("problem", "cancel", "1")
        hears(r"not computing: no work available for this computer right now( \(.+\))?")
        control("finish")
        hears(r"not computing: you asked to finish: `gleaner resume` takes work again")

    def test_a_day_in_sentences(self):
        with Grid("work.heartbeat_seconds = 2") as grid, contextlib.ExitStack() as stack:
            computer = Computer(grid.directory / "computer")
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.add_problem("mandelbrot", "long", width=4000, height=60000, iterations=20000)
            grid.join("one")
            (grid.state("one") / "preferences.toml").write_text(
                f'run = "when-idle"\nidle_minutes = {0.1 * SCALE}\npause_minutes_min = {0.05 * SCALE}\ncpu_share = 0.1\n'
                'exclusive = ["game"]\nfan_rpm_max = 3000\n')

            def ask():
                asked = grid.control("one", "--json", "why", check=False)
                return json.loads(asked.stdout)["status"] if asked.returncode == 0 else None

            grid.start("one", "gleaner-client", "run", "--state", grid.state("one"), *sandbox_arguments(grid.state("one")),
                       "--cores", 1, "--benchmark-mflops", 1000, env=dict(os.environ, GLEANER_COMPUTER=str(computer.root)))
            grid.wait_until("the client", ask)
            recording = Recording(ask)
            stack.callback(recording.end)
            self.play(grid, computer, recording)
            recording.end()
            text = recording.text()
            print(text)
            if "GLEANER_RECORD" in os.environ:
                pathlib.Path(os.environ["GLEANER_RECORD"]).write_text(text)
            for _, sentence in recording.said:
                self.assertRegex(sentence, r"^(not )?computing[ :]")
                self.assertLess(len(sentence), 250)
                self.assertNotRegex(sentence, r"  |\n|-\d")
            # A pause lasts, whatever it was for: going on waits for the dwell (what the owner and the server say does not).
            pauses = [later - at for (at, mode), (later, _) in zip(recording.modes, recording.modes[1:]) if mode == "pause"]
            self.assertGreater(len(pauses), 5)
            self.assertGreater(sorted(pauses)[2], 2 * SCALE, pauses)


if __name__ == "__main__":
    main()
