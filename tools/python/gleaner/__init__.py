"""Gleaner from Python: a function's calls on a grid of other people's computers.

>>> import gleaner, math
>>> grid = gleaner.local()                    # or gleaner.connect("/srv/project/admin")
>>> list(grid.map(math.isqrt, [9, 16, 26]))
[3, 4, 5]
"""
from ._errors import CallError, ConnectionLost, GridError, GridWarning, NotDeterministic, ProblemFailed, SigningError, Untrusted
from ._executor import Executor
from ._grid import Grid, connect, local
from ._job import Options
from ._problem import Problem
from ._run import Run
from ._source import SourceError
from ._table import Table

__all__ = ["CallError", "ConnectionLost", "Executor", "Grid", "GridError", "GridWarning", "NotDeterministic", "Options", "Problem",
           "ProblemFailed", "Run", "SigningError", "SourceError", "Table", "Untrusted", "connect", "local"]
__version__ = "0.1.0"
