"""The admin API of a server, over one kept connection. Thread-safe: threads take turns.

A request whose connection fails is repeated with growing pauses for `patience` seconds, so that a restarted server or a closed
laptop costs nothing. Errors: GridError with the server's words, ConnectionLost, Untrusted.
"""
import hashlib
import http.client
import json
import mmap
import os
import random
import ssl
import threading
import time
import urllib.parse
import zlib
from typing import List

from . import _trust, _wire
from ._errors import ConnectionLost, GridError, Untrusted

REPLY_BYTES_MAX = 256 << 20  # a list of 10,000 problems is some 10 MB
UPLOAD_PIECE = 1 << 20
DOWNLOAD_PIECE = 4 << 20
PAUSE_MAX = 20  # seconds
KNOWN_MAX = 500  # ranges in a request, whose head is bounded
COMPRESSED_FROM = 1 << 10


class NotFound(GridError):
    """The server does not have it."""


class Conflict(GridError):
    """It cannot be done now."""


class Api:
    def __init__(self, profile, timeout=60, patience=600):
        self.profile, self.timeout, self.patience = profile, timeout, patience
        self.lock, self.context, self.connection = threading.RLock(), None, None

    # ---- operations

    def status(self) -> _wire.ServerStatus:
        return self.call("GET /v1/admin/status")

    def application(self, name) -> _wire.ApplicationInfo:
        return self.call("GET /v1/admin/applications/{name}", name=name)

    def add_application(self, statement: _wire.AddApplication) -> _wire.ApplicationInfo:
        return self.call("POST /v1/admin/applications", statement)

    def problem(self, identity) -> _wire.ProblemInfo:
        return self.call("GET /v1/admin/problems/{id}", id=identity)

    def problems(self) -> List[_wire.ProblemInfo]:
        return self.call("GET /v1/admin/problems")["items"]

    def add_problem(self, problem: _wire.AddProblem) -> _wire.ProblemInfo:
        """Names are drawn, so that a problem whose reply got lost is found, and never added twice."""
        lost = False
        for attempt in self.attempts():
            try:
                if lost:
                    found = [each for each in self.problems() if each["name"] == problem["name"]]
                    if found:
                        return found[0]
                return self.call("POST /v1/admin/problems", problem, repeat=False)
            except ConnectionLost as error:
                lost = True
                attempt(error)

    def append(self, identity, inputs: _wire.AppendInputs) -> _wire.ProblemInfo:
        return self.call("POST /v1/admin/problems/{id}/append", inputs, repeat=False, id=identity)

    def retry_failed(self, identity) -> _wire.ProblemInfo:
        return self.call("POST /v1/admin/problems/{id}/retry-failed", {}, repeat=False, id=identity)

    def cancel_problem(self, identity, patience=None) -> _wire.ProblemInfo:
        return self.call("POST /v1/admin/problems/{id}/cancel", {}, patience=patience, id=identity)

    def delete_problem(self, identity):
        return self.call("DELETE /v1/admin/problems/{id}", id=identity)

    def accepted_items(self, identity, known) -> bytes:
        """Items that were accepted and are not in `known`, (begin, end) pairs, as calls.read_items() reads them."""
        words = ",".join(f"{begin}-{end}" for begin, end in known[:KNOWN_MAX])
        return self.send("GET", path_of("GET /v1/admin/problems/{id}/items", id=identity) + (f"?known={words}" if words else ""))

    def upload(self, data):
        """Its digest. What is on the server already is not sent again."""
        digest = hashlib.sha256(data).hexdigest()
        state = self.call("GET /v1/uploads/{digest}", digest=digest)
        while not state["complete"]:
            offset = min(state["offset"], len(data))
            piece, headers = data[offset:offset + UPLOAD_PIECE], {"Upload-Offset": str(offset), "Upload-Length": str(len(data))}
            if len(piece) >= COMPRESSED_FROM:
                packed = zlib.compress(piece, 1)
                if len(packed) < len(piece) * 0.9:
                    piece, headers["Content-Encoding"] = packed, "deflate"
            try:
                state = self.call("PATCH /v1/uploads/{digest}", piece, headers, repeat=False, digest=digest)
            except (ConnectionLost, Conflict):
                state = self.call("GET /v1/uploads/{digest}", digest=digest)
        return digest

    def upload_file(self, path):
        """(digest, size) of a file's content, which stays on the disk."""
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                return self.upload(b""), 0
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return self.upload(content), size

    def download(self, digest, size, write):
        """Hands the pieces of a blob to `write`. Raises Untrusted, after them, if they do not have its digest."""
        found, offset = hashlib.sha256(), 0
        while offset < size:
            end = min(size, offset + DOWNLOAD_PIECE)
            piece = self.read(digest, offset, end)
            found.update(piece)
            write(piece)
            offset = end
        if found.hexdigest() != digest:
            raise Untrusted("the server sent something else than what it named: its storage is damaged, or it lies")

    def read(self, digest, begin, end) -> bytes:
        """Bytes begin to end - 1 of a blob, which only the server vouches for."""
        pieces = []
        for at in range(begin, end, DOWNLOAD_PIECE):
            last = min(end, at + DOWNLOAD_PIECE) - 1
            piece = self.send("GET", path_of("GET /v1/blobs/{digest}", digest=digest), headers={"Range": f"bytes={at}-{last}"})
            if len(piece) != last + 1 - at:
                raise Untrusted(f"the server sent {len(piece)} bytes of a blob in place of {last + 1 - at}")
            pieces.append(piece)
        return b"".join(pieces)

    # ---- requests

    def call(self, operation, body=None, headers=None, repeat=True, patience=None, **where):
        """The reply of an operation of _wire.OPERATIONS."""
        method, path = operation.split(" ")[0], path_of(operation, **where)
        headers = dict(headers or {})
        if isinstance(body, dict):
            body, headers["Content-Type"] = json.dumps({"version": 1, **body}), "application/json"
        try:
            return json.loads(self.send(method, path, body, headers, repeat, patience))
        except (ValueError, RecursionError):
            raise GridError(f"the server's reply to {method} {path} cannot be read: is it another version?") from None

    def send(self, method, path, body=None, headers=None, repeat=True, patience=None):
        """The bytes of the reply. `repeat`: also where the request may have been done already?"""
        headers = {"Authorization": f"Bearer {self.profile.token}", **(headers or {})}
        for attempt in self.attempts(patience):
            try:
                if not repeat:
                    self.close()  # where a kept connection fails, nobody knows whether the request was done
                status, wait, data = self.exchange(method, path, body, headers)
            except ConnectionLost as error:
                if not repeat:
                    raise
                attempt(error)
                continue
            if 200 <= status < 300:
                return data
            if status in (429, 503):
                attempt(GridError(words_of(data, status)), wait)
                continue
            kind = {404: NotFound, 409: Conflict}.get(status, GridError)
            raise kind(words_of(data, status))

    def attempts(self, patience=None):
        """Tries of something: each is a function that is told of a failure, and waits or raises it."""
        end, pause = time.monotonic() + (self.patience if patience is None else patience), 0.1

        def failed(error, wait=0):
            nonlocal pause
            pause = min(pause * 2, PAUSE_MAX)
            seconds = max(wait, random.uniform(pause / 2, pause))
            if time.monotonic() + seconds > end:
                raise error
            time.sleep(seconds)

        while True:
            yield failed

    def exchange(self, method, path, body, headers):
        """(status, Retry-After, body) of one request."""
        with self.lock:
            for fresh in (self.connection is None, True):
                try:
                    if self.connection is None:
                        self.connect()
                    self.connection.request(method, path, body, headers)
                    reply = self.connection.getresponse()
                    data = reply.read(REPLY_BYTES_MAX + 1)
                    break
                except ssl.SSLCertVerificationError as error:
                    self.close()
                    raise Untrusted(f"{self.profile.url} does not show the project's key: {error.verify_message}") from None
                except (OSError, http.client.HTTPException) as error:
                    self.close()
                    # A kept connection that the server closed meanwhile: it has not seen the request.
                    if fresh or not isinstance(error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)):
                        raise ConnectionLost(f"cannot reach {self.profile.url}: {error or type(error).__name__}") from None
                except BaseException:  # interrupted: half a reply must not be taken for the next one's
                    self.close()
                    raise
            if len(data) > REPLY_BYTES_MAX:
                self.close()
                raise GridError(f"the server's reply to {method} {path} is too large")
            if reply.will_close:
                self.close()
            wait = reply.headers.get("Retry-After", "")
            return reply.status, min(int(wait), 3600) if wait.isdigit() else 0, data

    def connect(self):
        where = self.profile.host, self.profile.port
        if self.context is None:
            self.context = _trust.context_of(*where, self.profile.fingerprint, self.profile.authorities, self.timeout)
        self.connection = http.client.HTTPSConnection(*where, timeout=self.timeout, context=self.context)
        self.connection.connect()

    def close(self):
        with self.lock:
            if self.connection is not None:
                self.connection.close()
                self.connection = None

    __del__ = close


def path_of(operation, **where):
    if operation not in _wire.OPERATIONS:
        raise LookupError(f"the admin API has no operation {operation}")
    return operation.split(" ")[1].format(**{name: urllib.parse.quote(str(value), safe="@") for name, value in where.items()})


def words_of(data, status):
    """Of an RFC 9457 problem document."""
    try:
        document = json.loads(data)
        words = [document[key] for key in ("title", "detail") if isinstance(document.get(key), str)]
        return ": ".join(dict.fromkeys(words)) or f"the server replied with status {status}"
    except (ValueError, AttributeError):
        return f"the server replied with status {status}"
