"""What programs and packages need is in Debian 12 and 13 under one name: check_packages.py BUILD | PACKAGE.deb ...

BUILD: the shared libraries that each installed program loads. PACKAGE.deb: what the package depends on. A name that Debian 13 has given
up (libssl3 is libssl3t64 there) is still provided."""
import pathlib
import re
import subprocess
import sys

# Library: the package whose name both releases know. What is not here is linked in (tools/build/GleanerLibraries.cmake).
LIBRARIES = {
    "libc.so.6": "libc6", "libm.so.6": "libc6", "ld-linux-x86-64.so.2": "libc6", "libgcc_s.so.1": "libgcc-s1", "libstdc++.so.6": "libstdc++6",
    "libarchive.so.13": "libarchive13", "libcairo.so.2": "libcairo2", "libcrypto.so.3": "libssl3", "libcurl.so.4": "libcurl4",
    "libexpat.so.1": "libexpat1", "libglpk.so.40": "libglpk40", "libjemalloc.so.2": "libjemalloc2", "libp11-kit.so.0": "libp11-kit0",
    "libpng16.so.16": "libpng16-16", "libpq.so.5": "libpq5", "libSDL2-2.0.so.0": "libsdl2-2.0-0", "libsqlite3.so.0": "libsqlite3-0",
    "libssl.so.3": "libssl3", "libsystemd.so.0": "libsystemd0", "libwayland-client.so.0": "libwayland-client0", "libX11.so.6": "libx11-6",
    "libxcb-screensaver.so.0": "libxcb-screensaver0", "libxcb-sync.so.1": "libxcb-sync1", "libxcb.so.1": "libxcb1", "libz.so.1": "zlib1g"}
PACKAGES = {*LIBRARIES.values(), "adduser", "bubblewrap", "cmake", "debconf", "debconf-2.0", "fonts-dejavu-core", "g++", "openssl", "python3"}
OLDEST_C_LIBRARY = (2, 36)  # Debian 12's, and what the portable archive promises
# In every desktop session, from log-in on: it loads the sources that it watches, and nothing else.
LIGHT = {"gleaner-agent": {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libsystemd.so.0", "libwayland-client.so.0", "libxcb.so.1",
                           "libxcb-screensaver.so.0", "libxcb-sync.so.1"}}
NOT_INSTALLED = {"gleaner-wire", "gleaner-faulty-server"}


def told(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def faults_of_program(path):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", told("readelf", "-dW", path)))
    for library in sorted(needed - set(LIBRARIES)):
        yield f"{path.name} loads {library}, which Debian 12 and 13 do not both have: link it in"
    for library in sorted(needed - LIGHT.get(path.name, needed)):
        yield f"{path.name} loads {library}, which it has no use for"
    for version in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", told("readelf", "-VW", path)):
        if tuple(map(int, version)) > OLDEST_C_LIBRARY:
            yield f"{path.name} needs the C library {'.'.join(version)}"


def faults_of_bundle(directory):
    """A library that a bundle brings is found there, and no program of it looks in a directory of the machine that built it."""
    brought = {path.name for path in (directory / "lib").glob("*.so*")}
    for path in sorted((directory / "bin").iterdir()):
        if path.read_bytes()[:4] != b"\x7fELF":
            continue
        section = told("readelf", "-dW", path)
        places = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", section)
        needs = brought & set(re.findall(r"\(NEEDED\).*\[(.*)\]", section))
        if places != (["$ORIGIN/../lib"] if needs else []):
            yield f"{directory.name}/{path.name} looks for libraries in {places or 'no directory'}, and its bundle brings {sorted(needs) or 'none'}"


def faults_of_package(path):
    for field in ("Depends", "Pre-Depends"):
        names = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", told("dpkg-deb", "-f", path, field))
        for name in sorted(set(names) - PACKAGES):
            yield f"{path.name} depends on {name}, which Debian 12 and 13 do not both have"


def main(arguments):
    paths = [pathlib.Path(argument) for argument in arguments]
    if paths[0].is_dir():
        paths = [path for path in sorted((paths[0] / "bin").iterdir()) if path.name not in NOT_INSTALLED and path.read_bytes()[:4] == b"\x7fELF"]
        faults = [fault for path in paths for fault in faults_of_program(path)]
        faults += [fault for path in sorted((pathlib.Path(arguments[0]) / "bundles").iterdir()) if (path / "bin").is_dir() for fault in faults_of_bundle(path)]
    else:
        faults = [fault for path in paths for fault in faults_of_package(path)]
    print("\n".join(faults) or f"{len(paths)} checked")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
