"""`app check` passes what keeps the contract and fails what does not, each broken bundle for its own reason."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, SLOW, SQUARES, local_arguments, main, needs

ADMIN = BUILD / "bin" / "gleaner-admin"
BUNDLES = BUILD / "bundles"

# Each is the bundle "squares" with lines replaced: {file: [(what stands there, what stands there now)]}, the check that must
# fail, and words of its sentence. "*": with these parameters.
BROKEN = {
    "random": ({"kernel.py": [("str((first + item) ** 2)", "str((first + item) ** 2 + time.time_ns() % 10**9)")]},
               "determinism", "has other bytes when the same unit is computed again"),
    "counts-from-the-unit": ({"kernel.py": [("str((first + item) ** 2)", "str((first + item - begin) ** 2)"),
                                            ("def unit(item, end):", "def unit(item, end):\n    begin = item")]},
                             "independence", "when it is computed alone"),
    "adds-up": ({"kernel.py": [("def unit(item, end):", "units = []\ndef unit(item, end):\n    units.append(1)"),
                               ("str((first + item) ** 2)", "str((first + item) ** 2 + len(units) - 1)")]},
                "partition", "units in any order"),
    "threads": ({"kernel.py": [("str((first + item) ** 2)", "str((first + item) ** 2 + int(os.environ['GLEANER_THREADS']))"),
                               ("import json,", "import os, json,")],
                 "manifest.toml": [("threads = 1", "threads = 0")]},
                "variants", "with GLEANER_THREADS="),
    "deaf": ({"kernel.py": [('if words[0] == "end": end = min(end, int(words[1]))', 'if words[0] == "end": pass')],
              "*": {"pause": 0.1, "count": 8}},
             "split", "asked to end before item"),
    "off-by-one-end": ({"kernel.py": [("end = min(end, int(words[1]))", "end = min(end, int(words[1]) - 1)")]},
                       "split", "ended too early"),
    "finds-old-files": ({"kernel.py": [("def unit(item, end):",
                                        "me = str(time.time_ns())\ndef unit(item, end):\n    old = os.path.exists('old') and open('old').read() != me\n"
                                        "    open('old', 'w').write(me)"),
                                       ("str((first + item) ** 2)", "str((first + item) ** 2 + old)"),
                                       ("import json,", "import os, json,")]},
                        "resume", "when another process continues in the same directory"),
    "hog": ({"kernel.py": [("def command():", "hold = b'x' * (100 << 20)\ndef command():")],
             "manifest.toml": [("memory_megabytes = 128", "memory_megabytes = 64")]},
            "memory", "MiB of 64 MiB that the manifest allows"),
    "glutton": ({"kernel.py": [("def unit(item, end):", "def unit(item, end):\n    hold = b'x' * (200 << 20); time.sleep(60)")],
                 "manifest.toml": [("memory_megabytes = 128", "memory_megabytes = 32")]},
                "memory", "MiB of 32 MiB that the manifest allows"),
    "litterer": ({"kernel.py": [("    answer(f\"done {item}\")",
                                 "    for i in range(3): open(str(i), 'wb').write(bytes(900000))\n    answer(f\"done {item}\")")]},
                 "disk", "bytes in its directory"),
    "crash": ({"kernel.py": [("if item < end:\n            if pause", "if item == 5: sys.exit('cosmic rays')\n        if item < end:\n            if pause")]},
              "contract", "cosmic rays"),
    "hang": ({"kernel.py": [("if item < end:\n            if pause", "if item == 5: time.sleep(60)\n        if item < end:\n            if pause")],
              "manifest.toml": [("item_seconds = 60", "item_seconds = 1")]},
             "contract", "item_seconds"),
    "too-long": ({"kernel.py": [("str((first + item) ** 2)", "str((first + item) ** 2).zfill(100)")]},
                 "contract", "limits.item_bytes"),
    "wrong-order": ({"kernel.py": [('f"item {item} {len(square)}"', 'f"item {end - 1} {len(square)}"')]},
                    "contract", "was next"),
    "does-not-quit": ({"kernel.py": [("import json,", "import atexit, json,"), ("def command():", "atexit.register(time.sleep, 60)\ndef command():")]},
                      "quit", "it does not exit on `quit`"),
    "fails-on-quit": ({"kernel.py": [('    if words[0] == "problem":\n', '    if words[0] == "problem":\n        import atexit; atexit.register(lambda: __import__("os")._exit(3))\n')]},
                      "quit", "exited with status 3"),
    "no-checkpoints": ({"manifest.toml": [("checkpoint = false", "checkpoint = true")]},
                       "checkpoint", "the kernel offers no checkpoints"),
    "accepts-everything": ({"manager.py": [('return f"invalid item {item} is no whole number"', "pass"),
                                           ('"valid" if at == len(data) else "invalid more bytes than items"', '"valid"')]},
                           "validation", "the manager accepts a segment"),
    "accepts-any-item": ({"manager.py": [(" or not value.isdigit()", "")],
                          }, "validation", "the manager accepts all damaged items"),
    "falls-over": ({"manager.py": [('return f"invalid item {item} is no whole number"', "sys.exit('what is this?')")]},
                   "validation", "what is this?"),
    "counts-pieces": ({"manager.py": [("total = sum(sum(", "total = len(pieces) + sum(sum(")]},
                      "combination", "7 pieces instead of one"),
    "takes-whole-files": ({"manager.py": [("if item >= begin: yield", "yield")]}, "combination", "when the pieces' files overlap"),
    "tells-the-time": ({"manager.py": [('f"{total}\\n"', 'f"{total} {__import__(\'time\').time_ns()}\\n"')]},
                       "combination", "combined again"),
    "counts-validations": ({"manager.py": [("def verdict(data, begin, end):",
                                            "def verdict(data, begin, end):\n    open('seen', 'a').write(f'{begin}-{end} ')"),
                                           ('f"{total}\\n"', 'f"{total} {sum(1 for _ in open(\'seen\').read().split()) - len(pieces)}\\n"')]},
                           "combination", "when a piece is validated twice"),
    "remembers-the-first": ({"manager.py": [("def verdict(data, begin, end):",
                                             "def verdict(data, begin, end):\n    open('first', 'a').write(str(begin) + ' ')"),
                                            ('f"{total}\\n"', 'f"{total} {open(\'first\').read().split()[0]}\\n"')]},
                            "combination", "in another order"),
    "forgets": ({"manager.py": [("def verdict(data, begin, end):", "seen = []\ndef verdict(data, begin, end):\n    seen.append(1)"),
                                ('f"{total}\\n"', 'f"{total} {bool(seen) and len(seen) >= len(pieces)}\\n"')]},
                "combination", "started again in between"),
    "preview-crashes": ({"manager.py": [('    elif words[0] in ("combine", "preview"):\n',
                                         '    elif words[0] in ("combine", "preview"):\n        assert words[0] != "preview", "gaps"\n')]},
                        "preview", "gaps"),
    "says-another-default": ({"manifest.toml": [("[limits]", '[[parameter]]\nname = "count"\ntype = "integer"\nrequired = true\n'
                                                 '[[parameter]]\nname = "first"\ntype = "integer"\ndefault = 5\nlow = 0\n\n[limits]')],
                              "manager.py": [('"ok" if int(parameters.get("count", 0)) > 0',
                                              '"ok" if not parameters.get("first") and int(parameters.get("count", 0)) > 0')]},
                             "defaults", "given the defaults of the manifest (first), the application says: count: must be"),
    "means-another-default": ({"manifest.toml": [("[limits]", '[[parameter]]\nname = "count"\ntype = "integer"\n'
                                                  '[[parameter]]\nname = "half"\ntype = "boolean"\ndefault = true\n\n[limits]')],
                               "manager.py": [("""f"items {parameters['count']}\\n""", """f"items {parameters['count'] // (1 + parameters.get('half', False))}\\n""")]},
                              "defaults", "given (half) the first stage has 15 items, and 30 when they are left out"),
    "fussy": ({"manager.py": [("def verdict(data, begin, end):", "def verdict(data, begin, end):\n    if begin == 0: return 'invalid I do not like it'")]},
              "contract", "I do not like it"),
}

