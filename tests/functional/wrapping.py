"""Applications for tests that only need one: of programs (`app wrap`), and one that fails on each host."""
import csv
import io
import shutil

from harness import SQUARES, FakeHost


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


def add_failing(grid, held, message):
    """A problem whose application fails on each host with `message(number of the host)`. The host `held` is put on hold."""
    shaky = grid.directory / "shaky"
    shutil.copytree(SQUARES, shaky)
    (shaky / "manifest.toml").write_text((shaky / "manifest.toml").read_text().replace('"squares"', '"shaky"', 1))
    grid.add_application(shaky)
    grid.admin("host", "hold", held, "--reason", "not this")
    identity = grid.add_problem("shaky", "trembling", "--strategy", "rts", "--priority", "5", count=1)
    for number in range(5):
        host = FakeHost(grid, f"lab-{number}")
        granted = host.work()[1]["decoded"]
        if not granted or granted[0]["problem"] != identity:
            break
        grid.request("POST", "/v1/failure", {"unit": granted[0]["unit"], "kind": "kernel-crashed", "item": 0, "message": message(number)}, host.token)
    return identity
