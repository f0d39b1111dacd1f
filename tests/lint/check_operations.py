"""Operations on the writer see a Transaction and values of their own: they capture no `this`, no address and nothing by reference."""
import re
import sys

from modules import ROOT

# A lambda whose first parameter is the transaction: an operation, or a step of one.
OPERATION = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\s*\(\s*(?:const\s+)?(?:(?:service::)?Transaction|auto)\s*&&?\s*(?:tx\b|[,)])")
# What leads out of it.
OUTSIDE = re.compile(r"\bthis\b|(?:^|,)\s*[&=]|=\s*&")


def blank_comments(text):
    """The text without its comments; lines stay where they are."""
    return re.sub(r"//[^\n]*", "", text)


def main():
    faults, seen = [], 0
    for path in sorted((ROOT / "server").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        text = blank_comments(path.read_text())
        for found in OPERATION.finditer(text):
            seen += 1
            if OUTSIDE.search(found.group(1)):
                line = text.count("\n", 0, found.start()) + 1
                captures = " ".join(found.group(1).split())
                faults.append(f"{path.relative_to(ROOT)}:{line}: an operation on the writer captures [{captures}]: give it values (ARCHITECTURE.md, Threads of the server)")
    if seen < 30:
        faults.append(f"only {seen} operations were found: this check does not know how they are written any more")
    print("\n".join(faults) or f"operations: {seen} see nothing but their transaction and values")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
