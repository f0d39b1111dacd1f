"""What may stand in front of a server: a socket that outlives it, proxies that say whose a connection is, and programs
that read its log or take its notices."""
import email
import email.header
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest

from harness import SOURCE, SQUARES, FakeHost, Grid, built, free_port, main, needs

CONTEXT = ssl._create_unverified_context()


def get(sock, path="/healthz", token=None):
    """Over TLS on a connected socket; its status and body."""
    with CONTEXT.wrap_socket(sock) as secure:
        fields = f"Authorization: Bearer {token}\r\n" if token else ""
        secure.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}Connection: close\r\n\r\n".encode())
        answer = b""
        while more := secure.recv(65536):
            answer += more
    head, body = answer.split(b"\r\n\r\n", 1)
    return int(head.split()[1]), body


class Kept:
    """A kept connection, used as HTTP has it (RFC 9112, 9.3.1): a request on one that ended before any of the answer came is sent
    again on a new one. Whatever else goes wrong is raised."""

    def __init__(self, port):
        self.port, self.connection, self.again, self.told_to_close = port, None, 0, 0

    def get(self, path="/healthz"):
        if self.connection is not None:
            try:
                self.connection.request("GET", path)
                return self.read(self.connection.getresponse())
            except (ConnectionError, ssl.SSLEOFError):
                self.again += 1
                self.close()
        self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=CONTEXT, timeout=60)
        self.connection.request("GET", path)
        return self.read(self.connection.getresponse())

    def read(self, reply):
        if reply.headers.get("Connection") == "close":
            self.told_to_close += 1
            self.connection = None  # which closes itself with the answer's end
        try:
            return reply.status, reply.read()
        except OSError as failure:
            raise http.client.IncompleteRead(b"") from failure

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class SocketActivation(unittest.TestCase):
    def start_on(self, grid, listening):
        """As systemd does: the socket is descriptor 3, and the variables say so to this process alone. It counts, not --port."""
        grid.start("server", "gleaner-server", "run", grid.project, "--port", 1, inherit=[listening.fileno()],
                   before=["sh", "-c", f'[ {listening.fileno()} = 3 ] || exec 3<&{listening.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', "sh"])

    def test_a_new_server_takes_over_under_load_and_no_request_fails(self):
        with Grid() as grid, socket.socket() as listening:
            listening.bind(("127.0.0.1", grid.port))
            listening.listen(1024)
            self.start_on(grid, listening)
            self.assertEqual(get(socket.create_connection(("127.0.0.1", grid.port), timeout=60)), (200, b"ok\n"))
            host = FakeHost(grid, "kitchen-pc")
            grid.add_application(built("bundles/load"))
            identity = grid.add_problem("load", "load", "--strategy", "ss,mode=paper", "--straggler", "none", count=10**9)
            over, answered, failed = threading.Event(), [], []
            kept, seldom = [Kept(grid.port) for _ in range(8)], [Kept(grid.port) for _ in range(8)]

            def ask_on(connection):
                while not over.is_set():
                    try:
                        status, body = connection.get()
                        if (status, body) != (200, b"ok\n"):
                            failed.append((status, body))
                        time.sleep(0.02)
                    except (OSError, http.client.HTTPException) as failure:
                        failed.append(("kept", repr(failure)))

            def ask():
                while not over.is_set():
                    try:
                        status, _ = get(socket.create_connection(("127.0.0.1", grid.port), timeout=60))
                        answered.append(time.monotonic()) if status == 200 else failed.append(status)
                    except (OSError, ssl.SSLError, ValueError, IndexError) as failure:
                        failed.append(repr(failure))

            def compute():
                while not over.is_set():
                    try:
                        status, reply = host.work()
                        if status != 200:
                            failed.append(("work", status, reply))
                        for grant in reply.get("decoded", []):
                            begin, end = grant["range"]["begin"], grant["range"]["end"]
                            host.commit(grant["unit"], begin, [str((1 + i) ** 2).encode() for i in range(begin, end)])
                        host.units.clear()
                        time.sleep(0.05)
                    except (OSError, http.client.HTTPException) as failure:
                        failed.append(repr(failure))

            load = subprocess.Popen([grid.program("gleaner-loadgen"), "run", "--join-code", grid.own_code, "--hosts", "64", "--connections", "32",
                                     "--think", "20", "--warm-up", "0", "--seconds", "8", "--json"], stdout=subprocess.PIPE, text=True)
            threads = [threading.Thread(target=ask) for _ in range(3)] + [threading.Thread(target=compute)]
            threads += [threading.Thread(target=ask_on, args=[connection]) for connection in kept]
            for thread in threads:
                thread.start()
            restarts = []
            for _ in range(2):
                for connection in seldom:  # which then say nothing while the server changes
                    self.assertEqual(connection.get(), (200, b"ok\n"))
                time.sleep(0.4)
                grid.processes["server"].terminate()
                self.assertEqual(grid.processes["server"].wait(timeout=60), 0)
                self.start_on(grid, listening)
                restarts.append(time.monotonic())
                grid.wait_until("answers of the new server", lambda: answered and answered[-1] > restarts[-1])
            for connection in seldom:
                self.assertEqual(connection.get(), (200, b"ok\n"))
            run = json.loads(load.communicate(timeout=120)[0])
            over.set()
            for thread in threads:
                thread.join()
            for connection in kept + seldom:
                connection.close()
            self.assertEqual(failed, [])
            self.assertEqual(load.returncode, 0)
            self.assertEqual((run["errors"], run["lost"], run["whole_run"]["contradictions"]), (0, 0, 0), run)
            self.assertGreater(run["answers"], 100)
            self.assertGreater(run["connections_opened"], 2 * 32)  # kept, but for the two changes
            # Who asks often is told before the end; who had nothing to ask meanwhile finds it.
            self.assertGreater(sum(connection.told_to_close for connection in kept), 8)
            self.assertGreater(sum(connection.again for connection in seldom), 8)
            self.assertGreater(len(answered), 6)
            self.assertGreater(grid.problem(identity)["accepted"], 0)
            grid.admin("audit", "verify")

    @needs(shutil.which("systemd-socket-activate"), "systemd-socket-activate is not installed")
    def test_systemd_s_own_starter_hands_it_the_socket(self):
        with Grid() as grid:
            # Started by the first connection, which waits until the server is there.
            grid.start("server", pathlib.Path(shutil.which("systemd-socket-activate")), "-l", f"127.0.0.1:{grid.port}",
                       grid.program("gleaner-server"), "run", grid.project, "--port", 1)
            first = grid.wait_until("the socket", lambda: self.connect(grid.port))
            self.assertEqual(get(first), (200, b"ok\n"))
            host = FakeHost(grid, "kitchen-pc")
            grid.add_application(SQUARES)
            grid.add_problem("squares", "numbers", count=4)
            self.assertEqual(host.work()[0], 200)
            grid.processes["server"].terminate()
            self.assertEqual(grid.processes["server"].wait(timeout=60), 0)

    @staticmethod
    def connect(port):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError:
            return None

    def test_what_is_no_listening_socket_is_refused(self):
        with Grid() as grid, socket.socket() as other:
            self.start_on(grid, other)
            self.assertEqual(grid.processes["server"].wait(timeout=60), 1)
            self.assertIn("expected one TCP socket", grid.log("server"))


