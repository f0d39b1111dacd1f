"""README.md, literally: its commands run as they stand, with places of the test's own. What installs packages and starts services has
stand-ins, which do what the packages and their units do."""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import BUILD, BUNDLES, SLOW, SOURCE, Grid, free_port, main, managers_settings, sandbox_arguments

README = (SOURCE / "README.md").read_text()
START = """case "$*" in
"start gleaner-server") setsid gleaner-server run "$SERVER" >server.log 2>&1 & echo $! >server.pid
  until gleaner-admin --project "$SERVER" status >status 2>&1; do sleep 0.1; done ;;
"start gleaner-client") setsid gleaner-client run @SANDBOX@ --run always --priority normal >client.log 2>&1 & echo $! >client.pid
  until gleaner status >status 2>&1; do sleep 0.1; done ;;
"stop gleaner-client") kill "$(cat client.pid)"; while kill -0 "$(cat client.pid)" 2>/dev/null; do sleep 0.1; done; rm client.pid ;;
*) exit 1 ;;
esac"""
STAND_INS = {
    "sudo": 'exec "$@"',
    "apt": '[ "$1" = install ] && shift && for each; do grep -qxF "$(basename "$each" "_*.deb")" packages || exit 1; done',
    "systemctl": START,
}


def block(section, number=0, language="sh"):
    text = README[README.index(f"\n## {section}\n"):]
    return re.findall(rf"^```{language}\n(.*?)^```$", text[:text.find("\n## ", 4)], re.M | re.S)[number]


