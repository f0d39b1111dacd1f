#!/usr/bin/env python3
"""A PostgreSQL and an object store (Swift) that all tests of a run share, in temporary directories, by whoever runs it: with them every
Grid's rows are in a database of its own and its files in a place of its own, and in neither for a test that says where its are.

  tests/functional/cluster.py COMMAND...      e.g. ctest --preset release -L functional

runs COMMAND with both; its exit status is COMMAND's, 2 if they cannot be run here.
"""
import os
import subprocess
import sys

import postgres
import swift

WHY_NOT = postgres.WHY_NOT or swift.WHY_NOT


class Cluster:
    """Of this process and those that it starts."""

    def __enter__(self):
        self.database = postgres.Postgres().__enter__()
        try:
            self.objects = swift.Swift().__enter__()
        except BaseException:
            self.database.__exit__(None, None, None)
            raise
        os.environ["GLEANER_CLUSTER"] = f"{self.database.directory} {self.objects.url('')}"
        os.environ["GLEANER_BLOBS_KEYS"] = f"{swift.KEY} {swift.SECRET}"
        return self

    def __exit__(self, *why):
        del os.environ["GLEANER_CLUSTER"], os.environ["GLEANER_BLOBS_KEYS"]
        self.objects.__exit__(*why)
        self.database.__exit__(*why)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    if WHY_NOT:
        print(WHY_NOT, file=sys.stderr)
        sys.exit(2)
    with Cluster():
        code = subprocess.run(sys.argv[1:]).returncode
    sys.exit(code)
