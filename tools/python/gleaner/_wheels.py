"""Wheels that travel with a function: their files, and what a host must have for their native code (PEP 425, 427, 600)."""
import pathlib
import re
import zipfile

NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
PYTHON = re.compile(r"(?:py|cp)(\d)(\d*)")
LINUX = re.compile(r"(?:manylinux_(\d+)_(\d+)|manylinux(1|2010|2014)|linux)_(x86_64|aarch64)")
GLIBC = {"1": (2, 5), "2010": (2, 12), "2014": (2, 17)}  # of the older names
REQUIRES = re.compile(r"^Requires-Python:.*?>=\s*(\d+)(?:\.(\d+))?", re.M)


class Wheel:
    """One wheel file. ValueError: it cannot travel, and why."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        match = NAME.fullmatch(self.path.name)
        if match is None:
            raise ValueError(f"{self.path} is not named as a wheel: NAME-VERSION-PYTHON-ABI-PLATFORM.whl")
        self.exact, self.from_python = self._pythons(match["python"].split("."), match["abi"])
        self.machine, self.glibc = self._system(match["platform"].split("."))

    def _pythons(self, tags, abi):
        """(the only version, None) or (None, the oldest one)."""
        versions = [(int(match[1]), int(match[2] or 0)) for match in map(PYTHON.fullmatch, tags) if match and match[1] == "3"]
        if not versions:
            raise ValueError(f"{self.path.name} is not for Python 3, or not for CPython")
        if abi in ("none", "abi3"):
            return None, min(versions)
        if len(versions) > 1:
            raise ValueError(f"{self.path.name} is for several versions of Python at once: take the wheel for one of them")
        return versions[0], None

    def _system(self, tags):
        """The machine and the oldest C library; (None, None): any."""
        if tags == ["any"]:
            return None, None
        found = [match for match in map(LINUX.fullmatch, tags) if match]
        if not found:
            raise ValueError(f"{self.path.name} is for another system than the hosts', which are Linux with glibc on x86_64 or aarch64")
        versions = [GLIBC[match[3]] if match[3] else (int(match[1]), int(match[2])) for match in found if match[1] or match[3]]
        return found[0][4], min(versions, default=None)

    def files(self, bytes_max):
        """Path in the bundle -> bytes."""
        found = {}
        with zipfile.ZipFile(self.path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > bytes_max:
                raise ValueError(f"{self.path.name} has more than {bytes_max >> 20} MiB")
            for entry in archive.infolist():
                path = pathlib.PurePosixPath(entry.filename)
                if path.is_absolute() or ".." in path.parts or not re.fullmatch(r"[ -\[\]-~]+", entry.filename):
                    raise ValueError(f"{self.path} has a file with the name {entry.filename!r}")
                place = imported_from(path)
                if not entry.is_dir() and place is not None:
                    found[f"wheels/{self.path.stem}/{place}"] = archive.read(entry)
                if path.name == "METADATA" and path.parent.name.endswith(".dist-info"):
                    self._require(archive.read(entry).decode(errors="replace"))
        return found

    def _require(self, metadata):
        """What its author says beside the tags."""
        match = REQUIRES.search(metadata)
        if match and self.from_python:
            self.from_python = max(self.from_python, (int(match[1]), int(match[2] or 0)))


def imported_from(path):
    """Where the file of a wheel is imported from; None: it is a script, a header or the like.

    >>> imported_from(pathlib.PurePosixPath("a-1.data/purelib/a/b.py")).as_posix(), imported_from(pathlib.PurePosixPath("a-1.data/scripts/b"))
    ('a/b.py', None)
    """
    if not path.parts[0].endswith(".data"):
        return path
    return pathlib.PurePosixPath(*path.parts[2:]) if path.parts[1:2] in (("purelib",), ("platlib",)) and len(path.parts) > 2 else None


def needs(wheels, language):
    """What a manifest says of their Python and C library. `language`: the oldest Python that the function's syntax permits."""
    oldest = max([language, *(wheel.from_python for wheel in wheels if wheel.from_python)])
    exact = {wheel.exact for wheel in wheels if wheel.exact}
    if len(exact) > 1 or any(only < oldest for only in exact):
        raise ValueError("no version of Python suits the function and all wheels: " + ", ".join(wheel.path.name for wheel in wheels))
    glibc = max((wheel.glibc for wheel in wheels if wheel.glibc), default=None)
    python = "python=={}.{}".format(*exact.pop()) if exact else "python>={}.{}".format(*oldest)
    return [python] + (["glibc>={}.{}".format(*glibc)] if glibc else [])


def platform(wheels):
    """For a manifest's kernel."""
    machines = {wheel.machine for wheel in wheels if wheel.machine}
    if len(machines) > 1:
        raise ValueError("no computer suits all wheels: they are for " + " and ".join(sorted(machines)))
    return f"{machines.pop()}-linux" if machines else "any"
