"""A proxy between hosts and a server that loses, delays, doubles, reorders and cuts whole requests and answers, by a seed.

It speaks TLS with the server's own key, so that hosts cannot tell it from the server. One connection carries one request.
"""
import random
import socket
import ssl
import threading
import time

HEAD_MAX = 1 << 16


class Weather:
    """What happens to requests. Each of `rules` has a probability; `partition` is (first second, last) of no contact."""

    def __init__(self, seed=0, rules=None, partition=None):
        self.random = random.Random(seed)
        self.rules = rules or {}
        self.partition = partition
        self.lock = threading.Lock()
        self.happened = {}

    def strikes(self, rule):
        with self.lock:
            struck = self.random.random() < self.rules.get(rule, 0)
            if struck:
                self.happened[rule] = self.happened.get(rule, 0) + 1
            return struck

    def uniform(self, low, high):
        with self.lock:
            return self.random.uniform(low, high)


def read_message(stream):
    """Head and body of a request or an answer; None if it ends early."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline(HEAD_MAX)
        if not line or len(head) > HEAD_MAX:
            return None
        head += line
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    body = stream.read(length) if length else b""
    return head + body if len(body) == length else None


class Proxy:
    def __init__(self, port, server_port, keys):
        """`keys`: the certificate chain and the private key, as files. Both ports are of the loopback."""
        self.server_port = server_port
        self.inner = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.inner.load_cert_chain(*keys)
        self.outer = ssl._create_unverified_context()
        self.weather = Weather()
        self.begun = time.monotonic()
        self.waiting = threading.Condition()
        self.passed = 0
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128, reuse_port=True)
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self, weather):
        self.weather, self.begun = weather, time.monotonic()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def cut_off(self):
        window = self.weather.partition
        return window is not None and window[0] <= time.monotonic() - self.begun < window[1]

    def serve(self, peer):
        try:
            peer.settimeout(20)
            if self.cut_off():
                return
            with self.inner.wrap_socket(peer, server_side=True) as inside:
                stream = inside.makefile("rb")
                while (request := read_message(stream)) is not None:
                    if not self.carry(request, inside):
                        return
        except (OSError, ValueError):
            pass
        finally:
            peer.close()

    def carry(self, request, inside):
        """Is the connection to be kept?"""
        weather = self.weather
        if self.cut_off() or weather.strikes("lose-request"):
            return False
        if weather.strikes("delay"):
            time.sleep(weather.uniform(0, 0.4))
        if weather.strikes("reorder"):
            self.let_others_pass()
        if weather.strikes("cut-request"):
            self.exchange(request[:int(len(request) * weather.uniform(0, 1))], cut=True)
            return False
        answer = self.exchange(request)
        if weather.strikes("double"):
            again = self.exchange(request)
            answer = again if weather.strikes("second-answer") else answer
        with self.waiting:
            self.passed += 1
            self.waiting.notify_all()
        if answer is None or self.cut_off() or weather.strikes("lose-answer"):
            return False
        if weather.strikes("cut-answer"):
            inside.sendall(answer[:int(len(answer) * weather.uniform(0, 1))])
            return False
        inside.sendall(answer)
        return True

    def let_others_pass(self):
        with self.waiting:
            passed = self.passed
            self.waiting.wait_for(lambda: self.passed > passed + 1, timeout=0.5)

    def exchange(self, request, cut=False):
        try:
            with socket.create_connection(("127.0.0.1", self.server_port), timeout=20) as plain:
                with self.outer.wrap_socket(plain) as outside:
                    outside.sendall(request)
                    return None if cut else read_message(outside.makefile("rb"))
        except (OSError, ValueError):
            return None