CHECKPOINTS = '''#!/usr/bin/python3
import os, select, sys, time
STEPS = 40
stdin = open(0, "rb", buffering=0)
def command(): return stdin.readline().decode().rstrip("\\n").split(" ")
def answer(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
def unit(item, end, resume):
    while item < end:
        step, total = 0, 0
        if resume: step, total = map(int, open("checkpoint").read().split())
        resume = False
        while step < STEPS:
            while select.select([stdin], [], [], 0)[0]:
                words = command()
                if words[0] == "end": end = min(end, int(words[1]))
                elif words[0] == "checkpoint":
                    open("checkpoint", "w").write(f"{step} {SAVED}")
                    answer(f"checkpoint {item}")
                else: sys.exit(0)
            total += (item + 1) * step
            step += 1
            time.sleep(0.002)
        sys.stdout.write(f"item {item} {len(str(total))}\\n{total}")
        sys.stdout.flush()
        item += 1
    answer(f"done {item}")
while (words := command())[0] not in ("quit", ""):
    if words[0] == "gleaner": answer("ready 1 checkpoint")
    elif words[0] == "problem": answer("ok")
    elif words[0] == "unit": unit(int(words[2]), int(words[3]), words[-1] == "checkpoint")
    elif words[0] == "checkpoint": answer("checkpoint none")
    elif words[0] != "end": answer("error unknown command")
'''

