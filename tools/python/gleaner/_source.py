"""A function as source: the files that call it on another computer, and the data that it refers to.

A function of an importable module brings that module and its imports from the same directory, whole. A function of a script, a
notebook, or another function brings its own source, and the functions and classes that it refers to; everything else that it
refers to is data (values.py) and travels beside the source, so that the same function with other data is the same bundle.
Nothing is pickled. Errors: SourceError says which name cannot travel, and why.
"""
import ast
import functools
import inspect
import linecache
import pathlib
import symtable
import sys
import sysconfig
import textwrap
import types

from ._runtime import values

OLDEST_PYTHON = (3, 9)


class SourceError(TypeError):
    """A function that cannot travel as source."""


class Captured:
    """What a bundle needs to call a function."""

    def __init__(self):
        self.files = {}  # path below code/ -> bytes
        self.module = ""  # that has it; empty: function.py
        self.name = ""
        self.needs = set()  # modules that are installed, not shipped
        self.python = OLDEST_PYTHON
        self.shared = {}  # "names", "partial": data

    @property
    def title(self):
        return self.name if not self.module else f"{self.module}.{self.name}"


def capture(function):
    """What calls `function` elsewhere."""
    captured = Captured()
    if isinstance(function, functools.partial):
        captured.shared["partial"] = [list(function.args), dict(function.keywords)]
        function = function.func
    if inspect.ismethod(function):
        raise SourceError(f"{function.__qualname__} is bound to an object, which cannot travel: send a function, and the "
                          "object's data as an argument")
    if not callable(function) or not hasattr(function, "__name__"):
        raise SourceError(f"{function!r} is no function")
    home = home_of(sys.modules.get(getattr(function, "__module__", None) or "builtins"))
    if home is None and is_reachable(function):  # of the standard library, or installed
        captured.module, captured.name = function.__module__ or "builtins", function.__qualname__
        _need(captured, captured.module)
    elif home is not None and is_reachable(function) and function.__module__ != "__main__":
        captured.module, captured.name = function.__module__, function.__qualname__
        _ship_module(captured, home, function.__module__)
        if isinstance(inspect.unwrap(function), types.FunctionType):
            package = getattr(sys.modules[function.__module__], "__package__", "")
            _ship_imports(captured, home, ast.Module([node_of(inspect.unwrap(function))[0]], []), package or "")
    else:
        _Extraction(captured).run(function)
    for path, text in captured.files.items():
        captured.python = max(captured.python, oldest_python(text, path))
    return captured


def home_of(module):
    """The directory that a module of the user's is imported from; None: it is installed, or part of Python."""
    name, file = getattr(module, "__name__", ""), getattr(module, "__file__", None)
    if name == "__main__":
        return pathlib.Path(file).resolve().parent if file else pathlib.Path.cwd()
    if not file or not file.endswith(".py"):
        return None
    path = pathlib.Path(file).resolve()
    installed = {pathlib.Path(place).resolve() for key, place in sysconfig.get_paths().items() if key != "data"}
    if any(place in path.parents for place in installed) or {"site-packages", "dist-packages"} & set(path.parts):
        return None
    home = path.parent if path.name != "__init__.py" else path.parent.parent
    for _ in range(name.count(".")):
        home = home.parent
    return home


def is_reachable(function):
    """Is it what its module has under its name?"""
    found = sys.modules.get(getattr(function, "__module__", None) or "builtins")
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def oldest_python(text, path):
    """The oldest version that has the syntax of a file."""
    for minor in range(OLDEST_PYTHON[1], sys.version_info[1]):
        try:
            ast.parse(text, path, feature_version=(3, minor))
            return (3, minor)
        except SyntaxError:
            continue
    try:
        ast.parse(text, path)
    except SyntaxError as error:
        raise SourceError(f"{path}: {error}") from None
    return tuple(sys.version_info[:2])


# ---- modules


def _need(captured, name):
    """A module that is not shipped: installed, or part of Python."""
    top = name.split(".")[0]
    if top not in standard_modules() and top != "gleaner":  # hosts have a stand-in
        captured.needs.add(top)


@functools.lru_cache(maxsize=None)
def standard_modules():
    if hasattr(sys, "stdlib_module_names"):
        return sys.stdlib_module_names
    library = pathlib.Path(sysconfig.get_paths()["stdlib"])  # before Python 3.10
    return {path.stem for path in library.iterdir()} | {path.name.split(".")[0] for path in library.glob("lib-dynload/*")} | \
        set(sys.builtin_module_names)


