"""systemd understands the units of deploy/systemd as they are meant: no key is unknown or misspelt, the programs are there, what
belongs together is found, packages bring all of them, and what they permit themselves grows no further than it is."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = ROOT / "deploy" / "systemd"
# systemd-analyze security, 0 (nothing is permitted) to 10 (all is). Kernels and managers are confined further, by what needs namespaces.
EXPOSURE_MAX = {"gleaner-server.service": 4.2, "gleaner-front.service": 4.2, "gleaner-relay.service": 1.5, "gleaner-client.service": 5.4, "gleaner-backup.service": 3.4, "gleaner-challenge@.service": 1.2}


def said_of(directory, name):
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", f"./{name}"], cwd=directory, capture_output=True, text=True,
                          env={"SYSTEMD_UNIT_PATH": f"{directory}:", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] or (["it is refused"] if done.returncode else [])


def main():
    if not shutil.which("systemd-analyze"):
        print("systemd-analyze is not installed: skipped")
        return 77
    programs = pathlib.Path(sys.argv[1]).resolve()
    names = sorted(path.name for path in UNITS.iterdir())
    faults = []
    with tempfile.TemporaryDirectory(prefix="gleaner-units-") as place:
        directory = pathlib.Path(place)
        for name in names:
            (directory / name).write_text((UNITS / name).read_text().replace("/usr/bin/gleaner-", f"{programs}/gleaner-"))
        for name in names:
            faults += [f"{name}: {line}" for line in said_of(directory, name)]
        for name, most in EXPOSURE_MAX.items():
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"./{name}"], cwd=directory, capture_output=True, text=True)
            exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
            if not exposure or float(exposure[1]) > most:
                faults.append(f"{name}: its exposure is {exposure[1] if exposure else 'not told'}, and {most} is the most")
        # It must find what is wrong, or it says nothing.
        (directory / "wrong.service").write_text("[Service]\nExecStart=/nonexistent/program\nProtectSytem=strict\n")
        if len(said_of(directory, "wrong.service")) < 2:
            faults.append("systemd-analyze finds nothing wrong with a unit that is")
    services = {name for name in names if name.endswith(".service")}
    faults += [f"{name}: its exposure has no bound here" for name in services - set(EXPOSURE_MAX)]
    # Where a group is missing, systemd does not start a unit that names it; the package's script looks whether it is there.
    client = (UNITS / "gleaner-client.service").read_text()
    joins_input = "if getent group input >/dev/null; then adduser --quiet gleaner-client input; fi"
    if "SupplementaryGroups=" in client or joins_input not in (ROOT / "deploy" / "debian" / "client" / "postinst").read_text():
        faults.append("gleaner-client.service: keyboards and game pads are noticed by the group input, which postinst gives where it is")
    installed = (ROOT / "deploy" / "CMakeLists.txt").read_text()
    faults += [f"{name}: no package brings it" for name in names if f"systemd/{name}" not in installed]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
