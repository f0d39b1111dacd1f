"""The Python package: calls through a real server and sandboxed clients, exceptions, Ctrl-C, attach, futures, hostile results."""
import asyncio
import contextlib
import doctest
import io
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
import unittest.mock
import warnings
import zipfile

from harness import SLOW, SOURCE, SQUARES, FakeHost, Grid, main

sys.path.insert(0, str(SOURCE / "tools" / "python"))
import gleaner
import python_calls
from gleaner._runtime import calls

COUNT = 1000


class Trap:
    """Leaves a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


class Python(unittest.TestCase):
    """One server and two clients for all tests, which come in any order."""

    @classmethod
    def setUpClass(cls):
        cls.context = Grid()
        cls.server = cls.context.__enter__()
        cls.addClassCleanup(lambda: cls.context.__exit__(None, None, None))
        cls.server.start_server()
        for name in ("one", "two"):
            cls.server.add_client(name)
        cls.signer = cls.server.offline / "signer.key"
        cls.grid = gleaner.connect(cls.server.project / "admin", signer=cls.signer)

    def applications(self):
        return [each["archive"] for each in self.server.admin_json("app", "list")["items"]]

    def test_thousand_calls_are_the_same_as_here_byte_for_byte_and_use_one_application(self):
        run = self.grid.map(python_calls.square_and_more, range(COUNT))
        found = dict(run.items())
        here = gleaner.local(1).map(python_calls.square_and_more, range(COUNT), batch=run._job.batch)
        self.assertEqual(found, dict(here.items()))
        self.assertEqual(gleaner.connect(self.server.project, signer=self.signer).attach(run.id).results(),
                         [(x * x + 3, ("pair", x)) for x in range(COUNT)])
        known = self.applications()
        self.assertEqual(list(self.grid.map(python_calls.square_and_more, [2], batch=1)), [(7, ("pair", 2))])
        self.assertEqual(self.applications(), known)

    def test_a_closure_brings_data_and_functions(self):
        weights, helper = {"a": (1, 2)}, lambda x: x + weights["a"][1]  # noqa: E731
        self.assertEqual(list(self.grid.starmap(lambda x, y: helper(x) * y, [(1, 2), (3, 4)])), [6, 20])

    def test_numpy_arrays(self):
        numpy = __import__("numpy")
        found, = self.grid.map(python_calls.arrays, [2])
        self.assertTrue(numpy.array_equal(found["grid"], numpy.arange(6.0).reshape(2, 3)))
        self.assertIsInstance(found["total"], numpy.float64)
        self.assertEqual(found[7], b"raw")

    def test_the_environment_names_server_token_root_and_signer(self):
        profile = json.loads((self.server.project / "admin" / "admin.json").read_text())
        environment = {"GLEANER_SERVER": profile["url"], "GLEANER_ROOT": profile["root_fingerprint"], "GLEANER_SIGNER": str(self.signer),
                       "GLEANER_TOKEN": (self.server.project / "admin" / profile["token_file"]).read_text().strip()}
        emptied = {name: value for name, value in os.environ.items() if not name.startswith("GLEANER_")}

        def connected(**changes):
            with unittest.mock.patch.dict(os.environ, {**emptied, **environment, **changes}, clear=True):
                return gleaner.connect()

        def another(x):
            return x + 5

        self.assertEqual(list(connected().map(another, range(3))), [5, 6, 7])  # a new function, so that the signer signs
        with self.assertRaisesRegex(gleaner.GridError, "needs an admin token: .*GLEANER_TOKEN"):
            connected(GLEANER_TOKEN="")
        with self.assertRaises(gleaner.GridError):
            connected(GLEANER_TOKEN="no token")
        for root in ("", "ab" * 32):  # the system's authorities do not know the server, and another key is not its own
            with self.assertRaises(gleaner.Untrusted):
                connected(GLEANER_ROOT=root)
        unsigned = connected(GLEANER_SIGNER="")
        self.assertEqual(list(unsigned.map(another, range(3))), [5, 6, 7])  # the project has it already
        with self.assertRaisesRegex(gleaner.GridError, "which key signs the function"):
            unsigned.map(lambda x: another(x) + 1, range(3))
        self.assertEqual(list(connected(GLEANER_SERVER="", GLEANER_PROJECT=str(self.server.project)).map(another, [1])), [6])

    def test_unordered_results_come_as_hosts_deliver_them(self):
        self.assertEqual(sorted(self.grid.imap_unordered(python_calls.cached, range(40), batch=1)), list(range(1, 41)))
        self.assertEqual(sorted(self.grid.imap_unordered(pow, [2, 3], [5, 2])), [9, 32])
        found = self.grid.imap_unordered(python_calls.slow, range(600), batch=1)
        early = [next(found), next(found)]  # while others are computed
        self.assertEqual(len({*early} & set(range(600))), 2)
        found.close()  # cancels the rest
        self.assertEqual({each["state"] for each in self.grid.api.problems() if each["name"].startswith("python_calls.slow")}, {"cancelled"})

    def test_results_come_while_others_are_computed(self):
        run = self.grid.map(python_calls.slow, range(600), batch=1)
        self.assertEqual([next(run), next(run)], [0, 1])
        self.assertEqual(run.progress()["state"], "running")
        run.cancel()

    def test_an_exception_has_the_argument_and_the_place(self):
        run = self.grid.map(python_calls.divide, range(100))
        with self.assertRaises(gleaner.CallError) as raised:
            list(run)
        self.assertEqual((raised.exception.type, raised.exception.argument, raised.exception.index), ("ZeroDivisionError", 37, 37))
        self.assertRegex(raised.exception.traceback, r'File "python_calls.py", line \d+, in divide\n    return 1 / \(x - 37\)')
        found = list(self.grid.map(python_calls.divide, [36, 37, 38], return_exceptions=True))
        self.assertEqual(found[::2], [-1.0, 1.0])
        self.assertIsInstance(found[1], gleaner.CallError)

    def test_futures_and_asyncio(self):
        with gleaner.Executor(self.grid) as pool:
            futures = [pool.submit(python_calls.cached, x) for x in range(20)]
            wrong = pool.submit(python_calls.divide, 37)
            self.assertEqual([future.result() for future in futures], list(range(1, 21)))
            self.assertIsInstance(wrong.exception(), gleaner.CallError)

        async def both():
            one, two = self.grid.map(python_calls.cached, [1]), self.grid.map(python_calls.cached, [2])
            return await asyncio.gather(one, two)

        self.assertEqual(asyncio.run(both()), [[2], [3]])

    def test_a_module_that_hosts_lack_is_told_and_no_fault_of_the_function(self):
        run = self.grid.map(python_calls.lacking, [1], batch=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", gleaner.GridWarning)
            # A warning after the first host; after the last one there is nobody left to compute it.
            with self.assertRaisesRegex((gleaner.GridWarning, gleaner.ProblemFailed), "lacks no_such_module_anywhere"):
                list(run)
        errors = run.progress()["errors"]
        self.assertEqual({each["kind"] for each in errors}, {"not-executable"})

    def test_clients_report_their_python_and_nothing_else(self):
        version = subprocess.run(["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True,
                                 capture_output=True, text=True).stdout.strip()
        for name in ("one", "two"):
            self.server.wait_until("a request", lambda: self.server.admin_json("host", "show", name)["capabilities"], 60)
            found = self.server.admin_json("host", "show", name)["capabilities"]
            self.assertIn(f"python {version}", found)
            for each in found:
                self.assertRegex(each, r"^(python|python-packages|glibc|numpy|pandas|scipy)( \d+\.\d+)?$")

    def test_needs_that_no_host_meets_are_told(self):
        run = self.grid.map(python_calls.cached, [1], batch=1, needs=["python>=9", "numpy"])
        with warnings.catch_warnings():
            warnings.simplefilter("error", gleaner.GridWarning)
            with self.assertRaisesRegex(gleaner.GridWarning, "needs Python 9.0 or newer and numpy; 0 of 2 hosts online have it"):
                list(run)
        run.cancel()

    def test_a_wheel_travels_to_hosts_that_lack_its_module(self):
        wheel = self.server.directory / "doubler-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("doubler/__init__.py", "from doubler.tables import FACTOR\n\n\ndef double(x):\n    return x * FACTOR\n")
            archive.writestr("doubler/tables.py", "FACTOR = 2\n")
            archive.writestr("doubler-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nRequires-Python: >=3.9\n")
        self.assertEqual(list(self.grid.map(python_calls.doubled, range(100), wheels=[wheel])), list(range(0, 200, 2)))
        run = self.grid.map(python_calls.doubled, [1], batch=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", gleaner.GridWarning)
            with self.assertRaisesRegex((gleaner.GridWarning, gleaner.ProblemFailed), "lacks doubler"):
                list(run)
        run.cancel()

    def test_check_finds_what_is_not_deterministic(self):
        with self.assertRaises(gleaner.NotDeterministic):
            list(self.grid.map(python_calls.clock, range(20), check=True))
        self.assertEqual(list(self.grid.map(python_calls.cached, range(20), check=True)), list(range(1, 21)))

    def test_ctrl_c_cancels(self):
        script = self.server.directory / "script.py"
        script.write_text(textwrap.dedent("""\
            import signal, sys, gleaner, python_calls
            signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
            run = gleaner.connect(sys.argv[1], signer=sys.argv[2]).map(python_calls.slow, range(100_000), batch=1)
            print(run.id, flush=True)
            list(run)
            """))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE / "tools/python"), str(SOURCE / "tests/functional")])}
        process = subprocess.Popen([sys.executable, script, self.server.project, self.signer], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment)
        identity = process.stdout.readline().strip()
        attached = self.grid.attach(identity)
        self.server.wait_until("an item", lambda: attached.progress()["accepted"], 200)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60 * SLOW)
        self.assertTrue(errors.endswith("\nKeyboardInterrupt\n"), errors)
        self.assertEqual(errors.count("Traceback"), 1, errors)
        self.assertIn(f"gleaner: problem {identity} was cancelled\n", errors)
        self.assertEqual(self.server.problem(identity)["state"], "cancelled")
        with self.assertRaises(gleaner.ProblemFailed):
            self.grid.attach(identity).results()

    def test_examples_that_need_a_server(self):
        """Those that the unit test of the docstrings skips."""
        self.server.add_application(SOURCE / "tests/functional/python_app")
        made = self.server.run("gleaner-admin", "app", "wrap", "awk", "--name", "add", "-o", self.server.directory / "add", "--number",
                               "sum=(.*)", "--", "BEGIN {{ print {x} + {y} }}")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.server.add_application(self.server.directory / "add")
        documented = (gleaner.connect, gleaner.Problem, gleaner.Table)
        with unittest.mock.patch("gleaner.connect", lambda _: self.grid):
            for each in documented:
                examples = doctest.DocTestParser().get_examples(each.__doc__)
                self.assertGreater(sum(example.options.pop(doctest.SKIP, False) for example in examples), 1)
                test, told = doctest.DocTest(examples, {}, each.__name__, None, None, None), io.StringIO()
                doctest.DocTestRunner().run(test, out=told.write)
                self.assertEqual(told.getvalue(), "")

    def test_a_path_in_place_of_an_application_is_told(self):
        for call in (lambda application: self.grid.table(application, [{"x": 1}]), self.grid.problem):
            for path in ("autodock.toml", pathlib.Path("bundles/autodock"), "./autodock/", "C:\\work\\Autodock.TAR.GZ"):
                with self.assertRaisesRegex(gleaner.GridError, "is a path: give the name.*app wrap PROGRAM --name autodock .*app sign autodock "
                                                               ".*app add autodock-1.0.0.tar.gz"):
                    call(path)
            for name in ("autodock", "autodock@1.0.0"):
                with self.assertRaisesRegex(gleaner.GridError, f"no application {name} here: see `gleaner-admin app list`"):
                    call(name)

    def test_problems_of_any_application(self):
        self.server.add_application(SOURCE / "tests/functional/python_app")
        problem = self.grid.problem("squares", {"count": 10}).wait(timeout=200 * SLOW)
        self.assertEqual(problem.results(), {"sum.txt": b"285\n"})
        written, = self.grid.attach(problem.id).results(self.server.directory / "out")
        self.assertEqual(written.read_bytes(), b"285\n")


class Needs(unittest.TestCase):
    def test_hosts_get_kernels_of_their_own_platform_alone(self):
        with Grid() as server, tempfile.TemporaryDirectory() as directory:
            server.start_server()
            bundles = {}
            for name, kernels in (("native", ("x86_64-linux", "x86_64-windows")), ("both", ("any", "x86_64-linux"))):
                bundles[name] = pathlib.Path(directory) / name
                shutil.copytree(SQUARES, bundles[name])
                manifest = (bundles[name] / "manifest.toml").read_text().replace('name = "squares"', f'name = "{name}"')
                lines = "".join(f'{kernel} = "kernel.py"\n' for kernel in kernels)
                (bundles[name] / "manifest.toml").write_text(manifest.replace('any = "kernel.py"\n', lines))
                server.add_application(bundles[name])
            identity = server.add_problem("native", "native", count=10)
            arm = FakeHost(server, "arm")
            arm.platforms = ["aarch64-linux"]
            _, reply = arm.work()
            self.assertEqual((reply["grants"], reply["reason"]),
                             ([], "native has kernels for x86_64-linux, x86_64-windows, and this computer runs aarch64-linux"))
            told = "has kernels for x86_64-linux, x86_64-windows; 0 of 1 host online run one"
            self.assertEqual((server.problem(identity)["needs"], server.problem(identity)["waits"]), (told, told))
            self.assertIn(told, server.admin("problem", "explain", identity).stdout)
            pc = FakeHost(server, "pc")
            pc.platforms = ["x86_64-linux"]
            self.assertEqual(len(pc.work()[1]["grants"]), 1)
            self.assertIn("1 of 2 hosts online runs one", server.problem(identity)["needs"])
            server.admin("problem", "cancel", identity, "--yes")
            identity = server.add_problem("both", "both", count=10)
            for host in (arm, FakeHost(server, "other")):
                grant, = host.work()[1]["decoded"]
                self.assertEqual(grant["problem"], identity)
            self.assertEqual(server.problem(identity)["needs"], "")

    def test_hosts_without_python_get_nothing_and_the_reason_is_told(self):
        with Grid() as server:
            server.start_server()
            run = gleaner.connect(server.project, signer=server.offline / "signer.key").map(python_calls.cached, range(4), batch=1)
            for name, capabilities in (("bare", []), ("old", ["python 3.8", "numpy 1.24"])):
                host = FakeHost(server, name)
                host.capabilities = capabilities
                _, reply = host.work()
                self.assertEqual(reply["grants"], [])
                self.assertRegex(reply["reason"], "^py-.* needs Python 3.9 or newer, which this computer lacks$")
            told = "needs Python 3.9 or newer; 0 of 2 hosts online have it"
            self.assertEqual((server.problem(run.id)["needs"], server.problem(run.id)["waits"]), (told, told))
            self.assertIn(told, server.admin("problem", "explain", run.id).stdout)
            _, reply = FakeHost(server, "new").work()
            self.assertEqual(len(reply["grants"]), 1)
            self.assertIn("1 of 3 hosts online has it", server.admin("problem", "explain", run.id).stdout)
            self.assertEqual(server.admin_json("host", "show", "old")["capabilities"], ["python 3.8", "numpy 1.24"])
            self.assertIn("python>=3.9", server.admin("app", "show", server.problem(run.id)["application"]).stdout)


class Waits(unittest.TestCase):
    def told_of(self, server, wait, words):
        """Runs `wait`, which a cancelled problem ends, in a thread until standard error has the words; all that it has."""
        with contextlib.redirect_stderr(io.StringIO()) as told:
            thread = threading.Thread(target=self.assertRaises, args=(gleaner.ProblemFailed, wait), daemon=True)
            thread.start()
            server.wait_until(words, lambda: words in told.getvalue(), 60)
        return told.getvalue(), thread

    def test_a_script_that_waits_is_told_why(self):
        with Grid() as server:
            server.start_server()
            grid = gleaner.connect(server.project, signer=server.offline / "signer.key")
            run = grid.map(python_calls.cached, range(4), batch=1, check=True)
            told, first = self.told_of(server, gleaner.Problem(grid.api, run.id).wait, "no host has joined yet")
            self.assertEqual(told, f"gleaner: problem {run.id} waits: no host has joined yet: `gleaner-admin status` shows the join code\n")
            host = FakeHost(server, "alone")
            items = dict(gleaner.local(1).map(python_calls.cached, range(4), batch=1).items())
            while grants := host.work()[1]["decoded"]:
                for grant in grants:
                    begin, end = grant["range"]["begin"], grant["range"]["end"]
                    host.commit(grant["unit"], begin, [items[number] for number in range(begin, end)])
            told, second = self.told_of(server, run.results, "another host must compute 4 items")
            self.assertTrue(told.startswith(f"gleaner: problem {run.id} waits: another host must compute 4 items, too"), told)
            run.cancel()
            for thread in (first, second):
                thread.join(60)


class Strangers(unittest.TestCase):
    def test_hostile_results_are_refused_and_never_unpickled(self):
        with Grid() as server, tempfile.TemporaryDirectory() as directory:
            sprung = pathlib.Path(directory) / "sprung"
            server.start_server()
            grid = gleaner.connect(server.project, signer=server.offline / "signer.key")
            run = grid.map(python_calls.cached, range(4), batch=1)
            payload = pickle.dumps(Trap(sprung))
            npy = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n" + payload
            code = b'{"$array":0}'
            attached = b"\0" + len(code).to_bytes(4, "little") + code + len(npy).to_bytes(8, "little") + npy
            for value in (payload, b"__import__('os').mkdir('/tmp/x')", attached, b'{"$eval":"1"}'):
                host = FakeHost(server, "liar")  # a new one each time: a refused result has a host held back
                _, reply = host.work()
                unit = reply["decoded"][0]
                lie = bytes([calls.RETURNED]) + len(value).to_bytes(4, "little") + value
                begin, end = unit["range"]["begin"], unit["range"]["end"]
                _, answer = host.commit(unit["unit"], begin, [lie] * (end - begin))
                self.assertEqual(answer["status"], "refused", answer)
                self.assertEqual(server.problem(run.id)["accepted"], 0)
            server.add_client("honest")
            self.assertEqual(list(run), [1, 2, 3, 4])
            self.assertFalse(sprung.exists())

    def test_another_server_is_not_trusted(self):
        with Grid() as server, Grid() as other:
            server.start_server()
            other.start_server()
            profile = server.project / "admin" / "admin.json"
            text = profile.read_text()
            profile.write_text(text.replace(f":{server.port}", f":{other.port}"))
            with self.assertRaises(gleaner.Untrusted):
                gleaner.connect(server.project)

    def test_a_lost_server_is_found_again(self):
        with Grid() as server:
            server.start_server()
            server.add_client("one")
            grid = gleaner.connect(server.project, signer=server.offline / "signer.key")
            run = grid.map(python_calls.cached, range(10))
            server.kill("server")
            server.start_server()
            self.assertEqual(list(run), list(range(1, 11)))


if __name__ == "__main__":
    main()
