"""Functions that python_test.py sends to a grid; python_more.py comes with them."""
import functools
import time

import python_more

FACTOR = 3


def square_and_more(x):
    return python_more.add(x * x, FACTOR), ("pair", x)


def divide(x):
    return 1 / (x - 37)


def slow(x):
    time.sleep(0.2)
    return x


def clock(x):
    return time.time()


@functools.lru_cache(maxsize=None)
def cached(x):
    return x + 1


def arrays(x):
    import numpy
    return {"grid": numpy.arange(x * 3.0).reshape(x, 3), "total": numpy.float64(x), 7: b"raw"}


def solved(size):
    """By LAPACK: the file of numpy, and the solution of linear equations, which is 0, 1, ..."""
    import numpy
    matrix = numpy.diag(numpy.full(size, 4.0)) + numpy.diag(numpy.ones(size - 1), 1)
    found = numpy.linalg.solve(matrix, matrix @ numpy.arange(float(size)))
    return numpy.__file__, [round(value, 9) + 0.0 for value in found.tolist()]


def doubled(x):
    import doubler
    return doubler.double(x)


def lacking(x):
    import no_such_module_anywhere
    return no_such_module_anywhere
