"""Storage of threads is aligned in every program: mold 1.10 puts .tbss before .dynamic, and where only its address is not a
multiple of eight and a page ends between the two (about one link in 300), the program cannot be loaded ("cannot apply
additional memory protection after relocation"). `alignas(8)` or more on one thread_local of the program avoids that."""
import pathlib
import re
import subprocess
import sys


def main():
    build = pathlib.Path(sys.argv[1])
    programs = [path for folder in ("bin", "tests") for path in sorted((build / folder).glob("*"))
                if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    faults = []
    for path in programs:
        headers = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
        storage = re.search(r"^ +TLS .* 0x([0-9a-f]+)$", headers, re.M)
        if storage and int(storage[1], 16) < 8:
            faults.append(f"{path.relative_to(build)}: its thread_local objects are aligned to {int(storage[1], 16)} bytes only")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 0 if programs and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
