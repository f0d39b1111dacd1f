#!/usr/bin/env python3
"""Compares ledgers of gleaner-loadgen with the store of the server that they were made at: what was acknowledged is what the
store holds, and it holds nothing else.

  tools/check_ledger.py STORE LEDGER...     STORE: store.sqlite of the project, or postgresql://...; read only; all ledgers of its life

Exit status: 0 they agree, 1 they do not (a sentence each), 2 wrong usage.
"""
import hashlib
import pathlib
import re
import sqlite3
import subprocess
import sys


def read_ledger(path):
    """(outcome, unit, begin, end, digest) of every line."""
    with open(path, encoding="utf-8") as file:
        title = file.readline().split()
        if title[:2] != ["gleaner-ledger", "1"]:
            raise ValueError(f"{path} is no ledger of gleaner-loadgen")
        for line in file:
            outcome, unit, _, begin, end, digest = line.split()
            yield outcome, int(unit), int(begin), int(end), digest


def rows(store, sql):
    """Of numbers, and of bytes as hexadecimal digits."""
    if str(store).startswith("postgresql://"):
        command = ["psql", "-X", "-A", "-t", "-F", " ", "-d", str(store), "-c", re.sub(r"\bhex\((\w+)\)", r"encode(\1, 'hex')", sql)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [line.split() for line in told.splitlines()]
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    found = database.execute(sql).fetchall()
    database.close()
    return found


def stored_segments(store):
    """{(unit, begin, end): digest}, and those of them that items were accepted from."""
    segments = {tuple(map(int, place)): digest.lower() for *place, digest in
                rows(store, "SELECT unit, range_begin, range_end, hex(digest) FROM segments")}
    accepted = {tuple(map(int, place)) for place in
                rows(store, "SELECT segments.unit, segments.range_begin, segments.range_end FROM accepted "
                            "JOIN segments ON segments.id = accepted.segment")}
    return segments, accepted


def stored_bytes(store, blobs, digests):
    """{digest: bytes of a segment}, without those that are gone (server/storage/FORMAT.md); a thousand with each statement."""
    kept = {digest.lower(): str(segment) for digest, segment in rows(store, "SELECT hex(digest), id FROM segments WHERE place = 2")}
    inside = [digest for digest in digests if digest in kept]
    found = {}
    for begin in range(0, len(inside), 1000):
        part = inside[begin:begin + 1000]
        told = rows(store, f"SELECT segment, hex(bytes) FROM segment_bytes WHERE segment IN ({', '.join(kept[digest] for digest in part)})")
        data = {str(segment): bytes.fromhex(digits) for segment, digits in told}
        found |= {digest: data[kept[digest]] for digest in part if kept[digest] in data}
    for digest in set(digests) - set(inside):
        path = blobs / digest[:2] / digest
        if path.exists():
            found[digest] = path.read_bytes()
    return found


def check_ledger(store, ledgers, bytes_every=1, blobs=None):
    """What is wrong, a sentence each: what was acknowledged is what the store holds, and the store holds nothing else. A
    result that was sent and never answered may be there or not. Bytes are read of every so many-th result."""
    segments, used = stored_segments(store)
    faults, told = [], {}
    for ledger in ledgers:
        for outcome, unit, begin, end, digest in read_ledger(ledger):
            place = unit, begin, end
            if outcome in ("accepted", "duplicate") or told.get(place, ("unanswered",))[0] == "unanswered":
                told[place] = outcome, digest
    looked_at = {digest for outcome, digest in list(told.values())[::bytes_every] if outcome in ("accepted", "duplicate")}
    data = stored_bytes(store, blobs or pathlib.Path(store).parent / "blobs", sorted(looked_at))
    for place, (outcome, digest) in told.items():
        name = "unit {}, items {} to {}".format(*place)
        if outcome in ("accepted", "duplicate") and place not in segments:
            faults.append(f"{name}: was acknowledged, and the store does not have it")
        elif outcome in ("accepted", "duplicate") and segments[place] != digest:
            faults.append(f"{name}: was acknowledged, and the store has other bytes")
        elif outcome == "accepted" and place not in used:
            faults.append(f"{name}: was accepted, and the store does not count it")
        elif outcome == "refused" and place in segments:
            faults.append(f"{name}: was refused, and the store has it")
        elif outcome != "unanswered" and digest in looked_at and (digest not in data or hashlib.sha256(data[digest]).hexdigest() != digest):
            faults.append(f"{name}: was acknowledged, and its bytes are {'damaged' if digest in data else 'gone'}")
    faults += ["unit {}, items {} to {}: the store has it, and it was never sent".format(*place)
               for place in segments if place not in told]
    return faults


def main(arguments):
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    faults = check_ledger(arguments[0], arguments[1:])
    print("\n".join(faults) or "ledger: the store holds what was acknowledged")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
