"""Speaks Gleaner's kernel and manager contract, version 1 (CONTRACT.md), so that the two programs need not."""
import json
import os
import pathlib
import select
import sys

stdin = open(0, "rb", buffering=0)
stdout = sys.stdout.buffer


def command():
    """The words of the next line; ["quit"] at the end of the input."""
    line = stdin.readline().decode()
    return line.rstrip("\n").split(" ") if line else ["quit"]


def answer(text, data=b""):
    stdout.write(text.encode() + b"\n" + data)
    stdout.flush()


def problem_of(words):
    """The parameters, and the directory of the input files."""
    directory = pathlib.Path(" ".join(words[1:]))
    return json.loads((directory / "parameters.json").read_text() or "{}"), directory / "inputs"


def one_line(error):
    return " ".join(str(error).split())


# ---- kernels


def run_unit(compute, item, end):
    while item < end:
        # A grid may want a unit to end earlier: look between items.
        while select.select([stdin], [], [], 0)[0]:
            words = command()
            if words[0] == "end":
                end = min(end, int(words[1]))
            elif words[0] == "checkpoint":
                answer("checkpoint none")
            else:
                sys.exit(0)
        if item < end:
            data = compute(item)
            answer(f"item {item} {len(data)}", data)
            item += 1
    answer(f"done {item}")


def serve_kernel(load):
    """`load(parameters, inputs)` returns a function from an item's number to its bytes; ValueErrors are told to people."""
    compute = None
    while (words := command())[0] != "quit":
        try:
            if words[0] == "gleaner":
                answer("ready 1")
            elif words[0] == "problem":
                compute = load(*problem_of(words))
                answer("ok")
            elif words[0] == "unit":
                run_unit(compute, int(words[2]), int(words[3]))
            elif words[0] == "checkpoint":
                answer("checkpoint none")
            elif words[0] != "end":  # an `end` that comes after `done` is ignored
                answer("error unknown command")
        except ValueError as error:
            answer("error " + one_line(error))


# ---- managers


def items_of_segment(data, begin, end):
    """(number, bytes) of each item; ValueError if the framing is wrong."""
    at = 0
    for item in range(begin, end):
        length = int.from_bytes(data[at:at + 4], "little")
        if at + 4 + length > len(data):
            raise ValueError("the segment is cut short")
        yield item, data[at + 4:at + 4 + length]
        at += 4 + length
    if at != len(data):
        raise ValueError("the segment has bytes too many")


def items_of_list(path):
    """(number, bytes) of each item of a list file, in order; one item in memory at a time."""
    for line in open(path):
        begin, end, first, segment = line.rstrip("\n").split(" ", 3)
        with open(segment, "rb") as file:
            for item in range(int(first), int(end)):
                data = file.read(int.from_bytes(file.read(4), "little"))
                if item >= int(begin):
                    yield item, data


def verdict(manager, begin, end, length):
    """The answer to a segment of that many bytes, which follow on standard input."""
    data = b""
    while len(data) < length and (more := stdin.read(length - len(data))):
        data += more
    try:
        if end > manager.items:
            raise ValueError(f"there are only {manager.items} items")
        for item, value in items_of_segment(data, begin, end):
            manager.check(item, value)
        return "valid"
    except ValueError as error:
        return "invalid " + one_line(error)


def serve_manager(load):
    """`load(parameters, inputs)` returns an object with `items` (how many), `check(item, bytes)` (ValueError if it cannot be)
    and `combine(items, directory)` (from (number, bytes) pairs; returns {file name: media type} of what it wrote)."""
    manager = None
    while (words := command())[0] != "quit":
        try:
            if words[0] == "gleaner":
                answer("ready 1 pipeline")
            elif words[0] == "problem":
                manager = load(*problem_of(words))
                answer("ok")
            elif words[0] == "plan":
                answer(f"items {manager.items}\nok" if words[1] == "0" else "end")
            elif words[0] == "mark":
                answer(" ".join(words))
            elif words[0] == "validate":
                answer(verdict(manager, *map(int, words[2:5])))
            elif words[0] in ("combine", "preview"):
                directory = pathlib.Path(f"{'stage' if words[0] == 'combine' else 'preview'}-{words[1]}")
                os.makedirs(directory, exist_ok=True)
                for name, media_type in manager.combine(items_of_list(" ".join(words[2:])), directory).items():
                    answer(f"result {name} {directory / name} {media_type}")
                answer("ok")
            else:
                answer("error unknown command")
        except ValueError as error:
            answer("error " + one_line(error))
