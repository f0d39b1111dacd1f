"""A PostgreSQL of the test's own: in a temporary directory, on a unix socket, run by an ordinary user."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from harness import AS_NOBODY, NOBODY, SLOW, others_reach

PROGRAMS = next(iter(sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))), None)  # None: not installed
WHY_NOT = ("PostgreSQL is not installed (tools/setup test)" if PROGRAMS is None else
           "PostgreSQL refuses to be run by root, and other users can run nothing here"
           if os.geteuid() == 0 and not others_reach(PROGRAMS / "initdb") else None)


class Postgres:
    def __init__(self, *settings):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-postgres-"))
        self.settings = settings
        self.as_user = []
        if os.geteuid() == 0:  # it refuses to be run by root
            os.chown(self.directory, NOBODY, NOBODY)
            self.as_user = AS_NOBODY
        self.url = self.url_of("postgres")

    def url_of(self, database):
        return f"postgresql:///{database}?host={self.directory}&user=gleaner"

    def __enter__(self):
        data = self.directory / "data"
        subprocess.run([*self.as_user, PROGRAMS / "initdb", "-D", data, "-A", "trust", "-U", "gleaner", "--no-locale", "-E",
                        "UTF8", "--no-sync", "--no-instructions", "-k"], check=True, capture_output=True)
        return self.start()

    def start(self):
        data = self.directory / "data"
        words = [word for setting in self.settings for word in ("-c", setting)]
        # It ends with this process, too.
        before = [*(self.as_user or ["setpriv"]), "--pdeathsig", "QUIT"]
        with open(self.directory / "log", "w") as log:
            self.process = subprocess.Popen([*before, PROGRAMS / "postgres", "-D", data, "-k", self.directory, "-c",
                                             "listen_addresses=", *words], stdout=log, stderr=log, start_new_session=True)
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
