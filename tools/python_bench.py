#!/usr/bin/python3
"""Calls a second of `grid.map` beside concurrent.futures, Dask distributed and GNU parallel, on this machine.

    tools/python_bench.py [--build build/release] [--workers 2] [--seconds 10] [--rounds 3] [--only gleaner,local,futures,dask,parallel]

Each call sleeps for 1, 10 or 100 ms, so that what is measured is what a tool adds, and not who else uses the processor. All
workers are up before the clock starts; it stops when the last result is with the caller. As many calls as the workers could
do in `--seconds`. The grid is a server and a client with one core a worker, sandboxed, idle before. Dask and GNU parallel are
measured where they are installed (python3-distributed, parallel). Prints medians, as a table for tests/reports/measurements.md.
"""
import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
MILLISECONDS = (1, 10, 100)
PROCESSES_MAX = 500  # of GNU parallel in a round: it starts one for each call, and its rate does not change with their number


def nap(seconds):
    time.sleep(seconds)
    return 1


def grid_of(build, workers, stack):
    """A server and a client that computes in sandboxes."""
    os.environ["GLEANER_BUILD"] = str(build)
    sys.path[:0] = [str(SOURCE / "tests" / "functional"), str(SOURCE / "tools" / "python")]
    import gleaner
    from harness import Grid
    server = stack.enter_context(Grid())
    server.start_server()
    server.add_client("client", cores=workers)
    return gleaner.connect(server.project, signer=server.offline / "signer.key")


def with_gleaner(grid):
    def run(seconds, count):
        return sum(grid.map(nap, [seconds] * count))
    return run


def with_futures(pool):
    def run(seconds, count):
        return sum(pool.map(nap, [seconds] * count))
    return run


def with_dask(client):
    def run(seconds, count):
        return sum(client.gather(client.map(nap, [seconds] * count, pure=False)))
    return run


def with_parallel(workers):
    def run(seconds, count):
        count = min(count, PROCESSES_MAX)
        done = subprocess.run(["parallel", "--will-cite", f"-j{workers}", f"sleep {seconds}; echo"], input="1\n" * count, text=True,
                              capture_output=True, check=True)
        return len(done.stdout.splitlines())
    return run


def dask_client(workers, stack):
    import dask
    from distributed import Client, LocalCluster
    dask.config.set({"distributed.worker.daemon": True})
    cluster = stack.enter_context(LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"))
    return stack.enter_context(Client(cluster))


def runners(arguments, stack):
    """(name, function of seconds and count) of each tool that is wanted and there."""
    workers, only = arguments.workers, arguments.only.split(",")
    if "gleaner" in only:
        yield "Gleaner, a server and a sandboxed client", with_gleaner(grid_of(arguments.build, workers, stack))
    if "local" in only:
        sys.path.insert(0, str(SOURCE / "tools" / "python"))
        import gleaner
        yield "gleaner.local()", with_gleaner(gleaner.local(workers))
    if "futures" in only:
        yield "concurrent.futures, processes", with_futures(stack.enter_context(concurrent.futures.ProcessPoolExecutor(workers)))
    if "dask" in only:
        try:
            yield "Dask distributed", with_dask(dask_client(workers, stack))
        except ImportError:
            print("Dask is not installed: python3-distributed", file=sys.stderr)
    if "parallel" in only:
        if shutil.which("parallel"):
            yield "GNU parallel, a process a call", with_parallel(workers)
        else:
            print("GNU parallel is not installed: parallel", file=sys.stderr)


def measure(run, workers, milliseconds, seconds, rounds):
    """Calls a second, of each round."""
    count = int(seconds * workers * 1000 / milliseconds)
    rates = []
    for _ in range(rounds):
        begin = time.monotonic()
        done = run(milliseconds / 1000, count)
        rates.append(done / (time.monotonic() - begin))
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build" / "release")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="gleaner,local,futures,dask,parallel")
    arguments = parser.parse_args()
    print("| calls a second | " + " | ".join(f"{each} ms" for each in MILLISECONDS) + " |\n|---|" + "---|" * len(MILLISECONDS))
    print("| ideal | " + " | ".join(f"{1000 * arguments.workers / each:.0f}" for each in MILLISECONDS) + " |", flush=True)
    with contextlib.ExitStack() as stack:
        for name, run in runners(arguments, stack):
            run(0.001, 10 * arguments.workers)  # everything is imported, signed and connected
            cells = []
            for milliseconds in MILLISECONDS:
                rates = measure(run, arguments.workers, milliseconds, arguments.seconds, arguments.rounds)
                cells.append(f"{statistics.median(rates):.0f} ({min(rates):.0f} to {max(rates):.0f})")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
