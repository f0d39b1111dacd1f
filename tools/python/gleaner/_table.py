"""Tables of parameters: a wrapped program (`gleaner-admin app wrap`) over the rows of a table, and what came of each row."""
from __future__ import annotations

import csv
import io
import os
import pathlib
import re
import struct
import tarfile
from typing import Any, Dict, List, Mapping, Union, overload

from ._errors import GridError
from ._problem import Problem, upload_all

ROW_BYTES_MAX = (512 << 20) + (1 << 20)  # a result of an item, and the headers of its files
INDEX_MAGIC = b"glnrows1"  # shared/base/row_index.h
ROW_FILE = re.compile(r"([0-9]{6,})/([A-Za-z0-9._-]+)")


class Table(Problem):
    """A problem whose items are rows. `await table` waits for it.

    >>> import gleaner
    >>> grid = gleaner.connect("/srv/project/admin")  # doctest: +SKIP
    >>> table = grid.table("add", [{"x": 1, "y": 2}, {"x": 3, "y": 4}])  # doctest: +SKIP
    >>> [row["sum"] for row in table.wait().rows()]  # doctest: +SKIP
    ['3', '7']
    """

    def rows(self) -> List[Dict[str, str]]:
        """A dict a row: the table's values, the numbers that were found in the output, the status ("ok", "exit 3"), the computing
        seconds and the host's name."""
        return list(csv.DictReader(io.StringIO(self._result("table.csv").decode())))

    def frame(self) -> Any:
        """The same as a pandas frame, with numbers as numbers."""
        import pandas

        return pandas.read_csv(io.BytesIO(self._result("table.csv")))

    def failed(self) -> List[Dict[str, str]]:
        """The rows that failed."""
        return [row for row in self.rows() if row["status"] != "ok"]

    def retry_failed(self) -> None:
        """Runs the failed rows again; the table runs until the new results are in. GridError: no row failed."""
        self._api.retry_failed(self.id)

    def append(self, table: Any, inputs: Union[str, os.PathLike[str], Mapping[str, Any], None] = None) -> None:
        """Adds rows of the same columns, as grid.table() takes them; a finished table runs again."""
        self._api.append(self.id, {"inputs": upload_all(self._api, inputs_of(table, inputs))})

    def files(self) -> Dict[int, Dict[str, bytes]]:
        """What the program wrote: a dict of rows' numbers, from 1, and of names and bytes. Of a failed row its last words: error.txt."""
        return files_in(self._result("rows.tar"))

    @overload
    def row(self, number: int, directory: None = None) -> Dict[str, bytes]: ...

    @overload
    def row(self, number: int, directory: Union[str, os.PathLike[str]]) -> List[pathlib.Path]: ...

    def row(self, number: int, directory: Union[str, os.PathLike[str], None] = None) -> Union[Dict[str, bytes], List[pathlib.Path]]:
        """What the program wrote of one row, without the others: names and bytes as files() has them. With a directory, written
        into its subdirectory 000017 (for row 17), as a list of paths. Costs the same however many rows there are."""
        archive = self._described("rows.tar")
        begin, end = self._place_of(int(number), archive)
        found = files_in(self._api.read(archive["digest"], begin, end) + bytes(1024))
        if set(found) - {int(number)}:
            raise GridError(f"rows.tar has something else where row {number} should be: download all rows with files()")
        files = found.get(int(number), {})
        if directory is None:
            return files
        place = pathlib.Path(directory) / f"{int(number):06}"
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
        return [place / name for name in files]

    def _place_of(self, number, archive):
        """Where a row's files begin and end in rows.tar, by the index behind its end marks."""
        size, digest = archive["bytes"], archive["digest"]
        tail = self._api.read(digest, max(0, size - 16), size)
        if len(tail) != 16 or not tail.startswith(INDEX_MAGIC):
            raise GridError("rows.tar has no index, because an older gleaner-admin signed its application: files() has all rows")
        rows, = struct.unpack("<Q", tail[8:])
        at = size - 16 - 8 * (rows + 1)
        if at < 0:
            raise GridError("the index of rows.tar is damaged: files() has all rows")
        if not 1 <= number <= rows:
            raise IndexError(f"there is no row {number}: the table has {rows} rows, counted from 1")
        entry = at + 8 * (number - 1)
        begin, end = struct.unpack("<QQ", self._api.read(digest, entry, entry + 16))
        if not begin <= end <= at or end - begin > ROW_BYTES_MAX:
            raise GridError("the index of rows.tar is damaged: files() has all rows")
        return begin, end

    def _described(self, name):
        for each in self._finished()["results"]:
            if each["name"] == name:
                return each
        raise GridError(f"problem {self.id} has no {name}: its application does not compute rows of a table")

    def _result(self, name):
        return self._bytes(self._described(name))

    def __repr__(self):
        return f"<gleaner table {self.id}>"


def files_in(archive):
    """The rows in a tar archive: numbers, and names and bytes."""
    found = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
            for member in members:
                place = ROW_FILE.fullmatch(member.name)
                if not place or not member.isreg() or place[2].startswith("."):
                    raise GridError(f"rows.tar has {member.name!r}, which is no file of a row")
                found.setdefault(int(place[1]), {})[place[2]] = members.extractfile(member).read()
    except tarfile.TarError as error:
        raise GridError(f"rows.tar is no archive of rows: {error}") from None
    return found


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
