"""Grids: where calls are computed. Both kinds have the same functions and give the same results, byte for byte."""
from __future__ import annotations

import os
import re
import secrets
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, NoReturn, Optional, Sequence, Tuple, Union

from . import _local, _problem, _profile, _signing, _table, _wire
from ._api import Api, NotFound
from ._bundle import PREFIX as BUNDLE_PREFIX
from ._bundle import Bundle
from ._errors import GridError, NotDeterministic
from ._job import Job, Options
from ._remote import RemoteItems
from ._run import Run

Path = Union[str, os.PathLike[str]]
PILOT_SECONDS = 0.25  # for which the first calls are tried here, to size batches


class Grid:
    """What both kinds have in common."""

    measured: Dict[str, Optional[float]]

    def begin(self, job: Job, options: Options) -> Any:
        """Where the job's items come from; what Run takes."""
        raise NotImplementedError

    def map(self, function: Callable[..., Any], *iterables: Iterable[Any], **options: Any) -> Run:
        """The results of function(x) for each x, in order, as they come; with several iterables, of function(x, y, ...).

        >>> import gleaner, math
        >>> list(gleaner.local().map(math.factorial, range(5)))
        [1, 1, 2, 6, 24]

        Options: see gleaner.Options. The calls begin at once. A call that raises ends the iteration with a CallError.
        """
        return self.start(function, [(args, {}) for args in zip(*iterables)], **options)

    imap = map

    def starmap(self, function: Callable[..., Any], iterable: Iterable[Iterable[Any]], **options: Any) -> Run:
        """The same for tuples of arguments.

        >>> import gleaner
        >>> list(gleaner.local().starmap(pow, [(2, 3), (5, 2)]))
        [8, 25]
        """
        return self.start(function, [(tuple(args), {}) for args in iterable], spread=True, **options)

    def imap_unordered(self, function: Callable[..., Any], *iterables: Iterable[Any], **options: Any) -> Iterator[Any]:
        """The results as they come, in any order.

        >>> import gleaner
        >>> sorted(gleaner.local().imap_unordered(abs, [-3, 2, -1]))
        [1, 2, 3]
        """
        return (value for _, value in self.map(function, *iterables, **options).unordered())

    def start(self, function: Callable[..., Any], calls: Sequence[Tuple[Sequence[Any], Mapping[str, Any]]], spread: bool = False,
              **options: Any) -> Run:
        """Begins calls, each a pair of arguments and a dict of keyword arguments; a Run."""
        chosen = Options(**options)
        if not calls:
            return Run(Nothing(), None, chosen.return_exceptions, spread, False)
        job = Job(function, calls, chosen)
        if job.batch is None:
            job.size_batches(self.seconds_of_call(job))
        return Run(self.begin(job, chosen), job, chosen.return_exceptions, spread, chosen.progress)

    def seconds_of_call(self, job: Job) -> Optional[float]:
        """Measured here, once for each function."""
        if job.bundle.version not in self.measured:
            self.measured[job.bundle.version] = _local.seconds_of_call(job, PILOT_SECONDS)
        return self.measured[job.bundle.version]


class Nothing:
    """No calls."""

    identity, calls, batch = None, 0, 1

    def items(self):
        return iter(())

    def cancel(self, patience=None):
        pass

    def progress(self):
        return {"items": 0, "accepted": 0, "hosts": 0, "eta_seconds": 0, "errors": []}


class LocalGrid(Grid):
    """Computes calls in processes of this computer, with the programs that donated computers run."""

    def __init__(self, processes: Optional[int] = None) -> None:
        self.processes, self.measured = processes or os.cpu_count() or 1, {}

    def begin(self, job: Job, options: Options) -> _local.LocalItems:
        return _local.LocalItems(job, self.processes, options.check)

    def problem(self, *_: Any, **__: Any) -> NoReturn:
        """Raises GridError: see RemoteGrid.problem."""
        raise GridError("gleaner.local() computes Python functions only: compute an application here with `gleaner-admin run-local BUNDLE`, "
                        "or on a grid with gleaner.connect(...).problem(...)")

    def table(self, *_: Any, **__: Any) -> NoReturn:
        """Raises GridError: see RemoteGrid.table."""
        raise GridError("gleaner.local() computes Python functions only: compute a table here with `gleaner-admin run-local BUNDLE --table "
                        "FILE.csv`, or on a grid with gleaner.connect(...).table(...)")

    def attach(self, *_: Any, **__: Any) -> NoReturn:
        """Raises GridError: see RemoteGrid.attach."""
        raise GridError("gleaner.local() keeps no problems: its calls end with this process. Connect to the grid that has the problem: "
                        "gleaner.connect(...).attach(...)")