def _file_of(home, name):
    """The file of a module below `home`; None if there is none."""
    path = home.joinpath(*name.split("."))
    for candidate in (path / "__init__.py", path.with_suffix(".py") if path.name else path):
        if candidate.is_file():
            return candidate
    return None


def _ship_module(captured, home, name):
    """The module, the packages that it is in, and what they import from the same directory."""
    parts = name.split(".")
    if parts[0] == "gleaner":  # hosts have a stand-in
        return
    for name in (".".join(parts[:end]) for end in range(1, len(parts) + 1)):
        file = _file_of(home, name)
        if file is None:
            continue  # a package without __init__.py, or a name of the module before
        path = file.relative_to(home).as_posix()
        if path in captured.files:
            continue
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            raise SourceError(f"{path} calls the grid while it is imported. Every host imports it, too, and would do the same. "
                              "Put the call into a function, or below `if __name__ == \"__main__\":`")
        captured.files[path] = file.read_bytes()
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        _ship_imports(captured, home, ast.parse(captured.files[path], path), package, whole_module=True)


def _ship_imports(captured, home, tree, package, whole_module=False):
    for name, optional in imports_of(tree, package, whole_module):
        if _file_of(home, name.split(".")[0]) or (home / name.split(".")[0]).is_dir():
            _ship_module(captured, home, name)
        elif not optional:
            _need(captured, name)


