"""Notes and bars of a wait: why no results arrive, and what a bar shows, with a server whose replies are made up; tables as frames."""
import contextlib
import csv
import io
import sys
import types
import unittest
import unittest.mock

from gleaner._problem import Problem
from gleaner._remote import RemoteItems
from gleaner._table import Table, inputs_of

TOO = "another host must compute 4 items, too"


class Server:
    """Each look at the problem gives the next reply and takes a second."""

    def __init__(self, *replies):
        self.replies, self.now = list(replies), 1000.0

    def problem(self, identity):
        return {"id": identity, "name": "squares", "state": "running", "items": 4, "accepted": 0, "hosts": 0, "eta_seconds": -1,
                "errors": [], "message": "", "needs": "", "waits": "", "results": [], "disagreements": 0, **self.replies.pop(0)}

    def download(self, digest, size, write):
        raise AssertionError("no results are made up")

    def patched(self):
        """Its seconds in place of real ones."""
        def wait(watch):
            self.now += 1
        return unittest.mock.patch.multiple("gleaner._remote.Watch", wait=wait), unittest.mock.patch("time.monotonic", lambda: self.now)


def waited(*replies, progress=False, items=False):
    """What standard error got."""
    server = Server(*replies, {"state": "finished", "accepted": 4})
    with contextlib.ExitStack() as stack:
        for patch in server.patched():
            stack.enter_context(patch)
        told = stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        if items:
            source = RemoteItems(server, 7)
            source.read = lambda *_: iter(())
            list(source.items())
        else:
            Problem(server, 7).wait(progress=progress)
    return told.getvalue()


class Tqdm:
    """Stands in for tqdm's bar: keeps what it would draw."""

    drawn = []

    def __init__(self, desc, unit, total, leave):
        self.desc, self.unit, self.total, self.n = desc, unit, total, 0

    def set_postfix_str(self, words):
        self.drawn.append((self.desc, self.unit, self.n, self.total, words))

    def close(self):
        self.drawn.append("closed")


