"""Tables of parameters: a wrapped program (`gleaner-admin app wrap`) over the rows of a table, and what came of each row."""
import csv
import io
import pathlib
import re
import tarfile

from ._errors import GridError
from ._problem import Problem, upload_all

ROW_FILE = re.compile(r"([0-9]{6,})/([A-Za-z0-9._-]+)")


class Table(Problem):
    """A problem whose items are rows. `await table` waits for it."""

    def rows(self):
        """A dict a row: the table's values, the numbers that were found in the output, the status ("ok", "exit 3"), the computing
        seconds and the host's name."""
        return list(csv.DictReader(io.StringIO(self._result("table.csv").decode())))

    def frame(self):
        """The same as a pandas frame, with numbers as numbers."""
        import pandas

        return pandas.read_csv(io.BytesIO(self._result("table.csv")))

    def failed(self):
        """The rows that failed."""
        return [row for row in self.rows() if row["status"] != "ok"]

    def retry_failed(self):
        """Runs the failed rows again; the table runs until the new results are in. GridError: no row failed."""
        self._api.retry_failed(self.id)

    def append(self, table, inputs=None):
        """Adds rows of the same columns, as Project.table() takes them; a finished table runs again."""
        self._api.append(self.id, {"inputs": upload_all(self._api, inputs_of(table, inputs))})

    def files(self):
        """What the program wrote: a dict of rows' numbers, from 1, and of names and bytes. Of a failed row its last words: error.txt."""
        found = {}
        with tarfile.open(fileobj=io.BytesIO(self._result("rows.tar"))) as archive:
            for member in archive:
                place = ROW_FILE.fullmatch(member.name)
                if not place or not member.isreg():
                    raise GridError(f"rows.tar has {member.name!r}, which is no file of a row")
                found.setdefault(int(place[1]), {})[place[2]] = archive.extractfile(member).read()
        return found

    def _result(self, name):
        for each in self._finished()["results"]:
            if each["name"] == name:
                return self._bytes(each)
        raise GridError(f"problem {self.id} has no {name}: its application does not compute rows of a table")

    def __repr__(self):
        return f"<gleaner table {self.id}>"


def text_of(table):
    """A table as bytes: of a file, of a pandas frame, or of dicts."""
    if isinstance(table, (str, pathlib.PurePath)):
        return pathlib.Path(table).read_bytes()
    if hasattr(table, "to_csv"):
        return table.to_csv(index=False).encode()
    rows = [dict(row) for row in table]
    if not rows:
        raise GridError("the table has no rows")
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def inputs_of(table, inputs):
    """`inputs`: a directory, each file of which is one, or names and bytes, texts or pathlib paths."""
    if isinstance(inputs, (str, pathlib.PurePath)):
        inputs = {path.name: path for path in sorted(pathlib.Path(inputs).iterdir()) if path.is_file()}
    return {**(inputs or {}), "table.csv": text_of(table)}
