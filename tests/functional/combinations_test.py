"""Whatever happens at once, no finished result is lost, and no host stays locked out: random combinations of copied disks, restored
servers, other names, slow and cut lines, kills, full disks, clocks that jump, and hosts that are put out and join again.

  tests/functional/combinations_test.py [--combinations N] [--seed S] [--jobs J] [--seconds T] [--keep DIR]

  --combinations N  of the seeds S, S+1, ... (default 6); 1 repeats one
  --seed S          the first seed (default 1)
  --jobs J          so many at once (default 3)
  --seconds T       begin none after so many seconds (default 25)
  --keep DIR        logs of those that failed go there

GLEANER_BUILD names the build. Exit status: 0 all held, 1 not all did (their seeds are named), 77 this user may not mount.
"""
import argparse
import concurrent.futures
import itertools
import multiprocessing
import sys
import time

from combinations import run
from computers import may_unshare


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--combinations", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--keep")
    options = parser.parse_args()
    if options.seconds is None:
        options.seconds = 25 if len(sys.argv) == 1 else float("inf")
    return options


def main():
    options = parse()
    if not may_unshare():
        print("combinations: only root may mount small disks and be other computers")
        return 77
    begun, failed, done = time.monotonic(), [], 0
    seeds = iter(range(options.seed, options.seed + options.combinations))
    # Processes of their own: links have threads, and a fork of one with threads may hang.
    with concurrent.futures.ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(run, seed, options.keep) for seed in itertools.islice(seeds, options.jobs)}
        while waiting:
            ended, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in ended:
                plan, wrong, seconds, slowest = one.result()
                done += 1
                failed += [plan["seed"]] if wrong else []
                what = wrong or f"all computed after {slowest:.0f} s"
                print(f"seed {plan['seed']}{' (relay)' if plan['relay'] else ''}: {', '.join(kind for _, kind, _, _ in plan['happens'])}: "
                      f"{what}; {seconds:.0f} s", flush=True)
                if time.monotonic() - begun < options.seconds and (seed := next(seeds, None)) is not None:
                    waiting.add(pool.submit(run, seed, options.keep))
    print(f"{done} combinations in {time.monotonic() - begun:.0f} s, {len(failed)} violated" + (f": seeds {failed}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
