"""An object store of the test's own, which speaks S3: OpenStack Swift on loopback, in a temporary directory, run by whoever
runs the test. `Spoiler` is a proxy before it that lies.
"""
import hashlib
import hmac
import http.client
import http.server
import os
import pathlib
import re
import ssl
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from harness import SLOW, free_port

PYTHON = "/usr/bin/python3"  # Debian's, which has Swift's packages
ROLES = ("account", "container", "object", "proxy")
KEY, SECRET, BUCKET = "test:tester", "testing", "blobs"


def why_not():
    if not all(pathlib.Path(f"/usr/bin/swift-{role}-server").exists() for role in ROLES):
        return "Swift is not installed (tools/setup test)"
    with tempfile.NamedTemporaryFile() as probe:
        try:
            os.setxattr(probe.name, "user.probe", b"1")
        except OSError as error:
            return f"Swift needs extended attributes in {tempfile.gettempdir()}: {error}"
    return None


WHY_NOT = why_not()

# Swift's programs read /etc/swift/swift.conf, wherever their own settings are.
LAUNCH = """
import sys
import swift.common.utils as utils
utils.SWIFT_CONF_FILE = sys.argv[1] + "/swift.conf"
from swift.common.wsgi import run_wsgi
from swift.obj import server
role = sys.argv[2]
more = {"global_conf_callback": server.global_conf_callback} if role == "object" else {}
sys.exit(run_wsgi(f"{sys.argv[1]}/{role}.conf", f"{role}-server", **more))
"""
RINGS = """
import sys
from swift.common.ring import RingBuilder
directory, *ports = sys.argv[1:]
for role, port in zip(("account", "container", "object"), ports):
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1.0, "ip": "127.0.0.1", "port": int(port), "device": "disk",
                     "replication_ip": "127.0.0.1", "replication_port": int(port), "meta": ""})
    builder.rebalance()
    builder.get_ring().save(f"{directory}/{role}.ring.gz")
"""
COMMON = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {directory}
devices = {directory}/devices
mount_check = false
workers = 0
fallocate_reserve = 0
disable_fallocate = true
log_address = /nowhere
log_level = WARNING
"""
PROXY = """
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
# A server that did not answer ten times is asked again after so many seconds; a minute would be usual.
error_suppression_interval = 1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
allow_multipart_uploads = true
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
"""
FILTERS = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n"
                  for name in ("catch_errors", "gatekeeper", "healthcheck", "listing_formats", "bulk", "slo", "dlo"))


class Swift:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-swift-"))
        self.ports = {role: free_port() for role in ROLES}
        self.processes = {}
        self.port = self.ports["proxy"]

    def __enter__(self):
        try:
            self.configure()
            for role in ROLES:
                self.start(role)
            self.wait_ready()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, value, trace):
        for role in list(self.processes):
            self.kill(role)
        if kind is not None:
            for log in self.directory.glob("*.log"):
                print(f"---- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-15:]))
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, project, port=None):
        """Of a place of the project's own in the bucket."""
        return f"s3+http://127.0.0.1:{port or self.port}/{BUCKET}/{project}"

    def configure(self):
        (self.directory / "devices" / "disk").mkdir(parents=True)
        (self.directory / "swift.conf").write_text(
            "[swift-hash]\nswift_hash_path_suffix = gleaner\n[storage-policy:0]\nname = only\ndefault = yes\n")
        for role, port in self.ports.items():
            text = COMMON.format(port=port, directory=self.directory)
            text += PROXY + FILTERS if role == "proxy" else f"[pipeline:main]\npipeline = {role}-server\n[app:{role}-server]\nuse = egg:swift#{role}\n"
            (self.directory / f"{role}.conf").write_text(text)
        subprocess.run([PYTHON, "-I", "-c", RINGS, self.directory, *map(str, list(self.ports.values())[:3])], check=True)

    def start(self, role):
        with open(self.directory / f"{role}.log", "a") as log:
            # It ends with this process, too.
            self.processes[role] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", PYTHON, "-I", "-c", LAUNCH, self.directory, role], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True)

    def kill(self, role):
        process = self.processes.pop(role)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def wait_ready(self):
        end = time.monotonic() + 30 * SLOW
        while True:
            try:
                status = self.request("PUT", f"/{BUCKET}", check=False)[0]
            except OSError as error:
                status = repr(error)
            if status in (200, 409):  # made, by this or the one before
                return
            assert time.monotonic() < end, f"Swift does not start: {status}"
            assert all(process.poll() is None for process in self.processes.values()), "a server of Swift ended"
            time.sleep(0.1)

    def request(self, method, path, body=b"", check=True):
        """A signed one (AWS's Signature Version 4): (status, headers, body)."""
        host, now = f"127.0.0.1:{self.port}", time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        digest = hashlib.sha256(body).hexdigest()
        headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now}
        names, scope = ";".join(headers), f"{now[:8]}/us-east-1/s3/aws4_request"
        where, _, query = path.partition("?")
        canonical = "\n".join([method, where, query, *(f"{n}:{v}" for n, v in headers.items()), "", names, digest])
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = b"AWS4" + SECRET.encode()
        for word in scope.split("/"):
            key = hmac.digest(key, word.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={KEY}/{scope},SignedHeaders={names},Signature={signature}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30 * SLOW)
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        assert not check or reply.status < 300, (method, path, reply.status, data)
        return reply.status, reply.headers, data

    def keys(self, project):
        """Those of its objects, at most a thousand."""
        listing = self.request("GET", f"/{BUCKET}?prefix={project}%2F")[2].decode()
        return {key.removeprefix(f"{project}/") for key in re.findall("<Key>([^<]*)</Key>", listing)}


