"""A program that somebody has already, with its libraries, over the rows of a table: written by `app wrap`, computed by confined
clients that have none of those libraries, with failed rows as rows; and a table of a million rows."""
import contextlib
import csv
import gzip
import io
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

from computers import hidden, may_unshare
from harness import BUILD, SLOW, SOURCE, Grid, local_arguments, main, needs
from tree import Tree
from wrapping import without_origin, wrapped

ADMIN = BUILD / "bin" / "gleaner-admin"
ROWS = 200
PLOT = ("set terminal svg size 300,200; set output '{out.svg}'; set title '{label}'; load '{file:style}'; plot sin({a}*x)+{b}; "
        "set print '{out.txt}'; print sprintf('middle %.6f', sin({a})+{b})")


class Tables(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="gleaner-table-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def wrap(self, *arguments):
        return subprocess.run([ADMIN, "app", "wrap", *arguments], cwd=self.directory, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)

    def write(self, name, text):
        (self.directory / name).write_text(text)
        return self.directory / name

    def test_a_program_with_its_libraries_over_a_table(self):
        made = self.wrap("gnuplot", "--bundle-libraries", "--number", "middle=^middle (.*)", "-o", "plots", "--", "-e", PLOT)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("libcairo.so.2", made.stdout)
        libraries = list((self.directory / "plots" / "lib").iterdir())
        self.assertGreater(len(libraries), 30)
        self.assertTrue((self.directory / "plots" / "licences" / "libc6").read_text())
        style = self.write("style.gp", "set key off\n")
        rows = [(i, i / 10, f"row, {i}", "style.gp") for i in range(1, ROWS + 1)]
        rows[17] = (18, "bad(", "x", "style.gp")
        text = io.StringIO()
        csv.writer(text).writerows([("a", "b", "label", "style"), *rows])
        table = self.write("runs.csv", text.getvalue())
        arguments = ["--table", table, "--input", style]
        with Grid() as grid:
            grid.start_server()
            grid.add_application(self.directory / "plots")
            # What the clients' own programs need is on every computer.
            there = [pathlib.Path("/usr/lib/x86_64-linux-gnu") / each.name for each in libraries if each.name.startswith(
                ("libcairo", "libpango", "libgd", "libfontconfig", "libfreetype", "libharfbuzz", "libglib", "liblua", "libjpeg", "libtiff", "libwebp"))]
            self.assertGreater(sum(each.exists() for each in there), 8)
            for name in ("a", "b"):
                grid.join(name)
                grid.start_client(name, before=hidden(*there) if may_unshare() else ())
            identity = grid.add_problem("gnuplot", "plots", *arguments)
            grid.wait_finished(identity)
            results = grid.results(identity)
            local = grid.run_local(self.directory / "plots", *arguments)
            alone = grid.admin("problem", "result", identity, "--row", "7,18", "--row", ROWS, "-o", self.directory / "alone").stdout
            beyond = grid.admin("problem", "result", identity, "--row", f"1-{ROWS + 1}", check=False)
            self.assertEqual(beyond.returncode, 4)
            self.assertIn(f"there is no row {ROWS + 1}: the table has {ROWS} rows", beyond.stderr)
            self.assertEqual(results["rows.tar"], local["rows.tar"])
        self.assertEqual(without_origin(results["table.csv"]), without_origin(local["table.csv"]))
        found = list(csv.DictReader(io.StringIO(results["table.csv"].decode())))
        self.assertEqual([row["row"] for row in found], [str(i) for i in range(1, ROWS + 1)])
        self.assertEqual([row["label"] for row in found], [row[2] for row in rows])
        self.assertEqual([row["row"] for row in found if row["status"] != "ok"], ["18"])
        self.assertEqual((found[17]["status"], found[17]["middle"]), ("exit 1", ""))
        self.assertEqual(found[0]["middle"], "0.941471")
        self.assertEqual({row["host"] for row in found}, {"a", "b"})
        self.assertTrue(all(0 < float(row["seconds"]) < 60 * SLOW for row in found), found[0])
        with tarfile.open(fileobj=io.BytesIO(results["rows.tar"])) as archive:
            self.assertEqual(len(archive.getnames()), 2 * (ROWS - 1) + 1)
            self.assertIn(b"row, 7", archive.extractfile("000007/out.svg").read())
            self.assertIn(b"invalid expression", archive.extractfile("000018/error.txt").read())
            names = ["000007/out.svg", "000007/out.txt", "000018/error.txt", f"{ROWS:06}/out.svg", f"{ROWS:06}/out.txt"]
            self.assertEqual(alone.split(), [str(self.directory / "alone" / name) for name in names])
            for name in names:
                self.assertEqual((self.directory / "alone" / name).read_bytes(), archive.extractfile(name).read())

    def test_failed_rows_run_again(self):
        made = self.wrap("awk", "--name", "later", "--number", "sum=^sum (.*)", "--",
                         'BEGIN {{ if (systime() < {after}) {{ print "too early" > "/dev/stderr"; exit 3 }} print "sum " {x} + 1 }}')
        self.assertEqual(made.returncode, 0, made.stderr)
        with Grid() as grid:
            grid.start_server()
            grid.add_application(self.directory / "later")
            grid.add_client("a")
            for patience in (10, 60, 300):  # until it succeeds; a busy machine may be later than that
                after = int(time.time()) + patience
                table = self.write("runs.csv", "x,after\n" + "".join(f"{x},{after if x in (3, 5) else 0}\n" for x in range(1, 7)))
                identity = grid.add_problem("later", f"later-{patience}", "--table", table)
                grid.wait_finished(identity, timeout=120 * SLOW)
                first = grid.results(identity)
                before = list(csv.DictReader(io.StringIO(first["table.csv"].decode())))
                if "exit 3" in [row["status"] for row in before]:
                    break
            self.assertEqual([row["status"] for row in before], ["ok", "ok", "exit 3", "ok", "exit 3", "ok"])
            for verb in ("show", "watch"):
                self.assertIn(f"2 of 6 rows failed: gleaner-admin problem retry {identity} --failed\n", grid.admin("problem", verb, identity).stdout)
            while time.time() <= after:
                time.sleep(0.1)
            self.assertIn("is running", grid.admin("problem", "retry", identity, "--failed").stdout)
            info = grid.wait_finished(identity, timeout=120 * SLOW)
            self.assertEqual(info["accepted"], 6)
            grid.admin("problem", "result", identity, "-o", self.directory / "again")
            again = list(csv.DictReader(io.StringIO((self.directory / "again" / "table.csv").read_text())))
            self.assertEqual([(row["status"], row["sum"]) for row in again], [("ok", str(x + 1)) for x in range(1, 7)])
            self.assertEqual([row for row in again if row["x"] not in "35"], [row for row in before if row["x"] not in "35"])
            rejected = [each for each in grid.admin_json("problem", "decisions", identity)["items"] if each["kind"] == "reject"]
            self.assertEqual(sorted(each["range"]["begin"] for each in rejected), [2, 4])
            self.assertIn("problem retry-failed", grid.admin("audit", "list").stdout)
            refused = grid.admin("problem", "retry", identity, "--failed", check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("has no failed items", refused.stderr)

    def test_rows_are_appended(self):
        with Grid() as grid:
            grid.start_server()
            grid.add_client("a")
            self.append_rows(grid)

    def test_rows_are_appended_while_a_relay_leases(self):
        with Tree("work.heartbeat_seconds = 1\nwork.commit_seconds = 1") as grid:
            grid.start_server()
            grid.add_relay("lab")
            grid.join("a", code=grid.relay_code("lab"))
            grid.start_client("a")
            self.append_rows(grid)

    def append_rows(self, grid):
        made = self.wrap("awk", "--name", "sum", "--number", "sum=^sum (.*)", "--", "-f", "{file:program}", "x={x}", "/dev/null")
        self.assertEqual(made.returncode, 0, made.stderr)
        for name, more in (("one.awk", 1), ("two.awk", 2)):
            self.write(name, f'END {{ while (i++ < 1000000) s += i; print "sum", x + {more} }}')
        rows = [(x, "one.awk") for x in range(40)]
        first = self.write("runs.csv", "x,program\n" + "".join(f"{x},{program}\n" for x, program in rows))
        grid.add_application(self.directory / "sum")
        identity = grid.add_problem("sum", "sums", "--table", first, "--input", self.directory / "one.awk")
        grid.wait_until("some rows are done", lambda: grid.problem(identity)["accepted"] > 0, 60 * SLOW)
        for begin, program in ((40, "two.awk"), (50, "one.awk")):  # of a running problem, and of a finished one
            new = [(x, program) for x in range(begin, begin + 10)]
            more = self.write("more.csv", "x,program\n" + "".join(f"{x},{program}\n" for x, program in new))
            told = grid.admin("problem", "append", identity, "--table", more, "--input", self.directory / program).stdout
            rows += new
            self.assertIn(f"has 10 more rows: {len(rows)} in all", told)
            self.assertEqual(grid.problem(identity)["items"], len(rows))
            grid.wait_finished(identity, timeout=120 * SLOW)
            target = self.directory / f"result-{begin}"
            grid.admin("problem", "result", identity, "-o", target)
            found = list(csv.DictReader(io.StringIO((target / "table.csv").read_text())))
            self.assertEqual([row["row"] for row in found], [str(i + 1) for i in range(len(rows))])
            self.assertEqual([row["sum"] for row in found], [str(x + (1 if program == "one.awk" else 2)) for x, program in rows])
        for words, text in (("its columns are y, program, and those of the rows before are x, program", "y,program\n1,one.awk\n"),
                            ("names the file \"three.awk\", which is none of the inputs", "x,program\n1,three.awk\n")):
            refused = grid.admin("problem", "append", identity, "--table", self.write("bad.csv", text), check=False)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn(words, refused.stderr)
        self.assertEqual(grid.problem(identity)["state"], "finished")
        self.assertIn("problem append", grid.admin("audit", "list").stdout)

    def test_from_python(self):
        sys.path.insert(0, str(SOURCE / "tools" / "python"))
        import gleaner

        made = self.wrap("awk", "--name", "sum", "--number", "sum=^sum (.*)", "--", "-f", "{file:program}", "x={x}", "y={y}", "/dev/null")
        self.assertEqual(made.returncode, 0, made.stderr)
        (self.directory / "programs").mkdir()
        self.write("programs/add.awk", 'END { if (x == 3) exit 3; print "sum", x + y }')
        with Grid() as grid:
            grid.start_server()
            grid.add_application(self.directory / "sum")
            grid.add_client("a")
            project = gleaner.connect(grid.project / "admin")
            table = project.table("sum", [{"x": x, "y": 10 * x, "program": "add.awk"} for x in range(1, 6)],
                                  inputs=self.directory / "programs")
            table.wait(timeout=120 * SLOW)
            self.assertEqual([row["sum"] for row in table.rows()], ["11", "22", "", "44", "55"])
            self.assertEqual([(row["row"], row["status"]) for row in table.failed()], [("3", "exit 3")])
            self.assertEqual(table.files()[2], {"out.txt": b"sum 22\n"})
            self.assertEqual(table.files()[3], {"error.txt": b""})
            self.assertEqual([table.row(row) for row in range(1, 6)], [table.files()[row] for row in range(1, 6)])
            self.assertEqual([path.read_bytes() for path in table.row(2, self.directory / "alone")], [b"sum 22\n"])
            with self.assertRaisesRegex(IndexError, "no row 6: the table has 5 rows"):
                table.row(6)
            self.assertEqual({row["host"] for row in table.rows()}, {"a"})
            grid.add_application(wrapped(grid, "squeeze", "gzip", "--suffix", ".gz", "--", "-9", "-n"))
            result = table.result("table.csv")
            packed = project.problem("squeeze", inputs={"sums.csv": result, "notes.txt": "notes"}).wait(timeout=120 * SLOW).results()
            self.assertEqual((gzip.decompress(packed["sums.csv.gz"]), gzip.decompress(packed["notes.txt.gz"])), (result.read(), b"notes"))
            with self.assertRaisesRegex(gleaner.GridError, "has no result none, only table.csv, rows.tar"):
                project.problem("squeeze", inputs={"x": table.result("none")})
            table.retry_failed()
            table.wait(timeout=120 * SLOW)
            self.assertEqual([row["row"] for row in table.failed()], ["3"])
            table.append([{"x": 7, "y": 1, "program": "add.awk"}])
            table.wait(timeout=120 * SLOW)
            self.assertEqual([row["sum"] for row in table.rows()], ["11", "22", "", "44", "55", "8"])
            with self.assertRaisesRegex(gleaner.GridError, "no such column"):
                project.table("sum", [{"z": 1}])
            with self.assertRaisesRegex(gleaner.GridError, "no rows"):
                project.table("sum", [])

    def test_a_date_in_the_output_is_noticed_and_ignored(self):
        table = self.write("runs.csv", "x\n1\n2\n")
        check = [ADMIN, "app", "check", "dated", "--table", table, *local_arguments()]
        made = self.wrap("date", "--name", "dated", "--", "+# Date: %s%n{x}")
        self.assertEqual(made.returncode, 0, made.stderr)
        done = subprocess.run(check, cwd=self.directory, capture_output=True, text=True, timeout=300 * SLOW)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r'FAIL +determinism .*from byte \d+ of its output on: "# Date: \d+\\x0a1.*" and "# Date: \d+')
        self.assertIn('add ignore = ["lines=^# Date: "] to [wrap] of the manifest', done.stdout)
        shutil.rmtree(self.directory / "dated")
        made = self.wrap("date", "--name", "dated", "--ignore", "lines=^# Date: ", "--number", "y=(.*)", "--", "+# Date: %s%n{x}")
        self.assertEqual(made.returncode, 0, made.stderr)
        done = subprocess.run(check, cwd=self.directory, capture_output=True, text=True, timeout=300 * SLOW)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"numbers +each is found in all rows")
        with Grid() as grid:
            grid.start_server()
            grid.add_application(self.directory / "dated")
            grid.add_client("a")
            grid.add_client("b")
            identity = grid.add_problem("dated", "dated", "--table", table, "--validation", "quorum:2")
            grid.wait_finished(identity)
            self.assertEqual(grid.problem(identity)["disagreements"], 0)
            results = grid.results(identity)
        self.assertRegex(results["table.csv"].decode(), r"\Arow,x,y,status,seconds,host\n1,1,1,ok,[0-9.]+,\w\n2,2,2,ok,[0-9.]+,\w\n\Z")

    def test_numbers_are_not_proposed_to_be_ignored_and_missing_ones_are_noted(self):
        table = self.write("runs.csv", "x\n1\n2\n")
        made = self.wrap("awk", "--name", "unsteady", "--number", "took=^took (.*)", "--number", "lost=^energy (.*)", "--",
                         'BEGIN {{ print "took", systime() + {x} }}')
        self.assertEqual(made.returncode, 0, made.stderr)
        done = subprocess.run([ADMIN, "app", "check", "unsteady", "--table", table, *local_arguments()], cwd=self.directory,
                              capture_output=True, text=True, timeout=300 * SLOW)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, "FAIL +determinism")
        self.assertNotIn("ignore = [", done.stdout)
        self.assertRegex(done.stdout, r"note +numbers +lost is found in none of 2 rows")

    def test_the_author_decides_which_results_are_equal(self):
        """Numbers whose last digits differ each time: by bytes no two hosts would ever agree."""
        compare = self.write("close", """#!/usr/bin/env python3
import sys
one, other = (float(open(file).read()) for file in sys.argv[1:])
if abs(one - other) > 1e-3:
    print(f"{one} is not {other}")
    sys.exit(1)
""")
        compare.chmod(0o755)
        table = self.write("runs.csv", "x\n1\n2\n3\n")
        program = 'BEGIN {{ srand(); printf "%.9f\\n", {x} + 1e-6 * systime() % 1e-4 }}'
        check = [ADMIN, "app", "check", "close-enough", "--table", table, *local_arguments()]
        for arguments, code in ((["--compare", compare], 0), ([], 1)):
            shutil.rmtree(self.directory / "close-enough", ignore_errors=True)
            made = self.wrap("awk", "--name", "close-enough", *arguments, "--number", "y=(.*)", "--", program)
            self.assertEqual(made.returncode, 0, made.stderr)
            done = subprocess.run(check, cwd=self.directory, capture_output=True, text=True, timeout=300 * SLOW)
            self.assertEqual(done.returncode, code, done.stdout)
            if not code:
                self.assertRegex(done.stdout, "compare +close sees that an altered output differs")
        self.assertRegex(done.stdout, "FAIL +determinism")
        broken = self.write("broken", "#!/bin/sh\nexit 0\n")
        broken.chmod(0o755)
        for text, words in (("exit 0", "note +compare +broken says that the output of row 1 is equal to one with other digits"),
                            ("echo no such module; exit 2", "note +compare +given an altered output, broken exited with status 2: no such module")):
            broken.write_text(f"#!/bin/sh\n{text}\n")
            shutil.rmtree(self.directory / "same", ignore_errors=True)
            made = self.wrap("awk", "--name", "same", "--compare", broken, "--", "BEGIN {{ print {x} }}")
            self.assertEqual(made.returncode, 0, made.stderr)
            done = subprocess.run([ADMIN, "app", "check", "same", "--table", table, *local_arguments()], cwd=self.directory,
                                  capture_output=True, text=True, timeout=300 * SLOW)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertRegex(done.stdout, words)
        shutil.rmtree(self.directory / "close-enough")
        made = self.wrap("awk", "--name", "close-enough", "--compare", compare, "--number", "y=(.*)", "--", program)
        self.assertEqual(made.returncode, 0, made.stderr)
        with Grid() as grid:
            grid.start_server()
            grid.add_application(self.directory / "close-enough")
            identity = grid.add_problem("close-enough", "close", "--table", table, "--validation", "quorum:2")
            for name in ("a", "b"):
                grid.add_client(name)
            grid.wait_finished(identity)
            self.assertEqual(grid.problem(identity)["disagreements"], 0)
            rows = list(csv.DictReader(io.StringIO(grid.results(identity)["table.csv"].decode())))
        self.assertEqual([round(float(row["y"]), 2) for row in rows], [1, 2, 3])

    def test_a_comparison_that_fails_is_told(self):
        compare = self.write("close", "#!/bin/sh\necho no interpreter\nexit 3\n")
        compare.chmod(0o755)
        made = self.wrap("awk", "--name", "unsteady", "--compare", compare, "--", "BEGIN {{ srand(); print {x}, systime() }}")
        self.assertEqual(made.returncode, 0, made.stderr)
        with Grid() as grid:
            grid.start_server()
            grid.add_application(self.directory / "unsteady")
            identity = grid.add_problem("unsteady", "unsteady", "--table", self.write("runs.csv", "x\n1\n2\n"), "--validation", "quorum:2")
            grid.add_client("a")
            grid.wait_until("the first results", lambda: grid.problem(identity)["accepted"] > 0, 60 * SLOW)
            time.sleep(1.1)  # the other host writes another second
            grid.add_client("b")
            grid.wait_until("the message", lambda: "close exited with status 3: no interpreter" in grid.problem(identity)["message"], 60 * SLOW)
            self.assertIn("counts as a difference: close exited", grid.admin("problem", "show", identity).stdout)

    @needs(shutil.which("busybox"), "busybox-static is not installed")
    def test_a_script_of_the_shell_by_questions(self):
        script = self.write("count", "#!/bin/sh\n[ $1 = x ] && exit 7\ni=0\nwhile [ $i -lt $1 ]; do i=$((i + 3)); done\necho sum $i > $2\n")
        script.chmod(0o755)
        person, terminal = pty.openpty()
        wrap = subprocess.Popen([ADMIN, "app", "wrap", "./count", "--shell"], cwd=self.directory,
                                stdin=terminal, stdout=terminal, stderr=terminal, close_fds=True)
        os.close(terminal)
        for answer in ("{limit} {out.txt} \"two words\"", "steps", "Counts by three", "", "", "64", "", "'sum=^sum (.*)'", "lines=^Date", "n"):  # as asked
            os.write(person, answer.encode() + b"\n")
        said = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(person, 65536):
                said += part
        self.assertEqual(wrap.wait(timeout=60 * SLOW), 0, said)
        self.assertIn(b"What is one item? [one run of count]", said)
        table = self.write("limits.csv", "limit\n10\n3\nx\n")
        subprocess.run([ADMIN, "run-local", self.directory / "steps", "-o", self.directory / "out", "--table", table, *local_arguments()],
                       check=True, timeout=120 * SLOW)
        rows = list(csv.DictReader(io.StringIO((self.directory / "out" / "table.csv").read_text())))
        self.assertEqual([(row["status"], row["sum"]) for row in rows], [("ok", "12"), ("ok", "3"), ("exit 7", "")])
        manifest = (self.directory / "steps" / "manifest.toml").read_text()
        for words in ('"Counts by three"', "one run of count", "64", '"two words"', "lines=^Date"):
            self.assertIn(words, manifest)
        alone = subprocess.run([ADMIN, "app", "wrap", "./count", "--shell", "-o", "more", "--", "{x}"], cwd=self.directory,
                               capture_output=True, text=True, env={"PATH": "/nowhere"})
        self.assertIn("install the package busybox-static", alone.stderr)

    def test_a_script_s_first_line_has_options(self):
        table = self.write("values.csv", "value\n0\n1\n")
        for number, line in enumerate(("#!/bin/sh -e", "#! /usr/bin/env sh", "#!/usr/bin/env -S sh -eu")):
            script = self.write("strict", f"{line}\n[ $1 = 0 ]\necho sum $1\n[ $1 = 0 ]\n")
            script.chmod(0o755)
            made = self.wrap(script, "--shell", "-o", f"strict-{number}", "--", "{value}")
            self.assertEqual(made.returncode, 0, made.stderr)
            subprocess.run([ADMIN, "run-local", self.directory / f"strict-{number}", "-o", self.directory / f"out-{number}", "--table", table, *local_arguments()],
                           check=True, timeout=120 * SLOW)
            rows = list(csv.DictReader(io.StringIO((self.directory / f"out-{number}" / "table.csv").read_text())))
            self.assertEqual([row["status"] for row in rows], ["ok", "exit 1"])

    def test_what_goes_wrong_is_said(self):
        script = self.write("script", "#!/bin/sh\ncat\n")
        python, bash = self.write("script.py", "#!/usr/bin/env python3\n"), self.write("script.bash", "#!/bin/bash\n")
        perl, text = self.write("script.pl", "#!/usr/bin/env -S perl -w\n"), self.write("text", "echo\n")
        other = self.write("other", "")
        other.write_bytes(b"\x7fELF\x01\x01" + bytes(12) + b"\x03" + bytes(100))
        for words, arguments in (
                ("there is no no-such-program in PATH", ["no-such-program"]),
                ("--shell takes a small one along", [script]),
                ("write a kernel", [python]),
                ("is a script for /bin/bash, which volunteers' computers do not have for certain: write it for #!/bin/sh", [bash, "--shell"]),
                ("is a script for perl, which volunteers' computers do not have for certain: wrap perl with --bundle-libraries", [perl]),
                ("text is neither a program nor a script with a #! line", [text]),
                ("other is a program for i686-linux: wrap it on such a computer", [other]),
                ("is not NAME=EXPRESSION", ["gzip", "--number", "x", "--", "{a}"]),
                ("expected a regular expression", ["gzip", "--number", "x=(", "--", "{a}"]),
                ("they need rows = true", ["gzip", "--number", "x=y"]),
                ("expected \"png\", \"gzip\", \"tar\" or \"lines=EXPRESSION\"", ["gzip", "--ignore", "jpeg"]),
                ("no path inside the bundle", ["gzip", "--data", f"../x={script}"]),
                ("is no application's name", ["gzip", "--name", "B C"])):
            done = self.wrap(*arguments, "-o", "made")
            self.assertIn(done.returncode, (1, 4), words)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.directory / "made").exists())
        made = self.wrap("gzip", "--suffix", ".gz", "--meaning", "a compressed value", "-o", "made", "--", "{value}")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("an item is a row of a table", made.stdout)
        again = self.wrap("gzip", "-o", "made", "--", "{value}")
        self.assertIn("is there already", again.stderr)
        itself = self.wrap("./script", "--shell", "--", "{value}")
        self.assertIn("script is the program itself: name a directory with -o", itself.stderr)
        for words, text in (
                ("there is no table: give one with --table FILE", None),
                ("table.csv: line 3: 1 value, and 2 columns", "value,b\n1,2\n3\n"),
                ("{value} is in the command, and the table has no such column, only other", "other\n1\n"),
                ("the results have a column status of their own", "value,status\n1,2\n")):
            table = [] if text is None else ["--table", self.write("t.csv", text)]
            done = subprocess.run([ADMIN, "run-local", self.directory / "made", "-o", self.directory / "out", *local_arguments(), *table],
                                  capture_output=True, text=True, timeout=60 * SLOW)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(words, done.stderr)

    def test_a_million_rows(self):
        made = self.wrap("gzip", "-o", "many", "--", "{first}", "{second}")
        self.assertEqual(made.returncode, 0, made.stderr)
        table = self.write("many.csv", "first,second\n" + "".join(f"{i},value-{i}\n" for i in range(10**6)))
        with Grid() as grid:
            server = grid.start_server()
            grid.add_application(self.directory / "many")
            begun = time.monotonic()
            identity = grid.add_problem("gzip", "many", "--table", table)
            grid.wait_until("the problem is planned", lambda: grid.problem(identity)["items"] == 10**6, 60 * SLOW)
            seconds = time.monotonic() - begun
            peak = max(int(line.split()[1]) for line in pathlib.Path(f"/proc/{server.pid}/status").read_text().splitlines()
                       if line.startswith("VmHWM"))
            print(f"a million rows: {seconds:.1f} s, server {peak >> 10} MiB")
            self.assertLess(seconds, 10 * SLOW)
            if SLOW == 1:
                self.assertLess(peak, 200 << 10)


if __name__ == "__main__":
    main()
