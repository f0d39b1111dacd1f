"""Hosts in the published protocol that compute "tally" at once, and are unreliable by a seed: they vanish, repeat what they
said long ago, and come back. Each keeps a ledger of what it was answered (tools/check_ledger.py)."""
import base64
import hashlib
import http.client
import json
import random
import ssl
import struct
import threading
import zlib

from host_key import HostKey

INLINE_MAX = 256 << 10
TRIES = 20  # of one delivery in a row; then the host does something else
CONTEXT = ssl._create_unverified_context()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def call(port, method, path, body=None, token=None, headers=None, timeout=15):
    """(status, document); (0, None) if there was no answer, or not a whole one."""
    fields = dict(headers or {}, Connection="close")
    if token:
        fields["Authorization"] = f"Bearer {token}"
    if isinstance(body, dict):
        body = json.dumps({"version": 1, **body})
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=CONTEXT, timeout=timeout)
    try:
        connection.request(method, path, body, fields)
        reply = connection.getresponse()
        data = reply.read()
        if "Content-Length" not in reply.headers:  # its head was cut, and http.client does not mind
            return 0, None
        return reply.status, data if path.startswith("/v1/blobs/") and reply.status == 200 else json.loads(data)
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()


def item(number, length):
    return str(number ** 2).ljust(length, ".").encode()


def expected_result(count, length):
    """What one undisturbed process makes of it."""
    digest = hashlib.sha256()
    for number in range(count):
        digest.update(item(number, length))
    return f"{count} {sum(number ** 2 for number in range(count))} {digest.hexdigest()}\n".encode()


