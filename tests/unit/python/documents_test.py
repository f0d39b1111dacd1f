"""What the package's documents say is so: docstrings' examples, the README's, and the tutorial, run headless."""
import contextlib
import doctest
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import gleaner

PACKAGE = pathlib.Path(gleaner.__file__).resolve().parent
README = PACKAGE.parent / "README.md"
EXAMPLE = re.compile(r"<!-- example -->\n```python\n(.*?)```\n\n<!-- output -->\n```\n(.*?)```", re.S)


def connected_notebook():
    import nbformat
    return nbformat.read(PACKAGE.parent / "tutorial.ipynb", as_version=4)


class Documents(unittest.TestCase):
    def test_examples_of_docstrings(self):
        tried = 0
        for path in sorted(PACKAGE.rglob("*.py")):
            if path.name in ("kernel.py", "manager.py"):
                continue  # programs, which begin to work when they are imported
            module = importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"))
            found = doctest.testmod(module)
            self.assertEqual(found.failed, 0, module.__name__)
            tried += found.attempted
        self.assertGreater(tried, 10)

    def test_what_is_used_first_has_an_example(self):
        for each in (gleaner, gleaner.connect, gleaner.local, gleaner.Grid.map, gleaner.Grid.starmap, gleaner.Grid.imap_unordered,
                     gleaner.Executor, gleaner.Problem, gleaner.Table, gleaner.CallError):
            self.assertIn(">>> ", each.__doc__, each)

    def test_examples_of_the_readme(self):
        examples = EXAMPLE.findall(README.read_text())
        self.assertTrue(examples)
        for text, output in examples:
            with tempfile.TemporaryDirectory() as directory:
                script = pathlib.Path(directory) / "example.py"
                script.write_text(text)
                done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
                self.assertEqual((done.stdout, done.stderr), (output, ""))

    def test_the_readme_names_what_there_is(self):
        text = README.read_text()
        for name in re.findall(r"`grid\.(\w+)", text):
            self.assertTrue(hasattr(gleaner.Grid, name) or hasattr(gleaner._grid.RemoteGrid, name), name)
        for name in re.findall(r"`gleaner\.(\w+)", text):
            self.assertTrue(hasattr(gleaner, name), name)

    def test_the_tutorial_shows_what_the_readme_says(self):
        sentence = re.search(r"\[tutorial.ipynb\]\(tutorial.ipynb\) shows (.*?) in short cells", README.read_text(), re.S)[1]
        code = "\n".join(cell.source for cell in connected_notebook().cells if cell.cell_type == "code")
        for name in re.findall(r"`(.+?)`", sentence):
            self.assertRegex(code, rf"\b{re.escape(name)}\b")
        for name in ("Executor", "numpy", "wheels="):
            self.assertIn(name, code)

    def test_the_tutorial_runs(self):
        import nbclient
        notebook = connected_notebook()
        with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
            for name, value in {"IPYTHONDIR": directory, "JUPYTER_RUNTIME_DIR": directory}.items():
                before = os.environ.get(name)
                stack.callback(lambda name=name, before=before: os.environ.pop(name) if before is None else os.environ.update({name: before}))
                os.environ[name] = value
            os.environ.pop("GLEANER_PROJECT", None)
            nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=directory)
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        self.assertFalse([output for output in outputs if output.output_type == "error"])


if __name__ == "__main__":
    unittest.main()
