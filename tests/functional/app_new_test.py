"""What `app new` writes builds, runs and tests itself, with the kit of this build tree; and a wrapped program computes on a
grid, confined and signed."""
import gzip
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from harness import BUILD, SLOW, SOURCE, Grid, local_arguments, main

ADMIN = BUILD / "bin" / "gleaner-admin"

WRAP = """manifest = 1
name = "squeeze"
version = "1.0.0"
[wrap]
command = ["bin/gzip", "-9", "-n"]
suffix = ".gz"
[items]
meaning = "one compressed file"
[limits]
memory_megabytes = 64
"""


class AppNew(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-new-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def new(self, name, language, *arguments):
        return subprocess.run([ADMIN, "app", "new", name, "--language", language, *arguments], cwd=self.directory,
                              capture_output=True, text=True)

    def test_every_language(self):
        environment = {**os.environ, "GLEANER_ADMIN": str(ADMIN), "GleanerKit_DIR": str(BUILD / "kit")}
        for language in ("c++", "python", "c"):
            with self.subTest(language):
                name = "my-" + language.replace("+", "p")
                made = self.new(name, language)
                self.assertEqual(made.returncode, 0, made.stderr)
                self.assertNotIn("@NAME@", "".join(path.read_text() for path in (self.directory / name).rglob("*")
                                                   if path.is_file()))
                tested = subprocess.run([self.directory / name / "test"], env=environment, capture_output=True, text=True,
                                        timeout=300 * SLOW)
                self.assertEqual(tested.returncode, 0, tested.stdout + tested.stderr)
                self.assertTrue(tested.stdout.endswith(f"{name}: all is well\n"), tested.stdout)
                self.assertNotIn("FAIL", tested.stdout)

    def test_refusals(self):
        for name in ("Primes", "", "../x", "a" * 65, "9lives"):
            made = self.new(name, "c")
            self.assertEqual(made.returncode, 1, name)
            self.assertIn("is no application's name", made.stderr)
        self.assertEqual(self.new("primes", "cobol").returncode, 2)
        self.assertEqual(self.new("primes", "c").returncode, 0)
        again = self.new("primes", "python")
        self.assertEqual(again.returncode, 1)
        self.assertIn("is there already", again.stderr)

    def squeeze(self, manifest=WRAP):
        bundle = self.directory / "squeeze"
        shutil.rmtree(bundle, ignore_errors=True)
        (bundle / "bin").mkdir(parents=True)
        shutil.copy("/bin/gzip", bundle / "bin" / "gzip")
        (bundle / "manifest.toml").write_text(manifest)
        return bundle

    def test_a_wrapped_program_on_a_grid(self):
        bundle = self.squeeze()
        inputs = {}
        for i in range(5):
            inputs[f"text-{i}"] = (SOURCE / "ARCHITECTURE.md").read_bytes()[i * 100:] * (i + 1)
            (self.directory / f"text-{i}").write_bytes(inputs[f"text-{i}"])
        arguments = [word for name in inputs for word in ("--input", f"{name}={self.directory / name}")]
        with Grid() as grid:
            checked = grid.run("gleaner-admin", "app", "check", bundle, *local_arguments(), *arguments)
            self.assertNotIn("FAIL", checked.stdout)
            grid.start_server()
            archive = grid.add_application(bundle)
            with tarfile.open(archive) as packed:  # all that is executed is in what was signed
                self.assertLessEqual({"bin/gzip", "bin/gleaner-wrap-kernel", "bin/gleaner-wrap-manager", "wrap.json"},
                                     set(packed.getnames()))
                self.assertNotIn(b"wrap]", packed.extractfile("manifest.toml").read())
            grid.add_client("a")
            identity = grid.add_problem("squeeze", "squeeze", *arguments)
            grid.wait_finished(identity)
            results = grid.results(identity)
            self.assertEqual({name: gzip.decompress(data) for name, data in results.items()},
                             {f"{name}.gz": data for name, data in inputs.items()})
            self.assertEqual(results, grid.run_local(bundle, *arguments))
        self.assertEqual(sorted(path.name for path in bundle.iterdir()), ["bin", "manifest.toml"])  # as it was

    def run_squeeze(self, manifest, *arguments):
        return subprocess.run([ADMIN, "run-local", self.squeeze(manifest), "-o", self.directory / "out", *local_arguments(), *arguments],
                              capture_output=True, text=True, timeout=60 * SLOW)

    def test_wrapping_goes_wrong(self):
        (self.directory / "text").write_text("text")
        text = ["--input", f"text={self.directory / 'text'}"]
        for words, arguments, change in (
                ("there is no input", [], lambda m: m),
                ("exited with status 1 at input text", text, lambda m: m.replace('"-9", "-n"', '"-d"')),
                ("bin/bzip2", text, lambda m: m.replace("bin/gzip", "bin/bzip2")),
                ("a path inside the bundle", text, lambda m: m.replace("bin/gzip", "/bin/gzip")),
                ("goes without [kernel]", text, lambda m: m + '[kernel]\nany = "bin/gzip"\n'),
                ("no-such", text + ["--param", "no-such=1"], lambda m: m)):
            done = self.run_squeeze(change(WRAP), *arguments)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(words, done.stderr)
        files = self.run_squeeze(WRAP.replace('"-9", "-n"', '"-c", "{in}"'), *text)
        self.assertEqual(files.returncode, 0, files.stderr)
        self.assertEqual(gzip.decompress((self.directory / "out" / "text.gz").read_bytes()), b"text")


if __name__ == "__main__":
    main()
