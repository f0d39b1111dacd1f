"""The recipes of apps/GUIDE.md: programs of Debian packages, wrapped as it says, computed by a client for which neither the program
nor its files exist."""
import csv
import gzip
import io
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from computers import hidden
from harness import BUILD, SLOW, SOURCE, Grid, local_arguments, main
from wrapping import without_origin

RECIPE = re.compile(r"^<!-- recipe: (\w+) -->\n```sh\n(.*?)^```$", re.M | re.S)
VINA_DATA = pathlib.Path("/usr/share/doc/autodock-vina/test-data")
SCENE = """\
#version 3.7;
global_settings { assumed_gamma 1 }
camera { location <0, 2, -5> look_at 0 }
light_source { <5, 5, -5> rgb 1 }
sphere { <2 * cos(2 * pi * clock), 0, 2 * sin(2 * pi * clock)>, 1 pigment { rgb <1, 0.5, 0> } }
plane { y, -1 pigment { checker rgb 0.2 rgb 0.8 } }
"""
STUDY = """\
values = num2cell(str2double(argv()));
[damping, frequency] = values{:};
if isnan(frequency) error("no number"); end
t = linspace(0, 10, 1001);
printf("energy %.6f\\n", trapz(t, (exp(-damping * t) .* cos(frequency * t)) .^ 2));
"""


class Recipes(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="gleaner-recipes-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def recipe(self, program, **changes):
        """Runs the commands of the page, with some numbers smaller."""
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")
        commands = dict(RECIPE.findall((SOURCE / "apps" / "GUIDE.md").read_text()))[program.partition("-")[0]]
        for old, new in changes.get("smaller", {}).items():
            self.assertIn(old, commands)
            commands = commands.replace(old, new)
        done = subprocess.run(["bash", "-ec", commands], cwd=self.directory, capture_output=True, text=True,
                              env={"PATH": f"{BUILD / 'bin'}:/usr/bin:/bin", "LANG": "C.UTF-8"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def check(self, name, *arguments):
        done = subprocess.run([BUILD / "bin" / "gleaner-admin", "app", "check", self.directory / name, *local_arguments(), *map(str, arguments)],
                              capture_output=True, text=True, timeout=600 * SLOW)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def on_a_grid(self, name, hide, *arguments):
        """What a client computes for which the program does not exist; the same as this computer."""
        with Grid() as grid:
            grid.start_server()
            grid.add_application(self.directory / name)
            grid.join("bare")
            grid.start_client("bare", before=hidden(*hide))
            identity = grid.add_problem(name, name, *arguments)
            grid.wait_finished(identity)
            results = grid.results(identity)
            local = grid.run_local(self.directory / name, *arguments)
        self.assertEqual(results.keys(), local.keys())
        for file in results:
            compared = without_origin if file == "table.csv" else bytes
            self.assertEqual(compared(results[file]), compared(local[file]), file)
        return results

    def test_docking_of_a_directory_of_ligands(self):
        ligands = self.directory / "ligands"
        ligands.mkdir()
        if shutil.which("vina"):
            (self.directory / "protein.pdbqt").write_bytes(gzip.decompress((VINA_DATA / "protein.pdbqt.gz").read_bytes()))
            for name in ("one", "two"):
                shutil.copy(VINA_DATA / "ligand.pdbqt", ligands / f"{name}.pdbqt")
        self.recipe("vina", smaller={"--exhaustiveness 8": "--exhaustiveness 1 --max_evals 300", "--size_x 22 --size_y 24 --size_z 28":
                                     "--size_x 12 --size_y 12 --size_z 12"})
        results = self.on_a_grid("docking", ["/usr/bin/vina", "/usr/share/doc/autodock-vina"], "--input", ligands)
        self.assertEqual(sorted(results), ["one.pdbqt.pdbqt", "two.pdbqt.pdbqt"])
        for poses in results.values():
            self.assertRegex(poses, rb"^MODEL 1\nREMARK VINA RESULT: +-?[0-9.]+")

    def test_an_animation_frame_by_frame(self):
        (self.directory / "scene.pov").write_text(SCENE)
        self.recipe("povray", smaller={"0.01 0.99": "0.2 0.99", "+W640 +H360": "+W64 +H36"})
        table = self.directory / "frames.csv"
        self.assertEqual(table.read_text().split(), ["clock", "0", "0.2", "0.4", "0.6", "0.8"])
        self.check("animation", "--table", table)
        results = self.on_a_grid("animation", ["/usr/bin/povray", "/usr/share/povray-3.7", "/etc/povray"], "--table", table)
        rows = list(csv.DictReader(io.StringIO(results["table.csv"].decode())))
        self.assertEqual([row["status"] for row in rows], ["ok"] * 5)
        with tarfile.open(fileobj=io.BytesIO(results["rows.tar"])) as archive:
            frames = [archive.extractfile(f"{row:06}/out.png").read() for row in range(1, 6)]
        self.assertEqual(len(set(frames)), 5)
        for frame in frames:
            self.assertTrue(frame.startswith(b"\x89PNG") and frame.endswith(b"IEND\xaeB`\x82"))
            self.assertNotIn(b"tIME", frame)

    def test_without_the_option_the_time_is_noticed_and_the_option_proposed(self):
        (self.directory / "scene.pov").write_text(SCENE)
        self.recipe("povray", smaller={"--ignore png ": "", "0.01 0.99": "0.5 0.99", "+W640 +H360": "+W64 +H36"})
        done = subprocess.run([BUILD / "bin" / "gleaner-admin", "app", "check", self.directory / "animation", *local_arguments(), "--table",
                               self.directory / "frames.csv"], capture_output=True, text=True, timeout=600 * SLOW)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"FAIL +determinism +item 0 of stage 0 has other bytes .*from byte \d+ of its output on: .*tIME")
        self.assertIn('add ignore = ["png"] to [wrap]', done.stdout)

    def test_a_parameter_study(self):
        (self.directory / "study.m").write_text(STUDY)
        self.recipe("octave-cli")
        table = self.directory / "runs.csv"
        table.write_text("damping,frequency\n0.1,2\n0.5,3\n")
        results = self.on_a_grid("study", ["/usr/bin/octave-cli", "/usr/share/octave", *pathlib.Path("/usr/lib").glob("*/octave")],
                                 "--table", table)
        rows = list(csv.DictReader(io.StringIO(results["table.csv"].decode())))
        self.assertEqual([(row["energy"], row["status"]) for row in rows], [("2.181032", "ok"), ("0.513499", "ok")])

    def test_clips_of_a_directory(self):
        clips = self.directory / "clips-before"
        clips.mkdir()
        for seconds in (1, 2) if shutil.which("ffmpeg") else ():
            subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=duration={seconds}:size=64x48:rate=5",
                            clips / f"{seconds}.avi"], check=True, stdin=subprocess.DEVNULL)
        self.recipe("ffmpeg")
        results = self.on_a_grid("clips", ["/usr/bin/ffmpeg", "/usr/share/ffmpeg"], "--input", clips)
        self.assertEqual(sorted(results), ["1.avi.mp4", "2.avi.mp4"])
        for clip in results.values():
            self.assertEqual(clip[4:8], b"ftyp")


if __name__ == "__main__":
    main()
