"""ARCHITECTURE.md lists the modules that CMake has, each with what it links, and "The life of one unit" names functions that
exist. With --write the list is brought up to date; what a module is for stays as it is written there."""
import re
import sys

from modules import ROOT, modules

PAGE = ROOT / "ARCHITECTURE.md"
HEAD = "| module | what belongs there | links |"
STEPS_MAX = 12


def short(name):
    return name.removeprefix("shared/")


def row(names, purpose, links):
    linked = sorted(set().union(*(links[name] for name in names)) - set(names), key=lambda name: (name.startswith("shared/"), name))
    return f"| {', '.join(f'`{name}`' for name in names)} | {purpose} | {', '.join(map(short, linked)) or '–'} |"


def table(text, links, faults):
    """The list as it should read. A row keeps its place and its purpose; it may stand for several modules."""
    begin = text.index(HEAD)
    present = text[begin:].split("\n\n")[0]
    rows, missing = [], set(links)
    for line in present.splitlines()[2:]:
        names, purpose = line.strip("| ").split(" | ")[:2]
        names = [name for name in re.findall(r"`([^`]+)`", names) if name in missing]
        missing -= set(names)
        if names:
            rows.append(row(names, purpose, links))
    for name in sorted(missing):
        faults.append(f"ARCHITECTURE.md: say what belongs in {name}")
        rows.append(row([name], "?", links))
    return present, "\n".join([HEAD, "|---|---|---|", *rows])


def life(text, faults):
    section = re.search(r"^## The life of one unit\n(.*?)^## ", text, re.S | re.M).group(1)
    steps = re.findall(r"^\d+\. (?:`([^`:]+): (\w+(?:::\w+)*)`)?", section, re.M)
    if not 0 < len(steps) <= STEPS_MAX:
        faults.append(f"ARCHITECTURE.md: the life of one unit has {len(steps)} steps, of at most {STEPS_MAX}")
    for path, function in steps:
        if not path:
            faults.append("ARCHITECTURE.md: a step of the life of one unit does not begin with `path: function`")
        elif not (ROOT / path).exists() or not re.search(rf"\b{function}\(", (ROOT / path).read_text()):
            faults.append(f"ARCHITECTURE.md: there is no {function} in {path}")


def main():
    faults = []
    text = PAGE.read_text()
    present, wanted = table(text, modules(), faults)
    if present != wanted and "--write" in sys.argv[1:]:
        text = text.replace(present, wanted)
        PAGE.write_text(text)
    elif present != wanted:
        faults.append("ARCHITECTURE.md: its list of modules is not what CMake has: tests/lint/check_architecture.py --write")
    life(text, faults)
    print("\n".join(faults) or "architecture: modules and functions are those of the code")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