class Readme(unittest.TestCase):
    def setUp(self):
        self.here = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-readme-"))
        self.addCleanup(shutil.rmtree, self.here, ignore_errors=True)
        self.addCleanup(self.end)
        with Grid() as probe:
            self.managers = managers_settings(probe).partition(" = ")[2]
        words = " ".join(f"'{word}'" for word in sandbox_arguments(self.here / "probe"))
        for name, text in STAND_INS.items():
            path = self.here / "stand-ins" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\n{text.replace('@SANDBOX@', words)}\n")
            path.chmod(0o755)
        parts = re.search(r"foreach\(part (?:IN ITEMS )?([A-Z ]+)\)", (SOURCE / "deploy" / "CMakeLists.txt").read_text())[1].split()
        (self.here / "packages").write_text("\n".join(["python3-gleaner", *(f"gleaner-{part.lower()}" for part in parts)]) + "\n")
        self.environment = {**os.environ, "PATH": f"{self.here / 'stand-ins'}:{BUILD / 'bin'}:{os.environ['PATH']}", "HOME": str(self.here),
                            "SERVER": str(self.here / "server"), "STATE_DIRECTORY": str(self.here / "client"), "USER": "root",
                            "PYTHONPATH": str(SOURCE / "tools" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.port = free_port()

    def end(self):
        for name in ("page", "client", "server"):
            path = self.here / f"{name}.pid"
            if path.exists():
                os.kill(int(path.read_text()), signal.SIGKILL)

    def paste(self, text, **changes):
        """What it prints. `changes`: what a reader would put in place of an example."""
        places = {"/var/lib/gleaner-server": "$SERVER", "/usr/share/gleaner/bundles": str(BUNDLES),
                  "--public-host grid.example.org": f"--public-host 127.0.0.1 --address 127.0.0.1 --port {self.port}", **changes}
        for old, new in places.items():
            text = text.replace(old, new)
        done = subprocess.run(["bash", "-e", "-c", text], cwd=self.here, env=self.environment, capture_output=True, text=True, timeout=300 * SLOW)
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_three_ways_in(self):
        for section in ("Run a project", "Donate a PC"):
            self.assertEqual(len(block(section).splitlines()), 5)
        mend = f"sed -i 's|^sandbox = .*|sandbox = {self.managers}|' $SERVER/server.toml\n" if self.managers else ""
        printed = self.paste(block("Run a project"), **{"sudo systemctl": f"{mend}sudo systemctl"})
        code = re.search(r"^gleaner://\S+$", printed.split("lab")[-1], re.M)[0]
        self.assertIn(f"https://127.0.0.1:{self.port}/console", printed)
        donated = self.paste(block("Donate a PC"), **{"gleaner://grid.example.org:8443/...": code, "sudo gleaner page": "gleaner page >page 2>&1 & echo $! >page.pid;"})
        self.assertRegex(donated, r"\w")
        self.paste("until grep -q http://127.0.0.1 page; do sleep 0.1; done")
        watched = self.paste(block("Run a project", 1))
        self.assertIn("finished in", watched)
        leave = "sudo gleaner-client leave --all"
        self.assertIn(f"stop the service, run\n`{leave}`", README)
        self.paste(f"sudo systemctl stop gleaner-client\n{leave}")

    def test_python(self):
        self.paste(block("Compute something"))
        program = self.here / "primes.py"
        program.write_text(block("Compute something", language="python"))
        self.assertEqual(self.paste("python3 primes.py"), "2262 primes below 20,000\n")

    def test_build(self):
        """Its presets and targets are there."""
        self.assertIn('"name": "release"', (SOURCE / "CMakePresets.json").read_text())
        self.assertIn("add_custom_target(wheel", "".join(path.read_text() for path in (SOURCE / "tools").rglob("CMakeLists.txt")))
        for command in re.findall(r"^(tools/\w+)|`(tools/\w+)`", README, re.M):
            self.assertTrue(os.access(SOURCE / "".join(command), os.X_OK), command)


class Inline(unittest.TestCase):
    """Commands within the sentences of README.md and of the guide: the program, its subcommand and its options exist."""

    foreign = {"--path"}  # Octave's

    def help(self, *words, known={}):
        if words not in known:
            program, *below = words
            known[words] = subprocess.run([BUILD / "bin" / program, *below, "--help"], capture_output=True, text=True, check=True).stdout
        return known[words]

    def below(self, *words):
        """Its subcommands."""
        part = self.help(*words).partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        return re.findall(r"^  (\w[\w-]*)", part, re.M)

    @staticmethod
    def has(text, option):
        return re.search(rf"[\s,]{re.escape(option.partition('=')[0])}\b", text)

    def check(self, words):
        """Of one command; whether it is one."""
        if words[0] in ("sudo", "$"):
            words = words[1:]
        if words[0].startswith("tools/"):
            self.assertTrue(os.access(SOURCE / words[0], os.X_OK), words)
            return True
        if words[0] in self.below("gleaner-admin") and len(words) > 1:
            words = ["gleaner-admin", *words]
        if words[0] in self.foreign:
            return False
        if words[0].startswith("--"):  # an option alone belongs to `app`, `problem` or `flow`
            known = "".join(self.help("gleaner-admin", group, each) for group in ("app", "problem", "flow") for each in self.below("gleaner-admin", group))
            self.assertTrue(self.has(known, words[0]), words)
            return True
        if not words[0].startswith("gleaner") or len(words) == 1 or "/" in words[0]:
            return False
        self.assertTrue((BUILD / "bin" / words[0]).exists(), words)
        path = [words.pop(0)]
        while words and words[0] in self.below(*path):
            path.append(words.pop(0))
        self.assertFalse(self.below(*path) and words and not words[0].startswith("-"), f"{path} {words}: no such subcommand")
        for option in words[:words.index("--")] if "--" in words else words:
            if option.startswith("--") and option != "--help":
                self.assertTrue(self.has(self.help(*path), option), f"{path} has no option {option}")
        return True

    def test_commands_in_sentences(self):
        for name, least in (("README.md", 8), ("apps/GUIDE.md", 20)):
            text = re.sub(r"^```.*?^```", "", (SOURCE / name).read_text(), flags=re.M | re.S)
            spans = [span for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text) if re.match(r"(sudo |gleaner|tools/|--[a-z]|[a-z]+ [a-z])", span)]
            found = 0
            for span in spans:
                with self.subTest(name, span=span):
                    found += self.check(shlex.split(span.replace("\n", " ")))
            self.assertGreaterEqual(found, least, spans)


if __name__ == "__main__":
    main()