class Spoiler:
    """A proxy that lies: `lie` may be "bytes" (other ones), "gone" (404), "stored" (says 200 to PUT and forgets it), "slow",
    "error" (503), "cut" (half an answer), "kept" (keeps other bytes than PUT has), "endless" (an answer without end) or
    "redirect" (to `elsewhere`). `direct` has lies for the next requests by presigned addresses, each the first of its method and
    lie; `seen` what came by such: (method, path, headers, bytes). `tls`: files of a certificate and its key, which it then shows."""

    def __init__(self, port, tls=None):
        self.to, self.lie, self.lies = port, None, 0
        self.direct, self.seen, self.elsewhere = [], [], None
        self.lock = threading.Lock()
        spoiler = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                spoiler.handle(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.handle_error = lambda *_: None  # of who does not believe it
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def handle(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        lie, blob = self.lie, re.search("/(blobs|sent/[0-9]+)/[0-9a-f]{64}", request.path)
        if "X-Amz-Signature=" in request.path:
            with self.lock:
                self.seen.append((request.command, request.path, dict(request.headers), len(body)))
                mine = next((each for each in self.direct if each[0] == request.command), None)
                if mine:
                    self.direct.remove(mine)
                    lie = mine[1]
        if lie and blob:
            self.lies += 1
        if lie == "slow":
            time.sleep(2)
        if lie == "error":
            return self.answer(request, 503, [], b"")
        if lie == "stored" and blob and request.command == "PUT":
            return self.answer(request, 200, [("ETag", '"0123456789abcdef0123456789abcdef"')], b"")
        if lie == "gone" and blob and request.command in ("GET", "HEAD"):
            return self.answer(request, 404, [], b"<Error><Code>NoSuchKey</Code></Error>" if request.command == "GET" else b"")
        if lie == "redirect":
            return self.answer(request, 302, [("Location", self.elsewhere)], b"")
        if lie == "endless":
            return self.answer_for_ever(request)
        if lie == "kept":
            body = bytes([body[0] ^ 1]) + body[1:]
        connection = http.client.HTTPConnection("127.0.0.1", self.to, timeout=60)
        try:
            connection.putrequest(request.command, request.path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            data = reply.read()
        except OSError:
            request.close_connection = True
            return None
        finally:
            connection.close()
        if lie == "bytes" and blob and request.command == "GET" and data:
            data = bytes([data[0] ^ 1]) + data[1:]
        headers = [(name, value) for name, value in reply.headers.items()
                   if name.lower() not in ("connection", "transfer-encoding", "content-length")]
        if request.command == "HEAD":
            headers.append(("Content-Length", reply.headers.get("Content-Length", "0")))
        return self.answer(request, reply.status, headers, data, cut=lie == "cut" and blob)

    def answer_for_ever(self, request):
        request.close_connection = True
        try:
            request.send_response_only(206)
            request.end_headers()
            while True:
                request.wfile.write(bytes(1 << 16))
        except OSError:
            pass

    def answer(self, request, status, headers, data, cut=False):
        try:
            request.send_response_only(status)
            for name, value in headers:
                request.send_header(name, value)
            if request.command != "HEAD" and status != 204:
                request.send_header("Content-Length", str(len(data)))
            request.end_headers()
            request.wfile.write(data[:len(data) // 2] if cut else data)
            if cut:
                request.close_connection = True
        except OSError:
            request.close_connection = True


if __name__ == "__main__":
    begun = time.monotonic()
    with Swift() as store:
        print(f"ready after {time.monotonic() - begun:.1f} s: {store.url('project')}, keys {KEY} {SECRET}", flush=True)
        sys.stdin.read()
