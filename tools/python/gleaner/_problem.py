"""Problems of any application: added, watched, and their result files fetched."""
from __future__ import annotations

import asyncio
import json
import os
import pathlib
import sys
from typing import Any, Dict, Generator, List, Optional, TypeVar, Union, overload

from . import _wire
from ._api import Api
from ._errors import GridError
from ._progress import Bar
from ._remote import Watch

Kind = TypeVar("Kind", bound="Problem")


class Problem:
    """A problem on a server. `await problem` waits for it, too.

    >>> import gleaner
    >>> grid = gleaner.connect("/srv/project/admin")  # doctest: +SKIP
    >>> problem = grid.problem("squares", {"count": 10})  # doctest: +SKIP
    >>> int(problem.wait().results()["sum.txt"])  # doctest: +SKIP
    285
    """

    def __init__(self, api: Api, identity: Union[int, str]) -> None:
        self._api, self._watch, self.id = api, Watch(api, identity), int(identity)

    def wait(self: Kind, progress: Optional[bool] = None, timeout: Optional[float] = None) -> Kind:
        """Until it is finished; the problem itself. Raises ProblemFailed if it ends otherwise, and TimeoutError.

        Ctrl-C ends the waiting, not the problem: see cancel().
        """
        try:
            with Bar(progress, f"problem {self.id}") as bar:
                for _ in self._watch.looks(bar.show, timeout):
                    pass
        except KeyboardInterrupt as interrupt:
            print(f"gleaner: problem {self.id} continues: cancel() ends it", file=sys.stderr)
            raise interrupt.with_traceback(None) from None
        return self

    def __await__(self: Kind) -> Generator[Any, None, Kind]:
        return asyncio.to_thread(self.wait).__await__()

    @overload
    def results(self, directory: None = None) -> Dict[str, bytes]: ...

    @overload
    def results(self, directory: Union[str, os.PathLike[str]]) -> List[pathlib.Path]: ...

    def results(self, directory: Union[str, os.PathLike[str], None] = None) -> Union[Dict[str, bytes], List[pathlib.Path]]:
        """Its result files: with a directory, written there, as a list of paths; else a dict of names and bytes."""
        files = {each["name"]: each for each in self._finished()["results"]}
        if directory is None:
            return {name: self._bytes(described) for name, described in files.items()}
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        return [self._write(directory, described) for described in files.values()]

    def result(self, name: str) -> ResultFile:
        """One of its result files, as an input of another problem, or to read()."""
        return ResultFile(self, name)

    def _finished(self):
        info = self._watch.look()
        if info["state"] != "finished":
            raise GridError(f"problem {self.id} is {info['state']}: wait() for it")
        return info

    def _bytes(self, described):
        pieces = []
        self._api.download(described["digest"], described["bytes"], pieces.append)
        return b"".join(pieces)

    def _write(self, directory, described):
        name = described["name"]
        if name != pathlib.PurePath(name).name or name.startswith(".") or "\\" in name:
            raise GridError(f"a result is called {name!r}, which is no plain file name: its application must not do that")
        part = directory / f".{described['digest'][:16]}.part"
        with open(part, "wb") as file:
            self._api.download(described["digest"], described["bytes"], file.write)
        return part.replace(directory / name)

    def progress(self) -> _wire.ProblemInfo:
        """What the server knows of it: state, items, accepted, hosts, eta_seconds, errors and much more."""
        return self._watch.look()

    def cancel(self) -> None:
        """Ends it and drops its results."""
        self._api.cancel_problem(self.id)

    def delete(self) -> None:
        """Deletes it and its results, once it is over."""
        self._api.delete_problem(self.id)

    def __repr__(self):
        return f"<gleaner problem {self.id}>"


class ResultFile:
    """A result file of a problem: an input of another one, which is added once the first is finished. The file stays on the server.

    >>> import gleaner
    >>> grid = gleaner.connect("/srv/project/admin")  # doctest: +SKIP
    >>> sweep = grid.table("add", [{"x": 1, "y": 2}])  # doctest: +SKIP
    >>> packed = grid.problem("squeeze", inputs={"table.csv": sweep.result("table.csv")})  # doctest: +SKIP
    """

    def __init__(self, problem: Problem, name: str) -> None:
        self.problem, self.name = problem, name

    def read(self) -> bytes:
        """Its content, once the problem is finished."""
        return self.problem._bytes(self.described())

    def described(self) -> Dict[str, Any]:
        """Name, digest and bytes, once the problem is finished. Raises ProblemFailed if it ends otherwise."""
        files = {each["name"]: each for each in self.problem.wait()._finished()["results"]}
        if self.name not in files:
            raise GridError(f"problem {self.problem.id} has no result {self.name}, only {', '.join(files)}")
        return files[self.name]

    def __repr__(self):
        return f"<gleaner result {self.name} of problem {self.problem.id}>"


def add(api, application, name, parameters, inputs, options, kind=Problem):
    """`inputs`: names and bytes, texts, paths or results of other problems."""
    return kind(api, api.add_problem({"application": application, "name": name, "parameters": json.dumps(parameters or {}),
                                         "inputs": upload_all(api, inputs), **options})["id"])


def upload_all(api, inputs):
    described = []
    for each, content in (inputs or {}).items():
        digest, size = upload(api, content)
        described.append({"name": each, "digest": digest, "bytes": size})
    return described


def upload(api, content):
    if isinstance(content, ResultFile):
        described = content.described()
        if content.problem._api is api:  # the server has it
            return described["digest"], described["bytes"]
        content = content.read()
    if isinstance(content, pathlib.PurePath):
        return api.upload_file(content)
    data = content.encode() if isinstance(content, str) else bytes(content)
    return api.upload(data), len(data)
