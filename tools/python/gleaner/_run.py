"""Calls on their way: results as they come, in order or not."""
from __future__ import annotations

import asyncio
import sys
from typing import Any, AsyncIterator, Generator, Iterator, List, Mapping, Optional, Tuple

from ._errors import CallError, GridError, Untrusted
from ._job import Job
from ._progress import Bar
from ._runtime import calls

INTERRUPTED_PATIENCE = 5  # seconds that a Ctrl-C waits for a lost server


class Run:
    """The calls of one `map`, on a grid or here.

    Iterating gives the results in the order of the calls, also with `async for`; `await run` gives all of them in a list;
    unordered() gives (index, result) as they come. One of these may be used, once.
    An exception that ends the iteration, Ctrl-C included, cancels what is not computed yet; a run that nobody iterates goes on,
    and `grid.attach(run.id)` finds it from another process.
    """

    def __init__(self, source: Any, job: Optional[Job] = None, return_exceptions: bool = False, spread: bool = False,
                 progress: Optional[bool] = False) -> None:
        self._source, self._job, self._spread = source, job, spread
        self._return_exceptions, self._progress, self._iterator = return_exceptions, progress, None

    @property
    def id(self) -> Optional[int]:
        """The problem's number on the server; None: it is computed here."""
        return self._source.identity

    def __iter__(self) -> Iterator[Any]:
        # Not kept, so that a loop's end closes it at once, and with it the run.
        return self._ordered() if self._iterator is None else self._iterator

    def __next__(self) -> Any:
        if self._iterator is None:
            self._iterator = self._ordered()
        return next(self._iterator)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._asynchronous()

    async def _asynchronous(self):
        over, results = object(), iter(self)
        try:
            while (value := await asyncio.to_thread(next, results, over)) is not over:
                yield value
        except asyncio.CancelledError:
            self.cancel()
            raise

    def __await__(self) -> Generator[Any, None, List[Any]]:
        return self._all().__await__()

    async def _all(self):
        return [value async for value in self]

    def unordered(self) -> Iterator[Tuple[int, Any]]:
        """(index, result) of the calls, as they come."""
        for number, data in self.items():
            yield from self._read(number, data)

    def items(self) -> Iterator[Tuple[int, bytes]]:
        """(number, bytes) of the items, as they come: the very bytes that hosts delivered."""
        over = False  # or cancelled
        try:
            with Bar(self._progress, self._job.title if self._job else f"problem {self.id}") as bar:
                for item in self._source.items(bar.show) if self.id is not None else self._source.items():
                    yield item
                    if self.id is None:
                        bar.show(self._source.progress())
            over = True
        except KeyboardInterrupt as interrupt:
            over = True
            self.interrupted()
            raise interrupt.with_traceback(None) from None  # where it waited is of no use to the caller
        finally:
            if not over:
                self._source.cancel()

    def results(self) -> List[Any]:
        """All results in a list, in the order of the calls."""
        return list(self)

    def cancel(self) -> None:
        """Ends the run; what was computed is dropped."""
        self._source.cancel()

    def interrupted(self) -> None:
        """Cancels it for a Ctrl-C, which a lost server may not hold up, and says so."""
        what = "the calls were" if self.id is None else f"problem {self.id} was"
        try:
            self._source.cancel(INTERRUPTED_PATIENCE)
            words = f"{what} cancelled"
        except (GridError, KeyboardInterrupt) as error:
            words = f"{what} not cancelled ({error or 'interrupted again'}): it may continue until grid.attach({self.id}).cancel()"
        print(f"gleaner: {words}", file=sys.stderr)

    def progress(self) -> Mapping[str, Any]:
        """What is known of it: a dict with `items`, `accepted`, `hosts`, `eta_seconds`, `errors` and, of a server, much more."""
        return self._source.progress()

    def _ordered(self):
        early, wanted = {}, 0
        for number, data in self.items():
            early[number] = data
            while wanted in early:
                for _, value in self._read(wanted, early.pop(wanted)):
                    yield value
                wanted += 1
        if early:
            raise Untrusted(f"the results lack item {wanted}")

    def _read(self, number, data):
        first = number * self._source.batch
        try:
            found = calls.outcomes(data, min(self._source.batch, self._source.calls - first))
        except calls.FormatError as error:
            raise Untrusted(f"the result of item {number} cannot be read: {error}") from None
        for index, (status, value) in enumerate(found, first):
            if status == calls.RAISED:
                value = CallError(*value, index, self._job.argument(index, self._spread) if self._job else None)
                if not self._return_exceptions:
                    raise value
            yield index, value
