"""A bar for people: what is done, hosts, time left, errors. tqdm draws it where it is installed, in notebooks as a widget."""
import sys
import time

REDRAW_SECONDS = 0.2


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


class Bar:
    """Drawn on standard error; nothing if `wanted` is false. None: in notebooks."""

    def __init__(self, wanted, title):
        self.wanted = in_notebook() if wanted is None else wanted
        self.title, self.bar, self.drawn = title, None, 0

    def __enter__(self):
        if self.wanted:
            try:
                from tqdm.auto import tqdm
                self.bar = tqdm(desc=self.title, unit="item", total=0, leave=True)
            except ImportError:
                pass
        return self

    def show(self, info):
        if not self.wanted:
            return
        if self.bar is not None:
            self.bar.total, self.bar.n = info["items"], info["accepted"]
            self.bar.set_postfix_str(told(info))
        elif time.monotonic() - self.drawn > REDRAW_SECONDS or info["accepted"] == info["items"]:
            self.drawn = time.monotonic()
            done = int(30 * info["accepted"] / max(1, info["items"]))
            sys.stderr.write(f"\r{self.title}: [{'#' * done}{'.' * (30 - done)}] {info['accepted']}/{info['items']}  {told(info)}  ")
            sys.stderr.flush()

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
        elif self.wanted and self.drawn:
            sys.stderr.write("\n")
