"""Rows of a table through a real server and one client: seconds until they are added, computed and combined, and the memory of the server
and of the problem's manager. The program of a row is static and prints one line, so that the rest is the grid's.

    GLEANER_BUILD=build/release python3 tools/table_bench.py [--rows 1000000] [--cores 2]
"""
import argparse
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "functional"))
from harness import Grid
from wrapping import add_wrapped

# Without a C library, whose start would be most of the time.
PROGRAM = r"""
static long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}
void _start(void) {
  call(1, 1, (long)"last 7\n", 7);
  call(231, 0, 0, 0);
}
"""


def memory(pid):
    """MiB at the most."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0)


def managers():
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes().split(b"\0")[0].endswith(b"gleaner-wrap-manager"):
                    yield int(entry.name)
            except OSError:
                pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--cores", type=int, default=2)
    wanted = parser.parse_args()
    with Grid() as grid:
        (grid.directory / "program.c").write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-static", "-nostdlib", "-o", grid.directory / "program", grid.directory / "program.c"], check=True)
        table = grid.directory / "rows.csv"
        table.write_text("first,second\n" + "".join(f"{i},value-{i}\n" for i in range(wanted.rows)))
        server = grid.start_server()
        add_wrapped(grid, "tiny", grid.directory / "program", "--number", "last=^last (.*)", "--", "{first}", "{second}")
        begun = time.monotonic()
        identity = grid.add_problem("tiny", "many", "--table", table)
        while grid.problem(identity)["items"] != wanted.rows:
            time.sleep(0.1)
        added = time.monotonic()
        print(f"{wanted.rows} rows: added and planned in {added - begun:.1f} s, server {memory(server.pid)} MiB", flush=True)
        grid.add_client("a", cores=wanted.cores)
        most, told, computed = 0, added, None
        while (info := grid.problem(identity))["state"] != "finished":
            most = max([most, *map(memory, managers())])
            if info["accepted"] == wanted.rows:
                computed = computed or time.monotonic()
            elif time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"  {info['accepted']} rows after {told - added:.0f} s, server {memory(server.pid)} MiB, manager {most} MiB", flush=True)
            if info["state"] in ("failed", "stopped"):
                sys.exit(info["message"])
            time.sleep(0.2)
        finished = time.monotonic()
        computed = computed or finished
        results = {each["name"]: each["bytes"] for each in info["results"]}
        print(f"computed in {computed - added:.0f} s ({wanted.rows / (computed - added):.0f} rows/s), combined in {finished - computed:.1f} s; "
              f"server {memory(server.pid)} MiB, manager {most} MiB; {results}")


if __name__ == "__main__":
    main()
