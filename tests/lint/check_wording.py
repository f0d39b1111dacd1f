"""Phrases that were replaced in what people read do not return: in programs' texts, settings, manuals, completions and documents.
What --help shows has none of the option library's own notation."""
import pathlib
import re
import subprocess
import sys

from check_manuals import PAGES, help_of, subcommands
from modules import ROOT

# The page and the console have their texts in a catalogue of their own; the history quotes.
ELSEWHERE = re.compile(r"^(tests/|server/console/web/|client/page/dist/|CHANGELOG\.md|build/)")
DOCUMENTS = {".md", ".toml", ".yaml", ".in", ".1", ".8", ".fish", ".zsh", ".bash", ".service"}
PHRASES = {
    "stands against it": "say what does: this computer is idle, the preferences allow it",
    "no more are taken": "no new work will be fetched",
    "the client stops": "Stopping the client.",
    "had its last part": "finished its part",
    "what it has goes on": "units it already has will finish",
    "gets units again": "is released",
    "shown this once": "shown only once",
    "count no more": "revoke",
    "counts no more": "has no effect any more",
    "that are not over": "active",
    "audit log is whole": "Audit log intact",
    "change that does not fit": "the first broken entry",
    "act that does not fit": "the first broken entry",
    "mended version": "fixed version",
    "--repair mends": "--repair can repair",
    "what needs you": "needs an administrator",
    "whom it would do as well without": "which hosts it does not need",
    "finishing what was received": "finishing pending requests",
    "apart by": "comma-separated",
    "shared better if": "for fairer sharing",
    "so often may be tried": "maximum attempts",
    "that hear when": "to notify when",
    "shows nothing in public": "has no public page",
    "which of the inputs is": "the name of the input file",
    "that come along": "packed, built-in",
    "computing made right": "Volunteer computing done right",
    "computes here now": "Gleaner is not computing.",
    "to begin with, which": "starter application",
    "server's settings say": "the server's setting",
    "has no work now": "no work available for this computer right now",
    "is called so": "if no other has the name",
    "want the computer alone": "pause while these programs run",
    "is told as": "report as",
    "looked at where": "in lists and pages",
    "where it is looked at": "in lists and pages",
    "read again in whole": "verified in full",
}
# Only in what programs, their manuals and completions say: elsewhere they are terms, of the papers or of the wire.
OF_PROGRAMS = {
    "the same last words": "identical messages grouped",
    "are strangers": "are volunteers'",
    "for strangers": "for volunteers",
    "results are believed": "results are trusted",
    "enrolment code": "join code, code",
}
PROGRAMS = re.compile(r"client/|server/(?!http/openapi|policy/)|tools/admin/|deploy/(man/gleaner(-admin|-client|-relay|-server)?\.|completion/)|README\.md$")
LIBRARY = re.compile(r"\b(?:TEXT|U?INT|FLOAT|BOOLEAN)\b|\bREQUIRED\b|\b(?:Excludes|Needs):|\{(?:true|false)\}|\bin \[")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:\s*"((?:[^"\\\n]|\\.)*)")*')


def texts(path, content):
    """What people read of a file, as (line, text): of C++ its literals, adjacent ones in one piece; else all, without line ends."""
    if path.suffix not in (".cpp", ".h"):
        return [(1, content)]
    found = []
    for piece in LITERAL.finditer(re.sub(r"(?m)^\s*//.*$|^#include .*$", "", content)):
        parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', piece.group())
        found.append((content.count("\n", 0, piece.start()) + 1, "".join(parts)))
    return found


def faults_in_files():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if ELSEWHERE.match(name) or path.is_symlink() or not path.is_file():
            continue
        if path.suffix not in DOCUMENTS | {".cpp", ".h"} and path.name != "CMakeLists.txt":
            continue
        phrases = PHRASES | OF_PROGRAMS if PROGRAMS.match(name) else PHRASES
        for line, text in texts(path, path.read_text()):
            if "MFLOP/s" in text and PROGRAMS.match(name):
                yield f"{name}:{line}: \"MFLOP/s\" (say: Mflop/s)"
            plain = re.sub(r"(?:\\n|\s)+", " ", text).casefold()
            for phrase, better in phrases.items():
                if phrase.casefold() in plain:
                    yield f"{name}{f':{line}' if line > 1 else ''}: \"{phrase}\" (say: {better})"


def faults_in_help(binaries):
    for program in PAGES:
        pending = [[str(binaries / program)]]
        if program == "gleaner-screensaver" or not (binaries / program).exists():  # it reads its options itself
            continue
        while pending:
            command = pending.pop()
            output = help_of(command)
            for line in output.splitlines():
                if LIBRARY.search(line):
                    yield f"{program} {' '.join(command[1:])} --help: {line.strip()}"
            pending += [[*command, name] for name in subcommands(output)]


def main(binaries):
    faults = [*faults_in_files(), *faults_in_help(pathlib.Path(binaries))]
    print("\n".join(faults) or "wording: as it should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
