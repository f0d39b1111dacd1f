"""The modules of the source tree as CMake has them: a folder with a library or a program, and the folders of what it links."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPS = ("shared", "server", "client", "apps", "tools")
DEFINING = {"gleaner_library", "gleaner_program", "gleaner_bundle", "add_library", "add_executable"}
LINKS = {"LINKS", "PRIVATE_LINKS", "KERNEL_LINKS", "MANAGER_LINKS", "PUBLIC", "PRIVATE", "INTERFACE"}
NO_LINKS = {"SOURCES", "INSTALL", "KERNEL", "MANAGER", "LIBRARIES"}
# Sources that this build does not compile: templates are built against the kit's package; the prefix belongs to no library.
NOT_COMPILED = {"apps/templates": ["apps/kit", "shared/base"], "tools/build": []}


def commands(path):
    """The commands of a CMake file as (name, words)."""
    for name, words in re.findall(r"(\w+)\s*\(([^()]*)\)", re.sub(r"#.*", "", path.read_text())):
        yield name, words.split()


def modules():
    """{folder: the folders that its libraries and programs link}, which is what its sources may include."""
    owner, links = {}, {}
    for path in sorted(path for top in TOPS for path in (ROOT / top).rglob("CMakeLists.txt")):
        called = list(commands(path))
        if any(name == "project" for name, _ in called):
            continue  # a build of its own
        folder = path.parent.relative_to(ROOT).as_posix()
        for name, words in called:
            if name in DEFINING and words:
                owner[words[0]] = folder
                links.setdefault(folder, set())
            elif name != "target_link_libraries":
                continue
            linking = False
            for word in words[1:]:
                if word in LINKS | NO_LINKS:
                    linking = word in LINKS
                elif linking:
                    links.setdefault(folder, set()).add(word)
    found = {folder: sorted({owner[name] for name in names if name in owner} - {folder}) for folder, names in links.items()}
    return {**found, **NOT_COMPILED}


def module_of(path, folders):
    """The innermost module around a path relative to the root, or None."""
    return next((parent.as_posix() for parent in pathlib.PurePath(path).parents if parent.as_posix() in folders), None)
