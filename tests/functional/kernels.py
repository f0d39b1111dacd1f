"""Kernels that tests write: the squares application with another program."""
import shutil
import stat
import textwrap

from harness import SANDBOX_OFF, SQUARES

KERNEL_LOOP = """\
for line in sys.stdin:
    words = line.split()
    if words[0] == "gleaner": say("ready 1")
    elif words[0] == "problem":
        problem = line.split(" ", 1)[1].strip()
        say("ok")
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


def change(path, *changes):
    text = path.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text)


def squares_copy(path, name, result_bytes=0):
    """The squares application under another name, with so many bytes behind each result, which cannot be compressed."""
    shutil.copytree(SQUARES, path)
    change(path / "manifest.toml", ('name = "squares"', f'name = "{name}"'), ("item_bytes = 64", f"item_bytes = {64 + result_bytes}"),
           ("item_seconds = 60", "item_seconds = 600"), ("disk_megabytes = 1", "disk_megabytes = 100"))
    change(path / "kernel.py", ("import json", "import json, random"),
           ("** 2).encode()", f"** 2).encode() + b' ' + random.Random(item).randbytes({result_bytes})"))
    change(path / "manager.py", ("value.isdigit()", "value.split(b' ', 1)[0].isdigit()"), ("yield int(data)", "yield int(data.split(b' ', 1)[0])"))
    return path


class Held:
    """Squares that take `pause` seconds each, on any machine, until they are let go, and of which the last is not computed before: what
    happens until then happens in the middle of a problem. The kernels look at a file of the test, so their clients confine nothing.
    `item_bytes`: what an item has with spaces behind it; segments of more than 64 KiB become blobs."""

    def __init__(self, grid, count, pause=0.1, item_bytes=1):
        self.grid, self.count = grid, count
        self.bundle = grid.directory / "held"
        self.free = grid.directory / "free"
        self.expected = {"sum.txt": f"{sum(i * i for i in range(count))}\n".encode()}
        shutil.copytree(SQUARES, self.bundle)
        self.change("manifest.toml", ('name = "squares"', 'name = "held"'), ("item_bytes = 64", f"item_bytes = {max(64, item_bytes)}"),
                    ("item_seconds = 60", "item_seconds = 600"), ("disk_megabytes = 1", "disk_megabytes = 100"))
        self.change("manager.py", ("value.isdigit()", "value.strip().isdigit()"))
        self.change("kernel.py", ("import json", "import json, os"), ("            if pause: time.sleep(pause)\n", f"""\
            while not os.path.exists({str(self.free)!r}):
                time.sleep({pause})
                if item < {count - 1}: break
"""), ("** 2).encode()", f"** 2).ljust({item_bytes}).encode()"))

    def change(self, name, *changes):
        change(self.bundle / name, *changes)

    def add(self, *options):
        self.grid.add_application(self.bundle)
        return self.grid.add_problem("held", "held", *options, count=self.count)

    def start_client(self, name, **options):
        self.grid.start_client(name, sandbox=SANDBOX_OFF, **options)

    def add_client(self, name):
        self.grid.join(name)
        self.start_client(name)

    def let_go(self):
        self.free.touch()
