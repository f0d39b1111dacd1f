"""Kernels that tests write: the squares application with another program."""
import shutil
import stat
import textwrap

from harness import SANDBOX_OFF, SQUARES

KERNEL_LOOP = """\
for line in sys.stdin:
    words = line.split()
    if words[0] == "gleaner": say("ready 1")
    elif words[0] == "problem": say("ok")
    elif words[0] == "quit": break
    elif words[0] == "unit":
        begin = int(words[2])
"""
KERNEL = """\
#!/usr/bin/python3
import os, sys, time
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
""" + KERNEL_LOOP


def kernel_bundle(grid, name, kernel_unit, *changes, before=KERNEL):
    """The squares bundle with another kernel: `kernel_unit` is what it does on `unit`, `changes` are those of the manifest."""
    path = grid.directory / name
    shutil.copytree(SQUARES, path)
    manifest = path / "manifest.toml"
    text = manifest.read_text().replace('name = "squares"', f'name = "{name}"')
    for old, new in changes:
        text = text.replace(old, new)
    manifest.write_text(text)
    kernel = path / "kernel.py"
    kernel.write_text(before + textwrap.indent(textwrap.dedent(kernel_unit), "        "))
    kernel.chmod(kernel.stat().st_mode | stat.S_IXUSR)
    return path


class Held:
    """Squares that take a tenth of a second each, on any machine, until they are let go: what happens before happens in the middle of
    a problem. The kernels look at a file of the test for that, so that their clients confine nothing."""
    PAUSE = 0.1

    def __init__(self, grid, count):
        self.grid, self.count = grid, count
        self.bundle = grid.directory / "held"
        self.free = grid.directory / "free"
        shutil.copytree(SQUARES, self.bundle)
        manifest, kernel = self.bundle / "manifest.toml", self.bundle / "kernel.py"
        manifest.write_text(manifest.read_text().replace('name = "squares"', 'name = "held"'))
        slow, text = "if pause: time.sleep(pause)", kernel.read_text()
        assert slow in text
        kernel.write_text(text.replace(slow, f"if not os.path.exists({str(self.free)!r}): time.sleep({self.PAUSE})").replace("import json", "import json, os"))
        self.expected = {"sum.txt": f"{sum(i * i for i in range(count))}\n".encode()}

    def add(self):
        self.grid.add_application(self.bundle)
        return self.grid.add_problem("held", "held", count=self.count)

    def add_client(self, name, **options):
        self.grid.add_client(name, sandbox=SANDBOX_OFF, **options)

    def let_go(self):
        self.free.touch()
