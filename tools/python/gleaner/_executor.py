"""A grid as one of concurrent.futures' executors."""
from __future__ import annotations

import concurrent.futures
import threading
import time
from typing import Any, Callable

from ._grid import Grid

GATHER_SECONDS = 0.05  # calls that are submitted one soon after the other are one problem
GATHER_MOST_SECONDS = 1.0
CALLS_MAX = 100_000  # of one problem


class Executor(concurrent.futures.Executor):
    """Futures for calls on a grid. Calls of one function that are submitted together become one problem.

    >>> import gleaner, math
    >>> with gleaner.Executor(gleaner.local(1)) as pool:
    ...     pool.submit(math.gcd, 12, 18).result()
    6

    `options` are those of grid.map. A problem is deleted once its results are here. A call that raises gives a CallError.
    """

    def __init__(self, grid: Grid, **options: Any) -> None:
        self._grid, self._options = grid, {"keep": False, "progress": False, **options, "return_exceptions": True}
        self._changed, self._waiting, self._closed = threading.Condition(), [], False
        self._runs, self._threads = set(), []
        self._gatherer = threading.Thread(target=self._gather, daemon=True)
        self._gatherer.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        with self._changed:
            if self._closed:
                raise RuntimeError("cannot submit a call after shutdown")
            self._waiting.append((fn, args, kwargs, future))
            self._changed.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._changed:
            self._closed = True
            if cancel_futures:
                for *_, future in self._waiting:
                    future.cancel()
            self._changed.notify()
        if not wait:
            return
        try:
            self._gatherer.join()
            for thread in self._threads:
                thread.join()
        except KeyboardInterrupt:  # the `with` ends: nobody waits for the results
            self._cancel()
            raise

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        if kind is not None and not issubclass(kind, Exception):  # Ctrl-C
            self._cancel()
        return super().__exit__(kind, value, trace)

    def _cancel(self):
        for run in list(self._runs):
            run.interrupted()

    def _gather(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                self._settle()
                taken, self._waiting = self._waiting[:CALLS_MAX], self._waiting[CALLS_MAX:]
            groups = {}
            for fn, args, kwargs, future in taken:
                if future.set_running_or_notify_cancel():
                    groups.setdefault(id(fn), (fn, []))[1].append((args, kwargs, future))
            for fn, calls in groups.values():
                self._threads.append(threading.Thread(target=self._compute, args=(fn, calls), daemon=True))
                self._threads[-1].start()
            self._threads = [thread for thread in self._threads if thread.is_alive()]

    def _settle(self):
        """Waits, with the lock, for calls that follow at once."""
        end = time.monotonic() + GATHER_MOST_SECONDS
        while not self._closed and len(self._waiting) < CALLS_MAX and time.monotonic() < end:
            before = len(self._waiting)
            self._changed.wait(GATHER_SECONDS)
            if len(self._waiting) == before:
                return

    def _compute(self, fn, calls):
        run = None
        try:
            run = self._grid.start(fn, [(args, kwargs) for args, kwargs, _ in calls], spread=True, **self._options)
            self._runs.add(run)
            for index, value in run.unordered():
                failed = isinstance(value, Exception)
                (calls[index][2].set_exception if failed else calls[index][2].set_result)(value)
        except BaseException as error:  # the caller sees it in the futures
            for *_, future in calls:
                if not future.done():
                    future.set_exception(error)
        finally:
            self._runs.discard(run)
