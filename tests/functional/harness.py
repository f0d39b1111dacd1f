"""Runs real servers and clients in a temporary directory: what every functional test builds on.

A test is a unittest.TestCase that makes a Grid in a `with` block. All processes belong to the Grid and are ended by
their ids. The build directory comes from GLEANER_BUILD (set by CTest).
"""
import contextlib
import functools
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

from host_key import HostKey, base64url, from_base64url, signed_bytes  # noqa: F401 (of tests)

BUILD = pathlib.Path(os.environ.get("GLEANER_BUILD", "build/release")).resolve()
PROGRAMS = pathlib.Path(os.environ.get("GLEANER_PROGRAMS") or BUILD).resolve()  # has what BUILD does not build
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SLOW = float(os.environ.get("GLEANER_SLOW", "1"))  # sanitizer builds are slower
CLUSTER = os.environ.get("GLEANER_CLUSTER")  # cluster.py: where rows and files are


def built(path):
    return BUILD / path if (BUILD / path).exists() else PROGRAMS / path


def others_reach(path):
    """May other users pass every directory above it? Not where, say, the root itself is private."""
    return all(parent.stat().st_mode & 0o001 for parent in pathlib.Path(path).resolve().parents)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
# A mount namespace of the test's in which bubblewrap is no program.
WITHOUT_BUBBLEWRAP = ["unshare", "--mount", "sh", "-c",
                      'for place in /usr/bin/bwrap /usr/local/bin/bwrap; do [ ! -e $place ] || mount --bind /dev/null $place; done;'
                      'exec "$@"', "sh"]
SANDBOX_OFF = "off: I accept that kernels run with my rights"


def sandbox_arguments(directory, known=[]):
    """What a client needs to be told where nothing can confine kernels: a fact about the machine, said once."""
    if not known:
        probe = subprocess.run([BUILD / "bin" / "gleaner-client", "sandbox", "--state", directory], capture_output=True,
                               text=True)
        known.append(["--sandbox", SANDBOX_OFF] if probe.returncode else [])
        if known[0]:
            print("clients run without a sandbox: " + probe.stderr.strip(), flush=True)
    return known[0]


def managers_settings(grid, known=[]):
    """The same for a server's managers."""
    if not known:
        told = grid.run("gleaner-server", "run", grid.project, "--check-config").stdout
        words = re.search(r'managers cannot be confined.* sandbox = "([^"]+)"', told)
        known.append(f'managers.sandbox = "{words[1]}"' if words else "")
        if words:
            print(words[0], flush=True)
    return known[0]


def local_arguments(known=[]):
    """The same for bundles that are tried without a server: run-local and app check."""
    if not known:
        with tempfile.TemporaryDirectory() as directory:
            told = subprocess.run([built("bin/gleaner-admin"), "run-local", SQUARES, "--param", "count=1", "-o", directory],
                                  capture_output=True, text=True).stderr
        words = re.search(r'cannot be confined .* --unconfined "([^"]+)"', told)
        known.append(["--unconfined", words[1]] if words else [])
        if words:
            print(words[0], flush=True)
    return known[0]


