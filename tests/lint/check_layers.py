"""Modules include only what they link in CMake, and pure modules call nothing impure. There are no exceptions; never add one."""
import pathlib
import re
import sys

from modules import ROOT, TOPS, module_of, modules

PURE = re.compile(r"server/policy\b|client/(agent/report|policy)$|shared/planning$")
# What no link may do, whatever CMake says: a module, and what it must never link.
NEVER = [
    (r"shared/", r"(server|client|apps|tools)\b"),
    (r"shared/(base|json|protocol|planning)$", r"shared/io$"),
    (r"server\b", r"(client|apps|tools)\b"),
    (r"server/policy\b", r"server/(storage|service|http)|shared/(?!base$|json$|protocol$|planning$)"),
    (r"server/service\b", r"server/relay"),  # what only a relay does
    (r"server/service/core$", r"server/service"),
    (r"server/service/work$", r"server/service(?!/core$)"),
    (r"server/service/access$", r"server/service(?!/(core|work)$)"),
    (r"server/service/operator$", r"server/service(?!/(core|work|access)$)"),
    (r"server/service/upkeep$", r"server/service$"),
    (r"client\b", r"(server|apps|tools)\b"),
    (r"client/policy$", r"client/|shared/(?!base$|protocol$)"),
    (r"client(?!/unpack)", r"shared/archive$"),  # libarchive stays out of the resident process
    (r"apps/", r"(server|client|tools)\b|shared/(?!base$|json$)"),
    (r"tools/(admin|local)$", r"client\b|server/(?!policy)"),
]
BANNED_IN_PURE = re.compile(
    r"system_clock::now|steady_clock::now|high_resolution_clock|\btime\(|\brand\(|random_device|sleep_for|sleep_until|"
    r"#include <(fstream|thread|mutex|iostream|filesystem)>|spdlog|sqlite|\bgetenv\(")
BANNED_EVERYWHERE = re.compile(r"\bsystem\(|\bstrcpy\(|\bsprintf\(|\bgets\(|using namespace std;")
# What people read is cleaned on its way: programs print and log through one place each. Kernels and managers speak with their caller on
# standard output; the helper and the hostile kernel link nothing.
PRINTED = re.compile(r"\bfmt::print\(|\bstd::v?(f?printf|f?puts)\(|\bprintf\(")
PRINTERS = re.compile(r"apps/|shared/(terminal|base/check\.cpp|sandbox/helper)|client/attack|tools/loadgen/application|server/http/(bench_main|server_core)\.cpp")
LOGGED = re.compile(r"spdlog/sinks/(stdout|basic_file|rotating|daily|syslog|systemd)|set_default_logger")


def main():
    faults = []
    allowed = modules()
    for module, links in allowed.items():
        for above, below in NEVER:
            faults += [f"{module} must never link {link}" for link in links if re.match(above, module) and re.match(below, link)]
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            relative = path.relative_to(ROOT)
            module = module_of(relative, allowed)
            if module is None:
                faults.append(f"{relative}: in no module: its folder's CMakeLists.txt defines neither library nor program")
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0]
                include = re.match(r'\s*#include "([^"]+)"', line)
                if include:
                    target = module_of(include.group(1), allowed)
                    if target is None:
                        if not (ROOT / include.group(1)).exists() and "/" in include.group(1):
                            continue  # generated
                        faults.append(f"{relative}:{number}: include from the root: {include.group(1)}")
                    elif target != module and target not in allowed[module]:
                        faults.append(f"{relative}:{number}: {module} may not include {target}, which it does not link")
                if PURE.match(module) and BANNED_IN_PURE.search(code):
                    faults.append(f"{relative}:{number}: a pure module: {line.strip()}")
                if PRINTED.search(code) and not PRINTERS.match(str(relative)):
                    faults.append(f"{relative}:{number}: print through shared/terminal/print.h: {line.strip()}")
                if LOGGED.search(code) and not str(relative).startswith("shared/logging/"):
                    faults.append(f"{relative}:{number}: log through shared/logging/log.h: {line.strip()}")
                if BANNED_EVERYWHERE.search(code):
                    faults.append(f"{relative}:{number}: banned call: {line.strip()}")
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    if f'"{version}"' not in (ROOT / "shared/base/version.h").read_text():
        faults.append("shared/base/version.h: another version than CMakeLists.txt")
    print("\n".join(faults) or "layers: every include is of a linked module")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
