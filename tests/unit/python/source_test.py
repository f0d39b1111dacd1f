"""Functions as source: what travels, what does not, and that it computes the same elsewhere."""
import functools
import importlib
import math
import pathlib
import sys
import tempfile
import textwrap
import unittest

import gleaner
from gleaner import _source

FACTOR = 10
UNSENDABLE = object()
PI = math.pi


class Pair:
    """Referred to by a function."""

    def __init__(self, left, right=FACTOR):
        self.left, self.right = left, right

    def sum(self):
        return scaled(self.left) + self.right


def scaled(x):
    return x * FACTOR


def uses_class(x):
    return Pair(x).sum()


def recursive(x):
    return 1 if x < 2 else x * recursive(x - 1)


def with_default(x, y=FACTOR):
    return x + y


@functools.lru_cache(maxsize=None)
def decorated(x):
    return scaled(x)


def uses_unsendable(x):
    return UNSENDABLE


def counts():
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    return add


def computed(function, *arguments):
    """By a process that knows the function from its bundle alone."""
    return gleaner.local(1).starmap(function, [arguments], batch=1).results()[0]


class Scripts(unittest.TestCase):
    """Functions of a script, as this one is."""

    def test_a_function_brings_what_it_refers_to(self):
        for function, expected in [(uses_class, 40), (recursive, 6), (with_default, 13), (decorated, 30), (lambda x: scaled(x) + PI, 30 + math.pi)]:
            self.assertEqual(computed(function, 3), expected)

    def test_closures_and_defaults_are_those_of_now(self):
        functions = [lambda x, step=step: x + step for step in (1, 2)]
        self.assertEqual([computed(function, 10) for function in functions], [11, 12])
        local = {"weights": [1.5]}
        self.assertEqual(computed(lambda x: local["weights"][0] * x, 2), 3.0)

    def test_a_text_over_several_lines_keeps_its_indentation(self):
        def f(x):
            return f"""{x}
            deep
                deeper"""
        self.assertEqual(computed(f, 1), f(1))

    def test_other_data_is_the_same_bundle(self):
        def made(data):
            return lambda x: x + data
        bundles = [gleaner._bundle.Bundle(_source.capture(made(data)), gleaner.Options().limits) for data in (1, 2)]
        self.assertEqual(bundles[0].version, bundles[1].version)

    def test_partial_and_builtin_functions(self):
        self.assertEqual(computed(functools.partial(pow, 2), 5), 32)
        self.assertEqual(computed(functools.partial(with_default, y=1), 5), 6)
        self.assertEqual(computed(math.sqrt, 9), 3.0)

    def test_what_cannot_travel_is_named(self):
        pair = Pair(1)
        one, two = (lambda x: x + 1), (lambda x: x + 2)  # on one line
        same = eval("lambda x: x")
        for function, words in [(uses_unsendable, "uses_unsendable refers to UNSENDABLE.*object"), (pair.sum, "bound to an object"),
                                (same, "no source"), (counts(), "total"), (lambda x: pair, "refers to pair.*of type Pair cannot be sent"),
                                (5, "no function")]:
            with self.assertRaisesRegex(gleaner.SourceError, words):
                _source.capture(function)
        self.assertEqual([computed(one, 1), computed(two, 1)], [2, 3])


