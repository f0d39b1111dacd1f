"""A PostgreSQL of the test's own: in a temporary directory, on a unix socket, run by an ordinary user."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from harness import AS_NOBODY, NOBODY, SLOW, others_reach

PROGRAMS = next(iter(sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))), None)  # None: not installed
WHY_NOT = ("PostgreSQL is not installed (tools/setup test)" if PROGRAMS is None else
           "PostgreSQL refuses to be run by root, and other users can run nothing here"
           if os.geteuid() == 0 and not others_reach(PROGRAMS / "initdb") else None)


class Network:
    """A network of the database's own, which two servers reach by a cable each, that can be pulled."""

    def __init__(self):
        self.name = f"gleaner-{os.getpid()}"
        self.before = ["ip", "netns", "exec", self.name]

    @staticmethod
    def why_not(known=[]):
        """None: such a network can be made here."""
        if not known:
            probe = subprocess.run(["unshare", "--net", "ip", "link", "add", "gl0", "type", "veth", "peer", "name", "gl1"],
                                   capture_output=True, text=True) if os.geteuid() == 0 and shutil.which("ip") else None
            known.append("networks are made by root, with iproute2" if probe is None else
                         "no network can be made here: " + probe.stderr if probe.returncode else None)
        return known[0]

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)

    @staticmethod
    def address(cable, end):
        return f"198.18.{cable}.{end}"  # RFC 2544: of no network that anybody is in

    def __enter__(self):
        self.ip("netns", "add", self.name)
        try:
            self.ip("-n", self.name, "link", "set", "lo", "up")
            for cable in (1, 2):
                here, there = f"gl{os.getpid()}-{cable}", f"gl{cable}"
                self.ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", self.name)
                self.ip("addr", "add", self.address(cable, 1) + "/24", "dev", here)
                self.ip("-n", self.name, "addr", "add", self.address(cable, 2) + "/24", "dev", there)
                self.ip("link", "set", here, "up")
                self.ip("-n", self.name, "link", "set", there, "up")
        except subprocess.CalledProcessError:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, value, trace):
        self.ip("netns", "del", self.name)  # with both cables

    def pull(self, cable):
        self.ip("-n", self.name, "link", "set", f"gl{cable}", "down")

    def plug_in(self, cable, port=5432):
        self.ip("-n", self.name, "link", "set", f"gl{cable}", "up")
        end = time.monotonic() + 30 * SLOW
        while True:
            try:
                return socket.create_connection((self.address(cable, 2), port), timeout=1).close()
            except OSError:
                assert time.monotonic() < end, "the cable does nothing"
                time.sleep(0.05)


class Postgres:
    def __init__(self, *settings, network=None):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-postgres-"))
        self.settings = settings
        self.network = network
        self.as_user = []
        if os.geteuid() == 0:  # it refuses to be run by root
            os.chown(self.directory, NOBODY, NOBODY)
            self.as_user = AS_NOBODY
        self.url = self.url_of("postgres")

    def url_of(self, database):
        return f"postgresql:///{database}?host={self.directory}&user=gleaner"

    def url_by(self, cable):
        return f"postgresql://gleaner@{self.network.address(cable, 2)}/postgres"

    def __enter__(self):
        data = self.directory / "data"
        subprocess.run([*self.as_user, PROGRAMS / "initdb", "-D", data, "-A", "trust", "-U", "gleaner", "--no-locale", "-E",
                        "UTF8", "--no-sync", "--no-instructions", "-k"], check=True, capture_output=True)
        return self.start()

    def start(self):
        data = self.directory / "data"
        before = [*(self.as_user or ["setpriv"]), "--pdeathsig", "QUIT"]
        listening = ""
        if self.network:
            listening = ",".join(self.network.address(cable, 2) for cable in (1, 2))
            with open(data / "pg_hba.conf", "a") as access:
                access.write("host all all 198.18.0.0/15 trust\n")
            before = [*self.network.before, *before]
        words = [word for setting in self.settings for word in ("-c", setting)]
        # It ends with this process, too.
        with open(self.directory / "log", "w") as log:
            self.process = subprocess.Popen([*before, PROGRAMS / "postgres", "-D", data, "-k", self.directory, "-c",
                                             f"listen_addresses={listening}", *words], stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + 30 * SLOW
        while subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.directory]).returncode != 0:
            assert time.monotonic() < end and self.process.poll() is None, (self.directory / "log").read_text()
            time.sleep(0.05)
        return self

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        self.process.wait()

    def __exit__(self, kind, value, trace):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)

    def processor_seconds(self):
        """Of all its processes, those that have ended included."""
        own, tick = self.process.pid, os.sysconf("SC_CLK_TCK")
        seconds = 0
        for entry in pathlib.Path("/proc").iterdir():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split() if entry.name.isdigit() else None
            except OSError:
                continue
            if fields and int(entry.name) == own:
                seconds += sum(map(int, fields[11:15])) / tick
            elif fields and int(fields[1]) == own:
                seconds += sum(map(int, fields[11:13])) / tick
        return seconds

    def query(self, sql):
        """Rows as lists of texts."""
        done = subprocess.run(["psql", "-X", "-A", "-t", "-F", "\t", "-d", self.url, "-c", sql], check=True,
                              capture_output=True, text=True)
        return [line.split("\t") for line in done.stdout.splitlines()]
