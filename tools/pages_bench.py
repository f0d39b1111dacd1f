"""What a cycle's rows cost SQLite alone, by how many hosts there are: the floor under the server's writer. No server runs."""
import os
import pathlib
import random
import sqlite3
import tempfile
import time

BATCH = 100  # cycles a transaction
# Texts stand for the columns that a layout has besides those named: so many bytes as the server's rows have.
TABLES = """
CREATE TABLE hosts (id INTEGER PRIMARY KEY, rest TEXT, items INTEGER, cost REAL, contact INTEGER) STRICT;
CREATE TABLE host_records (problem INTEGER, stage INTEGER, host INTEGER, rest TEXT, rate REAL, units INTEGER,
  PRIMARY KEY (problem, stage, host)) STRICT, WITHOUT ROWID;
CREATE TABLE units (id INTEGER PRIMARY KEY, problem INTEGER, stage INTEGER, host INTEGER, state INTEGER, rest TEXT) STRICT;
CREATE TABLE segments (id INTEGER PRIMARY KEY, problem INTEGER, stage INTEGER, class INTEGER, begin INTEGER, rest TEXT) STRICT;
CREATE INDEX segments_by_place ON segments (problem, stage, class, begin);
CREATE TABLE segment_bytes (id INTEGER PRIMARY KEY, bytes TEXT) STRICT;
CREATE TABLE accepted (problem INTEGER, stage INTEGER, begin INTEGER, end INTEGER, segment INTEGER,
  PRIMARY KEY (problem, stage, begin)) STRICT, WITHOUT ROWID;
CREATE TABLE answers (unit INTEGER, host INTEGER, begin INTEGER, end INTEGER, digest BLOB, rest TEXT,
  PRIMARY KEY (unit, host, begin, end, digest)) STRICT, WITHOUT ROWID;
CREATE TABLE decisions (problem INTEGER, number INTEGER, rest TEXT, PRIMARY KEY (problem, number)) STRICT, WITHOUT ROWID;
"""
BY_STATE = "CREATE INDEX units_by_state ON units (problem, stage, state)"
OPEN = "CREATE INDEX open_units ON units (problem, stage) WHERE state = 1"
BY_HOST = "CREATE INDEX units_by_host ON units (host)"
# Name: indexes of units, whether a commit's answer is a row, bytes of a host's other columns; none: no row of it is written.
LAYOUTS = {
    "schema 14": ([BY_STATE, BY_HOST], True, 380),
    "schema 15": ([OPEN, BY_HOST], False, 380),
    "without the index by host": ([OPEN], False, 380),
    "and a host's totals in narrow rows": ([OPEN], False, 0),
    "and no row of the host": ([OPEN], False, None),
}


def written():
    lines = pathlib.Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


def text(size):
    return "x" * size


def fill(database, hosts, answers, rest):
    """Every host has delivered an item of unit i and holds unit hosts + i."""
    for i in range(1, hosts + 1):
        database.execute("INSERT INTO hosts VALUES (?, ?, 0, 0.0, 0)", (i, text(rest or 0)))
        database.execute("INSERT INTO host_records VALUES (1, 0, ?, ?, 0.0, 0)", (i, text(170)))
        database.execute("INSERT INTO units VALUES (?, 1, 0, ?, 2, ?)", (i, i, text(170)))
        database.execute("INSERT INTO units VALUES (?, 1, 0, ?, 1, ?)", (hosts + i, i, text(170)))
        database.execute("INSERT INTO segments VALUES (?, 1, 0, 0, ?, ?)", (i, i, text(100)))
        database.execute("INSERT INTO segment_bytes VALUES (?, ?)", (i, text(60)))
        database.execute("INSERT INTO accepted VALUES (1, 0, ?, ?, ?)", (i, i + 1, i))
        if answers:
            database.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", (i, i, i, i + 1, bytes(32), text(20)))


def cycle(database, host, held, new, segment, answers, rest):
    database.execute("INSERT INTO segments VALUES (?, 1, 0, 0, ?, ?)", (segment, held, text(100)))
    database.execute("INSERT INTO segment_bytes VALUES (?, ?)", (segment, text(60)))
    database.execute("INSERT INTO accepted VALUES (1, 0, ?, ?, ?)", (held, held + 1, segment))
    database.execute("INSERT INTO units VALUES (?, 1, 0, ?, 2, ?) ON CONFLICT (id) DO UPDATE SET problem = excluded.problem, "
                     "stage = excluded.stage, host = excluded.host, state = excluded.state, rest = excluded.rest",
                     (held, host, text(170)))
    if answers:
        database.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", (held, host, held, held + 1, bytes(32), text(20)))
    if rest is not None:
        database.execute("UPDATE hosts SET rest = ?, items = ?, cost = 1.0, contact = ? WHERE id = ?", (text(rest), new, new, host))
    database.execute("INSERT INTO units VALUES (?, 1, 0, ?, 1, ?)", (new, host, text(170)))
    database.execute("INSERT INTO decisions VALUES (1, ?, ?)", (segment, text(100)))


def measure(hosts, layout, cycles):
    """Microseconds of processor time and bytes written, a cycle."""
    indexes, answers, rest = layout
    with tempfile.TemporaryDirectory() as directory:
        database = sqlite3.connect(os.path.join(directory, "store.sqlite"), isolation_level=None)
        # Without syncs, which take time and no processor.
        database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;" + TABLES + ";".join(indexes))
        database.execute("BEGIN")
        fill(database, hosts, answers, rest)
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        order = list(range(1, hosts + 1))
        random.Random(1).shuffle(order)
        held = {host: hosts + host for host in order}
        bytes_before, before = written(), time.process_time()
        for first in range(0, cycles, BATCH):
            database.execute("BEGIN IMMEDIATE")
            chosen = sorted(order[(first + i) % hosts] for i in range(BATCH))
            for i, host in enumerate(chosen):
                new = 2 * hosts + first + i + 1
                cycle(database, host, held[host], new, hosts + first + i + 1, answers, rest)
                held[host] = new
            for host in chosen:
                database.execute("INSERT INTO host_records VALUES (1, 0, ?, ?, 1.0, 1) ON CONFLICT (problem, stage, host) DO UPDATE SET "
                                 "rest = excluded.rest, rate = excluded.rate, units = excluded.units", (host, text(170)))
            database.execute("COMMIT")
        seconds, size = time.process_time() - before, written() - bytes_before
        database.close()
    return 1e6 * seconds / cycles, size / cycles


def bench_pages(options, cycles=20_000):
    hosts = [int(float(count)) for count in options.hosts or ("1e3", "1e6")]
    print("| rows of a cycle | " + " | ".join(f"{count:,} hosts, µs, kB" for count in hosts) + " |\n|---|" + "---|" * len(hosts))
    for name, layout in LAYOUTS.items():
        figures = [measure(count, layout, cycles) for count in hosts]
        print(f"| {name} | " + " | ".join(f"{microseconds:.0f}, {size / 1e3:.1f}" for microseconds, size in figures) + " |", flush=True)
