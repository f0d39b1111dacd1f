"""apps/GUIDE.md, literally: its files are written, its commands run, and what it says they print is what they print. The recipes
are recipes_test.py's."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from harness import BUILD, SLOW, SOURCE, Grid, free_port, main, managers_settings, sandbox_arguments

BLOCK = re.compile(r"^(?:<!-- (?P<note>[^>]*) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


class Guide(unittest.TestCase):
    def test_the_guide(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-guide-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        blocks = [(match["note"] or "", match["language"], match["text"]) for match in
                  BLOCK.finditer((SOURCE / "apps" / "GUIDE.md").read_text())]
        self.assertGreater(len(blocks), 10)
        # Where nothing can confine kernels or managers, client and server must be told so; all else is as the guide has it.
        with Grid() as probe:
            managers = managers_settings(probe)
        sandbox = " ".join(f"'{word}'" for word in sandbox_arguments(directory / "probe"))
        environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "PORT": str(free_port()),
                       "GleanerKit_DIR": str(BUILD / "kit"), "MANAGERS": managers.partition(" = ")[2],
                       "PYTHONPATH": str(SOURCE / "tools" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        # One shell for all of it, so that what it started last can be ended at last.
        with open(directory / "errors", "w") as errors:
            shell = subprocess.Popen(["/bin/bash", "-e"], cwd=directory, env=environment, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
        self.addCleanup(self.end, shell)
        printed = ""
        for note, language, text in blocks:
            if note.startswith("recipe: "):
                continue
            if note.startswith("file: "):
                path = directory / note.removeprefix("file: ")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)  # keeps the mode of a file that is there
            elif note == "output":
                self.assertTrue(printed.endswith(text), f"expected\n{text}after\n{printed}")
            elif language == "sh":
                commands = []
                for line in text.splitlines():
                    if line.startswith("gleaner-client run"):
                        line = line.replace("gleaner-client run", f"gleaner-client run --priority normal {sandbox}")
                    if line.startswith("gleaner-server init"):
                        line += " --port $PORT"  # one that is free here
                    if line.startswith("gleaner-server run") and managers:
                        commands.append('sed -i "s|^sandbox = .*|sandbox = $MANAGERS|" project/server.toml')
                    if line.endswith("&"):
                        line = line.removesuffix("&") + " >/dev/null 2>&1 &"
                    commands.append(line)
                    if line.startswith("gleaner-server run"):  # a person takes a moment to type the next line
                        commands.append("until (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null; do sleep 0.05; done")
                printed = self.run_in(shell, "\n".join(commands), directory)
        self.assertEqual(shell.poll(), None)
        for path in (directory / "collatz" / "bundle").rglob("*"):  # nothing is left of what it began with
            self.assertFalse(path.is_file() and "prime" in path.name + path.read_text().lower(), path)

    def run_in(self, shell, commands, directory):
        """What they print; a failure ends the shell, and with it the output."""
        end = "-- end of block --"
        (directory / "block.sh").write_text(commands)
        shell.stdin.write(f". {directory}/block.sh </dev/null\necho '{end}'\n")
        shell.stdin.flush()
        printed = ""
        timer = threading.Timer(120 * SLOW, lambda: os.killpg(shell.pid, signal.SIGKILL))
        timer.start()
        try:
            for line in shell.stdout:
                if line.strip() == end:
                    return printed
                printed += line
        finally:
            timer.cancel()
        self.fail(f"the guide's commands failed:\n{commands}\n{printed}\n" + (directory / "errors").read_text()[-3000:])

    @staticmethod
    def end(shell):
        """The shell and what it left running are one process group."""
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        shell.communicate()


if __name__ == "__main__":
    main()
