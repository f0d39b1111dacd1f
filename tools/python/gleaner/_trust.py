"""Trust in a server by its project's root key, as gleaner-admin and clients trust it.

The root key certifies the server's TLS key, whatever name or address the server has. A profile or join code holds the root key's
fingerprint. Python's ssl module verifies certificates only against certificates, so this module asks the server for the root key
itself, compares its fingerprint, and writes the root's certificate from it: OpenSSL then verifies the whole chain in each
handshake, before anything secret is sent. A trust anchor's own signature means nothing, and OpenSSL does not look at it.
"""
import hashlib
import http.client
import json
import ssl

from ._errors import ConnectionLost, Untrusted
from ._signing import from_base64url

ED25519_ALGORITHM = bytes.fromhex("300506032b6570")  # RFC 8410
PROJECT_BYTES_MAX = 4 << 20


def context_of(host, port, fingerprint, authorities, timeout):
    """A context for connections to a project's server. `authorities`: may the system's authorities vouch for it instead?"""
    if not fingerprint:
        return ssl.create_default_context()
    try:
        leaf, root_key = ask(host, port, timeout)
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionLost(f"cannot reach https://{host}:{port}: {error}") from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if root_key is not None and hashlib.sha256(root_key).hexdigest() == fingerprint.lower():
        context.check_hostname = False  # the key vouches, whatever the server is called
        context.load_verify_locations(cadata=root_certificate(issuer_of(leaf), root_key))
        if not authorities or verifies(context, host, port, timeout):
            return context
    if not authorities:
        raise Untrusted(f"https://{host}:{port} is not the project's server: it shows another root key than the profile names")
    return ssl.create_default_context()


def ask(host, port, timeout):
    """The server's certificate and the root key that it claims. Nothing is verified yet, and nothing is said."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    try:
        connection.connect()
        leaf = connection.sock.getpeercert(binary_form=True)
        connection.request("GET", "/v1/project")
        body = connection.getresponse().read(PROJECT_BYTES_MAX)
    finally:
        connection.close()
    try:
        key = from_base64url(json.loads(from_base64url(json.loads(body)["payload"]))["root_key"])
    except (ValueError, KeyError, TypeError):
        key = None
    return leaf, key if key is not None and len(key) == 32 else None


def verifies(context, host, port, timeout):
    connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    try:
        connection.connect()
    except ssl.SSLError:
        return False
    finally:
        connection.close()
    return True


# ---- certificates, in DER (X.690)


def tlv(tag, content):
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    digits = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def elements(data):
    """(tag, whole element, content) of each element in a row."""
    at = 0
    while at < len(data):
        tag, length, begin = data[at], data[at + 1], at + 2
        if length & 0x80:
            count = length & 0x7f
            length, begin = int.from_bytes(data[begin:begin + count], "big"), begin + count
        if begin + length > len(data):
            raise ValueError("cut short")
        yield tag, data[at:begin + length], data[begin:begin + length]
        at = begin + length


def issuer_of(certificate):
    """The issuer's name, as it stands in a certificate (RFC 5280, 4.1)."""
    try:
        (_, _, whole), = elements(certificate)
        fields = list(elements(next(elements(whole))[2]))
        return fields[3 if fields[0][0] == 0xa0 else 2][1]
    except (IndexError, ValueError, StopIteration):
        raise Untrusted("the server's certificate is damaged") from None


def root_certificate(name, key):
    """A certificate authority with that name and Ed25519 key."""
    period = tlv(0x30, tlv(0x17, b"700101000000Z") + tlv(0x18, b"99991231235959Z"))
    authority = tlv(0x30, tlv(0x06, bytes.fromhex("551d13")) + tlv(0x01, b"\xff") + tlv(0x04, tlv(0x30, tlv(0x01, b"\xff"))))
    body = (tlv(0xa0, tlv(0x02, b"\x02")) + tlv(0x02, b"\x01") + ED25519_ALGORITHM + name + period + name +
            tlv(0x30, ED25519_ALGORITHM + tlv(0x03, b"\0" + key)) + tlv(0xa3, tlv(0x30, authority)))
    return tlv(0x30, tlv(0x30, body) + ED25519_ALGORITHM + tlv(0x03, b"\0" + bytes(64)))