class Grid:
    """One project: a directory, a server, any number of clients."""

    def __init__(self, settings="", name="A Gleaner project"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-test-"))
        self.project = self.directory / "project"
        self.offline = self.directory / "offline"
        self.port = free_port()
        self.settings = settings
        self.name = name
        self.processes = {}
        self.failed = False
        self.own_code_made = None
        self.database = None  # its name, where it is one of cluster.py's

    def __enter__(self):
        self.run("gleaner-server", "init", self.project, "--offline", self.offline, "--address", "127.0.0.1", "--port",
                 self.port, "--name", self.name)
        for settings in (managers_settings(self), self.settings):
            self.change_settings(settings)
        if CLUSTER:
            self.use_cluster()
        self.join_code = self.run("gleaner-server", "join-code", self.project).stdout.strip()
        return self

    def use_cluster(self):
        """A database and a place of files of its own, where the test says nothing of either."""
        sockets, objects = CLUSTER.split()
        if not {"store.url", "blobs.url"} & {line.split(" = ")[0].strip() for line in self.settings.splitlines()}:
            self.database = f"g{os.urandom(6).hex()}"
            subprocess.run(["createdb", "-h", sockets, "-U", "gleaner", self.database], check=True)
            self.change_settings(f'store.url = "postgresql:///{self.database}?host={sockets}&user=gleaner"\n'
                                 f'blobs.url = "{objects}{self.database}"')
            keys = self.project / "keys" / "blobs.keys"
            keys.write_text("\n".join(os.environ["GLEANER_BLOBS_KEYS"].split()) + "\n")
            keys.chmod(0o600)

    def stored(self):
        """All bytes of the store."""
        if self.database:
            return subprocess.run(["pg_dump", "-h", CLUSTER.split()[0], "-U", "gleaner", self.database], check=True, capture_output=True).stdout
        return b"".join(path.read_bytes() for path in self.project.glob("store.sqlite*"))

    @property
    def store(self):
        """As tools/check_ledger.py wants it."""
        return f"postgresql:///{self.database}?host={CLUSTER.split()[0]}&user=gleaner" if self.database else self.project / "store.sqlite"

    def rows(self, sql):
        """Of the store, beside the server if it runs; bytes by hex(COLUMN), as x'...'."""
        if self.database:
            sql = re.sub(r"\bx'(\w*)'", r"decode('\1', 'hex')", re.sub(r"\bhex\((\w+)\)", r"encode(\1, 'hex')", sql))
            done = subprocess.run(["psql", "-X", "-A", "-t", "-q", "-F", "\t", "-h", CLUSTER.split()[0], "-U", "gleaner", "-d", self.database,
                                   "-c", sql], check=True, capture_output=True, text=True)
            return [line.split("\t") for line in done.stdout.splitlines()]
        with contextlib.closing(sqlite3.connect(self.project / "store.sqlite", timeout=10)) as store, store:
            return [list(map(str, row)) for row in store.execute(sql).fetchall()]

    def __exit__(self, kind, value, trace):
        for name in list(self.processes):
            self.kill(name)
        if self.database:
            subprocess.run(["dropdb", "--force", "-h", CLUSTER.split()[0], "-U", "gleaner", self.database], check=True)
        if kind is not None and os.environ.get("GLEANER_KEEP"):
            print(f"kept {self.directory}")
        else:
            if kind is not None:
                for log in sorted(self.directory.glob("*.log")):
                    print(f"---- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-25:]))
            shutil.rmtree(self.directory, ignore_errors=True)

    # ---- programs

    def program(self, name):
        return str(name if isinstance(name, pathlib.Path) else built(f"bin/{name}"))

    def run(self, name, *arguments, check=True, timeout=120, env=None):
        done = subprocess.run([self.program(name), *map(str, arguments)], capture_output=True, text=True,
                              timeout=timeout * SLOW, env=env, stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise AssertionError(f"{name} {' '.join(map(str, arguments))} exited with {done.returncode}:\n"
                                 f"{done.stderr}{done.stdout}")
        return done

    def start(self, label, name, *arguments, env=None, before=(), inherit=()):
        """`name`: of a program that was built, or a path. `before`: what starts it. `inherit`: descriptors."""
        log = open(self.directory / f"{label}.log", "a")
        self.processes[label] = subprocess.Popen([*before, self.program(name), *map(str, arguments)], stdout=log,
                                                 stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                                 start_new_session=True, env=env, pass_fds=inherit)
        log.close()
        return self.processes[label]

    def kill(self, label, how=signal.SIGKILL):
        process = self.processes.pop(label)
        if process.poll() is None:
            process.send_signal(how)
        try:
            return process.wait(timeout=30 * SLOW)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"{label} did not end on signal {how}")

    def log(self, label):
        return (self.directory / f"{label}.log").read_text(errors="replace")

    def wait_until(self, what, condition, timeout=30):
        begin = time.monotonic()
        while (waited := time.monotonic() - begin) < timeout * SLOW:
            value = condition()
            if value:
                return value
            time.sleep(min(max(0.05, waited / 10), 0.5))  # most conditions start a program, and other tests want the processors
        raise AssertionError(f"timed out waiting for {what}")

    # ---- server

    def change_settings(self, lines, path=None):
        """`lines`: "table.key = value" each; replaces the value in server.toml, or in another such file."""
        path = path or self.project / "server.toml"
        text = path.read_text().splitlines()
        for line in lines.strip().splitlines():
            dotted, value = line.strip().split(" = ", 1)
            table, key = dotted.rsplit(".", 1)
            current = None
            for i, old in enumerate(text):
                if old.startswith("["):
                    current = old.strip("[]")
                if current == table and old.split("=")[0].strip() == key:
                    text[i] = f"{key} = {value}"
                    break
            else:
                raise AssertionError(f"no setting {dotted}")
        path.write_text("\n".join(text) + "\n")

    def restore_server(self, backup, env=None):
        """The server's disk is lost, and what it was at the backup runs in its place, with the keys and settings that it had last."""
        self.kill("server")
        lost = self.directory / f"lost-{time.monotonic_ns()}"
        shutil.move(self.project, lost)
        self.run("gleaner-server", "restore", backup, self.project)
        for name in ("keys", "admin"):
            shutil.copytree(lost / name, self.project / name, dirs_exist_ok=True)
        shutil.copy(lost / "server.toml", self.project)
        self.start_server(env=env)

    def start_server(self, *arguments, env=None, program="gleaner-server", before=()):
        process = self.start("server", program, "run", self.project, *arguments, env=env, before=before)

        def listening():
            if process.poll() is not None:
                raise AssertionError("the server ended: " + self.log("server")[-2000:])
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return True
            except OSError:
                return False

        self.wait_until("the server", listening)
        return process

    def admin(self, *arguments, check=True, timeout=120):
        return self.run("gleaner-admin", "--project", self.project / "admin", *arguments, check=check, timeout=timeout)

    def admin_json(self, *arguments, timeout=120):
        return json.loads(self.admin("--json", *arguments, timeout=timeout).stdout)

    def add_application(self, bundle):
        signed = self.directory / "signed"
        signed.mkdir(exist_ok=True)
        self.admin("app", "sign", bundle, "--key", self.offline / "signer.key", "--certificate",
                   self.offline / "signer.certificate.json", "-o", signed)
        archive = max(signed.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime_ns)
        self.admin("app", "add", archive)
        return archive

    def add_problem(self, application, name, *arguments, **parameters):
        pairs = []
        for key, value in parameters.items():
            pairs += ["--param", f"{key}={value}"]
        return self.admin_json("problem", "add", "--app", application, "--name", name, *pairs, *arguments)["id"]

    def problem(self, identity):
        return self.admin_json("problem", "show", identity)

    def wait_finished(self, identity, timeout=120):
        def over():
            info = self.problem(identity)
            if info["state"] in ("failed", "cancelled"):
                raise AssertionError(f"problem is {info['state']}: {info['message']}")
            return info if info["state"] == "finished" else None

        return self.wait_until(f"problem {identity}", over, timeout)

    def results(self, identity):
        target = self.directory / f"result-{identity}"
        self.admin("problem", "result", identity, "-o", target)
        return {path.name: path.read_bytes() for path in target.iterdir() if path.is_file()}

    def run_local(self, bundle, *arguments, **parameters):
        """The single-process reference."""
        target = self.directory / "local"
        shutil.rmtree(target, ignore_errors=True)
        pairs = []
        for key, value in parameters.items():
            pairs += ["--param", f"{key}={value}"]
        self.run("gleaner-admin", "run-local", bundle, *pairs, "-o", target, "--jobs", 1, *local_arguments(), *arguments)
        return {path.name: path.read_bytes() for path in target.rglob("*") if path.is_file()}

    # ---- clients

    def state(self, name):
        return self.directory / f"client-{name}"

    def membership(self, name):
        """What a client that joined one project keeps of it."""
        found, = (self.state(name) / "projects").iterdir()
        return found

    @property
    def own_code(self):
        """A join code for the project's own computers; `join_code`, which `init` prints, is for strangers."""
        if not self.own_code_made:
            status, _, made = self.request("POST", "/v1/admin/codes", {"name": "own", "own": True}, self.admin_token)
            assert status == 200, made
            # The place that the test's hosts are to ask, which need not be the server's own.
            self.own_code_made = code_at(made["join_code"], self.join_code.split("/")[2])
        return self.own_code_made

    def join(self, name, *arguments, check=True, code=None):
        """As one of the project's own computers, unless a code says otherwise."""
        return self.run("gleaner-client", "join", code or self.own_code, "--state", self.state(name), "--name", name,
                        *arguments, check=check)

    def start_client(self, name, *arguments, cores=1, share=1.0, env=None, run="always", sandbox=None, before=()):
        confined = ["--sandbox", sandbox] if sandbox else sandbox_arguments(self.state(name))
        return self.start(name, "gleaner-client", "run", "--state", self.state(name), *confined, "--run", run, "--cores", cores,
                          "--cpu-share", share, "--priority", "normal", "--benchmark-mflops", 1000 * share, *arguments, env=env, before=before)

    def add_client(self, name, **options):
        self.join(name)
        return self.start_client(name, **options)

    def control(self, name, *arguments, check=True):
        return self.run("gleaner", "--state", self.state(name), *arguments, check=check)

    def kernels_of(self, label):
        """Process ids of all that a client started: kernels and what confines them."""
        children = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
        found, waiting = [], [self.processes[label].pid]
        while waiting:
            below = children.get(waiting.pop(), [])
            found += below
            waiting += below
        return found

    def host_id(self, name):
        return next(h["id"] for h in self.admin_json("host", "list")["items"] if h["name"] == name)

    # ---- the bare wire

    def request(self, method, path, body=None, token=None, headers=None, raw=False, address=None, port=None):
        """(status, headers, body) over TLS without any client of ours, from an address of this machine; JSON bodies get the version."""
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", port or self.port, context=context, timeout=30 * SLOW,
                                                 source_address=(address, 0) if address else None)
        fields = dict(headers or {})
        if token:
            fields["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps({"version": 1, **body})
        try:
            connection.request(method, path, body, fields)
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        if not raw and reply.headers.get("Content-Type", "").split(";")[0] in ("application/json",
                                                                               "application/problem+json"):
            data = json.loads(data)
        return reply.status, dict(reply.headers), data

    @property
    def admin_token(self):
        return (self.project / "admin" / "token").read_text().strip()

    def nonce(self, **where):
        """For one proof of a host's key."""
        status, _, reply = self.request("GET", "/v1/enrol/nonce", **where)
        assert status == 200, reply
        return reply["nonce"]

    def proof(self, key, relay=None, tls_key=None, **where):
        """That the key's host joins there, by a nonce of its own."""
        return key.proof(self.project_id, self.nonce(**where), relay, tls_key)

    def enrol(self, key, name, secret=None, relay=None, tls_key=None, **where):
        """(status, reply) of a host that joins, at a relay (its number) or at the server; with a TLS key it is a relay itself."""
        more = {"proof": self.proof(key, relay, tls_key, **where), **({"relay": {"tls_key": tls_key}} if tls_key else {})}
        status, _, reply = self.request("POST", "/v1/enrol", key.request(name, secret or self.enrolment_secret, **more), **where)
        return status, reply

    @property
    def project_id(self):
        return hashlib.sha256(bytes.fromhex((self.project / "keys" / "root.public").read_text().strip())).hexdigest()

    @property
    def enrolment_secret(self):
        """Of `join_code`."""
        return bytes.fromhex((self.project / "keys" / "enrolment.secret").read_text().strip())

    @property
    def own_secret(self):
        return secret_of(self.own_code)


def code_at(code, address):
    """The same join code for another place, "HOST:PORT": it names no address that keys would depend on."""
    rest = from_base64url(code.strip().rsplit("/", 1)[1])[:-4]
    return f"gleaner://{address}/{base64url(rest + struct.pack('>I', zlib.crc32(address.encode() + rest)))}"


def secret_of(join_code):
    return from_base64url(join_code.rsplit("/", 1)[1])[33:49]


def made_up_search(directory, query, records):
    """Writes a query and a database as FASTA; the arguments that name them to dsearch."""
    (directory / "query.fa").write_text(f">q\n{query}\n")
    (directory / "database.fa").write_text("".join(f">r{i}\n{text}\n" for i, text in enumerate(records)))
    return ["--input", f"query={directory / 'query.fa'}", "--input", f"database={directory / 'database.fa'}"]


def made_up_dna(source, length):
    return "".join(source.choices("ACGT", k=length))


class FakeHost:
    """One of the project's own hosts that says what the test wants, in the published protocol."""

    def __init__(self, grid, name, secret=None, address=None):
        secret = secret or grid.own_secret
        self.grid, self.address = grid, address
        self.units = {}
        status, reply = grid.enrol(HostKey(), name, secret, address=address)
        assert status == 200, reply
        self.host, self.token, self.name = reply["host"], reply["token"], name
        self.capabilities, self.platforms = ["python 3.11"], ["x86_64-linux", "any"]

    def work_body(self, slots=1, commits=(), reports=None, benchmark=1000.0):
        if reports is None:
            reports = [self.report(unit) for unit in self.units]
        return {"version": 1, "commits": list(commits), "units": reports,
                "slots": [{"slot": i, "urgent": True} for i in range(slots)], "platforms": self.platforms,
                "memory_bytes": 1 << 32, "cores": max(1, slots), "capabilities": self.capabilities,
                "proposal": {"performance": benchmark, "queue_unloaded": 1, "queue_current": 1, "items": 0}}

    def work(self, *arguments, **named):
        status, _, reply = self.grid.request("POST", "/v1/work", self.work_body(*arguments, **named), self.token, address=self.address)
        if status != 200:
            return status, reply
        reply["decoded"] = [json.loads(from_base64url(grant["payload"])) for grant in reply["grants"]]
        for grant in reply["decoded"]:
            self.units[grant["unit"]] = grant
        reply["answers"] = [json.loads(from_base64url(ack["payload"])) for ack in reply["acknowledgements"]]
        return status, reply

    def report(self, unit, finished=None, state="running", rate=1.0):
        grant = self.units[unit]
        return {"unit": unit, "finished": grant["range"]["begin"] if finished is None else finished, "state": state,
                "reason": "", "rate": rate, "item_seconds": 0, "running_seconds": 1}

    def save(self, unit, item, share, data):
        """The status of the answer."""
        saved = {"unit": unit, "item": item, "share": share, "data": base64url(zlib.compress(data))}
        return self.grid.request("POST", "/v1/heartbeat", {"units": [self.report(unit)], "saved": [saved]}, self.token)[0]

    @staticmethod
    def segment(items):
        return b"".join(struct.pack("<I", len(item)) + item for item in items)

    def commit_body(self, unit, begin, items, last=True, **changes):
        raw = self.segment(items)
        body = {"unit": unit, "range": {"begin": begin, "end": begin + len(items)},
                "digest": hashlib.sha256(raw).hexdigest(), "bytes": len(raw), "data": base64url(zlib.compress(raw)),
                "compute_seconds": 1, "last": last}
        body.update(changes)
        return body

    def commit(self, unit, begin, items, last=True, **changes):
        return self.deliver(self.commit_body(unit, begin, items, last, **changes))

    def deliver(self, commit):
        """One result and no wish for a unit: the status, and the acknowledgement or the error."""
        status, reply = self.work(slots=0, commits=[commit])
        return status, reply["answers"][0] if status == 200 else reply


class Stranger(FakeHost):
    """The same of a host that joined with the code that `init` prints, from an address of its own if none is given."""

    numbers = itertools.count()

    def __init__(self, grid, name, secret=None, address=None):
        number = next(self.numbers)
        super().__init__(grid, name, secret or grid.enrolment_secret,
                         address or f"127.{1 + number // 62500 % 250}.{1 + number // 250 % 250}.{1 + number % 250}")


SQUARES = SOURCE / "tests" / "functional" / "python_app"
BUNDLES = built("bundles/mandelbrot/manifest.toml").parents[1]
MANDELBROT = BUNDLES / "mandelbrot"
LONG = {"width": 300, "height": 65_536, "iterations": 200_000}  # of the mandelbrot set: no machine is done with it during a test
RAYTRACE = BUNDLES / "raytrace"


def needs(there, what):
    """For a test of something that the build makes or `tools/setup test` installs: without it the test fails, for it would pass
    without having tested anything."""
    if there:
        return lambda item: item

    def failing(item):
        def fail(*_):
            raise AssertionError(f"this test cannot test: {what}; build everything, and run `tools/setup test`")

        if isinstance(item, type):
            item.setUpClass = classmethod(fail)
            return item
        return functools.wraps(item)(fail)

    return failing


class Calendar:
    """Another date for the programs started with its `env`, which may jump while they run; steady clocks go on."""

    DAY = 86400
    library = BUILD / "tests" / "libcalendar.so"

    def __init__(self, directory, seconds=0):
        if not self.library.exists():  # the loader would only warn, and the date would be today's
            raise AssertionError(f"{self.library} is not built: cmake --build {BUILD} --target calendar")
        self.file = pathlib.Path(directory) / f"calendar-{os.urandom(4).hex()}"
        self.jump(seconds)
        self.env = {**os.environ, "LD_PRELOAD": str(self.library), "GLEANER_CALENDAR": str(self.file)}

    def jump(self, seconds):
        changed = self.file.with_suffix(".new")
        changed.write_text(f"{seconds}\n")
        changed.replace(self.file)


def dated(item):
    """For a test under another date."""
    if SLOW != 1:
        return unittest.skip("the sanitizers' runtime wants to be loaded first, as the calendar does: other builds test it")(item)
    return needs(Calendar.library.exists(), f"{Calendar.library} is not built")(item)


def seeded(test):
    """A random.Random whose seed is printed if the test fails."""
    seed = int(os.environ.get("GLEANER_SEED", random.SystemRandom().randrange(1 << 32)))
    test.addCleanup(lambda: None)
    print(f"seed {seed}", flush=True)
    return random.Random(seed)


def of_files(why):
    """For a test whose subject is what a project keeps in its own directory; over PostgreSQL and Swift it is passed over."""
    return unittest.skipIf(CLUSTER, f"over PostgreSQL and an object store: {why}")


def main():
    """Exits with 77 if nothing was tested, which CTest calls skipped."""
    program = unittest.main(verbosity=2, exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) >= result.testsRun else 0)