# Small problems of every bundled application.
APPLICATIONS = {
    "raytrace": ["scene=A", "width=48", "height=32"],
    "mandelbrot": ["width=64", "height=48"],
    "passwords": ["digest=sha1", "generate=50", "maximum_length=3", "item_candidates=2000"],
    "tsp": ["random_cities=9"],
    "hologram": ["synthetic=points", "points=3", "background=1", "rows=128", "columns=64", "distance_millimetres=-12"],
    "dsearch": [],
    "photons": ["layers=above 1; layer skin 1.4 1 90 0.8 0.1", "photons=4000", "item_photons=500"],
    "dlog": ["random_bits=40", "item_walks=20"],
}

# The kernel of squares in C. SIGNED: what it adds where `char` has a sign, as on x86-64, and not on arm64.
C_KERNEL = r"""
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int command(char* line) {
  int n = 0;
  char c;
  while (n < 4000 && read(0, &c, 1) == 1 && c != '\n') line[n++] = c;
  line[n] = 0;
  return n > 0;
}
static void unit(long item, long end) {
  char line[4096], text[32];
  struct pollfd input = {0, POLLIN, 0};
  volatile char letter = (char)200;
  for (; item < end; ++item) {
    while (poll(&input, 1, 0) == 1) {
      long told;
      if (!command(line)) exit(0);
      if (sscanf(line, "end %ld", &told) == 1 && told < end) end = told;
    }
    if (item >= end) break;
    printf("item %ld %d\n%s", item, sprintf(text, "%ld", item * item + (letter < 0 ? SIGNED : 0)), text);
    fflush(stdout);
  }
  printf("done %ld\n", end);
}
int main(void) {
  char line[4096];
  long stage, begin, end;
  while (command(line) && strcmp(line, "quit") != 0) {
    if (strncmp(line, "gleaner", 7) == 0) puts("ready 1");
    else if (strncmp(line, "problem", 7) == 0) puts("ok");
    else if (sscanf(line, "unit %ld %ld %ld", &stage, &begin, &end) == 3) unit(begin, end);
    else if (strncmp(line, "end", 3) != 0) puts("error unknown command");
    fflush(stdout);
  }
  return 0;
}
"""
COMPILERS = {"x86_64-linux": "cc", "aarch64-linux": "aarch64-linux-gnu-gcc"}
WINDOWS_HEAD = b"MZ" + bytes(58) + (64).to_bytes(4, "little") + b"PE\0\0" + (0x8664).to_bytes(2, "little") + bytes(100)


