"""A proxy that lies: it stands before a server or a relay with its own TLS key, as whoever runs a malicious relay may, and changes what
it is told to change. Everything else passes as it is."""
import http.client
import http.server
import json
import ssl
import threading

PASSED_ON = ("Authorization", "Content-Type", "Content-Encoding", "Range", "Upload-Offset", "Upload-Length", "Accept-Encoding")
PASSED_BACK = ("Content-Type", "Content-Encoding", "Content-Range", "Accept-Ranges", "ETag", "Retry-After", "Upload-Offset")


class Lie:
    """Told until it was told `times` times; `told` says how often that was. `asked(path, body)` may change a request's JSON body,
    `answered(path, body, answer)` an answer's; both say whether they did."""

    def __init__(self, asked=None, answered=None, times=1):
        self.asked, self.answered, self.times, self.told = asked, answered, times, 0
        self.lock = threading.Lock()

    def tell(self, rule, *about):
        with self.lock:
            if rule is None or self.told >= self.times:
                return
            if rule(*about):
                self.told += 1


class Liar:
    def __init__(self, port_behind, chain, key):
        """`chain`, `key`: the TLS identity of whom it stands for, as files."""
        self.port_behind = port_behind
        self.lie = Lie()
        self.heard = []  # (path, JSON body or None, status, JSON answer), as it was passed on
        self.token = None  # of who asked last
        liar = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def pass_on(self):
                liar.pass_on(self)

            do_GET = do_POST = do_PATCH = do_DELETE = pass_on

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # who does not believe it, or was killed, hangs up

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def tell(self, **rules):
        self.lie = Lie(**rules)
        return self.lie

    @staticmethod
    def message(data, kind):
        return json.loads(data) if data and kind and kind.split(";")[0] in ("application/json", "application/problem+json") else None

    def pass_on(self, request):
        data = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        asked = self.message(data, "application/json") if data[:1] == b"{" else None
        lie = self.lie
        self.token = (request.headers["Authorization"] or "").removeprefix("Bearer ") or self.token
        if asked is not None:
            lie.tell(lie.asked, request.path, asked)
            data = json.dumps(asked).encode()
        connection = http.client.HTTPSConnection("127.0.0.1", self.port_behind, context=ssl._create_unverified_context(), timeout=60)
        try:
            connection.request(request.command, request.path, data or None, {name: request.headers[name] for name in PASSED_ON if request.headers[name]})
            reply = connection.getresponse()
            answer = reply.read()
        except (OSError, http.client.HTTPException):
            request.close_connection = True
            return
        finally:
            connection.close()
        said = self.message(answer, reply.headers.get("Content-Type"))
        if said is not None:
            if reply.status == 200:
                lie.tell(lie.answered, request.path, asked, said)
                answer = json.dumps(said).encode()
            self.heard.append((request.path, asked, reply.status, said))
        request.send_response(reply.status)
        for name in PASSED_BACK:
            if reply.headers.get(name):
                request.send_header(name, reply.headers[name])
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)
