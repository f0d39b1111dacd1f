"""What the screensaver shows is what this computer computed, and nothing that happens to it touches the work."""
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from display import HEAD_BYTES, Display, View, read_png, read_view
from harness import BUILD, MANDELBROT, RAYTRACE, SLOW, Grid, base64url, from_base64url, made_up_dna, made_up_search, main, needs, others_reach

VIEWER = BUILD / "bin" / "gleaner-screensaver"


def wait_until(what, condition, timeout=30):
    end = time.monotonic() + timeout * SLOW
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"timed out waiting for {what}")


def nobody(*reaches):
    """Options to start a viewer as somebody else, for it needs no rights at all: where we may, and where somebody else can
    reach these paths (a private /tmp says no)."""
    if os.geteuid() != 0 or not all(map(others_reach, reaches)):
        return {}
    other = {"user": pwd.getpwnam("nobody").pw_uid, "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []}
    readable = subprocess.run(["sh", "-c", 'for path; do test -r "$path" || exit 1; done', "sh", *reaches], cwd="/", **other)
    return other if readable.returncode == 0 else {}


class Published(unittest.TestCase):
    def test_the_picture_is_that_of_the_results(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_application(RAYTRACE)
            grid.join("one")
            runtime = grid.directory / "runtime"
            runtime.mkdir()
            grid.start_client("one", env=dict(os.environ, RUNTIME_DIRECTORY=str(runtime)))
            problem = grid.add_problem("raytrace", "small", scene="B", width=96, height=72)
            grid.wait_finished(problem)
            width, height, pixels = read_png(grid.results(problem)["image.png"])
            self.assertEqual((width, height), (96, 72))
            seen = grid.wait_until("the picture", lambda: (lambda read: read if read and read[1] == pixels else None)(
                read_view(runtime / "view")))
            view = seen[0]
            self.assertEqual(view["picture"]["items"], 72)
            self.assertEqual((view["picture"]["problem"], view["picture"]["application"]), ("small", "Ray tracer"))
            # What all computers gave of it, when the server last said so: this one asked more than once.
            self.assertEqual((view["project_items"], view["project_hosts"]), (72, 1))
            self.assertTrue(0 < view["project_done_millionths"] <= 1_000_000, view)
            self.assertRegex(grid.control("one", "status").stdout, r"last      small: was [\d.]+ % done when this computer finished its part\n")
            self.assertEqual((runtime / "view").stat().st_mode & 0o777, 0o644)
            token = (grid.membership("one") / "identity" / "host.json").read_text()
            self.assertNotIn("token", (runtime / "view").read_bytes().decode(errors="replace"))
            self.assertIn("token", token)
            # The receipts say the same.
            grid.wait_until("the receipts", lambda: '"items_accepted": 72,' in grid.control("one", "--json", "receipts").stdout)
            text = grid.control("one", "receipts").stdout
            self.assertIn("72 items accepted from this computer", text)
            self.assertIn("genuine", text)
            self.assertIn("accepted  72 items so far", grid.control("one", "status").stdout)
            self.assertIn(" today, ", grid.control("one", "top").stdout)
            self.assertIn("host", grid.control("one", "log").stdout)
            grid.kill("one", signal.SIGTERM)
            self.assertFalse((runtime / "view").exists())
            # Somebody who changes a receipt is found out.
            log = grid.membership("one") / "receipts" / "log"
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            statement = lines[0]["statement"]
            payload = from_base64url(statement["payload"]).replace(b'"items_accepted":', b'"items_accepted":1', 1)
            statement["payload"] = base64url(payload)
            log.write_text("".join(json.dumps(line) + "\n" for line in lines))
            forged = grid.control("one", "receipts", "--all", check=False)
            self.assertEqual(forged.returncode, 1)
            self.assertIn("NOT GENUINE", forged.stdout)


class Declared(unittest.TestCase):
    """The views of applications whose items are no rows: what they show is what the results say."""

    @classmethod
    def setUpClass(cls):
        cls.grid = Grid("work.unit_minimum_seconds = 0.1\nwork.unit_maximum_seconds = 1.0\nwork.commit_seconds = 1")
        cls.grid.__enter__()
        cls.addClassCleanup(cls.grid.__exit__, None, None, None)
        cls.grid.start_server()

    def seen(self, application, items, size, *arguments, **parameters):
        """The problem's id, and the client's picture of that size with so many items: brightness by row and column."""
        self.grid.add_application(BUILD / "bundles" / application)
        runtime = self.grid.directory / f"runtime-{application}"
        runtime.mkdir()
        problem = self.grid.add_problem(application, application, *arguments, **parameters)
        self.grid.join(application)
        self.grid.start_client(application, env=dict(os.environ, RUNTIME_DIRECTORY=str(runtime)))

        def whole():
            path = runtime / "view"  # it may not be there yet, or not be whole
            read = read_view(path) if path.exists() and path.stat().st_size >= HEAD_BYTES else None
            if not read:
                return None
            picture = read[0]["picture"]
            return read if (picture["items"], picture["width"], picture["height"]) == (items, *size) else None

        _, pixels = self.grid.wait_until("the picture", whole, 60)
        self.grid.wait_finished(problem)
        self.grid.kill(application)
        width, height = size
        return problem, [[sum(pixels[3 * (y * width + x):3 * (y * width + x) + 3]) for x in range(width)] for y in range(height)]

    def test_light_fades_with_depth_and_distance(self):
        _, shown = self.seen("photons", 16, (41, 30), tissue="slab", photons=8000, item_photons=500, depth_cells=40,
                                                  radial_cells=30)
        brightest = max(max(row) for row in shown)
        axis = [y for y, row in enumerate(shown) if brightest in row]
        self.assertLess(max(axis), 5, "most light is absorbed near the beam")
        near, far = sum(map(sum, shown[:10])), sum(map(sum, shown[20:]))
        self.assertGreater(near, 2 * far)

    def test_points_come_into_focus(self):
        problem, shown = self.seen("hologram", 32, (128, 256), synthetic="points", points=7, background=1, rows=256, columns=128,
                                                  distance_millimetres=-12, output="intensity")
        picture = read_png(self.grid.results(problem)["intensity.png"])
        self.assertEqual(picture[:2], (128, 256))
        grey = [[sum(picture[2][3 * (128 * y + x):3 * (128 * y + x) + 3]) for x in range(128)] for y in range(256)]

        def brightest(picture):
            return set(sorted(((y, x) for y in range(256) for x in range(128)), key=lambda at: -picture[at[0]][at[1]])[:7])

        self.assertEqual(brightest(shown), brightest(grey))

    def test_the_related_record_stands_out(self):
        source = random.Random(9)
        query = made_up_dna(source, 80)
        records = [made_up_dna(source, 100) for _ in range(300)]
        records[200] = records[200][:10] + query + records[200][90:]
        inputs = made_up_search(self.grid.directory, query, records)
        parameters = dict(matrix="dnafull", top=1, chunk_residues=1000, item_cells=80000)
        items = self.grid.problem(self.planned("dsearch", *inputs, **parameters))["items"]
        self.assertGreater(items, 20)
        _, shown = self.seen("dsearch", items, (800, 600), *inputs, **parameters)
        cells = [shown[20 * (item // 40)][20 * (item % 40)] for item in range(items)]
        best = max(range(items), key=cells.__getitem__)
        self.assertLessEqual(abs(best - items * 200 / 300), 1.5)
        self.assertGreater(cells[best], 1.3 * sorted(cells)[-2], "the others have chance scores")

    def planned(self, application, *arguments, **parameters):
        self.grid.add_application(BUILD / "bundles" / application)
        identity = self.grid.add_problem(application, "planned", *arguments, **parameters)
        self.grid.admin("problem", "cancel", identity)
        return identity


@needs(VIEWER.exists(), "gleaner-screensaver is not built here")
class Viewer(unittest.TestCase):
    def setUp(self):
        # Where anybody may run it: the build may stand in somebody's home.
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        os.chmod(directory.name, 0o755)
        self.viewer = pathlib.Path(shutil.copy(VIEWER, directory.name))
        os.chmod(self.viewer, 0o755)

    def start(self, display, *arguments, **options):
        viewer = subprocess.Popen([self.viewer, *map(str, arguments)], env=options.pop("env", display.env), stdin=subprocess.DEVNULL,
                                  start_new_session=True, **options)

        def end():
            if viewer.poll() is None:
                viewer.kill()
            viewer.wait()

        self.addCleanup(end)
        return viewer

    def test_a_picture_in_a_file_needs_no_display(self):
        with tempfile.TemporaryDirectory() as directory:
            view = View(f"{directory}/view", 160, 90)
            for row in range(45):
                view.write_row(row)
            subprocess.run([VIEWER, "--picture", f"{directory}/out.png", "--size", "640x360", "--view", f"{directory}/view"],
                           check=True, env={key: value for key, value in os.environ.items()
                                            if key not in ("DISPLAY", "WAYLAND_DISPLAY")})
            width, height, pixels = read_png(pathlib.Path(f"{directory}/out.png").read_bytes())
            self.assertEqual((width, height), (640, 360))
            self.assertGreater(len({pixels[i:i + 3] for i in range(0, len(pixels), 3)}), 1000)
            refused = subprocess.run([VIEWER, "--size", "0"], capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)

    @needs(Display.available, "Xvfb is not installed")
    def test_it_shows_work_and_can_be_killed_stopped_and_starved(self):
        with Display(640, 360) as display, Grid() as grid:
            os.chmod(grid.directory, 0o755)
            runtime = grid.directory / "runtime"
            runtime.mkdir()
            os.chmod(runtime, 0o755)
            other = nobody(self.viewer, runtime)
            viewer = self.start(display, "--fullscreen", "--view", runtime / "view", **other)
            wait_until("an empty scene", lambda: display.colours() > 20)  # no client: it says so
            empty = display.colours()
            grid.start_server()
            grid.add_application(MANDELBROT)
            grid.join("one")
            client = grid.start_client("one", env=dict(os.environ, RUNTIME_DIRECTORY=str(runtime)))
            # Colourful from its first row on, so that a slow computer shows something soon.
            problem = grid.add_problem("mandelbrot", "long", width=640, height=2400, iterations=3000, centre_x=-0.745, centre_y=0.11,
                                       view_width=0.02)
            wait_until("rows", lambda: display.colours() > empty + 50, 120)
            first = display.pixels()
            self.assertEqual(len(first), 640 * 360 * 4)
            wait_until("more rows", lambda: display.pixels() != first)
            # It never stops, slows or ends the work: killed, stopped and cut off from its display.
            viewer.kill()
            viewer.wait()
            stopped = self.start(display, "--window", "--view", runtime / "view", **other)
            wait_until("a window", lambda: display.colours() > 100)
            stopped.send_signal(signal.SIGSTOP)
            before = int(grid.problem(problem)["accepted"])
            grid.wait_until("the work to go on", lambda: int(grid.problem(problem)["accepted"]) > before, 90)
            self.assertIsNone(client.poll())
            self.assertNotIn("viewers", grid.log("one"))
            # Nor can it write to what it reads, being somebody else.
            if other:
                refused = subprocess.run(["sh", "-c", f"echo x >> {runtime}/view"], capture_output=True, **other)
                self.assertNotEqual(refused.returncode, 0)

    @needs(Display.available, "Xvfb is not installed")
    def test_root_window_and_damage(self):
        with Display(480, 270) as display, tempfile.TemporaryDirectory() as directory:
            view = View(f"{directory}/view", 200, 100)
            viewer = self.start(display, "-root", "-mono", "--unknown", "x", "--view", f"{directory}/view")
            wait_until("the root window", lambda: display.colours() > 20)
            blank = display.pixels()
            view.write_row(50)
            wait_until("a row", lambda: display.pixels() != blank)
            with open(f"{directory}/view", "r+b") as file:  # a client that writes nonsense
                file.write(os.urandom(4000))
            os.truncate(f"{directory}/view", 3000)
            time.sleep(0.6)
            self.assertIsNone(viewer.poll())
            os.remove(f"{directory}/view")
            again = display.pixels()
            wait_until("the end of the client", lambda: display.pixels() != again)
            viewer.terminate()
            self.assertEqual(viewer.wait(timeout=5 * SLOW), -signal.SIGTERM)

    @unittest.skipUnless(Display.available and shutil.which("xscreensaver"), "xscreensaver is not installed")
    def test_xscreensaver_launches_it(self):
        with Display(480, 270) as display, tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o777)
            view = View(f"{directory}/view", 200, 100)
            for row in range(60):
                view.write_row(row)
            os.chmod(view.path, 0o644)
            other = nobody(self.viewer, view.path)
            if os.geteuid() == 0 and not other:  # xscreensaver would become somebody else all the same
                self.skipTest("somebody else cannot read here")
            home = pathlib.Path(directory) / "home"
            home.mkdir()
            (home / ".xscreensaver").write_text(
                "mode: one\nselected: 0\nsplash: False\nlock: False\nfade: False\ntimeout: 0:10:00\nprograms: \\\n"
                f'"Gleaner" {self.viewer} -root --view {directory}/view \\n\\\n')
            os.chmod(home, 0o777)
            if os.geteuid() == 0:
                os.chown(home / ".xscreensaver", pwd.getpwnam("nobody").pw_uid, -1)
            env = dict(display.env, HOME=str(home), LC_ALL="C")
            with open(f"{directory}/log", "w") as log:
                saver = subprocess.Popen(["xscreensaver", "--no-splash"], env=env, stdin=subprocess.DEVNULL, stdout=log,
                                         stderr=log, start_new_session=True, **other)

            def end():
                try:
                    os.killpg(saver.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass
                saver.wait()

            self.addCleanup(end)

            def activate():
                subprocess.run(["xscreensaver-command", "-activate"], env=env, capture_output=True, **other)
                return display.colours() > 200

            wait_until("the screensaver", activate, 40)


if __name__ == "__main__":
    main()