class Proxies(unittest.TestCase):
    V2 = b"\r\n\r\n\0\r\nQUIT\n"

    def through(self, grid, header, token="wrong"):
        sock = socket.create_connection(("127.0.0.1", grid.port), timeout=30)
        sock.sendall(header)
        return get(sock, "/v1/admin/status", token)

    def networks(self, grid):
        """Where wrong tokens came from last, read past the proxy: from an address that is none."""
        _, _, page = grid.request("GET", "/v1/admin/audit", token=grid.admin_token, address="127.0.0.9")
        return [refusal["last_network"] for refusal in page["refusals"]]

    def test_the_address_behind_a_proxy_counts(self):
        with Grid('server.proxies = "127.0.0.1, 2001:db8::/32"') as grid:
            grid.start_server()
            text = b"PROXY TCP4 203.0.113.7 192.0.2.1 50000 8443\r\n"
            self.assertEqual(self.through(grid, text)[0], 401)
            grid.wait_until("the refusal", lambda: self.networks(grid) == ["203.0.113.7"])
            binary = self.V2 + b"\x21\x11" + struct.pack("!H4s4sHH", 12, bytes([198, 51, 100, 9]), bytes([192, 0, 2, 1]), 50000, 8443)
            self.assertEqual(self.through(grid, binary)[0], 401)
            grid.wait_until("the refusal", lambda: self.networks(grid) == ["198.51.100.9"])
            local = self.V2 + b"\x20\x00\x00\x00"
            self.assertEqual(self.through(grid, local, grid.admin_token)[0], 200)
            with self.subTest("a ban holds for who is behind the proxy alone"):
                body = {"kind": "network", "subject": "203.0.113.0/24", "reason": "a test", "seconds": 600}
                status, _, answer = grid.request("POST", "/v1/admin/bans", body, grid.admin_token, address="127.0.0.9")
                self.assertEqual(status, 200, answer)
                self.assertEqual(self.through(grid, text, grid.admin_token)[0], 403)
                self.assertEqual(self.through(grid, binary, grid.admin_token)[0], 200)
            with self.subTest("a proxy that does not say whose it is gets no answer"):
                with self.assertRaises((OSError, IndexError, ValueError)):
                    get(socket.create_connection(("127.0.0.1", grid.port), timeout=30))
            with self.subTest("who is no proxy may not claim to be another"):
                sock = socket.create_connection(("127.0.0.1", grid.port), timeout=30, source_address=("127.0.0.9", 0))
                sock.sendall(text)
                with self.assertRaises((OSError, ssl.SSLError, IndexError, ValueError)):
                    get(sock)
            self.assertIn("no PROXY protocol header", grid.log("server"))


