"""Comments and documents cite only what a newcomer has: documents of this repository, or papers and standards by name.

Refused: a name of a .md file, or a path to a .csv file (a name alone is a user's data), that is neither at that place from the root nor beside or above the file that names it;
a quoted heading that the page named before it does not have; a specification without such a path in the same run of comments;
a section by number without the document that has it; a rule of the default policy (R and a number) that its page lacks."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
POLICY = ROOT / "server/policy/POLICY.md"
PATH = re.compile(r"(?<![\w$*{}./<-])((?:\.\./)*[\w+-]+(?:/[\w.+-]+)*\.md|(?:\.\./)*[\w+-]+(?:/[\w.+-]+)+\.csv)\b")
HEADING = re.compile(PATH.pattern + r',\s+"([^"]+)"')
SPECIFICATION = re.compile(r"\b(?:the|its|'s|this|own|project's)\s+(?:\w+\s+)?specification\b|\bspecifications?\s+of\b|\bspec\s+\d", re.I)
SECTION = re.compile(r"\bsections?\s+\d", re.I)
SOURCE = re.compile(r"\b(?:RFC|FIPS|ISO)\b|\b(?:18|19|20)\d\d\b|\bthesis\b|\bthe paper\b|\[[A-Z]{2,}\]")
RULE = re.compile(r"(?<![\w.])(R[1-9][0-9]?)[a-e]?(?![\w(])")
SLASHES = {".h", ".cpp", ".c", ".js", ".css"}
HASHES = {".py", ".sh", ".cmake", ".toml", ".yaml", ".service"}


def texts(path, content):
    """What people read in a file, as (line, text): comments in one piece while they follow each other, paragraphs of a page."""
    if path.suffix == ".md":
        content = re.sub(r"^```.*?^```", lambda code: "\n" * code.group().count("\n"), content, flags=re.S | re.M)
        keep = lambda line: line
    elif path.suffix in SLASHES:
        keep = lambda line: (re.search(r"(?:^|\s|;)(?://|/\*|\*(?=\s))(.*)", line) or [None, ""])[1]
    elif path.suffix in HASHES or path.name == "CMakeLists.txt" or content.startswith("#!"):
        content = re.sub(r'"""(.*?)"""', lambda text: "# " + text.group(1).replace("\n", "\n# "), content, flags=re.S)
        keep = lambda line: (re.search(r"(?:^|\s)#(?!!)(.*)", line) or [None, ""])[1]
    else:
        return
    begin, piece = 0, []
    for number, line in enumerate([*content.splitlines(), ""], 1):
        text = keep(line).strip()
        if text and not piece:
            begin = number
        if text:
            piece.append(text)
        elif piece:
            yield begin, " ".join(piece)
            piece = []


def found(name, near):
    """The document of that name: from the root, or beside or above the file that names it."""
    for folder in [ROOT, near.parent, *near.parent.parents]:
        if (folder / name).exists() and ROOT in [folder, *folder.parents]:
            return folder / name
    return None


def faults_of(path, content):
    head = next(iter(texts(path, content)), (0, ""))[1]
    rules = POLICY.read_text() if POLICY.exists() else ""
    for line, text in texts(path, content):
        for name in PATH.findall(text):
            if not found(name, path):
                yield line, f"there is no {name}"
        for name, heading in HEADING.findall(text):
            page = found(name, path)
            if page and not re.search(rf"^(?:#+ .*|\*\*){re.escape(heading)}", page.read_text(), re.M):
                yield line, f'{name} has no heading "{heading}"'
        if SPECIFICATION.search(text) and not any(found(name, path) for name in PATH.findall(text)):
            yield line, "cites a specification without its path"
        if SECTION.search(text) and path.suffix != ".md" and not (SOURCE.search(text) or PATH.search(text) or "Source" in head):
            yield line, "cites a section without its document"
        for rule in set(RULE.findall(text)):
            if not re.search(rf"^(?:#+ |\| ?|- |\d+\. )?(?:\*\*)?{rule}[a-e]?\b", rules, re.M):
                yield line, f"cites {rule}, which is no rule of server/policy/POLICY.md"


def main():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
    faults = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if not path.is_file() or path.is_symlink():  # a link is read where it leads
            continue
        try:
            content = path.read_text()
        except UnicodeDecodeError:
            continue
        faults += [f"{name}:{line}: {fault}" for line, fault in faults_of(path, content)]
    print("\n".join(faults) or "documents: everything cited is here")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
