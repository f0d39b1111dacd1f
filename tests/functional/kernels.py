"""Kernels that tests write: the squares application with another program."""
import shutil
import stat
import textwrap

from harness import SQUARES

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
