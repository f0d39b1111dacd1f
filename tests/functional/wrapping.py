"""Applications made of programs (`app wrap`), for tests that only need one."""
import csv
import io


def wrapped(grid, name, program, *arguments):
    """The bundle of application `name`; what `program` gets comes after "--"."""
    bundle = grid.directory / name
    grid.run("gleaner-admin", "app", "wrap", program, "--name", name, "-o", bundle, *arguments)
    return bundle


def add_wrapped(grid, name, program, *arguments):
    grid.add_application(wrapped(grid, name, program, *arguments))


def without_origin(table):
    """What does not depend on who computed a row."""
    rows = list(csv.DictReader(io.StringIO(table.decode())))
    return [{name: value for name, value in row.items() if name not in ("seconds", "host")} for row in rows]
