"""Shows how far ninja is and how long the rest may take. Reads ninja's output: one line on a terminal, else a line for each tenth."""
import re
import sys
import time


def words(seconds):
    return f"{round(seconds)} s" if seconds < 120 else f"{round(seconds / 60)} min"


def main():
    begun, told, terminal = time.monotonic(), -1, sys.stdout.isatty()
    for line in sys.stdin:
        step = re.match(r"\[(\d+)/(\d+)\] ", line)
        if not step:
            print(("\n" if terminal and told >= 0 else "") + line, end="", flush=True)  # a warning, or what is wrong
            continue
        done, all_ = int(step[1]), int(step[2])
        spent = time.monotonic() - begun
        # The first steps are short: nothing is said of the end before some of them are done.
        left = f", about {words(spent * (all_ - done) / done)} left" if done >= 20 and done < all_ else ""
        text = f"compiled {done} of {all_} parts in {words(spent)}{left}"
        if terminal:
            print(f"\r\033[K{text}", end="", flush=True)
        elif 10 * done // all_ != told:
            print(text, flush=True)
        told = 10 * done // all_
    if terminal and told >= 0:
        print()


if __name__ == "__main__":
    main()
