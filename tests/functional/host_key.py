"""A host's key, and what it says with it. Ed25519 as in RFC 8032, 5.1: for tests, and with nothing to install."""
import base64
import functools
import hashlib
import json
import os

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
BASE = (15112221349535400772501151409588531511454012693041857206046113283949847762202,
        46316835694926478169428394003475163141307993866256225615783033603165251855960)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def add(p, q):
    """Of points in extended coordinates (5.1.4)."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


@functools.lru_cache(maxsize=None)
def powers():
    """The base point times 1, 2, 4, ..."""
    point, all_of_them = (BASE[0], BASE[1], 1, BASE[0] * BASE[1] % P), []
    for _ in range(256):
        all_of_them.append(point)
        point = add(point, point)
    return all_of_them


def times_base(scalar):
    """The encoded point."""
    point = (0, 1, 1, 0)
    for i, power in enumerate(powers()):
        if scalar >> i & 1:
            point = add(point, power)
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def hashed(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


class Ed25519:
    def __init__(self, seed):
        digest = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
        self.prefix = digest[32:]
        self.public = times_base(self.scalar)

    def sign(self, message):
        r = hashed(self.prefix, message) % ORDER
        commitment = times_base(r)
        s = (r + hashed(commitment, self.public, message) * self.scalar) % ORDER
        return commitment + s.to_bytes(32, "little")


def signed_bytes(kind, payload):
    """What a statement's signature is over (shared/protocol/messages.h)."""
    return f"gleaner-1\n{kind}\n".encode() + payload


class HostKey:
    DER = bytes.fromhex("302a300506032b6570032100")  # what an Ed25519 public key begins with

    def __init__(self, file=None):
        """`file`: of a key that is there, as PEM."""
        seed = base64.b64decode("".join(file.read_text().splitlines()[1:-1]))[-32:] if file else os.urandom(32)
        self.own, self.machine = Ed25519(seed), hashlib.sha256(os.urandom(8)).hexdigest()
        self.key = base64url(self.own.public)

    def sign(self, kind, message):
        payload = json.dumps({"version": 1, **message}).encode()
        return {"type": kind, "payload": base64url(payload), "key": self.key,
                "signature": base64url(self.own.sign(signed_bytes(kind, payload)))}

    def proof(self, project, nonce, relay=None, tls_key=None):
        """That it joins, through that relay or directly."""
        more = {name: value for name, value in (("relay", relay), ("tls_key", tls_key)) if value is not None}
        return self.sign("enrolment", {"project": project, "host_key": self.key, "machine": self.machine, "nonce": nonce, **more})

    def request(self, name, secret=b"", **more):
        return {"secret": base64url(secret), "host_key": self.key, "machine": self.machine, "name": name, "platform": "x86_64-linux",
                "cores": 1, "memory_bytes": 1 << 32, "client_version": "test", **more}
