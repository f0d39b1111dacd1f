"""Values as bytes, on both sides of a grid: numbers, texts, lists, dicts, bytes and numpy arrays, and nothing else.

Plain values are JSON. What JSON lacks is an object with one key that begins with "$": a tuple, a dict with other keys than
texts, a number that is not finite, and so on. Bytes and arrays follow the JSON:

    b"\\0", uint32 length of the JSON, the JSON, then for each attachment a uint64 length and its bytes (little-endian)

An array is a .npy file of format 1.0 without objects. Equal values have equal bytes on every computer, so that a grid can
compare results. decode() takes bytes from strangers: it builds values and never runs, imports or unpickles anything.
Thread-safe.
"""
import json
import math
import re
import struct
import sys

DEPTH_MAX = 64  # of lists in lists
PLAIN_INTEGER = 1 << 63  # larger ones are written as hexadecimal digits, which are read in linear time
HEADER_BYTES_MAX = 4096  # of an array: 32 dimensions fit
HEADER = re.compile(rb"\{'descr': '([<|][biufcSUmM][0-9]{1,9}(?:\[[0-9]{0,4}[a-zA-Z]{1,2}\])?)', "
                    rb"'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n")


class FormatError(ValueError):
    """Bytes that are no value."""


def encode(value):
    """The bytes of a value.

    >>> encode([1, 2.5, "three", None])
    b'[1,2.5,"three",null]'
    >>> decode(encode({"pair": (1, 2), 3: b"raw"}))
    {'pair': (1, 2), 3: b'raw'}
    >>> encode({1, 2})
    Traceback (most recent call last):
    TypeError: a value of type set cannot be sent: it has no order; send sorted(...) of it
    """
    attachments = []
    text = json.dumps(_plain(value, attachments, 0), separators=(",", ":"), allow_nan=False).encode()
    if not attachments:
        return text
    parts = [b"\0", struct.pack("<I", len(text)), text]
    for attachment in attachments:
        parts += (struct.pack("<Q", len(attachment)), attachment)
    return b"".join(parts)


