"""What goes wrong, as exceptions."""
from __future__ import annotations

from typing import Any, Optional, Sequence


class GridError(Exception):
    """The grid cannot do what was asked; the message says why and what to do."""


class GridWarning(UserWarning):
    """Hosts fail with a function, or none has what it needs; others go on with it, if there are any."""


class ConnectionLost(GridError):
    """The server cannot be reached. Work on the grid continues: `grid.attach(id)` finds it."""


class Untrusted(GridError):
    """The server does not show the project's key, or a result is not what it must be."""


class SigningError(GridError):
    """The signer's key cannot be used."""


class ProblemFailed(GridError):
    """A problem was cancelled, failed or stopped."""

    def __init__(self, message: str, problem: Optional[int] = None) -> None:
        super().__init__(message)
        self.problem = problem


class NotDeterministic(GridError):
    """A function gave two different results for one call. `index` is the call's number, `results` what it gave."""

    def __init__(self, message: str, index: Optional[int] = None, results: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.index, self.results = index, results


class CallError(Exception):
    """A call raised an exception on the grid.

    `type`, `message` and `traceback` are texts, `index` is the call's number and `argument` what it was called with: a value for
    map, a tuple for starmap. It is never the exception's own class: results come from strangers, and building their
    objects would run code.

    >>> import gleaner, operator
    >>> try:
    ...     list(gleaner.local(1).starmap(operator.floordiv, [(6, 3), (1, 0)]))
    ... except gleaner.CallError as error:
    ...     print(error.type, error.index, error.argument)
    ZeroDivisionError 1 (1, 0)
    """

    def __init__(self, kind: str, message: str, traceback: str, index: Optional[int] = None, argument: Any = None) -> None:
        self.type, self.message, self.traceback, self.index, self.argument = kind, message, traceback, index, argument
        shown = repr(argument)
        super().__init__(f"call {index}, with {shown if len(shown) < 200 else shown[:200] + '...'} raised {kind}: {message}\n\n"
                         f"On the grid:\n{traceback}")

    def __reduce__(self):
        return CallError, (self.type, self.message, self.traceback, self.index, self.argument)
