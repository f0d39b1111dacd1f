"""Problems on a server: added, watched and read."""
import hashlib
import io
import tempfile
import threading
import time
import warnings

from ._api import Conflict
from ._errors import GridError, GridWarning, ProblemFailed, Untrusted
from ._progress import WaitingNotes
from ._runtime import calls

FIRST_PAUSE, PAUSE_MAX = 0.05, 2.0  # seconds between looks at a problem
MEMORY_BYTES = 64 << 20  # of results; larger files go to the disk


def is_over(info):
    return info["state"] in ("finished", "failed", "cancelled")


def failure_of(info):
    """Why a problem does not finish by itself; empty: it may."""
    last = info["errors"][0].get("words") or info["errors"][0]["message"] if info.get("errors") else ""
    if info["state"] in ("failed", "cancelled"):
        return info["message"] or f"it is {info['state']}"
    if info["state"] == "paused" and info["message"]:
        return info["message"]  # the server stopped it
    quarantined = sum(each["range"]["end"] - each["range"]["begin"] for each in info.get("set_aside", []))
    if quarantined and info["accepted"] + quarantined >= info["items"]:
        return f"{quarantined} of its {info['items']} items failed on several hosts" + (f": {last}" if last else "")
    return ""


class Watch:
    """Looks at a problem, first often and then seldom. `stop` ends a wait."""

    def __init__(self, api, identity):
        self.api, self.identity, self.info, self.stop, self.pause = api, identity, None, threading.Event(), FIRST_PAUSE
        self.notes = WaitingNotes(f"problem {identity}")

    def look(self):
        self.info = self.api.problem(self.identity)
        return self.info

    def wait(self):
        self.stop.wait(self.pause)
        self.pause = min(self.pause * 1.3, PAUSE_MAX)

    def looks(self, shown=None, timeout=None):
        """What is known of the problem, again and again, until it is over. Raises ProblemFailed where it cannot be, and TimeoutError.

        `shown` displays it. Unless it returns true, a note on standard error says why the server waits.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self.stop.is_set():
            info = self.look()
            visible = shown is not None and shown(info)
            if why := failure_of(info):
                raise ProblemFailed(f"problem {self.identity} ({info['name']}): {why}", self.identity)
            yield info
            if is_over(info):
                return
            if not visible:
                self.notes.look(info)
            if end is not None and time.monotonic() > end:
                raise TimeoutError(f"problem {self.identity} is not finished after {timeout} s")
            self.wait()
        raise ProblemFailed(f"problem {self.identity} was cancelled", self.identity)


class Seen:
    """Items that were given to the caller: their numbers as ranges, and their bytes' digests."""

    def __init__(self):
        self.digests = {}

    def add(self, number, data):
        """Is it new? Raises Untrusted for an item that came with other bytes before."""
        digest = hashlib.blake2b(data, digest_size=16).digest()
        if self.digests.setdefault(number, digest) is digest:
            return True
        if self.digests[number] == digest:
            return False
        raise Untrusted(f"the result of item {number} was found wrong and replaced after it was given to you: compute with these results "
                        "again; early=False gives results once all are validated")

    def ranges(self):
        """(begin, end) pairs, in order.

        >>> seen = Seen()
        >>> [seen.add(number, b"") for number in (1, 2, 5, 2)]
        [True, True, True, False]
        >>> seen.ranges()
        [(1, 3), (5, 6)]
        """
        found = []
        for number in sorted(self.digests):
            if found and found[-1][1] == number:
                found[-1] = (found[-1][0], number + 1)
            else:
                found.append((number, number + 1))
        return found


class RemoteItems:
    """Items of a function's calls on a server; what _run.Run takes items from."""

    def __init__(self, api, identity, job=None, check=None, keep=True, early=True):
        """`check`: what to raise where hosts disagree. `keep`: the problem stays when its results are read. `early`: items
        are given while others are computed, before hosts of strangers are validated."""
        self.api, self.identity, self.check, self.keep, self.early_wanted = api, identity, check, keep, early
        self.watch, self.told = Watch(api, identity), set()
        # Without a job, as an attached run is, the results say them.
        self.calls, self.batch = (job.calls, job.batch) if job else (None, None)

    def items(self, shown=None):
        """(number, bytes) of each item; some while others are computed."""
        seen = Seen()
        for info in self.watch.looks(shown):
            self.warn(info)
            if self.check and info["disagreements"]:
                self.cancel()
                raise self.check(info)
            if info["state"] == "finished":
                yield from self.read(info["results"], seen)
                if not self.keep:
                    self.api.delete_problem(self.identity)
            elif info["accepted"] > len(seen.digests) and self.calls is not None and self.early_wanted and not self.check:
                yield from self.early(seen)

    def warn(self, info):
        """Of each kind of failure, and of needs that nobody meets, once."""
        for error in info.get("errors", []):
            words = error.get("words") or error["message"]
            self.tell(words, f"{error['hosts']} of the hosts failed: {words}")
        if info.get("needs") and info.get("waits") == info["needs"]:  # no host online meets them
            self.tell(info["needs"], info["needs"])
            self.watch.notes.know(info["needs"])

    def tell(self, of, words):
        if of not in self.told:
            self.told.add(of)
            warnings.warn(f"problem {self.identity}: {words}", GridWarning, stacklevel=5)

    def early(self, seen):
        """Items that are accepted and were not seen before."""
        try:
            while data := self.api.accepted_items(self.identity, seen.ranges()):
                new = [(number, item) for number, item in calls.read_items(io.BytesIO(data)) if seen.add(number, item)]
                yield from new
                if not new:
                    return
        except Conflict:
            pass  # it has just finished
        except calls.FormatError as error:
            raise Untrusted(f"the results of problem {self.identity} cannot be read: {error}") from None

    def read(self, files, seen):
        """The items of a results file that were not seen before."""
        described = next((each for each in files if each["name"] == "results"), None)
        if described is None:
            raise GridError(f"problem {self.identity} is not one of a function's calls: it has no results of that kind")
        with tempfile.SpooledTemporaryFile(MEMORY_BYTES) as file:
            self.api.download(described["digest"], described["bytes"], file.write)
            file.seek(0)
            try:
                content = calls.read_results(file)
                told = next(content)
                if self.calls is not None and told != (self.calls, self.batch):
                    raise Untrusted(f"the results of problem {self.identity} are those of other calls")
                self.calls, self.batch = told
                for number, data in content:
                    if seen.add(number, data):
                        yield number, data
            except calls.FormatError as error:
                raise Untrusted(f"the results of problem {self.identity} cannot be read: {error}") from None

    def cancel(self, patience=None):
        self.watch.stop.set()
        try:
            self.api.cancel_problem(self.identity, patience)
        except Conflict:
            pass  # it has finished meanwhile

    def progress(self):
        return self.watch.look()
