"""Parts of a cluster that are killed with -9 and begin again: programs, PostgreSQL's primary with its synchronous standby, the object
store. `step` never waits; it is called all the time, by the thread that called all else here."""
import shutil
import signal
import subprocess
import time

import postgres
import swift
from harness import free_port

from replica import PRIMARY, STANDBY, Failure, Node

PAUSE_MAX = 2  # seconds until what ended begins again


class Program:
    """A server or a front end."""

    def __init__(self, grid, label, rng, command, directory):
        self.grid, self.label, self.rng = grid, label, rng
        self.port = free_port()
        self.words = (command, directory, "--port", self.port)
        self.process, self.back, self.killed = None, None, False

    def start(self):
        path = self.grid.directory / f"{self.label}.log"
        self.begins = path.stat().st_size if path.exists() else 0
        self.process, self.back, self.killed = self.grid.start(self.label, "gleaner-server", *self.words), None, False

    def said(self):
        """In this life."""
        with open(self.grid.directory / f"{self.label}.log", errors="replace") as log:
            log.seek(self.begins)
            return log.read()

    def runs(self):
        return self.process.poll() is None

    def serves(self):
        return "serving" in self.said()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.killed = True

    def step(self):
        """Why it ended by itself, if it did."""
        if self.runs():
            return None
        if self.back is not None:
            if time.monotonic() >= self.back:
                self.start()
            return None
        self.back = time.monotonic() + self.rng.uniform(0, PAUSE_MAX)
        if self.killed:
            return None
        last = self.said().strip().splitlines()[-1:]
        if self.process.returncode != 1 or not last:
            raise Failure(f"{self.label} ended with {self.process.returncode}: {self.said()[-1500:]}")
        return f"{self.label[:-2]} ended by itself"

    def end(self):
        return self.grid.kill(self.label, signal.SIGTERM)


class Pair:
    """A primary, and a standby that has all that was committed as soon as there is one."""

    def __init__(self, rng):
        self.rng = rng
        self.primary, self.standby = Node(), Node()
        self.url = (f"postgresql:///postgres?host={self.primary.directory},{self.standby.directory}&user=gleaner"
                    "&target_session_attrs=read-write")
        self.copying, self.back, self.is_safe = None, None, False
        self.primary.__enter__()
        self.begin_copy()

    def begin_copy(self):
        shutil.rmtree(self.standby.data, ignore_errors=True)
        self.copying = subprocess.Popen(
            [*self.standby.as_user, postgres.PROGRAMS / "pg_basebackup", "-D", self.standby.data, "-R", "-c", "fast", "-X", "stream",
             "--no-sync", "-d", f"host={self.primary.directory} user=gleaner application_name=standby"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def step(self):
        if self.back is not None and time.monotonic() >= self.back:
            self.back = None
            self.begin_copy()
        if self.copying is not None and self.copying.poll() is not None:
            if self.copying.returncode != 0:
                raise Failure(f"pg_basebackup: {self.copying.stdout.read()}")
            self.copying = None
            with open(self.standby.data / "postgresql.auto.conf", "a") as settings:
                settings.write("synchronous_standby_names = ''\n")  # of its own, once promoted, until there is one
            self.standby.settings = STANDBY
            self.standby.start()
            self.primary.query("ALTER SYSTEM SET " + PRIMARY[0].replace("=", " = '") + "'")
            self.primary.query("SELECT pg_reload_conf()")
        if not self.is_safe and self.copying is None and self.back is None:
            self.is_safe = self.primary.query(
                "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'") == [["sync"]]

    def safe(self):
        """May the primary be killed? Not while what it acknowledges is nowhere else."""
        return self.is_safe

    def kill_primary(self):
        self.is_safe = False
        self.primary.kill()
        time.sleep(self.rng.uniform(0, 1))  # somebody has to notice
        self.standby.run("pg_ctl", "promote", "-w", "-D", self.standby.data)
        self.primary, self.standby = self.standby, self.primary
        self.back = time.monotonic() + self.rng.uniform(0, PAUSE_MAX)

    def close(self):
        if self.copying:
            self.copying.kill()
            self.copying.wait()
        for node in (self.primary, self.standby):
            if getattr(node, "process", None) and node.process.poll() is None:
                node.kill()
            shutil.rmtree(node.directory, ignore_errors=True)


class Store:
    """Swift: one of its servers is killed, or all."""

    def __init__(self, rng):
        self.rng, self.swift, self.back = rng, swift.Swift().__enter__(), None

    def all_run(self):
        return self.back is None

    def kill(self):
        for role in self.rng.choice([[role] for role in swift.ROLES] + [swift.ROLES]):
            self.swift.kill(role)
        self.back = time.monotonic() + self.rng.uniform(0, PAUSE_MAX)

    def step(self):
        if self.back is not None and time.monotonic() >= self.back:
            for role in swift.ROLES:
                if role not in self.swift.processes:
                    self.swift.start(role)
            self.back = None

    def close(self):
        self.swift.__exit__(None, None, None)