def decode(data, arrays=True):
    """The value of bytes. With `arrays` false, arrays are checked and become None, so that numpy is not needed.

    Raises FormatError for whatever encode() does not write.
    """
    data = bytes(data)
    attachments = []
    if data[:1] == b"\0":
        data, attachments = _split(data)
    try:
        tree = json.loads(data, parse_constant=_refuse, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not a value: {error}") from None
    return _Reader(attachments, arrays).value(tree, 0)


# ---- writing


def _plain(value, attachments, depth):
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -PLAIN_INTEGER <= value < PLAIN_INTEGER else {"$int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if depth == DEPTH_MAX:
        raise TypeError(f"a value cannot be sent: it nests deeper than {DEPTH_MAX} levels")
    if kind is list:
        return [_plain(each, attachments, depth + 1) for each in value]
    if isinstance(value, tuple):
        return {"$tuple": [_plain(each, attachments, depth + 1) for each in value]}
    if kind is dict:
        return _plain_dict(value, attachments, depth)
    if kind in (bytes, bytearray, memoryview):
        attachments.append(bytes(value))
        return {"$bytes": len(attachments) - 1}
    if kind is complex:
        return {"$complex": [_plain(value.real, attachments, depth), _plain(value.imag, attachments, depth)]}
    if kind is range:
        return {"$range": [_plain(each, attachments, depth) for each in (value.start, value.stop, value.step)]}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        attachments.append(_npy(value, numpy))
        return {"$array" if isinstance(value, numpy.ndarray) else "$scalar": len(attachments) - 1}
    for base in (int, float, str, dict, list):  # of a subclass what it is, not what else it can do
        if isinstance(value, base):
            return _plain(base(value), attachments, depth)
    raise TypeError(f"a value of type {kind.__name__} cannot be sent: " +
                    ("it has no order; send sorted(...) of it" if isinstance(value, (set, frozenset)) else
                     "send numbers, texts, bytes, lists, tuples, dicts and numpy arrays"))


def _plain_dict(value, attachments, depth):
    if all(type(key) is str and key[:1] != "$" for key in value):
        return {key: _plain(each, attachments, depth + 1) for key, each in value.items()}
    return {"$dict": [[_plain(key, attachments, depth + 1), _plain(each, attachments, depth + 1)]
                      for key, each in value.items()]}


def _npy(value, numpy):
    """Our own header: numpy's padding differs from version to version, and results are compared byte for byte."""
    array = numpy.asarray(value)
    if array.dtype.kind not in "biufcSUmM":
        raise TypeError(f"an array of {array.dtype} cannot be sent: only numbers, texts and times can")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    header = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.tobytes()


# ---- reading


def _refuse(word):
    raise FormatError(f"{word} is no number")


def _integer(digits):
    if len(digits) > 20:
        raise FormatError("a number has too many digits")
    return int(digits)


def _split(data):
    """The JSON and the attachments."""
    if len(data) < 5:
        raise FormatError("cut short")
    end = 5 + struct.unpack_from("<I", data, 1)[0]
    text, attachments = data[5:end], []
    while end < len(data):
        if len(data) < end + 8:
            raise FormatError("cut short")
        begin = end + 8
        end = begin + struct.unpack_from("<Q", data, end)[0]
        if end > len(data):
            raise FormatError("cut short")
        attachments.append(data[begin:end])
    if not attachments or end != len(data):
        raise FormatError("cut short")
    return text, attachments


class _Reader:
    def __init__(self, attachments, arrays):
        self.attachments, self.arrays = attachments, arrays
        self.forms = {"$tuple": self.tuple, "$dict": self.dict, "$bytes": self.attachment, "$array": self.array,
                      "$scalar": self.scalar, "$int": self.int, "$float": self.float, "$complex": self.complex,
                      "$range": self.range}

    def value(self, tree, depth):
        if depth > DEPTH_MAX:
            raise FormatError(f"nested deeper than {DEPTH_MAX} levels")
        if isinstance(tree, list):
            return [self.value(each, depth + 1) for each in tree]
        if not isinstance(tree, dict):
            return tree
        if not any(key.startswith("$") for key in tree):
            return {key: self.value(each, depth + 1) for key, each in tree.items()}
        (form, content), *more = tree.items()
        if more or form not in self.forms:
            raise FormatError("an unknown form")
        return self.forms[form](content, depth + 1)

    def list(self, content, depth, length=None):
        if not isinstance(content, list) or length not in (None, len(content)):
            raise FormatError("a list of another length was expected")
        return [self.value(each, depth) for each in content]

    def tuple(self, content, depth):
        return tuple(self.list(content, depth))

    def dict(self, content, depth):
        if not isinstance(content, list):
            raise FormatError("a list of pairs was expected")
        try:
            return dict(self.list(pair, depth, 2) for pair in content)
        except TypeError:
            raise FormatError("a key cannot be a key") from None

    def attachment(self, content, depth=0):
        if type(content) is not int or not 0 <= content < len(self.attachments):
            raise FormatError("it names an attachment that is not there")
        return self.attachments[content]

    def int(self, content, depth):
        if not isinstance(content, str) or not re.fullmatch("-?0x[0-9a-f]+", content):
            raise FormatError("hexadecimal digits were expected")
        return int(content, 16)

    def float(self, content, depth):
        if content not in ("nan", "inf", "-inf"):
            raise FormatError("nan, inf or -inf was expected")
        return float(content)

    def complex(self, content, depth):
        parts = self.list(content, depth, 2)
        if not all(type(part) is float for part in parts):
            raise FormatError("two numbers were expected")
        return complex(*parts)

    def range(self, content, depth):
        parts = self.list(content, depth, 3)
        if not all(type(part) is int for part in parts) or parts[2] == 0:
            raise FormatError("three whole numbers were expected")
        return range(*parts)

    def array(self, content, depth):
        return _from_npy(self.attachment(content), self.arrays)

    def scalar(self, content, depth):
        array = _from_npy(self.attachment(content), self.arrays)
        if array is not None and array.shape != ():
            raise FormatError("one number was expected")
        return None if array is None else array[()]


def _from_npy(data, arrays):
    """The array of a .npy file as _npy() writes it. The header is matched, never evaluated."""
    length = struct.unpack_from("<H", data, 8)[0] if len(data) >= 10 else 0
    header = HEADER.fullmatch(data[10:10 + length]) if 0 < length <= HEADER_BYTES_MAX else None
    if data[:8] != b"\x93NUMPY\x01\x00" or header is None:
        raise FormatError("not an array as it is sent")
    descr = header[1].decode()
    shape = tuple(int(side) for side in header[2].decode().replace(" ", "").split(",") if side)
    if len(shape) > 32 or any(side >= 1 << 48 for side in shape):
        raise FormatError("an array with too many elements")
    item = int(re.match("[0-9]+", descr[2:])[0]) * (4 if descr[1] == "U" else 1)
    body = data[10 + length:]
    if math.prod(shape) * item != len(body):
        raise FormatError("an array of another size was announced")
    if not arrays:
        return None
    try:
        import numpy
    except ImportError:
        raise FormatError("a result has numpy arrays: install numpy to read it") from None
    try:
        return numpy.ndarray(shape, numpy.dtype(descr), bytearray(body)) if body else numpy.empty(shape, numpy.dtype(descr))
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"not an array as it is sent: {error}") from None
