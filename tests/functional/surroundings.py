"""Surroundings that nobody tests: each starts a program with something missing, full, closed or too small. surroundings_test.py judges
how programs end there.

Started as a program, surroundings.py NAME PLACE PROGRAM [ARGUMENT ...] becomes PROGRAM in the surroundings NAME. PLACE is a directory
of the test's with home, tmp and state.
"""
import ctypes
import os
import pathlib
import resource
import signal
import sys

NEW_MOUNTS = 0x20000  # CLONE_NEWNS
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 32, 4096, 16384, 1 << 18  # MS_*
TOO_LONG = "/tmp/" + "/".join(["x" * 200] * 25)


class Start:
    """What a program is about to be started with."""

    def __init__(self, place, program, arguments):
        self.place = place
        self.program = program
        self.words = [program, *arguments]
        self.environment = {"PATH": os.environ["PATH"], "HOME": f"{place}/home", "TMPDIR": f"{place}/tmp", "LANG": "C.UTF-8"}
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.limits = {}

    def call(self, function, *arguments):
        if getattr(self.libc, function)(*arguments) != 0:
            raise OSError(ctypes.get_errno(), function)

    def mount(self, source, target, kind, flags, options=None):
        self.call("mount", *(word and word.encode() for word in (source, target, kind)), ctypes.c_ulong(flags), options and options.encode())

    def own_mounts(self):
        self.call("unshare", NEW_MOUNTS)
        self.mount("none", "/", None, RECURSIVE | PRIVATE)

    def become(self):
        """execve() itself: Python's refuses an empty list of arguments."""
        def strings(all_strings):
            encoded = [os.fsencode(string) for string in all_strings]
            return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
        words, environment = strings(self.words), strings(f"{name}={value}" for name, value in self.environment.items())
        program = os.fsencode(self.program)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for limit, most in self.limits.items():
            resource.setrlimit(limit, (most, most))
        self.libc.execve(program, words, environment)
        os._exit(126)


def plain(start):
    pass


def empty_environment(start):
    start.environment.clear()


def nowhere(start):
    """No language, no time zone, no path, no temporary directory."""
    start.environment.update(PATH="", LANG="xx_YY.nowhere", LC_ALL="nowhere", TZ=":/nowhere", TMPDIR="/nowhere")


def long_paths(start):
    start.environment.update(HOME=TOO_LONG, TMPDIR=TOO_LONG, XDG_DATA_HOME=TOO_LONG)


def closed_descriptors(start):
    for descriptor in (0, 1, 2):
        os.close(descriptor)


def reader_gone(start):
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)
    os.close(writer)


def readers_gone(start):
    reader_gone(start)
    os.dup2(1, 2)


def full_output(start):
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, 1)
    os.close(full)


def directory_gone(start):
    gone = pathlib.Path(start.place, "gone")
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()


def no_words(start):
    """argc is 0, or where the kernel refuses that, argv[0] is empty."""
    start.words = []


def few_files(start):
    start.limits[resource.RLIMIT_NOFILE] = 10


def few_threads(start):
    """Root may start as many as it likes; anybody else only this program."""
    if os.geteuid() == 0:
        os.chown(start.place, 65534, 65534)
        for path in pathlib.Path(start.place).rglob("*"):
            os.chown(path, 65534, 65534, follow_symlinks=False)
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    start.limits[resource.RLIMIT_NPROC] = 1


def memory(megabytes):
    def small_memory(start):
        start.limits[resource.RLIMIT_AS] = megabytes << 20
    return small_memory


def read_only(start):
    start.own_mounts()
    mounts = [line.split()[1] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    for mounted in mounts:
        try:
            self_path = mounted.encode().decode("unicode_escape")
            start.mount("none", self_path, None, REMOUNT | BIND | READ_ONLY)
        except OSError:
            pass  # hidden below another mount
    if os.access(start.place, os.W_OK):
        raise OSError(f"{start.place} is not read-only")


def full_disk(start):
    """Temporary files and the home are on a disk of 64 KiB, and it is full."""
    start.own_mounts()
    full = f"{start.place}/tmp"
    start.mount("none", full, "tmpfs", 0, "size=64k,mode=1777")
    try:
        with open(f"{full}/filled", "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
    except OSError:
        pass  # that is how it ends
    start.environment["HOME"] = full
    if not start.program.startswith("/tmp/"):
        start.mount(full, "/tmp", None, BIND)


SURROUNDINGS = {function.__name__: function for function in (
    plain, empty_environment, nowhere, long_paths, closed_descriptors, reader_gone, readers_gone, full_output, directory_gone, no_words,
    few_files, few_threads, read_only, full_disk)}
SURROUNDINGS.update({f"memory_{megabytes}": memory(megabytes) for megabytes in (32, 48, 64, 96, 128, 192, 256, 384, 512)})


def main():
    name, place, program, *arguments = sys.argv[1:]
    start = Start(place, program, arguments)
    SURROUNDINGS[name](start)
    start.become()


if __name__ == "__main__":
    main()
