"""A function of a bundle: finds it, calls it, and writes what it returns or raises."""
import functools
import importlib
import importlib.util
import json
import pathlib
import re
import struct
import sys
import time
import types

from . import calls, contract
from .values import decode

BUNDLE = pathlib.Path(__file__).resolve().parents[1]
CODE = BUNDLE / "code"
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")  # of objects, in messages: another one each time
PROGRESS_SECONDS = 1


def lacking():
    """What this computer lacks to call the function; empty: nothing. Makes the bundle's modules importable."""
    about = json.loads((BUNDLE / "call.json").read_text())
    sys.path[0:1] = [str(CODE), *(str(path) for path in sorted(BUNDLE.glob("wheels/*")))]
    if list(sys.version_info[:2]) < about["python"]:
        return "this computer's Python is {}.{}, and the function needs {}.{}".format(*sys.version_info[:2], *about["python"])
    missing = [name for name in about["needs"] if importlib.util.find_spec(name) is None]
    return f"this computer's Python lacks {', '.join(missing)}" if missing else ""


def load(parameters, inputs):
    """From an item's number to its bytes, as contract.serve_kernel wants it."""
    about = json.loads((BUNDLE / "call.json").read_text())
    function = find(about, decode((inputs / "shared").read_bytes()) if (inputs / "shared").exists() else {})
    batch, files = parameters["batch"], CallFiles(inputs)

    def compute(item):
        arguments, done, spoken = list(calls.unframed(files.item(item))), [], time.monotonic()
        for each in arguments:
            done.append(outcome_of(function, *calls.decode_call(each)))
            if batch > 1 and time.monotonic() - spoken > PROGRESS_SECONDS:
                spoken = time.monotonic()
                contract.answer(f"progress {item} {len(done) / len(arguments):.4f}")
        return b"".join(done)

    return compute


def stand_in():
    """What `import gleaner` gives on a host: there is no grid, and a module that begins calls when it is imported must not."""
    def absent(name):
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(*_, **__):
            raise ValueError(f"gleaner.{name} was called on a host, where there is no grid: call it on your own computer alone, below "
                             "`if __name__ == \"__main__\":`")

        return type(name, (Exception,), {"__new__": refuse})  # so that `except` and annotations can name it

    module = types.ModuleType("gleaner")
    module.__getattr__ = absent
    return module


def find(about, shared):
    """The function that call.json names. `shared` is the data that it refers to."""
    sys.modules["gleaner"] = stand_in()
    if about["module"]:
        found = importlib.import_module(about["module"])
    else:
        found = types.ModuleType("function")
        found.__file__ = str(CODE / "function.py")
        found.__dict__.update(shared.get("names", {}))
        exec(compile((CODE / "function.py").read_bytes(), found.__file__, "exec"), found.__dict__)  # signed, as this file is
        sys.modules.setdefault("function", found)
    for name in about["name"].split("."):
        found = getattr(found, name)
    if "partial" in shared:
        first, named = shared["partial"]
        return functools.partial(found, *first, **named)
    return found


def outcome_of(function, args, kwargs):
    try:
        return calls.outcome(calls.RETURNED, function(*args, **kwargs))
    except (ImportError, MemoryError):
        raise  # this computer lacks something: another one may not
    except (Exception, SystemExit) as error:
        message = ADDRESS.sub("0x...", str(error))
        return calls.raised(type(error).__name__, message, trace(error) + f"{type(error).__name__}: {message}")


def trace(error):
    """The frames of the bundle's code, alike on all computers: others differ from one Python to the next."""
    lines, at = [], error.__traceback__
    while at is not None:
        path = pathlib.Path(at.tb_frame.f_code.co_filename)
        if CODE in path.parents:
            lines.append(f'  File "{path.relative_to(CODE)}", line {at.tb_lineno}, in {at.tb_frame.f_code.co_name}\n')
            text = path.read_text(errors="replace").splitlines()[at.tb_lineno - 1:at.tb_lineno]
            lines += [f"    {line.strip()}\n" for line in text]
        at = at.tb_next
    return "".join(["Traceback (most recent call last):\n", *lines]) if lines else ""


class CallFiles:
    """The inputs "calls-BEGIN-END": the arguments of items. Of the file in use all items' places are kept."""

    def __init__(self, directory):
        self.directory, self.begin, self.data, self.places = directory, 0, b"", []

    def item(self, number):
        if not self.begin <= number < self.begin + len(self.places):
            self.read(number)
        begin, end = self.places[number - self.begin]
        return self.data[begin:end]

    def read(self, number):
        ranges = ((*map(int, path.name.split("-")[1:]), path) for path in self.directory.glob("calls-*"))
        self.begin, path = next((begin, path) for begin, end, path in ranges if begin <= number < end)
        self.data, self.places, at = path.read_bytes(), [], 0
        while at < len(self.data):
            end = at + 4 + struct.unpack_from("<I", self.data, at)[0]
            self.places.append((at + 4, end))
            at = end
