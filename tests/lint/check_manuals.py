"""Every option that a program's --help names is in its manual page, the settings there are the server's, and the pages are
well-formed."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {"gleaner-server": 8, "gleaner-relay": 8, "gleaner-client": 8, "gleaner": 1, "gleaner-agent": 1, "gleaner-admin": 1, "gleaner-sim": 1,
         "gleaner-screensaver": 1, "gleaner-loadgen": 1}


def help_of(command):
    return subprocess.run([*command, "--help"], capture_output=True, text=True).stdout


def subcommands(text):
    """The names below "Subcommands:"."""
    found, inside = [], False
    for line in text.splitlines():
        if line.strip() == "Subcommands:":
            inside = True
        elif inside and re.match(r"  \S", line):
            found.append(line.split()[0])
        elif inside and line.strip() and not line.startswith(" "):
            inside = False
    return found


def main(binaries):
    faults = []
    for program, section in PAGES.items():
        page = ROOT / "deploy" / "man" / f"{program}.{section}"
        text = page.read_text().replace("\\-", "-")
        checked = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)], capture_output=True,
                                 text=True)
        if checked.stderr.strip():
            faults.append(f"{page.name}: {checked.stderr.strip()}")
        pending = [[str(pathlib.Path(binaries) / program)]]
        if not pathlib.Path(pending[0][0]).exists():
            print(f"{program} was not built: its manual is not compared")
            continue
        while pending:
            command = pending.pop()
            output = help_of(command)
            for option in set(re.findall(r"(--[a-z][a-z-]+)", output)) - {"--help", "--help-all"}:
                if option not in text and option.lstrip("-") not in text:
                    faults.append(f"{page.name}: {' '.join(command[1:])} {option} is missing")
            for name in subcommands(output):
                if not re.search(rf"\b{re.escape(name)}\b", text):
                    faults.append(f"{page.name}: {' '.join(command[1:])} {name} is missing")
                pending.append([*command, name])
    if (pathlib.Path(binaries) / "gleaner-server").exists():
        settings = subprocess.run([str(ROOT / "tools" / "manual-settings"), binaries, "--check"], capture_output=True, text=True)
        if settings.returncode:
            faults.append((settings.stdout + settings.stderr).strip())
    print("\n".join(sorted(set(faults))) or "manuals: complete")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
