"""Computers that tests make up: copies of a disk, another name and machine id, a disk that is full."""
import contextlib
import errno
import os
import pathlib
import shutil
import subprocess

FILLER = "filler"  # the file that fills a disk


def copy_state(source, target):
    """Of a client or relay that runs: what a disk image has of it. Files that come and go meanwhile are not missed."""
    def without(directory, names):
        return [name for name in names if name.endswith(".sock") or name in ("lock", "store.lock", FILLER)]

    for _ in range(20):
        shutil.rmtree(target, ignore_errors=True)
        try:
            shutil.copytree(source, target, symlinks=True, ignore=without)
            return
        except (shutil.Error, FileNotFoundError):
            continue
    raise AssertionError(f"{source} cannot be copied")


def elsewhere(grid, name, machine_id=None, host_name="elsewhere"):
    """A program that starts its arguments on a computer of another name and machine id (None: it has none)."""
    identity = grid.directory / f"machine-id-{name}"
    identity.write_text(machine_id + "\n" if machine_id else "")
    starter = grid.directory / f"on-{name}"
    starter.write_text(f'#!/bin/sh\nmount --bind {identity} /etc/machine-id && hostname {host_name} && exec "$@"\n')
    starter.chmod(0o755)
    return ["unshare", "-m", "-u", starter]


def may_unshare():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "-u", "true"], capture_output=True).returncode == 0


class SmallDisk:
    """A file system of so many megabytes in this place, until close(); takes root."""

    def __init__(self, place, megabytes):
        self.place = pathlib.Path(place)
        self.place.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", self.place], check=True, capture_output=True)

    def fill(self):
        """To the last byte."""
        with contextlib.suppress(FileExistsError), open(self.place / FILLER, "xb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def empty(self):
        (self.place / FILLER).unlink(missing_ok=True)

    def close(self):
        subprocess.run(["umount", "-l", self.place], check=False, capture_output=True)


CONTROLLERS = {name: pathlib.Path("/sys/fs/cgroup") / name for name in ("cpu", "cpuset", "memory")}  # of version 1


class ControlGroups:
    """One of each controller, that a program is started in by the words of `before`."""
    available = os.geteuid() == 0 and all((mount / "cgroup.procs").exists() for mount in CONTROLLERS.values())

    def __init__(self, **limits):
        self.groups = {name: mount / f"container-{os.getpid()}" for name, mount in CONTROLLERS.items()}
        for group in self.groups.values():
            group.mkdir()
        self.set("cpuset.mems", (CONTROLLERS["cpuset"] / "cpuset.mems").read_text())
        for name, value in limits.items():
            self.set(name.replace("__", "."), value)
        enter = "".join(f"echo $$ > {group}/cgroup.procs && " for group in self.groups.values())
        self.before = ["sh", "-c", enter + 'exec "$@"', "sh"]

    def set(self, name, value):
        (self.groups[name.split(".")[0]] / name).write_text(str(value))

    def close(self):
        """What was in them has ended."""
        for group in self.groups.values():
            for inner in sorted(group.rglob("*"), reverse=True):
                if inner.is_dir():
                    inner.rmdir()
            group.rmdir()


def hidden(*paths):
    """A mount namespace in which these files and directories are empty."""
    there = [str(path) for path in paths if pathlib.Path(path).exists()]
    hide = 'while [ "$1" != -- ]; do if [ -d "$1" ]; then mount -t tmpfs none "$1"; else mount --bind /dev/null "$1"; fi; shift; done; shift; '
    return ["unshare", "--mount", "sh", "-c", hide + 'exec "$@"', "sh", *there, "--"]
