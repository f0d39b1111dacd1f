"""Annotations of the public interface: py.typed promises them, and a type checker of a caller reads them."""
import inspect
import typing
import unittest

import gleaner
from gleaner._grid import LocalGrid, RemoteGrid

CLASSES = [each for each in map(vars(gleaner).get, gleaner.__all__) if inspect.isclass(each)] + [LocalGrid, RemoteGrid]
FUNCTIONS = [each for each in map(vars(gleaner).get, gleaner.__all__) if inspect.isfunction(each)]


def own_methods(kind):
    """Public ones and the constructor, of the class and of those bases that are the package's."""
    for base in kind.__mro__:
        if base.__module__.split(".")[0] != "gleaner":
            continue
        for name, member in vars(base).items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
                yield f"{base.__name__}.{name}", function, not isinstance(member, staticmethod)


def lacking(function, method):
    """What of a function's signature has no annotation."""
    hints = typing.get_type_hints(function)  # every name in them must exist
    parameters = list(inspect.signature(function).parameters)[1 if method else 0:]
    return [each for each in [*parameters, "return"] if each not in hints]


class Types(unittest.TestCase):
    def test_everything_public_is_annotated(self):
        found = [(function.__name__, function, False) for function in FUNCTIONS]
        found += [each for kind in CLASSES for each in own_methods(kind)]
        self.assertGreater(len(found), 40)
        self.assertEqual({name: lacks for name, function, method in found if (lacks := lacking(function, method))}, {})

    def test_a_missing_annotation_is_found(self):
        def half(one: int, two, *rest, **named: int):
            return one, two, rest, named
        self.assertEqual(lacking(half, False), ["two", "rest", "return"])
        self.assertEqual(lacking(half, True), ["two", "rest", "return"])

    def test_no_public_name_is_left_out(self):
        self.assertEqual(len(CLASSES) + len(FUNCTIONS) - 2, len(gleaner.__all__))


if __name__ == "__main__":
    unittest.main()