def program(name):
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")


class RealProxies(unittest.TestCase):
    def settings(self, grid, name):
        """The file of deploy/proxy with this test's ports."""
        front = free_port()
        text = (SOURCE / "deploy" / "proxy" / name).read_text()
        changed = text.replace("0.0.0.0:443", f"127.0.0.1:{front}").replace("127.0.0.1:8443", f"127.0.0.1:{grid.port}")
        self.assertEqual(changed.count(str(front)) + changed.count(str(grid.port)), 2)
        return front, changed

    def look_through(self, grid, front, address):
        """From another address of this machine, which the server must see."""
        def connect():
            try:
                return socket.create_connection(("127.0.0.1", front), timeout=10, source_address=(address, 0))
            except OSError:
                return None

        self.assertEqual(get(grid.wait_until("the proxy", connect), "/v1/admin/status", "wrong")[0], 401)
        grid.wait_until("the refusal", lambda: address in [refusal["last_network"] for refusal in grid.request(
            "GET", "/v1/admin/audit", token=grid.admin_token, address="127.0.0.9")[2]["refusals"]])

    @needs(program("haproxy"), "haproxy is not installed")
    def test_haproxy_passes_tls_through_or_ends_it(self):
        with Grid('server.proxies = "127.0.0.1"') as grid:
            front, text = self.settings(grid, "haproxy.cfg")
            ended, ending = self.settings(grid, "haproxy-tls.cfg")
            pair = grid.directory / "grid.pem"
            pair.write_text("".join((grid.project / "keys" / name).read_text() for name in ("tls.pem", "tls.key")))
            grid.start("server", "gleaner-server", "run", grid.project)
            grid.wait_until("the server", lambda: "serving" in grid.log("server"))
            for label, settings in (("haproxy", text), ("haproxy-tls", ending.replace("/etc/haproxy", str(grid.directory)))):
                configuration = grid.directory / f"{label}.cfg"
                configuration.write_text(settings)
                grid.start(label, pathlib.Path(program("haproxy")), "-db", "-f", configuration)
            self.look_through(grid, front, "127.0.0.5")
            self.look_through(grid, ended, "127.0.0.6")
            self.assertNotIn("no PROXY protocol header", grid.log("server"))  # nor when it looks at /readyz

    @needs(program("nginx"), "nginx is not installed")
    def test_nginx_passes_tls_through_or_ends_it(self):
        with Grid('server.proxies = "127.0.0.1"') as grid:
            nginx = pathlib.Path(program("nginx"))
            modules = nginx.parents[1] / "lib" / "nginx" / "modules"
            shutil.copy(grid.project / "keys" / "tls.pem", grid.directory / "grid.pem")
            shutil.copy(grid.project / "keys" / "tls.key", grid.directory / "grid.key")
            grid.start("server", "gleaner-server", "run", grid.project)
            grid.wait_until("the server", lambda: "serving" in grid.log("server"))
            for name, address in (("nginx.conf", "127.0.0.7"), ("nginx-tls.conf", "127.0.0.8")):
                front, text = self.settings(grid, name)
                configuration = grid.directory / name
                configuration.write_text(text.replace("load_module modules", f"load_module {modules}").replace("/etc/nginx", str(grid.directory)))
                grid.start(name, nginx, "-p", grid.directory, "-c", configuration, "-e", "stderr", "-g",
                           f"daemon off; pid {grid.directory}/{name}.pid;")
                self.look_through(grid, front, address)


