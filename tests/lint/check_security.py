"""Every promise of server/SECURITY.md names tests that attack it, and each of these exists where the page says, and runs."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "server/SECURITY.md"
TESTS = ROOT / "tests"
NAMED = re.compile(r"`(functional|unit|fuzz)/([^`]*)`")


def read(path):
    return path.read_text() if path.exists() else ""


def fault_of(kind, text):
    place, _, name = text.partition(": ")
    if kind == "fuzz":
        if not (TESTS / f"fuzz/{place}_fuzz.cpp").exists():
            return f"there is no tests/fuzz/{place}_fuzz.cpp"
        if not re.search(rf"^gleaner_fuzz\({place} ", read(TESTS / "fuzz/CMakeLists.txt"), re.M):
            return f"tests/fuzz/CMakeLists.txt does not build {place}"
        if not any((TESTS / "fuzz/corpus" / place).glob("*")):
            return f"tests/fuzz/corpus/{place} has no inputs"
    elif kind == "functional":
        if not re.search(rf"^    def {re.escape(name)}\(self", read(TESTS / f"functional/{place}_test.py"), re.M):
            return f"tests/functional/{place}_test.py has no function {name}"
        if not re.search(rf"gleaner_functional_test\({place}[ )]", read(TESTS / "functional/CMakeLists.txt")):
            return f"tests/functional/CMakeLists.txt does not run {place}"
    else:
        module, _, file = place.partition("/")
        if not re.search(rf'TEST_CASE\(\s*"{re.escape(name)}"', read(TESTS / f"unit/{module}/{file}_test.cpp")):
            return f'tests/unit/{module}/{file}_test.cpp has no case "{name}"'
        if f"{file}_test.cpp" not in read(TESTS / f"unit/{module}/CMakeLists.txt"):
            return f"tests/unit/{module}/CMakeLists.txt does not build {file}_test.cpp"
    return None


def main():
    faults, promises, heading = [], 0, ""
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if line.startswith("#"):
            heading = line
        cells = line.strip("|").split("|")
        named = NAMED.findall(line) if heading.startswith("## ") else []  # the page's head says how tests are named
        if heading.startswith("## Promises") and line.startswith("|") and not line.startswith(("| promise", "|---")):
            promises += 1
            if len(cells) != 2 or not NAMED.search(cells[-1]):
                faults.append((number, "names no test that attacks this promise"))
        faults += [(number, fault) for kind, text in named if (fault := fault_of(kind, text))]
    if promises < 10:
        faults.append((1, "has no tables of promises"))
    for number, fault in faults:
        print(f"{PAGE.relative_to(ROOT)}:{number}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
