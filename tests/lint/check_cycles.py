"""Files do not include each other in a ring. A header and its source are one; a class that lies in several files of one folder may,
up to five of them. There are no exceptions; never add one."""
import re
import sys

from modules import ROOT, TOPS

TOGETHER = 5
OF_A_PLATFORM = re.compile(r"_(linux|windows)$")


def unit_of(path):
    return OF_A_PLATFORM.sub("", str(path.with_suffix("")))


def includes():
    """Which units each unit includes."""
    found = {}
    for top in TOPS:
        for path in (ROOT / top).rglob("*"):
            if path.suffix not in (".h", ".cpp"):
                continue
            relative = path.relative_to(ROOT)
            own = found.setdefault(unit_of(relative), set())
            own.update(re.sub(r"\.h$", "", name) for name in re.findall(r'^#include "([^"]+\.h)"', path.read_text(), re.M))
    return {unit: {other for other in others if other in found and other != unit} for unit, others in found.items()}


def rings(graph):
    """Strongly connected components of more than one unit (Tarjan, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            unit, others = work[-1]
            below = next((other for other in others if other not in index), None)
            if below is not None:
                index[below] = low[below] = len(index)
                stack.append(below)
                on_stack.add(below)
                work.append((below, iter(sorted(graph[below]))))
                continue
            work.pop()
            low[unit] = min([low[unit]] + [low[other] if index[other] > index[unit] else index[other] for other in graph[unit] if other in on_stack])
            if low[unit] == index[unit]:
                ring = []
                while not ring or ring[-1] != unit:
                    ring.append(stack.pop())
                    on_stack.discard(ring[-1])
                if len(ring) > 1:
                    found.append(sorted(ring))
    return found


def main():
    faults = []
    for ring in rings(includes()):
        folders = {unit.rsplit("/", 1)[0] for unit in ring}
        if len(ring) > TOGETHER or len(folders) > 1 or "server/service" in folders:
            faults.append(f"{len(ring)} files include each other: {' '.join(ring)}")
    print("\n".join(faults))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