class Host(threading.Thread):
    """`manners`: vanishes (after so many deliveries), replays (the probability of repeating an old commit), returns (an event:
    a vanished host repeats all it ever said when it is set)."""

    def __init__(self, port, identity, seed, manners, ledger, length_of, pause):
        super().__init__(daemon=True)
        self.port, self.identity, self.token = port, identity["host"], identity["token"]
        self.random = random.Random(seed)
        self.vanishes, self.replays = manners.get("vanishes"), manners.get("replays", 0)
        self.ledger, self.length_of, self.pause = ledger, length_of, pause
        self.stopped, self.returns = threading.Event(), threading.Event()
        self.sent = {}  # (unit, begin, end, digest): the commit and what it was answered, or None
        self.faults = []
        self.deliveries = 0

    def run(self):
        while not self.stopped.is_set() and not self.is_gone():
            status, reply = self.work()
            grants = [json.loads(from_base64url(grant["payload"])) for grant in reply["grants"]] if status == 200 else []
            for grant in grants:
                self.compute(grant)
            if not grants:
                self.stopped.wait(self.random.uniform(0.05, 0.2))
        while self.is_gone() and not self.stopped.wait(0.05):
            if self.returns.is_set():
                self.replay_all()
                self.vanishes = None
                return self.run()

    def is_gone(self):
        return self.vanishes is not None and self.deliveries >= self.vanishes

    def work(self, slots=({"slot": 0, "urgent": True},), commits=(), units=()):
        return call(self.port, "POST", "/v1/work", {
            "commits": commits, "units": units, "slots": slots, "platforms": ["x86_64-linux", "any"],
            "memory_bytes": 1 << 32, "cores": 1,
            "proposal": {"performance": 1000.0, "queue_unloaded": 1, "queue_current": 1, "items": 0}}, self.token)

    def compute(self, grant):
        self.grant = grant
        begin, end = grant["range"]["begin"], grant["range"]["end"]
        length = self.length_of(grant)
        while begin < end and not self.stopped.is_set() and not self.is_gone():
            size = min(end - begin, self.random.randint(1, 4))
            self.stopped.wait(self.pause * size)
            data = b"".join(struct.pack("<I", len(text)) + text
                            for text in (item(number, length) for number in range(begin, begin + size)))
            if self.random.random() < 0.1:
                self.heartbeat(grant, begin)
            if self.deliver(grant["unit"], begin, begin + size, data, begin + size == end) in ("refused", "unanswered"):
                return
            begin += size
            if self.sent and self.random.random() < self.replays:
                self.replay(self.random.choice(list(self.sent)))

    def heartbeat(self, grant, finished):
        call(self.port, "POST", "/v1/heartbeat", {"units": [self.report(grant, finished)]}, self.token)

    @staticmethod
    def report(grant, finished):
        return {"unit": grant["unit"], "finished": finished, "state": "running", "reason": "", "rate": 1.0, "item_seconds": 0,
                "running_seconds": 1}

    def deliver(self, unit, begin, end, data, last):
        body = {"unit": unit, "range": {"begin": begin, "end": end}, "digest": hashlib.sha256(data).hexdigest(),
                "bytes": len(data), "compute_seconds": 1, "last": last}
        if len(data) <= INLINE_MAX and self.random.random() < 0.7:
            body["data"] = base64url(zlib.compress(data, 1))
        key = unit, begin, end, body["digest"]
        self.sent[key] = body, data, None
        for _ in range(TRIES):
            if self.stopped.is_set():
                break
            answer = self.commit(body, data)
            if answer is None:
                self.stopped.wait(self.random.uniform(0.02, 0.2))
                continue
            self.take(key, answer)
            self.deliveries += 1
            return answer["status"]
        return "unanswered"

    def commit(self, body, data):
        if "data" not in body and not self.upload(body["digest"], data):
            return None
        status, reply = self.work((), [body], [self.report(self.grant, self.grant["range"]["begin"])])  # it holds that still
        if status == 200:
            return json.loads(from_base64url(reply["acknowledgements"][0]["payload"]))
        if status not in (0, 409, 429, 500, 503):
            self.faults.append(f"host {self.identity}: a commit was answered {status} {reply}")
            self.stopped.set()
        return None

    def upload(self, digest, data):
        status, state = call(self.port, "GET", f"/v1/uploads/{digest}", token=self.token)
        if status != 200:
            return False
        while not state["complete"]:
            offset = state["offset"]
            piece = data[offset:offset + max(1, len(data) // 2)]
            status, state = call(self.port, "PATCH", f"/v1/uploads/{digest}", piece, self.token,
                                 {"Upload-Offset": str(offset), "Upload-Length": str(len(data))})
            if status != 200:
                return False
        return True

    def take(self, key, answer):
        """Whatever was acknowledged once is answered the same for ever."""
        body, data, before = self.sent[key]
        if before is not None and before["status"] != "refused" and before != answer:
            self.faults.append(f"host {self.identity}: {key} was answered {before}, and repeated {answer}")
        self.sent[key] = body, data, answer
        self.ledger.add(answer["status"], *key)

    def replay(self, key):
        body, data, _ = self.sent[key]
        if (answer := self.commit(body, data)) is not None:
            self.take(key, answer)

    def replay_all(self):
        for key in list(self.sent):
            if not self.stopped.is_set():
                self.replay(key)

    def close_ledger(self):
        for (unit, begin, end, digest), (_, _, answer) in self.sent.items():
            if answer is None:
                self.ledger.add("unanswered", unit, begin, end, digest)


class Ledger:
    def __init__(self, path):
        self.lock = threading.Lock()
        self.file = open(path, "w", buffering=1)
        self.file.write("gleaner-ledger 1\n")
        self.accepted = 0

    def add(self, outcome, unit, begin, end, digest):
        with self.lock:
            self.accepted += outcome == "accepted"
            self.file.write(f"{outcome} {unit} 0 {begin} {end} {digest}\n")

    def close(self):
        self.file.close()


def enrol(port, secret, name):
    key = HostKey()
    nonce = call(port, "GET", "/v1/enrol/nonce")[1]["nonce"]
    project = json.loads(from_base64url(call(port, "GET", "/v1/project")[1]["payload"]))["project"]
    status, reply = call(port, "POST", "/v1/enrol", key.request(name, secret, proof=key.proof(project, nonce)))
    if status != 200:
        raise AssertionError(f"enrolling was answered {status} {reply}")
    return {"host": reply["host"], "token": reply["token"]}
