"""The shells' completions are what the programs' --help says, and the shells understand them. What a shell that is not
installed would say is skipped, visibly."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETION = ROOT / "deploy" / "completion"
# What has been typed, and what must be offered among others.
CASES = [("gleaner", "pr", "prefs"), ("gleaner prefs", "s", "set"), ("gleaner --json prefs", "s", "show"),
         ("gleaner", "rece", "receipts"), ("gleaner receipts", "--a", "--all"), ("gleaner-client", "jo", "join"),
         ("gleaner-client run", "--cpu", "--cpu-share"), ("gleaner-admin", "prob", "problem"),
         ("gleaner-admin problem", "sh", "show"), ("gleaner-admin problem add", "--pa", "--param")]


def bash_offers(typed, begun):
    program = typed.split()[0]
    function = "_" + program.replace("-", "_")
    words = " ".join(f"'{word}'" for word in [*typed.split(), begun])
    script = (f"source '{COMPLETION / (program + '.bash')}'; COMP_WORDS=({words}); COMP_CWORD={len(typed.split())}; {function}; "
              'printf "%s\\n" "${COMPREPLY[@]}"')
    return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True).stdout.split()


def main(binaries):
    faults = []
    done = subprocess.run([str(ROOT / "tools" / "completion"), binaries, "--check"], capture_output=True, text=True)
    if done.returncode:
        faults.append((done.stdout + done.stderr).strip())
    for typed, begun, wanted in CASES:
        offered = bash_offers(typed, begun)
        if wanted not in offered or any(not word.startswith(begun) for word in offered):
            faults.append(f"bash: after \"{typed} {begun}\": {offered}")
    for shell in ("zsh", "fish"):
        if not shutil.which(shell):
            print(f"{shell} is not installed: its completions are not tried")
            continue
        for path in sorted(COMPLETION.glob(f"*.{shell}")):
            checked = subprocess.run([shell, "--no-execute" if shell == "fish" else "-n", str(path)], capture_output=True,
                                     text=True)
            if checked.returncode or checked.stderr:
                faults.append(f"{path.name}: {checked.stderr.strip()}")
    print("\n".join(faults) or "completion: complete")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
