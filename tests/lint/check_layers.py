"""Includes follow the allowed arrows, and pure rooms call nothing impure. Starts with no exceptions; never add one."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# room: rooms it may include (itself always). ARCHITECTURE.md explains each arrow.
SHARED = ["shared/base", "shared/protocol", "shared/crypto", "shared/io", "shared/bundle", "shared/contract"]
ARCHIVE = ["shared/archive"]  # libarchive stays out of the client
POLICY = ["server/policy", "server/policy/journal", "server/policy/estimation", "server/policy/mapping",
          "server/policy/options", "server/policy/plan", "server/policy/sizing", "server/policy/stage"]
ARROWS = {
    "shared/base": [],
    "shared/protocol": ["shared/base"],
    "shared/crypto": ["shared/base", "shared/protocol"],
    "shared/io": ["shared/base", "shared/crypto"],
    "shared/bundle": ["shared/base", "shared/protocol", "shared/crypto", "shared/io"],
    "shared/archive": ["shared/base", "shared/bundle", "shared/crypto", "shared/io"],
    "shared/contract": ["shared/base", "shared/protocol", "shared/io"],
    "shared/planning": ["shared/base"],
    "server/policy/options": ["shared/base"],
    "server/policy/estimation": ["shared/base"],
    "server/policy/mapping": ["server/policy/options", "server/policy/estimation", "shared/base"],
    "server/policy/plan": ["server/policy/mapping", "server/policy/estimation", "shared/base"],
    "server/policy/sizing": ["server/policy/options", "shared/base"],
    "server/policy/journal": ["server/policy/sizing", "server/policy/stage", "shared/base", "shared/protocol"],
    "server/policy/stage": ["server/policy/options", "server/policy/sizing", "shared/base", "shared/protocol"],
    "server/policy": [*[room for room in POLICY if room != "server/policy"], "shared/base", "shared/protocol"],
    "server/storage": [*POLICY, *SHARED],
    "server/service": [*POLICY, "server/storage", *SHARED, *ARCHIVE],
    "server/http": ["server/service", "server/storage", *SHARED],
    "server": ["server/http", "server/service", *SHARED],
    "client/policy": ["shared/base", "shared/protocol"],
    "client/engine": ["client/policy", *SHARED],
    "client/agent/report": ["shared/base"],
    "client/agent": ["client/agent/report", "shared/base", "shared/io"],
    "client/view": ["shared/base"],
    "client/page": ["shared/base"],
    "client/screensaver": ["client/view", "shared/base"],
    "client/platform": ["client/agent/report", "client/policy", "client/engine", "client/view", *SHARED],
    "client/sandbox": [],
    "client/unpack": ["shared/base", *ARCHIVE],
    "client/program": ["client/policy", "client/engine", "client/page", "client/platform", "client/view", *SHARED],
    "client": ["client/program", "client/screensaver"],
    "apps/kit": ["shared/base"],
    "apps/templates": ["apps/kit", "shared/base"],
    "apps/wrap": ["apps/kit", "shared/base"],
    "apps/dlog": ["apps/kit", "shared/base"],
    "apps/dsearch": ["apps/kit", "shared/base"],
    "apps/hologram": ["apps/kit", "shared/base"],
    "apps/photons": ["apps/kit", "shared/base"],
    "apps/passwords": ["apps/kit", "shared/base"],
    "apps/tsp": ["apps/kit", "shared/base"],
    "apps/raytrace": ["apps/kit", "shared/base"],
    "apps/mandelbrot": ["apps/kit", "shared/base"],
    "tools/admin": ["tools/local", "shared/planning", *SHARED, *ARCHIVE],
    "tools/build": [],
    "tools/local": ["server/policy/options", "server/policy/sizing", *SHARED],
    "tools/simulator/command": ["tools/simulator", "tools/simulator/report", "tools/simulator/reproduction",
                                "tools/simulator/scenario", "shared/planning", *POLICY, *SHARED],
    "tools/simulator/report": ["shared/base", "shared/io"],
    "tools/simulator/reproduction": ["tools/simulator", "tools/simulator/report", *POLICY, "shared/base", "shared/io",
                                     "shared/planning"],
    "tools/simulator/scenario": ["tools/simulator", *POLICY, "shared/base", "shared/protocol"],
    "tools/simulator": [*POLICY, "client/policy", "shared/base", "shared/planning", "shared/protocol"],
}
PURE = [*POLICY, "client/agent/report", "client/policy", "shared/planning"]
BANNED_IN_PURE = re.compile(
    r"system_clock::now|steady_clock::now|high_resolution_clock|\btime\(|\brand\(|random_device|sleep_for|sleep_until|"
    r"#include <(fstream|thread|mutex|iostream|filesystem)>|spdlog|sqlite|\bgetenv\(")
BANNED_EVERYWHERE = re.compile(r"\bsystem\(|\bstrcpy\(|\bsprintf\(|\bgets\(|using namespace std;")


def room_of(path):
    parts = path.parts
    for size in (3, 2, 1):
        name = "/".join(parts[:size])
        if name in ARROWS and len(parts) > size:
            return name
    return None


def main():
    faults = []
    for top in ("shared", "server", "client", "apps", "tools"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            relative = path.relative_to(ROOT)
            room = room_of(relative)
            if room is None:
                faults.append(f"{relative}: in no room of tests/lint/check_layers.py")
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0]
                include = re.match(r'\s*#include "([^"]+)"', line)
                if include:
                    target = room_of(pathlib.Path(include.group(1)))
                    if target is None:
                        if not (ROOT / include.group(1)).exists() and "/" in include.group(1):
                            continue  # generated
                        faults.append(f"{relative}:{number}: include from the root: {include.group(1)}")
                    elif target != room and target not in ARROWS[room]:
                        faults.append(f"{relative}:{number}: {room} may not include {target}")
                if room in PURE and BANNED_IN_PURE.search(code):
                    faults.append(f"{relative}:{number}: a pure room: {line.strip()}")
                if BANNED_EVERYWHERE.search(code):
                    faults.append(f"{relative}:{number}: banned call: {line.strip()}")
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    if f'"{version}"' not in (ROOT / "shared/base/version.h").read_text():
        faults.append("shared/base/version.h: another version than CMakeLists.txt")
    print("\n".join(faults) or "layers: all arrows are allowed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