def tqdm(installed):
    """sys.modules with or without tqdm, whatever this computer has."""
    return unittest.mock.patch.dict("sys.modules", {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": types.SimpleNamespace(tqdm=Tqdm)}
                                    if installed else {"tqdm": None, "tqdm.auto": None})


class Bars(unittest.TestCase):
    REPLIES = [{"hosts": 1, "accepted": 0, "eta_seconds": -1}, {"hosts": 3, "accepted": 2, "eta_seconds": 90},
               {"hosts": 2, "accepted": 3, "eta_seconds": 7200, "errors": [{"kind": "kernel", "message": "it broke", "hosts": 1, "times": 2}]}]
    WORDS = ["1 host, ? left", "3 hosts, 2 min left", "2 hosts, 2.0 h left, 2 errors", "0 hosts, ? left"]

    def test_without_tqdm_a_line_is_drawn_again(self):
        with tqdm(False):
            told = waited(*self.REPLIES, progress=True)
        frames = [(0, "0/4"), (15, "2/4"), (22, "3/4"), (30, "4/4")]
        lines = [f"problem 7: [{'#' * done}{'.' * (30 - done)}] {count}  {words}" for (done, count), words in zip(frames, self.WORDS)]
        self.assertEqual([line.rstrip() for line in told.split("\r")[1:]], lines)
        self.assertTrue(told.endswith(lines[-1].ljust(len(lines[-2])) + "\n"))  # nothing of the longer line is left

    def test_tqdm_draws_the_bar_where_it_is_installed(self):
        Tqdm.drawn.clear()
        with tqdm(True):
            self.assertEqual(waited(*self.REPLIES, progress=True), "")
        self.assertEqual(Tqdm.drawn, [("problem 7", "item", done, 4, words) for done, words in zip((0, 2, 3, 4), self.WORDS)] + ["closed"])

    def test_notebooks_alone_have_a_bar_by_default(self):
        def python(shell):
            return unittest.mock.patch.dict("sys.modules", {"IPython": types.SimpleNamespace(get_ipython=lambda: shell)})
        with tqdm(False):
            with unittest.mock.patch.dict("sys.modules"):
                sys.modules.pop("IPython", None)
                self.assertEqual(waited(*self.REPLIES, progress=None), "")
            with python(None):
                self.assertEqual(waited(*self.REPLIES, progress=None), "")
            with python(types.SimpleNamespace()):  # IPython in a terminal
                self.assertEqual(waited(*self.REPLIES, progress=None), "")
            with python(types.SimpleNamespace(kernel=1)):
                self.assertIn("3 hosts, 2 min left", waited(*self.REPLIES, progress=None))
                self.assertEqual(waited(*self.REPLIES, progress=False), "")


class Frames(unittest.TestCase):
    def test_pandas_reads_the_table_of_results(self):
        text = b"row,x,sum,status,seconds,host\n1,2,22,ok,0.5,a\n2,3,,exit 3,0.1,a\n"
        server = Server(*[{"state": "finished", "results": [{"name": "table.csv", "digest": "ab", "bytes": len(text)}]}] * 3)
        server.download = lambda digest, size, write: write(text) if (digest, size) == ("ab", len(text)) else None
        pandas = types.ModuleType("pandas")
        pandas.read_csv = lambda file: list(csv.reader(io.TextIOWrapper(file)))
        with unittest.mock.patch.dict("sys.modules", pandas=pandas):
            frame = Table(server, 7).frame()
        self.assertEqual(frame, [line.split(",") for line in text.decode().splitlines()])
        self.assertEqual([row["row"] for row in Table(server, 7).failed()], ["2"])

    def test_a_frame_becomes_the_table_that_is_sent(self):
        frame = types.SimpleNamespace(to_csv=lambda index: f"x,y\n1,2\n{index}\n")
        self.assertEqual(inputs_of(frame, {"a.awk": "END"}), {"a.awk": "END", "table.csv": b"x,y\n1,2\nFalse\n"})


class Notes(unittest.TestCase):
    def test_a_reason_is_told_once_after_some_seconds(self):
        for items in (False, True):
            self.assertEqual(waited(*[{"waits": TOO}] * 30, items=items), f"gleaner: problem 7 waits: {TOO}\n")
            self.assertEqual(waited(*[{"waits": TOO}] * 4, items=items), "")

    def test_a_result_begins_the_wait_again(self):
        self.assertEqual(waited(*({"waits": TOO, "accepted": at // 4} for at in range(16))), "")
        self.assertEqual(waited(*({"waits": TOO if at % 4 else ""} for at in range(16))), "")

    def test_another_reason_is_told_and_other_numbers_are_not(self):
        found = waited(*({"waits": f"none of 3 hosts has reported for {at}.5 min"} for at in range(30)),
                       *[{"waits": "all hosts online compute other problems"}] * 10)
        self.assertEqual(found.splitlines(), ["gleaner: problem 7 waits: none of 3 hosts has reported for 5.5 min",
                                              "gleaner: problem 7 waits: all hosts online compute other problems"])

    def test_notes_are_bounded(self):
        found = waited(*({"waits": "one reason" if at % 2 else "another reason"} for at in range(1000)))
        self.assertEqual(found.count("\n"), 20)
        self.assertLess(len(waited(*[{"waits": "x" * 100_000}] * 10)), 1000)

    def test_a_reason_cannot_steer_the_terminal(self):
        self.assertEqual(waited(*[{"waits": "a\x1b[2Jb\nc"}] * 10), "gleaner: problem 7 waits: a?[2Jb?c\n")

    def test_needs_that_were_warned_of_are_not_told_again(self):
        needs = {"needs": "needs numpy; 0 of 2 hosts online have it", "waits": "needs numpy; 0 of 2 hosts online have it"}
        with self.assertWarnsRegex(UserWarning, "needs numpy"):
            self.assertEqual(waited(*[needs] * 30, items=True), "")
        self.assertIn("waits: needs numpy", waited(*[needs] * 30))

    def test_a_bar_shows_the_reason_itself(self):
        with tqdm(False):
            found = waited(*[{"waits": TOO}] * 30, progress=True)
        self.assertIn(TOO, found)
        self.assertNotIn("gleaner:", found)


if __name__ == "__main__":
    unittest.main()
