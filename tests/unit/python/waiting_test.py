"""Notes and bars of a wait: why no results arrive, and what a bar shows, with a server whose replies are made up."""
import contextlib
import io
import unittest
import unittest.mock

from gleaner._problem import Problem
from gleaner._remote import RemoteItems

TOO = "another host must compute 4 items, too"


class Server:
    """Each look at the problem gives the next reply and takes a second."""

    def __init__(self, *replies):
        self.replies, self.now = list(replies), 0.0

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


class Notes(unittest.TestCase):
    def test_a_reason_is_told_once_after_some_seconds(self):
        for items in (False, True):
            self.assertEqual(waited(*[{"waits": TOO}] * 30, items=items), f"gleaner: problem 7 waits: {TOO}\n")
            self.assertEqual(waited(*[{"waits": TOO}] * 4, items=items), "")

    def test_a_result_begins_the_wait_again(self):
        self.assertEqual(waited(*({"waits": TOO, "accepted": at // 4} for at in range(16))), "")
        self.assertEqual(waited(*({"waits": TOO if at % 4 else ""} for at in range(16))), "")

    def test_another_reason_is_told_and_other_numbers_are_not(self):
        found = waited(*({"waits": f"none of 3 hosts has been heard of for {at}.5 min"} for at in range(30)),
                       *[{"waits": "all hosts online compute other problems"}] * 10)
        self.assertEqual(found.splitlines(), ["gleaner: problem 7 waits: none of 3 hosts has been heard of for 5.5 min",
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
        with unittest.mock.patch.dict("sys.modules", {"tqdm.auto": None}):
            found = waited(*[{"waits": TOO}] * 30, progress=True)
        self.assertIn(TOO, found)
        self.assertNotIn("gleaner:", found)


if __name__ == "__main__":
    unittest.main()
