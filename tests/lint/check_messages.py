"""Every message of the wire is among those that the codec's tests try (tests/unit/protocol/message_archives.h)."""
import re
import sys

from modules import ROOT

TESTED = ROOT / "tests" / "unit" / "protocol" / "message_archives.h"


def main():
    written = {name for path in sorted((ROOT / "shared" / "protocol").glob("fields_*.h"))
               for name in re.findall(r"\btitle<(\w+)>", path.read_text())}
    tried = set(re.findall(r"\w+", re.search(r"using AllMessages =\s*std::tuple<(.*?)>;", TESTED.read_text(), re.DOTALL)[1]))
    faults = [f"{name} has a field list in shared/protocol and is not in AllMessages of {TESTED.relative_to(ROOT)}" for name in sorted(written - tried)]
    if len(written) < 70:
        faults.append(f"only {len(written)} messages were found in shared/protocol/fields_*.h: does this check still know what they look like?")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
