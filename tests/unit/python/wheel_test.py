"""The wheel: pip builds and installs it into a bare environment without a network, and it works there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv

import gleaner

SOURCE = pathlib.Path(gleaner.__file__).resolve().parents[1]


def run(*command, cwd, python=None):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python or sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Wheel(unittest.TestCase):
    def test_pip_installs_it_and_it_works_alone(self):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            shutil.copytree(SOURCE, place / "source")
            run("-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "-w", place, place / "source", cwd=place)
            wheel, = place.glob("gleaner-*-py3-none-any.whl")
            self.assertIn(f"-{os.environ.get('GLEANER_VERSION', gleaner.__version__)}-", wheel.name)
            venv.create(place / "bare", with_pip=False)
            python = place / "bare" / "bin" / "python3"
            packages, = (place / "bare" / "lib").glob("python3*/site-packages")
            run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", packages, wheel, cwd=place)
            script = place / "study.py"
            script.write_text("import gleaner\ndef f(x): return x + 1\nif __name__ == '__main__':\n"
                              "    print(gleaner.__file__, list(gleaner.local(1).map(f, range(3))))\n")
            words = run(script, cwd=place, python=python)
            self.assertIn(str(packages.resolve()), words)
            self.assertIn("[1, 2, 3]", words)


if __name__ == "__main__":
    unittest.main()