class Modules(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        sys.path.insert(0, self.directory.name)
        self.addCleanup(sys.path.remove, self.directory.name)
        self.before = set(sys.modules)
        self.addCleanup(lambda: [sys.modules.pop(name) for name in set(sys.modules) - self.before])

    def write(self, path, text):
        target = pathlib.Path(self.directory.name) / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(textwrap.dedent(text))
        importlib.invalidate_caches()

    def test_a_module_brings_its_imports_from_the_same_directory(self):
        self.write("study_helper.py", "import json\nimport study_deep\n\ndef help(x):\n    return study_deep.deep(x)\n")
        self.write("study_deep.py", "def deep(x):\n    return x * 3\n")
        self.write("study_unused.py", "raise RuntimeError\n")
        self.write("study.py", """\
            import study_helper
            try:
                import absent_accelerator
            except ImportError:
                absent_accelerator = None
            TABLE = [x * x for x in range(4)]

            def f(x):
                return TABLE[x] + study_helper.help(x)
            """)
        captured = _source.capture(importlib.import_module("study").f)
        self.assertEqual(sorted(captured.files), ["study.py", "study_deep.py", "study_helper.py"])
        self.assertEqual((captured.module, captured.name, captured.needs), ("study", "f", set()))
        self.assertEqual(computed(importlib.import_module("study").f, 2), 10)

    def test_packages_and_relative_imports(self):
        self.write("studies/__init__.py", "UNIT = 7\n")
        self.write("studies/model.py", "from . import UNIT, parts\nfrom .parts import half as halved\n\ndef f(x):\n    return halved(x) + UNIT\n")
        self.write("studies/parts.py", "def half(x):\n    return x / 2\n")
        function = importlib.import_module("studies.model").f
        self.assertEqual(sorted(_source.capture(function).files), ["studies/__init__.py", "studies/model.py", "studies/parts.py"])
        self.assertEqual(computed(function, 4), 9.0)

    def test_a_script_brings_modules_that_its_function_uses(self):
        self.write("study_tools.py", "class Tool:\n    @staticmethod\n    def use(x):\n        return -x\n\ndef twice(x):\n    return 2 * x\n")
        tools = importlib.import_module("study_tools")
        twice = tools.twice
        self.assertEqual(computed(lambda x: twice(x) + tools.Tool.use(x), 5), 5)

    def test_installed_modules_are_needed_not_shipped(self):
        self.write("study_numpy.py", "import numpy.linalg\n\ndef f(x):\n    import pandas\n    return x\n\n"
                   "def another(x):\n    import absent_accelerator\n    return x\n")
        captured = _source.capture(importlib.import_module("study_numpy").f)
        self.assertEqual((sorted(captured.files), captured.needs), (["study_numpy.py"], {"numpy", "pandas"}))

    def test_calls_of_a_module_that_is_imported_are_refused(self):
        self.write("study_eager.py", "import gleaner\n\ndef f(x):\n    return x\n\nprint(list(gleaner.local(1).map(f, [1])))\n")
        with self.assertRaisesRegex(gleaner.SourceError, "study_eager.py calls the grid while it is imported.*below `if __name__"):
            importlib.import_module("study_eager")

    def test_a_module_that_imports_gleaner_travels(self):
        self.write("study_grid.py", """\
            import sys
            import gleaner

            def f(x):
                try:
                    return x + 1
                except gleaner.CallError:
                    return 0

            def nested(x):
                return gleaner.local().map(f, [x])

            if sys.argv[0].endswith("kernel.py") and "late" in globals():
                nested(1)
            """)
        study = importlib.import_module("study_grid")
        self.assertEqual(_source.capture(study.f).needs, set())
        self.assertEqual(sorted(_source.capture(study.f).files), ["study_grid.py"])
        self.assertEqual(computed(study.f, 1), 2)
        with self.assertRaisesRegex(gleaner.CallError, "gleaner.local was called on a host, where there is no grid"):
            computed(study.nested, 1)
        self.write("study_grid.py", (pathlib.Path(self.directory.name) / "study_grid.py").read_text().replace(' and "late" in globals()', ""))
        with self.assertRaisesRegex(gleaner.GridError, "gleaner.local was called on a host"):
            computed(study.f, 1)

    def test_the_syntax_says_which_python_is_needed(self):
        self.write("study_match.py", "def f(x):\n    match x:\n        case 1: return 2\n")
        if sys.version_info >= (3, 10):
            self.assertEqual(_source.capture(importlib.import_module("study_match").f).python, (3, 10))
        self.write("study_old.py", "def f(x):\n    return x\n")
        self.assertEqual(_source.capture(importlib.import_module("study_old").f).python, (3, 9))


if __name__ == "__main__":
    unittest.main()
