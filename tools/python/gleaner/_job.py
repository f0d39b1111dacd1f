"""One use of a function: its bundle, its calls' arguments as input files, and the size of batches."""
from __future__ import annotations

import itertools
import json
import os
from typing import Iterable, Optional, Union

from . import _bundle, _source
from ._errors import NotDeterministic
from ._runtime import calls, values

FILE_BYTES = 4 << 20  # of arguments; units get only the files that they need
FILES_MAX = 1000  # as shared/base/limits.h has it, and some room
TARGET_SECONDS = 2  # of one item
ITEMS_MIN = 64  # where there are as many calls: so many hosts can share them


class Options:
    """What `map` and its kin take beside the function and its arguments.

    batch             calls of one item; by default so many that an item takes some 2 seconds
    check             compute items twice, on different hosts, and raise NotDeterministic if results differ
    return_exceptions give a CallError in place of a result, and continue
    progress          show a bar; by default in notebooks
    name              of the problem, for people
    memory_megabytes  of one kernel process, and disk_megabytes of its working directory
    seconds           that no single item takes longer than, on the slowest sensible host
    result_megabytes  of the largest item's results
    threads           that one call uses; 0: all that a host allows
    wheels            files of wheels to ship with the function
    needs             what hosts must have, such as ["python>=3.11", "numpy"]; by default what the function's syntax, its wheels and its
                      imports need
    weight, priority  of the problem among others
    strategy          that sizes its units
    early             give results while others are computed; without it, once all are validated
    keep              the problem on the server once its results were read, for attach()
    """

    def __init__(self, batch: Optional[int] = None, check: bool = False, return_exceptions: bool = False, progress: Optional[bool] = None,
                 name: Optional[str] = None, memory_megabytes: int = 512, disk_megabytes: int = 64, seconds: int = 3600,
                 result_megabytes: int = 16, threads: int = 1, wheels: Iterable[Union[str, os.PathLike[str]]] = (),
                 needs: Iterable[str] = (), weight: Optional[float] = None, priority: Optional[int] = None, strategy: str = "",
                 keep: bool = True, early: bool = True) -> None:
        if batch is not None and (type(batch) is not int or batch < 1):
            raise ValueError("batch: expected a whole number above 0")
        self.batch, self.check, self.return_exceptions, self.progress, self.name = batch, check, return_exceptions, progress, name
        self.limits = {"memory_megabytes": int(memory_megabytes), "disk_megabytes": int(disk_megabytes),
                       "item_seconds": int(seconds), "item_bytes": int(result_megabytes) << 20, "threads": int(threads)}
        self.keep, self.early, self.needs = keep, early, tuple(needs)
        self.wheels, self.weight, self.priority, self.strategy = tuple(map(str, wheels)), weight, priority, strategy


class Job:
    """Immutable once its batch is set."""

    def __init__(self, function, arguments, options):
        """`arguments`: (args, kwargs) of each call."""
        captured = _source.capture(function)
        self.title = captured.title
        self.bundle = _bundle.Bundle(captured, options.limits, options.wheels, options.needs)
        self.shared = values.encode(captured.shared) if captured.shared else b""
        self.arguments = arguments
        self.encoded = [self._encoded(index, *each) for index, each in enumerate(arguments)]
        self.batch = options.batch

    @staticmethod
    def _encoded(index, args, kwargs):
        try:
            return calls.encode_call(args, kwargs)
        except TypeError as error:
            raise TypeError(f"the arguments of call {index} cannot travel: {error}") from None

    @property
    def calls(self):
        return len(self.arguments)

    @property
    def items(self):
        return calls.batches(self.calls, self.batch)

    def size_batches(self, seconds):
        """By what one call takes; None: longer than was waited for."""
        wanted = 1 if seconds is None else max(1, round(TARGET_SECONDS / max(seconds, 1e-7)))
        self.batch = min(wanted, max(1, self.calls // ITEMS_MIN))

    @property
    def parameters(self):
        return json.dumps({"calls": self.calls, "batch": self.batch}, sort_keys=True)

    def inputs(self):
        """(name, bytes, (begin, end) of the items that need it, or None)."""
        if self.shared:
            yield "shared", self.shared, None
        limit = max(FILE_BYTES, sum(map(len, self.encoded)) // FILES_MAX + 1)
        begin, parts, size = 0, [], 0
        batches = (self.encoded[at:at + self.batch] for at in range(0, self.calls, self.batch))
        for number, batch in enumerate(map(calls.framed, itertools.chain(batches, [[]]))):
            if parts and (number == self.items or size + len(batch) > limit):
                yield f"calls-{begin}-{number}", calls.framed(parts), (begin, number)
                begin, parts, size = number, [], 0
            parts.append(batch)
            size += len(batch)

    def first(self, count):
        """The same with the first calls alone, one an item."""
        few = object.__new__(Job)
        few.__dict__.update(self.__dict__, arguments=self.arguments[:count], encoded=self.encoded[:count], batch=1)
        return few

    def differs(self, number, first, second):
        """What to raise where an item came out twice, and differently."""
        number *= self.batch
        pairs = [calls.outcomes(data, min(self.batch, self.calls - number)) for data in (first, second)]
        for index, (one, other) in enumerate(zip(*pairs), number):
            if calls.outcome(*one) != calls.outcome(*other):
                return NotDeterministic(f"call {index} gave {one[1]!r:.200} and then {other[1]!r:.200}: the function depends on something else "
                                        "than its arguments (time, a random number without seed, the order of a set)",
                                        index, (one[1], other[1]))
        return NotDeterministic("two results have different bytes")

    def argument(self, index, spread):
        """Of a call, for people: what map was given, or the tuple that starmap was given."""
        args, kwargs = self.arguments[index]
        if kwargs:
            return args, kwargs
        return tuple(args) if spread or len(args) != 1 else args[0]
