"""A bar for people: what is done, hosts, time left, errors. tqdm draws it where it is installed, in notebooks as a widget.
Without a bar, notes on standard error say why no results arrive."""
import re
import sys
import time

REDRAW_SECONDS = 0.2
WAIT_SECONDS = 5  # without a result, before a note says why
NOTES_MAX = 20  # of one wait; reasons may alternate for days
REASON_MAX = 500  # characters


def in_notebook():
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return bool(shell) and hasattr(shell, "kernel")


def span(seconds):
    """A time for people.

    >>> [span(seconds) for seconds in (-1, 42, 90, 7200)]
    ['?', '42 s', '2 min', '2.0 h']
    """
    if seconds < 0:
        return "?"
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def told(info):
    """The words beside the bar."""
    errors = sum(each.get("times", 1) for each in info.get("errors", []))
    words = [f"{info['hosts']} host{'' if info['hosts'] == 1 else 's'}", f"{span(info['eta_seconds'])} left"]
    return ", ".join(words + ([f"{errors} error{'' if errors == 1 else 's'}"] if errors else []) +
                     ([info["waits"]] if info.get("waits") else []))


class WaitingNotes:
    """Prints why the server waits: once it has waited for WAIT_SECONDS, and again when the reason changes.

    Reasons that differ in their numbers alone are one reason: the server counts minutes and items in them. One thread.
    """

    def __init__(self, title):
        self.title, self.since, self.accepted, self.told, self.count = title, None, None, None, 0

    def look(self, info):
        reason, now = info.get("waits"), time.monotonic()
        if not reason or info["accepted"] != self.accepted or self.since is None:
            self.accepted, self.since = info["accepted"], now if reason else None
        if not reason or now - self.since < WAIT_SECONDS or without_numbers(reason) == self.told or self.count == NOTES_MAX:
            return
        self.know(reason)
        self.count += 1
        shown = "".join(each if each.isprintable() else "?" for each in reason[:REASON_MAX])
        print(f"gleaner: {self.title} waits: {shown}", file=sys.stderr)

    def know(self, reason):
        """The user has been told this reason."""
        self.told = without_numbers(reason)


def without_numbers(words):
    """A sentence with # in place of its numbers.

    >>> without_numbers("another host must compute 4 items, too")
    'another host must compute # items, too'
    """
    return re.sub(r"[0-9]+(\.[0-9]+)?", "#", words)


class Bar:
    """Drawn on standard error; nothing if `wanted` is false. None: in notebooks."""

    def __init__(self, wanted, title):
        self.wanted = in_notebook() if wanted is None else wanted
        self.title, self.bar, self.drawn, self.width = title, None, 0, 0

    def __enter__(self):
        if self.wanted:
            try:
                from tqdm.auto import tqdm
                self.bar = tqdm(desc=self.title, unit="item", total=0, leave=True)
            except ImportError:
                pass
        return self

    def show(self, info):
        """Does the user see it?"""
        if not self.wanted:
            return False
        if self.bar is not None:
            self.bar.total, self.bar.n = info["items"], info["accepted"]
            self.bar.set_postfix_str(told(info))
        elif time.monotonic() - self.drawn > REDRAW_SECONDS or info["accepted"] == info["items"]:
            self.drawn = time.monotonic()
            done = int(30 * info["accepted"] / max(1, info["items"]))
            line = f"{self.title}: [{'#' * done}{'.' * (30 - done)}] {info['accepted']}/{info['items']}  {told(info)}"
            sys.stderr.write("\r" + line.ljust(self.width))  # over all of the line before
            self.width = len(line)
            sys.stderr.flush()
        return True

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
        elif self.wanted and self.drawn:
            sys.stderr.write("\n")
