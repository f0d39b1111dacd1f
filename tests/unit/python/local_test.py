"""gleaner.local(): order, exceptions, checks, cancelling, futures, asyncio; and what a kernel does with a function's own habits."""
import asyncio
import contextlib
import io
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import gleaner


def square(x):
    return x * x


def chatty(x):
    print("item 0 3")  # would be the kernel's words
    os.write(1, b"done 1\n")
    return sys.stdin.read()


def last_first(x, directory):
    """The first call ends when the last one has begun: in another process."""
    begun = pathlib.Path(directory) / "begun"
    if x == 5:
        begun.touch()
    while x == 0 and not begun.exists():
        time.sleep(0.01)
    return x


def hopeless(x):
    while True:
        time.sleep(0.01)


def lacking(x):
    import no_such_module_anywhere
    return no_such_module_anywhere


def fails_at_three(x):
    if x == 3:
        raise KeyError("three", object())
    return x


class Local(unittest.TestCase):
    def setUp(self):
        self.grid = gleaner.local(2)

    def test_order_is_that_of_the_calls_unless_it_does_not_matter(self):
        for ordered in (True, False):
            with tempfile.TemporaryDirectory() as directory:
                how = self.grid.imap if ordered else self.grid.imap_unordered
                found = list(how(last_first, range(6), [directory] * 6, batch=1))
            self.assertEqual(sorted(found), list(range(6)))
            self.assertEqual(found[0] == 0, ordered)

    def test_iterables_batches_and_nothing(self):
        self.assertEqual(list(self.grid.map(pow, [2, 3, 4], [5, 2])), [32, 9])
        for batch in (1, 3, 7, 100, None):
            self.assertEqual(list(self.grid.map(square, range(20), batch=batch)), [x * x for x in range(20)])
        self.assertEqual(list(self.grid.map(square, [])), [])

    def test_batches_follow_what_calls_take(self):
        self.assertEqual(self.grid.map(hopeless, range(6400))._job.batch, 1)
        with unittest.mock.patch("gleaner._grid.PILOT_SECONDS", 60):  # a thousand calls, however busy this computer is
            self.assertEqual(self.grid.map(square, range(6400))._job.batch, 100)  # ever so many, but 64 items at least

    def test_many_arguments_are_several_files(self):
        texts = ["x" * 1_000_000] * 9
        run = self.grid.map(len, texts, batch=2)
        self.assertGreater(len(list(run._job.inputs())), 2)
        self.assertEqual(list(run), [1_000_000] * 9)

    def test_exceptions_name_call_argument_and_place(self):
        with self.assertRaises(gleaner.CallError) as raised:
            list(self.grid.map(fails_at_three, range(10)))
        error = raised.exception
        self.assertEqual((error.type, error.index, error.argument), ("KeyError", 3, 3))
        self.assertIn('raise KeyError("three", object())', error.traceback)
        self.assertIn("object at 0x...", error.message)
        found = list(self.grid.starmap(fails_at_three, [(2,), (3,)], return_exceptions=True))
        self.assertEqual((found[0], found[1].argument), (2, (3,)))

    def test_output_and_input_of_a_function_are_not_the_kernels(self):
        self.assertEqual(list(self.grid.map(chatty, range(3))), ["", "", ""])

    def test_a_missing_module_is_told(self):
        with self.assertRaisesRegex(gleaner.GridError, "no_such_module_anywhere"):
            list(self.grid.map(lacking, [1]))

    def test_check_compares_two_computations(self):
        self.assertEqual(list(self.grid.map(square, range(5), check=True)), [0, 1, 4, 9, 16])
        for function in (lambda x: random.random(), lambda x: time.time_ns(), lambda x: list({"a", "b", "c", "d", "e", "f", "g"})):
            with self.assertRaises(gleaner.NotDeterministic) as raised:
                for _ in range(20):  # orders of sets may agree by chance
                    list(self.grid.map(function, range(3), check=True))
            self.assertEqual(len(raised.exception.results), 2)

    def test_what_only_a_grid_has_is_told(self):
        for call, words in ((lambda: self.grid.table("docking", "runs.csv", inputs="ligands"), "`gleaner-admin run-local BUNDLE --table"),
                            (lambda: self.grid.problem("raytrace", {"scene": "D"}), "`gleaner-admin run-local BUNDLE`"),
                            (lambda: self.grid.attach(7), r"connect\(...\).attach")):
            with self.assertRaisesRegex(gleaner.GridError, words):
                call()

    def test_cancel_ends_processes(self):
        run = self.grid.map(hopeless, range(4), batch=1)
        threading.Timer(0.5, run.cancel).start()
        with self.assertRaises(gleaner.ProblemFailed):
            list(run)

    def test_leaving_the_loop_ends_processes(self):
        run = self.grid.map(square, range(100_000), batch=1)
        for _ in run:
            break
        self.assertTrue(all(kernel.process.poll() is not None for kernel in run._source.kernels))

    def test_ctrl_c_is_told_in_a_line(self):
        class Interrupted(gleaner._local.LocalItems):
            lost = False

            def items(self):
                raise KeyboardInterrupt
                yield

            def cancel(self, patience=None):
                self.patience = patience
                if self.lost:
                    raise gleaner.ConnectionLost("cannot reach it")

        run = self.grid.map(square, range(4), batch=1)
        run._source.__class__ = Interrupted
        for lost, words in ((False, "gleaner: the calls were cancelled\n"), (True, "not cancelled (cannot reach it)")):
            run._source.lost = lost
            with contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises(KeyboardInterrupt) as raised:
                list(run)
            self.assertIn(words, told.getvalue())
            self.assertEqual(told.getvalue().count("\n"), 1)
            self.assertTrue(raised.exception.__suppress_context__)
            self.assertLessEqual(run._source.patience, 10)  # a lost server does not hold it up

    def test_futures(self):
        with gleaner.Executor(self.grid) as pool:
            futures = [pool.submit(square, x) for x in range(5)] + [pool.submit(fails_at_three, x=3)]
            self.assertEqual([future.result() for future in futures[:-1]], [0, 1, 4, 9, 16])
            self.assertEqual(futures[-1].exception().type, "KeyError")
            self.assertIsInstance(pool.submit(sys.exit, object()).exception(), TypeError)
        with self.assertRaises(RuntimeError):
            pool.submit(square, 1)

    def test_asyncio(self):
        async def all_of_it():
            found = [value async for value in self.grid.map(square, range(4))]
            loop = asyncio.get_running_loop()
            with gleaner.Executor(self.grid) as pool:
                return found, await self.grid.map(square, [5]), await loop.run_in_executor(pool, square, 6)

        self.assertEqual(asyncio.run(all_of_it()), ([0, 1, 4, 9], [25], 36))

    def test_a_thousand_trivial_calls_cost_little(self):
        begin = time.process_time()
        list(self.grid.map(square, range(1000), batch=16))
        self.assertLess(time.process_time() - begin, 1.0)  # a millisecond each


if __name__ == "__main__":
    unittest.main()
