"""Values as bytes: what comes back, what is refused, and what strangers may send."""
import math
import os
import pathlib
import pickle
import random
import tempfile
import unittest

import numpy
from gleaner._runtime import calls
from gleaner._runtime.values import DEPTH_MAX, FormatError, decode, encode

PLAIN = [None, True, 0, -1, 2 ** 63 - 1, 2 ** 63, -2 ** 5000, 1.5, -0.0, math.inf, -math.inf, 1e-320, 2 + 3j, "", "ä\ud800\0", b"", b"\0raw",
         [], [1, [2]], (), (1, (2, "x")), {}, {"a": 1, "b": [()]}, {1: 2, (3, 4): b"x"}, {"$tuple": 1}, range(3, 30, 4), [b"one", b"two"]]
ARRAYS = [numpy.arange(12).reshape(3, 4), numpy.zeros((0, 3)), numpy.array(7.5), numpy.array(["ab", "c"]), numpy.array([b"ab"]),
          numpy.array([True, False]), numpy.arange(3, dtype=">i2"), numpy.array([1 + 2j], dtype="complex64"),
          numpy.array(["2026-11-28"], dtype="datetime64[D]"), numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3))]


def attached(data, form="$array"):
    text = f'{{"{form}":0}}'.encode()
    return b"\0" + len(text).to_bytes(4, "little") + text + len(data).to_bytes(8, "little") + data


def npy(header, body=b""):
    header = header.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


class Values(unittest.TestCase):
    def test_values_come_back_with_their_types(self):
        for value in PLAIN:
            found = decode(encode(value))
            self.assertEqual(repr(found), repr(value))
        self.assertTrue(math.isnan(decode(encode(math.nan))))

    def test_arrays_come_back(self):
        for array in ARRAYS:
            found = decode(encode(array))
            self.assertEqual((found.shape, found.dtype.newbyteorder("=")), (array.shape, array.dtype.newbyteorder("=")))
            self.assertTrue(numpy.array_equal(found, array))
        self.assertTrue(decode(encode(ARRAYS[0])).flags.writeable)
        scalar = decode(encode([numpy.float32(1.5)]))[0]
        self.assertIsInstance(scalar, numpy.float32)

    def test_equal_values_have_equal_bytes(self):
        self.assertEqual(encode(ARRAYS[-1]), encode(numpy.ascontiguousarray(ARRAYS[-1])))
        self.assertEqual(encode(numpy.arange(3, dtype=">i2")), encode(numpy.arange(3, dtype="<i2")))

    def test_what_cannot_travel_is_named(self):
        for value, words in [({1}, "sorted"), (object(), "^a value of type object cannot be sent: send numbers"),
                             (numpy.array([None]), "array of object"), (lambda: 1, "of type function"),
                             (numpy.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]), "array of")]:
            with self.assertRaisesRegex(TypeError, words):
                encode(value)
        deep = []
        for _ in range(DEPTH_MAX + 1):
            deep = [deep]
        with self.assertRaisesRegex(TypeError, "nests deeper"):
            encode(deep)

    def test_hostile_bytes_are_refused_and_nothing_of_them_runs(self):
        with tempfile.TemporaryDirectory() as directory:
            sprung = pathlib.Path(directory) / "sprung"
            payload = pickle.dumps(Trap(sprung))
            evaluated = f"{{'descr': __import__('os').mkdir({str(sprung)!r}), 'fortran_order': False, 'shape': (1,), }}".encode()
            for data in [b"", b"\0", payload, b"[" * 100_000, b"1" * 100_000, b"NaN", b'{"$tuple":[1],"x":2}', b'{"$new":[]}', b'{"$int":"1"}',
                         b'{"$bytes":0}', b'{"$range":[0,1,0]}', b'{"$dict":[[[1],2]]}', b'{"$dict":[[1]]}', b'{"$float":1}',
                         b'{"$complex":[1,2]}', attached(payload), attached(npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", payload)),
                         attached(npy(evaluated)), attached(npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,), }")),
                         attached(npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", b"1234567")),
                         attached(npy(b"{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", b"123")),
                         attached(npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", bytes(16)), "$scalar"),
                         b"\0" + b"\xff" * 12]:
                with self.assertRaises(FormatError, msg=data[:80]):
                    decode(data)
            self.assertFalse(sprung.exists())

    def test_damaged_bytes_are_refused_or_a_value(self):
        seed = random.randrange(1 << 32)
        source = random.Random(seed)
        whole = encode([1, "text", (2.5, b"raw"), numpy.arange(5), {"k": 2 ** 70}])
        for _ in range(3000):
            data = bytearray(whole)
            for _ in range(source.randrange(1, 4)):
                data[source.randrange(len(data))] = source.randrange(256)
            try:
                decode(data[:source.randrange(len(data) + 1)])
            except FormatError:
                continue
            except Exception as error:
                self.fail(f"seed {seed}: {data!r}: {error!r}")


class Outcomes(unittest.TestCase):
    def test_items_are_read_strictly(self):
        data = calls.outcome(calls.RETURNED, 5) + calls.raised("E", "m", "t")
        self.assertEqual(calls.outcomes(data, 2), [(0, 5), (1, ["E", "m", "t"])])
        for wrong, count in [(data, 1), (data, 3), (data[:-1], 2), (b"\2" + data[1:], 2), (calls.outcome(calls.RAISED, "text"), 1)]:
            with self.assertRaises(FormatError):
                calls.outcomes(wrong, count)

    def test_framing(self):
        self.assertEqual(list(calls.unframed(calls.framed([b"a", b"", b"bc"]))), [b"a", b"", b"bc"])
        for wrong in (b"\1", b"\5\0\0\0abc"):
            with self.assertRaises(FormatError):
                list(calls.unframed(wrong))


if __name__ == "__main__":
    unittest.main()
