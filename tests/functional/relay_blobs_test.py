"""Twenty hosts behind one relay fetch an application and its input at once: the link to the parent carries each once. GLEANER_LONG=1:
20 and 200 MB instead of 2 and 20."""
import hashlib
import os
import random
import threading
import time
import unittest

from harness import main
from kernels import kernel_bundle
from tree import HostUnder, Tree

MEGABYTE = 1 << 20
SCALE = 10 if os.environ.get("GLEANER_LONG") else 1
HOSTS = 20
PIECE = MEGABYTE


class Once(unittest.TestCase):
    def fetch(self, host, digest, count, rng):
        """Whole, or in pieces in any order."""
        if rng.random() < 0.5:
            data = host.call("GET", f"/v1/blobs/{digest}", raw=True)
        else:
            begins = list(range(0, count, PIECE))
            rng.shuffle(begins)
            pieces = {begin: host.call("GET", f"/v1/blobs/{digest}", headers={"Range": f"bytes={begin}-{min(begin + PIECE, count) - 1}"}, raw=True)
                      for begin in begins}
            data = b"".join(piece for _, piece in sorted(pieces.items()))
        if hashlib.sha256(data).hexdigest() != digest:
            self.wrong.append(digest)

    def test_the_uplink_carries_a_blob_once(self):
        with Tree() as grid:
            grid.start_server()
            bundle = kernel_bundle(grid, "large", "say('done')")
            (bundle / "data").write_bytes(random.randbytes(2 * SCALE * MEGABYTE))
            archive = grid.add_application(bundle)
            given = grid.directory / "given"
            given.write_bytes(random.randbytes(20 * SCALE * MEGABYTE))
            grid.add_problem("large", "large", "--input", f"given={given}", count=1000)
            blobs = {hashlib.sha256(path.read_bytes()).hexdigest(): path.stat().st_size for path in (archive, given)}
            grid.add_relay("lab", children=HOSTS)
            hosts = [HostUnder(grid, "lab", f"pc-{i}") for i in range(HOSTS)]
            before = grid.links["lab"].bytes["down"]
            self.wrong = []
            work = [threading.Thread(target=self.fetch, args=(host, digest, count, random.Random(i)))
                    for i, host in enumerate(hosts) for digest, count in blobs.items()]
            begun = time.monotonic()
            for thread in work:
                thread.start()
            for thread in work:
                thread.join()
            carried = grid.links["lab"].bytes["down"] - before
            self.assertEqual(self.wrong, [])
            print(f"{HOSTS} hosts took {sum(blobs.values()) * HOSTS / MEGABYTE:.0f} MB, of which the link carried {carried / MEGABYTE:.1f} "
                  f"({time.monotonic() - begun:.1f} s)", flush=True)
            self.assertGreaterEqual(carried, sum(blobs.values()))
            self.assertLess(carried, 1.02 * sum(blobs.values()) + 64 * 1024, "a blob crossed the link more than once")
            self.check_that_who_asks_waits_for_what_that_brings(hosts[0])
            relay = next(host for host in grid.admin_json("host", "list")["items"] if host["name"] == "lab")
            self.assertGreater(relay["speeds"]["download_bytes_per_second"], 0, "it does not tell what it measured of its link")

    def check_that_who_asks_waits_for_what_that_brings(self, host):
        """The relay has no unit yet: it asks its parent, and its host has one with the answer to its first request."""
        begun = time.monotonic()
        reply = host.call("POST", "/v1/work", {
            "commits": [], "units": [], "slots": [{"slot": 0, "urgent": True}], "platforms": ["any"], "memory_bytes": 1 << 32, "cores": 1,
            "proposal": {"performance": 1000, "queue_unloaded": 1, "queue_current": 1, "items": 0}})
        print(f"a first unit after {time.monotonic() - begun:.2f} s", flush=True)
        self.assertEqual(len(reply["grants"]), 1, reply["reason"])


if __name__ == "__main__":
    main()