def imports_of(tree, package="", whole_module=False):
    """(name, optional) of all modules that a file imports; optional: it goes without them. Names of a module's own may follow.

    Of a whole module, what its functions import when they are called is optional: the one that is called may be another.
    """
    inside = (ast.FunctionDef, ast.AsyncFunctionDef) if whole_module else ()
    guarded = {id(inner) for node in ast.walk(tree) if (isinstance(node, ast.Try) and node.handlers) or isinstance(node, inside)
               for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in guarded
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[:len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            yield base, id(node) in guarded
            for alias in node.names:
                if alias.name != "*" and node.level:
                    yield f"{base}.{alias.name}", id(node) in guarded


# ---- functions by themselves


class _Extraction:
    """The source of a function and of what it refers to, as one file."""

    def __init__(self, captured):
        self.captured, self.pieces, self.imports = captured, {}, {}
        self.names, self.known = {}, {}

    def run(self, function):
        name = self.add_function(function, "")
        self.captured.name = name
        text = "".join(line + "\n" for line in sorted(self.imports.values()))
        text += "".join("\n\n" + piece for piece in self.pieces.values())
        self.captured.files["function.py"] = text.lstrip("\n").encode()
        if self.names:
            self.captured.shared["names"] = self.names

    def add_function(self, function, wanted):
        """Its name in the file. `wanted`: the name that it must have there; empty: its own."""
        plain = inspect.unwrap(function)
        name = plain.__name__ if plain.__name__ != "<lambda>" else wanted or "function"
        node, text = node_of(plain)
        try:
            captured_by = inspect.getclosurevars(plain).nonlocals
        except ValueError:
            raise SourceError(f"{name} refers to something that has no value yet") from None
        self.add_piece(name, plain, self.with_defaults(name, plain, node) or text, captured_by, plain.__globals__)
        if wanted and wanted != name:
            self.pieces[f"{wanted}="] = f"{wanted} = {name}\n"
        return name

    def with_defaults(self, name, function, node):
        """The source with its computed defaults as data, as they were when it was defined; empty: it has none."""
        values_of = [*(function.__defaults__ or ()), *((function.__kwdefaults__ or {}).get(each.arg) for each in node.args.kwonlyargs)]
        computed = False
        for place, first in ((node.args.defaults, 0), (node.args.kw_defaults, len(function.__defaults__ or ()))):
            for index, expression in enumerate(place):
                if expression is None or isinstance(expression, ast.Constant):
                    continue
                try:
                    self.names[f"{name}_default_{first + index}"] = values.decode(values.encode(values_of[first + index]))
                except TypeError:
                    continue  # a function perhaps, which travels by its name
                place[index], computed = ast.Name(f"{name}_default_{first + index}", ast.Load()), True
        return ast.unparse(node) + "\n" if computed else ""

    def add_piece(self, name, what, text, closure, scope):
        if name in self.known and self.known[name] is not what:
            raise SourceError(f"two different things are called {name}: rename one of them")
        if name in self.known:
            return
        self.known[name] = what
        text = text if text.endswith("\n") else text + "\n"
        if text.startswith("lambda"):
            text = f"{name} = {text}\n"
        references = global_names(text, name)
        for each in sorted(references - {name}):
            if each in closure:
                self.add(each, closure[each], name)
            elif each in scope:
                self.add(each, scope[each], name)
        self.pieces[name] = text  # behind what it refers to
        home = home_of(sys.modules.get("__main__" if scope.get("__name__") == "__main__" else scope.get("__name__", "")))
        if home:
            _ship_imports(self.captured, home, ast.parse(text), "")

    def add(self, name, value, user):
        """Whatever `user` refers to as `name`."""
        if isinstance(value, types.ModuleType):
            return self.add_import(name, value.__name__, "")
        if inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__wrapped__"):
            module = getattr(value, "__module__", None) or "builtins"
            home, inner = home_of(sys.modules.get(module)), inspect.unwrap(value)
            if is_reachable(value) and (home is None or module != "__main__") and not inspect.ismethod(value):
                return self.add_import(name, module, value.__qualname__)
            if inspect.isclass(value):
                return self.add_piece(name, value, source_of_class(value), {}, vars(sys.modules[module]))
            if isinstance(inner, types.FunctionType):
                return self.add_function(value, name)
        if self.known.setdefault(name, value) is not value:
            raise SourceError(f"two different things are called {name}: rename one of them")
        self.names[name] = self.data(name, value, user)

    def add_import(self, name, module, attribute):
        if attribute and "." in attribute:
            raise SourceError(f"{name} is {attribute} of {module}: import {attribute.split('.')[0]} instead")
        if module == "builtins":
            return
        home = home_of(sys.modules.get(module))
        if home is None:
            _need(self.captured, module)
        else:
            _ship_module(self.captured, home, module)
        if attribute:
            self.imports[name] = f"from {module} import {attribute}" + (f" as {name}" if name != attribute else "")
        elif name == module.split(".")[0]:
            self.imports[name] = f"import {module}"
        else:
            self.imports[name] = f"import {module} as {name}"

    @staticmethod
    def data(name, value, user):
        try:
            return values.decode(values.encode(value))
        except TypeError as error:
            raise SourceError(f"{user} refers to {name}, which cannot travel: {error}") from None


def source_of_class(what):
    try:
        return textwrap.dedent(inspect.getsource(what))
    except (OSError, TypeError) as error:
        raise SourceError(f"{what.__qualname__} has no source here ({error}): define it in a file or a notebook") from None


def node_of(function):
    """A function's or lambda's syntax tree, and its source without indentation."""
    try:
        lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
        tree = ast.parse("".join(lines))
    except SyntaxError:
        lines = []
    if not lines:
        raise SourceError(f"{function.__qualname__} has no source here: define it in a file or a notebook")
    kinds = ast.Lambda if function.__name__ == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(tree) if isinstance(node, kinds) and _begins_at(node) == function.__code__.co_firstlineno]
    found = [node for node in found if getattr(node, "name", "<lambda>") == function.__name__]
    if len(found) > 1:
        found = [node for node in found if _is_compiled_to(node, function.__code__)]
    if not found:
        raise SourceError(f"{function.__qualname__} has no source here: its file changed since it was read")
    if len({ast.dump(node) for node in found}) > 1:
        raise SourceError("two lambdas on a line cannot be told apart: give the function a name")
    node = found[0]
    if isinstance(node, ast.Lambda):
        return node, ast.unparse(node)
    text = textwrap.dedent("".join(lines[_begins_at(node) - 1:node.end_lineno]))
    return node, text if _means(text, node) else ast.unparse(node)


def _means(text, node):
    """Not where a text over several lines lost its own indentation with the function's."""
    try:
        return ast.dump(ast.parse(text)) == ast.dump(ast.Module([node], []))
    except SyntaxError:
        return False


def _begins_at(node):
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def _is_compiled_to(node, code):
    """Of several lambdas on a line: by their places where Python keeps them (3.11 on), else by what they refer to."""
    if hasattr(code, "co_positions"):
        places = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
        return bool(places) and all((node.lineno, node.col_offset) <= place <= (node.end_lineno, node.end_col_offset) for place in places)
    like = compile(ast.Expression(node), "", "eval").co_consts[0]
    return (like.co_consts, like.co_names, like.co_varnames) == (code.co_consts, code.co_names, code.co_varnames)


def global_names(text, name):
    """The names that a piece of source does not define itself."""
    try:
        found, waiting = set(), [symtable.symtable(text, name, "exec")]
    except SyntaxError as error:
        raise SourceError(f"{name} cannot travel by itself: {error.msg}") from None
    top = waiting[0]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols()
                  if (symbol.is_global() if table is not top else symbol.is_referenced() and not symbol.is_assigned())}
    return found - {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