class RemoteGrid(Grid):
    """A project's grid."""

    def __init__(self, profile: _profile.Profile) -> None:
        self.profile, self.api, self.measured = profile, Api(profile), {}
        self.signer, self.provided = None, set()

    def begin(self, job: Job, options: Options) -> RemoteItems:
        self.provide(job.bundle)
        problem = {"application": job.bundle.full_name, "name": unique_name(options.name or job.title), "parameters": job.parameters,
                   "inputs": [self.input(*each) for each in job.inputs()]}
        if options.check:
            problem["validation"] = "quorum:2"
        for key in ("weight", "priority", "strategy"):
            if getattr(options, key) not in (None, ""):
                problem[key] = getattr(options, key)
        identity = self.api.add_problem(problem)["id"]
        return RemoteItems(self.api, identity, job, self.disagreement if options.check else None, options.keep,
                           options.early)

    def provide(self, bundle: Bundle) -> None:
        """Signs and adds a bundle, unless the project has it."""
        if bundle.full_name in self.provided:
            return
        archive = bundle.archive()
        try:
            self.api.application(bundle.full_name)
            known = True
        except NotFound:
            known = False
        if not known:  # out here, so that what goes wrong below is told without that answer
            self.signer = self.signer or _signing.Signer(self.signer_key())
            digest = self.api.upload(archive)
            self.api.add_application(self.signer.application(bundle.name, bundle.version, digest, len(archive)))
        self.provided.add(bundle.full_name)

    def signer_key(self) -> Path:
        if not self.profile.signer:
            raise GridError("which key signs the function? Name it with connect(..., signer=\"signer.key\") or $GLEANER_SIGNER; "
                            "`gleaner-server init` put it in the directory of the offline keys")
        return self.profile.signer

    def input(self, name: str, data: bytes, items: Optional[Tuple[int, int]]) -> Dict[str, Any]:
        described = {"name": name, "digest": self.api.upload(data), "bytes": len(data)}
        return described if items is None else {**described, "range": {"begin": items[0], "end": items[1]}}

    @staticmethod
    def disagreement(info: _wire.ProblemInfo) -> NotDeterministic:
        return NotDeterministic(f"problem {info['id']}: two hosts computed different results of the same calls: the function depends on "
                                "something else than its arguments (time, a random number without seed, the order of a set)")

    def problem(self, application: str, parameters: Optional[Mapping[str, Any]] = None, inputs: Optional[Mapping[str, Any]] = None,
                name: Optional[str] = None, **options: Any) -> _problem.Problem:
        """Adds a problem of any application of the project; a Problem. `inputs` are names and bytes, texts, pathlib paths or results
        of other problems: `{"table.csv": sweep.result("table.csv")}` waits until `sweep` is finished.

        `options` are those of the admin API's AddProblem: strategy, straggler, weight, priority, commit_seconds, validation.
        """
        application = application_name(application)
        return _problem.add(self.api, application, unique_name(name or application), parameters, inputs, options)

    def table(self, application: str, table: Any, inputs: Union[Path, Mapping[str, Any], None] = None, name: Optional[str] = None,
              **options: Any) -> _table.Table:
        """Runs a wrapped program of the project over the rows of a table; a Table.

        `table` is a CSV file, a pandas frame, or dicts. `inputs`: the files that rows name, as a directory or as for problem().
        """
        application = application_name(application)
        return _problem.add(self.api, application, unique_name(name or application), {}, _table.inputs_of(table, inputs), options,
                            _table.Table)

    def attach(self, identity: Union[int, str]) -> Union[Run, _problem.Problem]:
        """What an earlier `map` or `problem` began, also on another day and in another process: a Run or a Problem."""
        if self.api.problem(identity)["application"].startswith(BUNDLE_PREFIX):
            return Run(RemoteItems(self.api, int(identity)))
        return _problem.Problem(self.api, identity)


def application_name(application: Path) -> str:
    """The text, NAME or NAME@VERSION. Raises NotFound for a path, before anything is uploaded.

    >>> application_name("docking@1.0.0")
    'docking@1.0.0'
    """
    text = os.fspath(application)
    if isinstance(text, str) and not re.search(r"[./\\]", text.split("@")[0]):
        return text
    name = re.sub(r"[^a-z0-9-]+", "-", re.split(r"[/\\]", str(text).rstrip("/\\"))[-1].split(".")[0].lower()).strip("-") or "NAME"
    raise NotFound(f"{str(text)!r} is a path: give the name of an application that the project has (`gleaner-admin app list`). To add a "
                   f"program: `gleaner-admin app wrap PROGRAM --name {name} -- ARGUMENTS`, `gleaner-admin app sign {name} --key signer.key`, "
                   f"`gleaner-admin app add {name}-1.0.0.tar.gz`")


def unique_name(words):
    """Of a problem: at most 64 bytes, and never another's."""
    words = re.sub(r"[^A-Za-z0-9._ -]+", "", words).strip()[:50] or "python"
    return f"{words} {secrets.token_hex(5)}"


def connect(project: Optional[Path] = None, token: Optional[str] = None, root: Optional[str] = None,
            signer: Optional[Path] = None) -> RemoteGrid:
    """The grid of a project.

    >>> import gleaner, math
    >>> grid = gleaner.connect("/srv/project/admin")  # doctest: +SKIP
    >>> list(grid.map(math.isqrt, [9, 16, 26]))  # doctest: +SKIP
    [3, 4, 5]

    `project` is a directory with an admin profile, as for gleaner-admin, or an address or join code, which needs a `token` and,
    unless the server has a certificate that this system trusts, `root`: the fingerprint of the project's root key. What is not given
    comes from the environment: GLEANER_PROJECT, or GLEANER_SERVER, GLEANER_TOKEN and GLEANER_ROOT. `signer` (or GLEANER_SIGNER) is
    the signer's key; without it, the key is where `gleaner-server init` puts it.
    """
    grid = RemoteGrid(_profile.find_profile(project, token, root, signer))
    grid.api.status()
    return grid


def local(processes: Optional[int] = None) -> LocalGrid:
    """A grid of processes on this computer, without a server: for trying a function, and for tests.

    >>> import gleaner
    >>> list(gleaner.local(processes=2).map(pow, [2, 3], [5, 2]))
    [32, 9]

    By default it has as many processes as this computer has processors.
    """
    return LocalGrid(processes)