class Notices(unittest.TestCase):
    def test_a_problem_s_end_is_mailed_and_the_log_is_json(self):
        with Grid('log.format = "json"') as grid:
            sendmail = grid.directory / "sendmail"
            inbox = grid.directory / "inbox"
            inbox.mkdir()
            sendmail.write_text(f'#!/bin/sh\necho "$@" > {inbox}/arguments\ncat > {inbox}/part && mv {inbox}/part {inbox}/$$.mail\n')
            sendmail.chmod(0o755)
            grid.change_settings(f'notices.mail = "ann@example.org, bob@example.org"\nnotices.sendmail = "{sendmail}"\n'
                                 'notices.webhook = "https://127.0.0.1:1/hook"')
            grid.start_server()
            identity = self.finish_a_problem(grid, "números")
            grid.wait_until("the mail", lambda: list(inbox.glob("*.mail")))
            letter = email.message_from_bytes(next(inbox.glob("*.mail")).read_bytes())
            self.assertEqual(letter["To"], "ann@example.org, bob@example.org")
            subject = str(email.header.make_header(email.header.decode_header(letter["Subject"])))
            self.assertEqual(subject, f"[A Gleaner project] Problem {identity} (números) is finished")
            self.assertIn(f"gleaner-admin problem result {identity}", letter.get_payload(decode=True).decode())
            self.assertEqual((inbox / "arguments").read_text().split(), ["-t", "-oi"])
            grid.wait_until("the webhook that is not there", lambda: "does not reach the webhook" in grid.log("server"))
            grid.processes["server"].terminate()
            self.assertEqual(grid.processes["server"].wait(timeout=60), 0)
            lines = [json.loads(line) for line in grid.log("server").splitlines()]
            self.assertGreater(len(lines), 3)
            for line in lines:
                self.assertEqual(set(line), {"time", "level", "thread", "message"})
            self.assertIn("info", {line["level"] for line in lines})

    def certificate(self, grid):
        chain, key = grid.directory / "hook.pem", grid.directory / "hook.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", chain], check=True,
                       capture_output=True)
        return chain, key

    def hook(self, grid, answers):
        """A web server that answers so, one after the other, the last from then on; what it heard; its port."""
        heard = []

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                heard.append((self.path, self.headers["Content-Type"], json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(answers[min(len(heard), len(answers)) - 1])
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        chain, key = self.certificate(grid)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return chain, heard, server.server_port

    def finish_a_problem(self, grid, name="numbers"):
        host = FakeHost(grid, "kitchen-pc")
        grid.add_application(SQUARES)
        identity = grid.add_problem("squares", name, count=3)
        grid.wait_until("a look at it while it runs", lambda: grid.request(
            "GET", f"/v1/admin/problems/{identity}/history", token=grid.admin_token)[2]["items"])
        while grid.problem(identity)["state"] != "finished":
            for grant in host.work()[1].get("decoded", []):
                begin, end = grant["range"]["begin"], grant["range"]["end"]
                host.commit(grant["unit"], begin, [str((1 + i) ** 2).encode() for i in range(begin, end)])
            host.units.clear()
        return identity

    @needs(shutil.which("msmtp"), "msmtp is not installed")
    def test_mail_and_webhook_reach_real_servers_which_were_away_at_first(self):
        with Grid() as grid:
            chain, heard, port = self.hook(grid, [503, 200])
            mailbox = Mailbox(free_port())
            self.addCleanup(mailbox.close)
            configuration = grid.directory / "msmtprc"
            configuration.write_text(f"account default\nhost 127.0.0.1\nport {mailbox.port}\nfrom grid@example.org\n")
            sendmail = grid.directory / "sendmail"
            sendmail.write_text(f'#!/bin/sh\nexec {shutil.which("msmtp")} -C {configuration} "$@"\n')
            sendmail.chmod(0o755)
            grid.change_settings(f'notices.mail = "ann@example.org, bob@example.org"\nnotices.sendmail = "{sendmail}"\n'
                                 f'notices.webhook = "https://127.0.0.1:{port}/hook"')
            grid.start_server(env={**os.environ, "SSL_CERT_FILE": str(chain)})
            identity = self.finish_a_problem(grid)
            grid.wait_until("mail that cannot be sent", lambda: "does not reach mail to ann" in grid.log("server"))
            self.assertIn("cannot connect to 127.0.0.1", grid.log("server"))  # in msmtp's words
            mailbox.open()
            sender, recipients, text = grid.wait_until("the mail", lambda: mailbox.letters)[0]
            self.assertEqual((sender, recipients), ("grid@example.org", ["ann@example.org", "bob@example.org"]))
            letter = email.message_from_bytes(text)
            self.assertEqual(letter["Subject"], f"[A Gleaner project] Problem {identity} (numbers) is finished")
            self.assertIn(f"gleaner-admin problem result {identity}", letter.get_payload(decode=True).decode())
            grid.wait_until("the webhook", lambda: len(heard) == 2)
            self.assertIn("does not reach the webhook: it answered 503", grid.log("server"))
            self.assertEqual(heard[0], heard[1])
            path, content_type, body = heard[1]
            self.assertEqual((path, content_type), ("/hook", "application/json"))
            self.assertEqual((body["version"], body["kind"], body["project"]), (1, "problem-finished", "A Gleaner project"))
            self.assertEqual(body["subject"], f"Problem {identity} (numbers) is finished")
            self.assertEqual(len(mailbox.letters), 1)

    def test_a_webhook_whose_certificate_nobody_vouches_for_hears_nothing(self):
        with Grid() as grid:
            _, heard, port = self.hook(grid, [200])
            grid.change_settings(f'notices.webhook = "https://127.0.0.1:{port}/hook"')
            grid.start_server()
            self.finish_a_problem(grid)
            grid.wait_until("the refusal", lambda: "does not reach the webhook" in grid.log("server"))
            self.assertIn("authorities do not vouch for", grid.log("server"))
            self.assertEqual(heard, [])


class Mailbox:
    """As much of a mail server (RFC 5321) as a sender needs; away until it is opened."""

    def __init__(self, port):
        self.port, self.letters, self.listening = port, [], None

    def open(self):
        self.listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.serve, daemon=True).start()

    def close(self):
        if self.listening:
            self.listening.close()

    def serve(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                self.talk(stream)

    def talk(self, stream):
        def say(line):
            stream.write(line + b"\r\n")
            stream.flush()

        sender, recipients = "", []
        say(b"220 mail.example.org")
        for line in stream:
            word = line.split(b" ")[0].strip().upper()
            if word == b"MAIL":
                sender = re.search(rb"<(.*?)>", line)[1].decode()
            if word == b"RCPT":
                recipients.append(re.search(rb"<(.*?)>", line)[1].decode())
            if word == b"DATA":
                say(b"354 go on")
                text = b""
                while (part := stream.readline()) != b".\r\n":
                    text += part
                self.letters.append((sender, recipients, text))
            say(b"221 bye" if word == b"QUIT" else b"250 good")
            if word == b"QUIT":
                return


if __name__ == "__main__":
    main()
