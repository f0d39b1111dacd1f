"""Applications made of programs (`app wrap`), for tests that only need one."""


def wrapped(grid, name, program, *arguments):
    """The bundle of application `name`; what `program` gets comes after "--"."""
    bundle = grid.directory / name
    grid.run("gleaner-admin", "app", "wrap", program, "--name", name, "-o", bundle, *arguments)
    return bundle


def add_wrapped(grid, name, program, *arguments):
    grid.add_application(wrapped(grid, name, program, *arguments))
