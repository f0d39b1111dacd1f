"""Bundles: a captured function with the programs that call it, packed so that the same content has the same bytes everywhere.

A bundle's version is the digest of its content, so that a project that has that version needs no other. Its manifest states what a
host must have: the Python that the function's syntax and its wheels need, and modules that hosts report. Not thread-safe.
"""
import hashlib
import io
import json
import pathlib
import re
import struct
import tarfile
import zlib

from . import _wheels

RUNTIME = pathlib.Path(__file__).resolve().parent / "_runtime"
PROGRAMS = ("kernel.py", "manager.py")
REPORTED = ("numpy", "pandas", "scipy")  # modules that hosts report
OTHERS = "python-packages"  # lets a kernel find all installed modules; the others are looked for when it starts
NEED = re.compile(r"([a-z0-9_-]+)(?:[>=]=\d{1,5}(?:\.\d{1,5})?)?")
PREFIX = "py-"  # of the names of functions' applications
BUNDLE_BYTES_MAX = 256 << 20  # as shared/base/limits.h has it
BUNDLE_FILES_MAX = 4096

MANIFEST = """\
manifest = 1
name = "{name}"
version = "{version}"
title = "{title}"
needs = {needs}

[kernel]
{platform} = "kernel.py"

[manager]
program = "manager.py"

[items]
meaning = "some calls of the function"
split = true
checkpoint = false
comparison = "exact"
checks = "form"
threads = {threads}

[limits]
memory_megabytes = {memory_megabytes}
disk_megabytes = {disk_megabytes}
item_bytes = {item_bytes}
item_seconds = {item_seconds}
"""


class Bundle:
    """Files of an application, and their archive."""

    def __init__(self, captured, limits, wheels=(), needs=()):
        """`needs`: as in a manifest; each stands in place of what is found out about the same capability."""
        self.files = {}
        for path in sorted(RUNTIME.iterdir()):
            if path.suffix == ".py":
                self.files[path.name if path.name in PROGRAMS else f"_gleaner/{path.name}"] = path.read_bytes()
        self.files |= {f"code/{path}": data for path, data in captured.files.items()}
        wheels = [_wheels.Wheel(wheel) for wheel in wheels]
        for wheel in wheels:
            self.files |= wheel.files(BUNDLE_BYTES_MAX)
        about = {"module": captured.module, "name": captured.name, "python": list(captured.python),
                 "needs": sorted(need for need in captured.needs if not self.brings(need))}
        self.files["call.json"] = json.dumps(about, sort_keys=True).encode()
        self.name = (PREFIX + re.sub("[^a-z0-9]+", "-", captured.title.lower()).strip("-"))[:64].rstrip("-")
        title = "Python: " + re.sub("[^ -~]|[\"\\\\]", "?", captured.title)[:150]
        self.needs = stated({"python": "python>={}.{}".format(*captured.python)}, [
            *sorted({need if need in REPORTED else OTHERS for need in about["needs"]}),
            *_wheels.needs(wheels, captured.python), *needs])
        manifest = MANIFEST.format(name=self.name, title=title, version="@", needs=json.dumps(self.needs),
                                   platform=_wheels.platform(wheels), **limits)
        self.version = "1." + self.digest(manifest)[:24]
        self.files["manifest.toml"] = manifest.replace('version = "@"', f'version = "{self.version}"').encode()
        if len(self.files) > BUNDLE_FILES_MAX or sum(map(len, self.files.values())) > BUNDLE_BYTES_MAX:
            raise ValueError(f"the bundle has more than {BUNDLE_FILES_MAX} files or {BUNDLE_BYTES_MAX >> 20} MiB: send fewer wheels")

    def brings(self, module):
        return any(path.split("/")[2].split(".")[0] == module for path in self.files if path.startswith("wheels/"))

    def digest(self, manifest):
        content = hashlib.sha256(manifest.encode())
        for path, data in sorted(self.files.items()):
            content.update(f"\0{path}\0{len(data)}\0".encode() + data)
        return content.hexdigest()

    @property
    def full_name(self):
        return f"{self.name}@{self.version}"

    def archive(self):
        """A tar.gz without times, owners or compression: compressors differ, and equal content is to have an equal digest."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path, data in sorted(self.files.items()):
                entry = tarfile.TarInfo(path)
                entry.size, entry.mode = len(data), 0o755 if path in PROGRAMS else 0o644
                tar.addfile(entry, io.BytesIO(data))
        return stored_gzip(packed.getvalue())

    def write(self, directory):
        """The files, to be run from there."""
        for path, data in self.files.items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o755 if path in PROGRAMS else 0o644)


def stated(found, needs):
    """One need for each capability; later ones stand in place of earlier ones.

    >>> stated({"python": "python>=3.9"}, ["numpy", "python>=3.11"])
    ['python>=3.11', 'numpy']
    """
    for need in needs:
        match = NEED.fullmatch(need)
        if match is None:
            raise ValueError(f"needs: expected for example \"python>=3.9\", \"python==3.11\" or \"numpy\", got {need!r}")
        found[match[1]] = need
    return list(found.values())


def stored_gzip(data):
    """RFC 1952 around RFC 1951's stored blocks."""
    blocks = []
    for at in range(0, len(data), 65535):
        piece = data[at:at + 65535]
        blocks.append(struct.pack("<BHH", at + 65535 >= len(data), len(piece), len(piece) ^ 0xffff) + piece)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"".join(blocks) + struct.pack("<II", zlib.crc32(data), len(data) & 0xffffffff)
