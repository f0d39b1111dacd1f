"""Calls and their outcomes as items of a problem. Item i of a problem has the calls from i * batch on.

A file of calls has the items of a range, each as a uint32 length and its bytes: for each call a uint32 length and its encoded
arguments, a list, or a dict of "args" and "kwargs". An item's result has for each call a status byte, a uint32 length and an
encoded value: what the call returned (0), or the type, message and traceback of what it raised (1). Little-endian.
Readers raise FormatError for anything else.
"""
import struct

from .values import FormatError, decode, encode

RETURNED, RAISED = 0, 1
MESSAGE_MAX, TRACEBACK_MAX = 4000, 16000  # characters


RESULTS = b"gleaner results 1\n"


def results_header(calls, batch):
    return RESULTS + struct.pack("<QQ", calls, batch)


def read_results(file):
    """Of a file of results: (calls, batch), then (number, bytes) of each item in it."""
    head = file.read(len(RESULTS) + 16)
    if len(head) != len(RESULTS) + 16 or not head.startswith(RESULTS):
        raise FormatError("not a file of results")
    total, batch = struct.unpack_from("<QQ", head, len(RESULTS))
    if not 0 < batch or not 0 < total <= 1 << 53:
        raise FormatError("not a file of results")
    yield total, batch
    for number, data in read_items(file):
        if number >= batches(total, batch):
            raise FormatError("there is no such item")
        yield number, data


def read_items(file):
    """(number, bytes) of items that stand one behind the other, each as uint64 number, uint32 length and bytes."""
    while head := file.read(12):
        number, length = struct.unpack("<QI", head) if len(head) == 12 else (0, 1 << 32)
        data = file.read(length)
        if len(data) != length:
            raise FormatError("cut short")
        yield number, data


def batches(calls, batch):
    """How many items that many calls are."""
    return -(-calls // batch)


def framed(parts):
    """Byte strings, each behind its length."""
    return b"".join(piece for part in parts for piece in (struct.pack("<I", len(part)), part))


def unframed(data):
    """The byte strings of framed()."""
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise FormatError("cut short")
        end = at + 4 + struct.unpack_from("<I", data, at)[0]
        if end > len(data):
            raise FormatError("cut short")
        yield data[at + 4:end]
        at = end


def encode_call(args, kwargs):
    return encode({"args": list(args), "kwargs": kwargs} if kwargs else list(args))


def decode_call(data):
    """(args, kwargs)."""
    call = decode(data)
    return (call, {}) if isinstance(call, list) else (call["args"], call["kwargs"])


def outcome(status, value):
    data = encode(value)
    return struct.pack("<BI", status, len(data)) + data


def raised(kind, message, trace):
    return outcome(RAISED, [kind[:MESSAGE_MAX], message[:MESSAGE_MAX], trace[-TRACEBACK_MAX:]])


def outcomes(data, calls, arrays=True):
    """(status, value) of each call of an item; the value of a call that raised is [type, message, traceback]."""
    at, found = 0, []
    for _ in range(calls):
        if at + 5 > len(data):
            raise FormatError("cut short")
        status, length = struct.unpack_from("<BI", data, at)
        end = at + 5 + length
        if end > len(data) or status > RAISED:
            raise FormatError("cut short, or an unknown outcome")
        value = decode(data[at + 5:end], arrays)
        if status == RAISED and not (isinstance(value, list) and [type(each) for each in value] == [str] * 3):
            raise FormatError("no exception")
        found.append((status, value))
        at = end
    if at != len(data):
        raise FormatError("more bytes than calls")
    return found
