"""What differs between systems is in files that say so: x_linux.cpp, x_windows.cpp behind one header without a system's words."""
import re
import sys

from modules import ROOT

# Of one system as a whole: session agents of X11 and Wayland, the hostile kernel, the helper behind Landlock.
OF_ONE_SYSTEM = re.compile(r"client/(agent(?!/report)|attack)/|shared/sandbox/helper/|_(linux|windows|x11)\.(cpp|h)$")
SYSTEM_HEADER = re.compile(r"\s*#include <(sys/|linux/|arpa/|netinet/|systemd/|(unistd|poll|signal|fcntl|termios|pwd|grp|netdb|dirent|spawn|sched|malloc|"
                           r"dlfcn|pthread|syslog|utmp)\.h)")
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif)\b.*(_WIN32|_WIN64|__linux__|__unix__|__MINGW)")
# What is no standard C++ of <csignal>.
SIGNAL = re.compile(r"\bSIG(PIPE|CHLD|HUP|KILL|STOP|CONT|XCPU|XFSZ|ALRM|USR[12])\b|\bsigaction\b")
# They still name the system that they were written on. A file that leaves the list never comes back.
NOT_YET = {
    "client/platform/local_socket.h", "client/program/attack_program.cpp", "client/screensaver/program.cpp",
    "shared/archive/unpack.cpp", "shared/io/descriptor.h", "shared/io/local_address.h", "shared/io/reach.cpp",
    "shared/io/reach.h", "shared/protocol/join_code.cpp",
}
# `long` has 32 bits on Windows: a kernel's items once had other bytes for it. Libraries whose functions take one are passed over.
LONG = re.compile(r"(?<!\blong )\blong\b(?!\s+(long|double))")
TAKES_LONG = re.compile(r"shared/crypto/|shared/io/(http_client|http_transfer|server_trust|tls_records)|apps/mandelbrot/reference_orbit\.cpp")


def code_of(line):
    """Without comment and texts."""
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


def main():
    faults, found = [], set()
    for top in ("client", "shared", "apps"):
        for path in sorted((ROOT / top).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in (".h", ".cpp") or "/templates/" in name:
                continue
            if name.endswith("_windows.cpp") and not path.with_name(path.name.replace("_windows", "_linux")).exists():
                faults.append(f"{name}: has no twin of Linux: what both need is one header's, and what one needs alone is in its platform file")
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if CONDITION.match(line):
                    faults.append(f"{name}:{number}: no condition on the system: make a file of it ({line.strip()})")
                if OF_ONE_SYSTEM.search(name):
                    continue
                if top != "apps" and (SYSTEM_HEADER.match(line) or SIGNAL.search(code_of(line))):
                    found.add(name)
                    if name not in NOT_YET:
                        faults.append(f"{name}:{number}: a system's header belongs into its platform file ({line.strip()})")
                if top != "client" and LONG.search(code_of(line)) and not TAKES_LONG.match(name):
                    faults.append(f"{name}:{number}: a type of fixed width instead of long, which has 32 bits on Windows ({line.strip()})")
    faults += [f"{name}: names no system's header any more: take it out of NOT_YET in {__file__}" for name in sorted(NOT_YET - found)]
    print("\n".join(faults) or "platforms: what differs between systems is in files that say so")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
