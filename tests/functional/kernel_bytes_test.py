"""The bytes of the kernels' items against digests on record. Every compiler, processor and system has to make the same ones: a
project compares results of different computers bit by bit.

    kernel_bytes_test.py --record      writes the digests anew, after a change that is meant
    GLEANER_KERNEL="wine64 DIR/{0}-kernel.exe" kernel_bytes_test.py      other kernels, with the managers of this build
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import built, main

RECORD = pathlib.Path(__file__).with_name("kernel_bytes.json")
KERNEL = os.environ.get("GLEANER_KERNEL", "")


def letters(alphabet, length, state):
    """The same text wherever it is made up: Knuth's MMIX generator."""
    text = []
    for _ in range(length):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        text.append(alphabet[(state >> 33) % len(alphabet)])
    return "".join(text)


def fasta(count, length, first):
    return "".join(f">r{i}\n{letters('ARNDCQEGHILKMFPSTWYV', length + i, first + i)}\n" for i in range(count)).encode()


def passwords(kind):
    """Targets of the test's own: those of the manager have secrets among them, others each time."""
    words = [letters("abcdefghijklmnopqrstuvwxyz0123456789", 1 + i % 3, i) for i in range(20)]
    all_of_them = sorted({hashlib.new(kind, word.encode()).digest() for word in words})
    return {"targets": b"".join(all_of_them), "digests": "".join(one.hex() + "\n" for one in all_of_them).encode()}


# name: application, parameters, inputs, at most so many items (of the first stage alone)
CASES = {
    "dlog, one limb": ("dlog", {"random_bits": 57, "item_walks": 50}, {}, 3),
    # More than 32 bits, where a system's `long` has no more.
    "dlog, a large seed": ("dlog", {"random_bits": 62, "item_walks": 20, "seed": 1234567890123456}, {}, 3),
    "dlog, two limbs": ("dlog", {"random_bits": 100, "random_order_bits": 50, "item_walks": 5, "distinguished_bits": 6}, {}, 3),
    "dsearch, proteins": ("dsearch", {"top": 5, "chunk_residues": 2000}, {"query": fasta(2, 60, 1), "database": fasta(60, 50, 9)}, None),
    "hologram, points": ("hologram", {"synthetic": "points", "points": 3, "rows": 64, "columns": 64, "distance_millimetres": -12,
                                      "output": "complex"}, {}, None),
    "mandelbrot, doubles": ("mandelbrot", {"width": 64, "height": 24, "iterations": 2000}, {}, None),
    "mandelbrot, deep": ("mandelbrot", {"centre_x": "0", "centre_y": "1", "view_width": "2e-100", "width": 15, "height": 15,
                                        "iterations": 2000}, {}, None),
    "passwords, SHA-1": ("passwords", {"digest": "sha1", "maximum_length": 3, "item_candidates": 4000}, passwords("sha1"), 100),
    "passwords, MD5": ("passwords", {"digest": "md5", "maximum_length": 3, "item_candidates": 4000}, passwords("md5"), 100),
    "photons, two layers": ("photons", {"layers": "above 1; layer skin 1.4 1 90 0.8 0.1; layer fat 1.45 0.3 60 0.9 0.3",
                                        "photons": 3000, "item_photons": 1000, "detector_radius": 0.2, "visits": True}, {}, None),
    "raytrace, scene A": ("raytrace", {"scene": "A", "width": 32, "height": 24}, {}, None),
    "raytrace, an animation": ("raytrace", {"scene": "B", "width": 16, "height": 12, "frames": 3, "orbit": 360}, {}, None),
    "tsp, all tours": ("tsp", {"random_cities": 9, "symmetry": True}, {}, None),
    "tsp, bounds": ("tsp", {"random_cities": 10, "mode": "branch-and-bound"}, {}, None),
}


class Program:
    """A kernel or manager: apps/CONTRACT.md."""

    def __init__(self, command, directory, problem):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=directory,
                                        env={**os.environ, "GLEANER_THREADS": "1"})
        assert self.ask("gleaner 1").startswith("ready 1")
        answer = self.ask(f"problem {problem}")
        assert answer == "ok", answer

    def ask(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self):
        return self.process.stdout.readline().decode().rstrip("\n")

    def bytes(self, count):
        return self.process.stdout.read(count)

    def close(self):
        self.process.communicate(b"quit\n", timeout=30)


def plan(manager, stage, work, problem, kept):
    """The number of the stage's items, None if there is no such stage. Its inputs are put in place, but for those that are kept."""
    items = None
    line = manager.ask(f"plan {stage}")
    while line not in ("ok", "end"):
        word, *words = line.split()
        assert word != "error", line
        if word == "items":
            items = int(words[0])
        elif word == "input" and words[0] not in kept:
            (problem / "inputs" / words[0]).write_bytes((work / words[1]).read_bytes())
        line = manager.answer()
    return items


def compute(kernel, stage, count):
    items = []
    line = kernel.ask(f"unit {stage} 0 {count}")
    while line != f"done {count}":
        word, *words = line.split()
        assert word in ("item", "progress", "log"), line
        if word == "item":
            assert int(words[0]) == len(items), line
            items.append(kernel.bytes(int(words[1])))
        line = kernel.answer()
    return items


def combine(manager, stage, items, work):
    (work / "segment").write_bytes(b"".join(len(item).to_bytes(4, "little") + item for item in items))
    (work / "list").write_text(f"0 {len(items)} 0 segment\n")
    line = manager.ask(f"combine {stage} list")
    while line != "ok":
        assert line.split()[0] in ("progress", "result"), line
        line = manager.answer()


def digest(application, parameters, inputs, items_max):
    """Of all items of all stages, with their lengths."""
    bundle = built(f"bundles/{application}")
    total = hashlib.sha256()
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        problem, work, slot = (directory / name for name in ("problem", "work", "slot"))
        for each in (problem / "inputs", work, slot):
            each.mkdir(parents=True)
        (problem / "parameters.json").write_text(json.dumps(parameters))
        for name, content in inputs.items():
            (problem / "inputs" / name).write_bytes(content)
        manager = Program([bundle / "bin" / f"{application}-manager"], work, problem)
        stage = 0
        while (count := plan(manager, stage, work, problem, inputs)) is not None:
            (work / f"stage-{stage}").mkdir(exist_ok=True)
            command = KERNEL.format(application).split() or [bundle / "bin" / f"{application}-kernel"]
            kernel = Program(command, slot, problem)
            items = compute(kernel, stage, min(count, items_max or count))
            kernel.close()
            for item in items:
                total.update(len(item).to_bytes(4, "little") + item)
            if items_max:
                break
            combine(manager, stage, items, work)
            stage += 1
        manager.close()
    return total.hexdigest()


class KernelBytes(unittest.TestCase):
    def test_items(self):
        record = json.loads(RECORD.read_text())
        self.assertEqual(sorted(record), sorted(CASES))
        for name, case in CASES.items():
            with self.subTest(name):
                self.assertEqual(digest(*case), record[name])


if __name__ == "__main__":
    if "--record" in sys.argv:
        RECORD.write_text(json.dumps({name: digest(*case) for name, case in CASES.items()}, indent=2) + "\n")
    else:
        main()