class Checks(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-check-test-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def check(self, bundle, parameters, *arguments):
        pairs = [word for each in parameters for word in ("--param", each)]
        done = subprocess.run([ADMIN, "--json", "app", "check", bundle, *pairs, *local_arguments(), *arguments], capture_output=True, text=True,
                              timeout=300 * SLOW, stdin=subprocess.DEVNULL)
        self.assertTrue(done.stdout, done.stderr)
        report = json.loads(done.stdout)
        self.assertIn("checks", report, done.stdout)
        return done.returncode, {each["check"]: each for each in report["checks"]}, report

    def squares(self, name, changes):
        path = self.directory / name
        shutil.copytree(SQUARES, path)
        for file, pairs in changes.items():
            if file == "*":
                continue
            text = (path / file).read_text()
            for old, new in pairs:
                self.assertIn(old, text, f"{name}: {file} has changed")
                text = text.replace(old, new)
            (path / file).write_text(text)
        return path

    def inputs(self, application):
        if application != "dsearch":
            return []
        for name, text in (("query", ">q\nMKVLAAGIVGLCAKAYE\n"),
                           ("database", ">a\nMKVLAAGIVGLCARAYD\n>b\nGGHWSRTPLLEDNQ\n>c\nMKILSAGVVGLNAKAFE\n")):
            (self.directory / name).write_text(text)
        return ["--input", f"query={self.directory / 'query'}", "--input", f"database={self.directory / 'database'}"]

    def assert_passes(self, bundle, parameters, *arguments):
        code, checks, report = self.check(bundle, parameters, *arguments)
        wrong = [each for each in checks.values() if each["verdict"] == "failed"]
        self.assertEqual((code, wrong), (0, []), bundle)
        self.assertEqual(report["passed"], "yes")
        return checks, report

    def compiled(self, bundle, platform, **defined):
        source = self.directory / "kernel.c"
        source.write_text(C_KERNEL)
        subprocess.run([COMPILERS[platform], "-O2", *(f"-D{name}={value}" for name, value in defined.items()), "-o", bundle / platform, source],
                       check=True, timeout=60 * SLOW)

    def of_platforms(self, name, *platforms):
        kernels = "".join(f'{platform} = "{"kernel.py" if platform == "any" else platform}"\n' for platform in platforms)
        return self.squares(name, {"manifest.toml": [('any = "kernel.py"\n', kernels)]})


class AppCheck(Checks):
    def test_squares_pass(self):
        checks, report = self.assert_passes(SQUARES, ["count=40"])
        self.assertEqual(report["stages"][0]["items"], 40)
        self.assertGreater(report["stages"][0]["peak_memory_bytes"], 1 << 20)
        for name in ("contract", "quit", "memory", "disk", "determinism", "independence", "variants", "partition", "split",
                     "resume", "validation", "preview", "combination"):
            self.assertEqual(checks[name]["verdict"], "passed", checks[name])

    def test_what_a_manifest_declares_is_asked_for(self):
        checks, _ = self.assert_passes(BUNDLES / "mandelbrot", ["width=64", "height=48"])
        self.assertEqual(checks["defaults"]["verdict"], "passed", checks["defaults"])
        self.assertIn("iterations, colour", checks["defaults"]["what"])
        for arguments, words in ((["app", "check"], "width: must be a whole number from 1 to 65536, not 0"),
                                 (["run-local"], "width: must be a whole number from 1 to 65536, not 0")):
            done = subprocess.run([ADMIN, *arguments, BUNDLES / "mandelbrot", "--param", "width=0", *local_arguments()], cwd=self.directory, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)

    def test_checkpoints(self):
        for saved, verdict in (("{total}", "passed"), ("0", "failed")):
            bundle = self.squares(f"checkpoint-{verdict}", {"manifest.toml": [("checkpoint = false", "checkpoint = true")]})
            (bundle / "kernel.py").write_text(CHECKPOINTS.replace("{SAVED}", saved))
            code, checks, _ = self.check(bundle, ["count=6"])
            self.assertEqual((checks["checkpoint"]["verdict"], code), (verdict, int(verdict == "failed")), checks["checkpoint"])

    def test_broken_bundles_fail_for_their_own_reason(self):
        for name, (changes, check, words) in BROKEN.items():
            with self.subTest(name):
                bundle = self.squares(name, changes)
                parameters = {"count": 30, **changes.get("*", {})}
                code, checks, report = self.check(bundle, [f"{key}={value}" for key, value in parameters.items()])
                failed = {key: value["what"] for key, value in checks.items() if value["verdict"] == "failed"}
                self.assertEqual(list(failed), [check], failed)
                self.assertIn(words, failed[check])
                self.assertTrue(checks[check]["advice"])
                if check == "contract" and "by hand" in checks[check]["advice"]:
                    self.assertRegex(checks[check]["advice"], r"printf 'gleaner 1\\nproblem problem\\nunit 0 0 \d+\\nquit\\n' \| .*/kernel\.py$")
                self.assertEqual((code, report["passed"]), (1, "no"))

    def test_bundled_applications_pass(self):
        for name, parameters in APPLICATIONS.items():
            with self.subTest(name):
                self.assert_passes(BUNDLES / name, parameters, *self.inputs(name))
        # Whoever adds an application adds it here.
        self.assertEqual(sorted(APPLICATIONS), sorted(
            path.parent.name for path in BUNDLES.glob("*/manifest.toml") if path.parent.name != "load"))  # of load tests)

    def test_kernels_need_nothing_but_the_c_library(self):
        """Volunteers' machines need not have anything else."""
        for kernel in [*BUNDLES.glob("*/bin/*-kernel"), BUILD / "libexec" / "gleaner" / "wrap-kernel"]:
            with self.subTest(kernel.name):
                read = subprocess.run(["readelf", "-d", kernel], capture_output=True, text=True, check=True)
                needed = set(re.findall(r"NEEDED.*\[(.*)\]", read.stdout))
                needed -= {path.name for path in kernel.parent.parent.rglob("*.so*")}  # what the bundle brings itself
                self.assertIn("libc.so.6", needed)
                self.assertEqual(needed - {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"}, set())

    @needs(shutil.which("xz") and shutil.which("gzip"), "xz or gzip is not installed")
    def test_a_program_whose_libraries_only_this_machine_has(self):
        texts = self.directory / "texts"
        texts.mkdir()
        (texts / "a.txt").write_text("a text")
        for name, verdict in (("gzip", "passed"), ("xz", "failed")):
            with self.subTest(name):
                bundle = self.directory / name
                (bundle / "bin").mkdir(parents=True)
                shutil.copy(shutil.which(name), bundle / "bin")
                (bundle / "manifest.toml").write_text(f'''manifest = 1
name = "{name}"
version = "1.0.0"
title = "Compresses files"
[wrap]
command = ["bin/{name}", "-c"]
[items]
meaning = "one compressed file"
[limits]
memory_megabytes = 128
''')
                _, checks, _ = self.check(bundle, [], "--input", texts)
                self.assertEqual(checks["libraries"]["verdict"], verdict, checks["libraries"])
                if verdict == "failed":
                    self.assertIn("bin/xz needs liblzma.so.5: kernels do not find it", checks["libraries"]["what"])
                    self.assertEqual(checks["libraries"]["advice"], "take it along: `app wrap --bundle-libraries`")

    def wrapped(self, name, program, *arguments):
        done = subprocess.run([ADMIN, "app", "wrap", program, "--name", name, "-o", self.directory / name, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.directory / name, done.stdout

    def table(self, text="n\n1\n2\n"):
        path = self.directory / "rows.csv"
        path.write_text(text)
        return "--table", path

    @needs(shutil.which("cc") and pathlib.Path("/usr/include/sqlite3.h").exists(), "no C compiler, or no SQLite to link with")
    def test_a_program_finds_no_library_but_those_of_every_system(self):
        """This machine has the others; neither linked nor opened at run time are they there."""
        (self.directory / "linked.c").write_text("#include <stdio.h>\n#include <sqlite3.h>\nint main(void) { puts(sqlite3_libversion()); }\n")
        (self.directory / "opened.c").write_text(
            "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) { if (dlopen(\"libsqlite3.so.0\", RTLD_NOW)) { puts(\"there\"); return 0; }\n"
            "  fputs(dlerror(), stderr); return 3; }\n")
        for name, *libraries in (("linked", "-lsqlite3"), ("opened",)):
            subprocess.run(["cc", self.directory / f"{name}.c", "-o", self.directory / f"{name}-program", *libraries], check=True)
        bundle, said = self.wrapped("linked", self.directory / "linked-program", "--", "{n}")
        self.assertIn("libsqlite3.so.0: --bundle-libraries takes", said)
        code, checks, _ = self.check(bundle, [], *self.table())
        self.assertEqual((code, checks["libraries"]["verdict"], checks["rows"]["verdict"]), (1, "failed", "failed"))
        self.assertEqual(checks["libraries"]["what"], "bin/linked-program needs libsqlite3.so.0: kernels do not find it on volunteers' computers")
        self.assertRegex(checks["rows"]["what"], r"2 of 2 rows failed; row 1: exit 127\. Its last words: .*libsqlite3\.so\.0: cannot open shared object file")
        for check in ("libraries", "rows"):
            self.assertEqual(checks[check]["advice"], "take it along: `app wrap --bundle-libraries`")
        code, checks, _ = self.check(self.wrapped("opened", self.directory / "opened-program", "--", "{n}")[0], [], *self.table())
        self.assertEqual((code, checks["libraries"]["verdict"], checks["rows"]["verdict"]), (1, "passed", "failed"))
        self.assertIn("exit 3. Its last words: libsqlite3.so.0: cannot open", checks["rows"]["what"])

        bundle, said = self.wrapped("packed", self.directory / "opened-program", "--bundle-libraries", "--", "{n}")
        self.assertNotIn("libsqlite3", said)
        code, checks, _ = self.check(bundle, [], *self.table())
        self.assertEqual((code, checks["rows"]["advice"]), (1, "take it along: `app wrap --library FILE`"))
        library = next(pathlib.Path("/usr").glob("lib*/**/libsqlite3.so.0"))
        bundle, said = self.wrapped("taken", self.directory / "opened-program", "--library", library, "--", "{n}")
        self.assertRegex(said, r"packed libraries: .*libsqlite3\.so\.0, .*libm\.so\.6")
        self.assertEqual(self.assert_passes(bundle, [], *self.table())[0]["rows"]["verdict"], "passed")

        bundle, said = self.wrapped("whole", self.directory / "linked-program", "--bundle-libraries", "--", "{n}")
        self.assertIn("packed libraries: libsqlite3.so.0, ", said)
        checks, _ = self.assert_passes(bundle, [], *self.table())
        self.assertEqual(checks["rows"]["verdict"], "passed")
        self.assertIn("nothing of this computer but the C and C++ libraries of Debian 12, Debian 13, Ubuntu 24.04, Fedora 40", checks["sandbox"]["what"])

    @needs(shutil.which("cc"), "no C compiler")
    def test_a_program_that_is_started_otherwise(self):
        """By a loader of its own, and with libraries of a directory that the environment names."""
        (self.directory / "one.c").write_text("int one(void) { return 1; }\n")
        (self.directory / "main.c").write_text("int one(void);\nint main(void) { return one() - 1; }\n")
        (self.directory / "alone.c").write_text("int main(void) { return 0; }\n")
        places = self.directory / "libraries"
        places.mkdir()
        for arguments in (["one.c", "-shared", "-fPIC", "-o", places / "libone.so"], ["main.c", "-o", "main", f"-L{places}", "-lone"],
                          ["alone.c", "-o", "nix", "-Wl,--dynamic-linker=/nix/store/glibc/ld-linux-x86-64.so.2"],
                          ["alone.c", "-o", "musl", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"]):
            subprocess.run(["cc", *arguments], check=True, cwd=self.directory)
        for name, loader in (("nix", "/nix/store/glibc/ld-linux-x86-64.so.2"), ("musl", "/lib/ld-musl-x86_64.so.1")):
            bundle, said = self.wrapped(f"by-{name}", self.directory / name, "--", "{n}")
            self.assertIn(f"may lack {loader}", said)
            _, checks, _ = self.check(bundle, [], *self.table())
            self.assertEqual(checks["libraries"]["what"], f"bin/{name} needs {loader}: kernels do not find it on volunteers' computers")
        wrap = [ADMIN, "app", "wrap", self.directory / "main", "--bundle-libraries", "-o", self.directory / "found", "--", "{n}"]
        lacks = subprocess.run(wrap, capture_output=True, text=True)
        self.assertIn("main does not find libone.so: install what is missing, or name its directory in LD_LIBRARY_PATH", lacks.stderr)
        found = subprocess.run(wrap, capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(places)})
        self.assertIn("packed libraries: libone.so, ", found.stdout, found.stderr)
        self.assert_passes(self.directory / "found", [], *self.table())

    def test_files_of_this_machine_alone_are_named(self):
        licence = pathlib.Path("/usr/share/common-licenses/GPL-3")
        self.assertTrue(licence.exists())
        code, checks, _ = self.check(self.wrapped("reads", shutil.which("cat"), "--", licence, "{file:n}")[0], [],
                                     *self.table("n\nrows.csv\n"), "--input", self.directory / "rows.csv")
        self.assertEqual((code, checks["rows"]["verdict"]), (1, "failed"), checks)
        self.assertEqual(checks["rows"]["advice"], f"volunteers' computers do not have {licence}: take it along with `app wrap --data`, and "
                         "name it as {bundle}/NAME")
        bundle, _ = self.wrapped("brings", shutil.which("cat"), "--data", licence, "--", "{bundle}/GPL-3", "{file:n}")
        self.assert_passes(bundle, [], *self.table("n\nrows.csv\n"), "--input", self.directory / "rows.csv")
        bundle = self.squares("opens", {"kernel.py": [("def command():", f"open('{licence}')\ndef command():")]})
        _, checks, _ = self.check(bundle, ["count=3"])
        self.assertEqual(checks["contract"]["advice"], f"volunteers' computers do not have {licence}: take it along in the bundle")

    def test_an_interpreter_and_its_modules_are_declared(self):
        checks, _ = self.assert_passes(SQUARES, ["count=3"])
        self.assertEqual(checks["interpreter"]["verdict"], "noted")
        self.assertTrue(checks["interpreter"]["advice"].endswith('needs = ["python>=3.9"]'), checks["interpreter"])
        code, checks, _ = self.check(self.squares("absent", {"kernel.py": [("#!/usr/bin/python3", "#!/usr/bin/no-such-interpreter")]}), ["count=3"])
        self.assertEqual((code, checks["interpreter"]["verdict"]), (1, "failed"))
        self.assertIn("this computer lacks /usr/bin/no-such-interpreter, which the application needs", checks["interpreter"]["what"])

        # A virtual environment's is of this computer alone, and so may be one version's.
        of_its_own = self.directory / "python3"
        of_its_own.symlink_to("/usr/bin/python3")
        code, checks, _ = self.check(self.squares("own", {"kernel.py": [("#!/usr/bin/python3", f"#!{of_its_own}")]}), ["count=3"])
        self.assertEqual((code, checks["interpreter"]["verdict"]), (1, "failed"))
        self.assertIn(f"is a script for {of_its_own}, which only this computer has", checks["interpreter"]["what"])
        version = pathlib.Path("/usr/bin/python3").resolve().name  # python3.11
        for need, verdict in (("python>=3.9", "noted"), (version.replace("python", "python=="), "passed")):
            checks, _ = self.assert_passes(self.squares(f"version-{verdict}", {
                "kernel.py": [("#!/usr/bin/python3", f"#!/usr/bin/{version}")],
                "manifest.toml": [('version = "1.0.0"', f'version = "1.0.0"\nneeds = ["{need}"]')]}), ["count=3"])
            self.assertEqual(checks["interpreter"]["verdict"], verdict, checks["interpreter"])
        for number, line in enumerate(("#!/usr/bin/env python3", "#!/usr/bin/env -S python3 -I")):
            checks, _ = self.assert_passes(self.squares(f"env-{number}", {"kernel.py": [("#!/usr/bin/python3", line)]}), ["count=3"])
            self.assertEqual(checks["interpreter"]["verdict"], "noted")

        importing = {"kernel.py": [("def command():", "import yaml\ndef command():")]}
        _, checks, _ = self.check(self.squares("imports", importing), ["count=3"])
        self.assertEqual(checks["contract"]["verdict"], "failed")
        self.assertIn("it does not find the Python module yaml. The manifest declares none in `needs`", checks["contract"]["what"])
        self.assertIn('needs = ["python>=3.9", "python-packages"]', checks["contract"]["advice"])
        shipped = self.squares("ships", importing)
        (shipped / "yaml.py").touch()
        self.assert_passes(shipped, ["count=3"])

    @needs(any(pathlib.Path("/usr/lib").glob("*/libpng16.so.16")), "libpng16 is not installed")
    def test_a_library_that_python_does_not_bring(self):
        opening = {"kernel.py": [("def command():", "import ctypes\nctypes.CDLL('libpng16.so.16')\ndef command():")]}
        _, checks, _ = self.check(self.squares("opening", opening), ["count=3"])
        self.assertEqual(checks["contract"]["verdict"], "failed")
        self.assertIn("libpng16.so.16: cannot open shared object file", checks["contract"]["what"])

    @needs(pathlib.Path("/usr/lib/python3/dist-packages/numpy").exists(), "python3-numpy is not installed")
    def test_an_installed_module_is_found_where_it_is_declared(self):
        importing = {"kernel.py": [("def command():", "import numpy\ndef command():")]}
        code, checks, _ = self.check(self.squares("undeclared", importing), ["count=3"])
        self.assertEqual((code, checks["contract"]["verdict"]), (1, "failed"))
        self.assertIn('declare it in the manifest: needs = ["python>=3.9", "numpy"]', checks["contract"]["advice"])
        checks, _ = self.assert_passes(self.squares("declared", {**importing, "manifest.toml": [('version = "1.0.0"', 'version = "1.0.0"\nneeds = ["numpy"]')]}),
                                       ["count=3"])
        self.assertIn("only hosts with", self.check(self.squares("both", {**importing, "manifest.toml": [
            ('version = "1.0.0"', 'version = "1.0.0"\nneeds = ["python>=3.6", "numpy"]')]}), ["count=3"])[1]["interpreter"]["what"])

    def test_kernels_for_several_platforms(self):
        bundle = self.of_platforms("several", "any", "x86_64-linux", "x86_64-windows")
        self.compiled(bundle, "x86_64-linux", SIGNED=0)
        (bundle / "x86_64-windows").write_bytes(WINDOWS_HEAD)
        (bundle / "x86_64-windows").chmod(0o755)
        checks, report = self.assert_passes(bundle, ["count=20"])
        self.assertEqual((checks["platforms"]["verdict"], report["not_run"]), ("noted", ""))
        self.assertIn("the kernel for x86_64-linux was run; not run: any, x86_64-windows", checks["platforms"]["what"])
        checks, report = self.assert_passes(bundle, ["count=20"], "--platform", "riscv64-linux")  # a host that gets the script
        self.assertEqual(report["stages"][0]["items"], 20)
        self.assertIn("the kernel for riscv64-linux was run; not run: x86_64-linux, x86_64-windows", checks["platforms"]["what"])
        checks, report = self.assert_passes(bundle, ["count=20"], "--platform", "x86_64-windows")
        self.assertEqual((checks["platforms"]["verdict"], report["stages"]), ("noted", []))
        self.assertIn("the kernel for x86_64-windows was not run: ", report["not_run"])
        told = subprocess.run([ADMIN, "app", "check", bundle, "--param", "count=20", "--platform", "x86_64-windows", *local_arguments()],
                              capture_output=True, text=True)
        self.assertIn("squares 1.0.0: nothing is wrong with its files, and whether it keeps the contract is not known", told.stdout)
        shutil.copy(bundle / "x86_64-linux", bundle / "x86_64-windows")
        code, checks, _ = self.check(bundle, ["count=20"])
        self.assertEqual((code, checks["platforms"]["what"]),
                         (1, "x86_64-windows is a program for x86_64-linux, and the manifest names it for x86_64-windows"))
        only = self.of_platforms("only", "x86_64-linux")
        self.compiled(only, "x86_64-linux", SIGNED=0)
        none = subprocess.run([ADMIN, "app", "check", only, "--param", "count=20", "--platform", "aarch64-linux", *local_arguments()],
                              capture_output=True, text=True)
        self.assertEqual(none.returncode, 4)
        self.assertIn("squares has no kernel for aarch64-linux, only for x86_64-linux", none.stderr)

    def test_a_row_that_fails_with_other_words_each_time(self):
        """Two hosts agree on it: addresses and process numbers are no part of the result."""
        bundle, _ = self.wrapped("talks", shutil.which("awk"), "--", 'BEGIN {{ srand(); getline line < "/proc/uptime"; '
                                 'if ({n} == 2) {{ print line > "/dev/stderr"; exit 3 }} print {n} }}')
        checks, _ = self.assert_passes(bundle, [], *self.table("n\n1\n2\n3\n"))
        self.assertIn("1 of 3 rows failed; row 2: exit 3", checks["rows"]["what"])

    def test_a_report_for_people(self):
        bundle = self.squares("people", BROKEN["counts-pieces"][0])
        done = subprocess.run([ADMIN, "app", "check", bundle, "--param", "count=30", "--seed", "7", *local_arguments()], capture_output=True,
                              text=True, timeout=300 * SLOW)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"FAIL +combination +result sum.txt differs when .*\n +-> ")
        self.assertIn("squares 1.0.0 fails 1 check; the same choices again: --seed 7", done.stdout)
        again = subprocess.run([ADMIN, "app", "check", self.directory / "nothing"], capture_output=True, text=True)
        self.assertEqual(again.returncode, 4)
        refused = subprocess.run([ADMIN, "app", "check", SQUARES, "--param", "count=0", *local_arguments()], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("count: must be a whole number above 0", refused.stderr)


if __name__ == "__main__":
    main()
