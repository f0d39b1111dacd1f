"""Kernels as processes of this computer: they run the very bundle that donated computers would, and speak apps/CONTRACT.md."""
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from ._errors import GridError, ProblemFailed

ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
WORDS_MAX = 4096


class Kernel:
    """One kernel process of a prepared directory. One thread; kill() may come from another."""

    def __init__(self, place):
        self.place, self.words = place, tempfile.TemporaryFile()
        work = tempfile.mkdtemp(dir=place.directory)
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        self.process = subprocess.Popen([sys.executable, "-E", "-s", str(place.directory / "bundle" / "kernel.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.words, cwd=work, env=environment,
                                        start_new_session=True)  # a Ctrl-C is for the caller
        try:
            self.say("gleaner 1", "ready 1")
            self.say(f"problem {place.directory / 'problem'}", "ok")
        except BaseException:
            self.kill()
            raise

    def say(self, words, expected):
        self.write(words)
        answer = self.line()
        if answer.startswith("error "):
            raise GridError(answer[len("error "):])
        if answer != expected:
            raise GridError(f"the kernel answered {answer!r} to {words!r}")

    def write(self, words):
        try:
            self.process.stdin.write(f"{words}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.fail()

    def line(self):
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            self.fail()
        return line[:-1].decode()

    def fail(self):
        self.process.wait()
        self.words.seek(0, os.SEEK_END)
        self.words.seek(max(0, self.words.tell() - WORDS_MAX))
        last = self.words.read().decode(errors="replace").strip()
        raise GridError(f"a process that calls the function ended with status {self.process.returncode}" + (f": {last}" if last else ""))

    def unit(self, begin, end):
        """(number, bytes) of each item."""
        self.write(f"unit 0 {begin} {end}")
        while True:
            words = self.line().split(" ")
            if words[0] == "item":
                yield int(words[1]), self.process.stdout.read(int(words[2]))
            elif words[0] == "done":
                return
            elif words[0] not in ("progress", "log"):
                raise GridError("the kernel cannot compute it: " + " ".join(words))

    def kill(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.words):
            try:
                stream.close()
            except BrokenPipeError:
                pass  # words that it had not read


class Place:
    """A directory with a job's bundle and problem, removed at the end of the `with`."""

    def __init__(self, job):
        self.job = job

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-local-"))
        self.job.bundle.write(self.directory / "bundle")
        inputs = self.directory / "problem" / "inputs"
        inputs.mkdir(parents=True)
        (inputs.parent / "parameters.json").write_text(self.job.parameters)
        for name, data, _ in self.job.inputs():
            (inputs / name).write_bytes(data)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)


def seconds_of_call(job, patience):
    """What a call of the job's first ones takes here; None: longer than `patience`, or it cannot be called here."""
    few = job.first(1000)
    with Place(few) as place:
        try:
            kernel = Kernel(place)
        except GridError:
            return None  # this computer lacks something that the grid's may have
        begin, done = time.monotonic(), 0
        stop = threading.Timer(patience, kernel.process.kill)
        stop.start()
        try:
            for _ in kernel.unit(0, few.items):
                done += 1
                last = time.monotonic()
        except GridError:
            pass  # it took too long, or broke down: the grid tells
        finally:
            stop.cancel()
            kernel.kill()
        return (last - begin) / done if done else None


class LocalItems:
    """Computes a job's items with some processes; what _run.Run takes items from."""

    identity = None

    def __init__(self, job, processes, check=False):
        self.job, self.check = job, check
        self.processes = max(1, min(processes, job.items))
        self.calls, self.batch = job.calls, job.batch
        self.done, self.stopping, self.kernels, self.found = 0, threading.Event(), set(), queue.Queue()

    def items(self):
        """(number, bytes) of each item as it is computed."""
        waiting, lock = iter(range(self.job.items)), threading.Lock()
        with Place(self.job) as place:
            workers = [threading.Thread(target=self.work, args=(place, waiting, lock), daemon=True)
                       for _ in range(self.processes)]
            try:
                for worker in workers:
                    worker.start()
                while self.done < self.job.items:
                    item = self.found.get()
                    if isinstance(item, BaseException):
                        raise item
                    self.done += 1
                    yield item
            finally:
                self.cancel()
                for worker in workers:
                    worker.join()

    def work(self, place, waiting, lock):
        kernels = []
        try:
            for _ in range(2 if self.check else 1):
                kernels.append(Kernel(place))
                self.kernels.add(kernels[-1])
            while not self.stopping.is_set():
                with lock:
                    number = next(waiting, None)
                if number is None:
                    return
                item, *again = [list(kernel.unit(number, number + 1))[0] for kernel in kernels]
                if again and again != [item]:
                    raise self.job.differs(number, item[1], again[0][1])
                self.found.put(item)
        except BaseException as error:  # the caller's thread raises it
            if not self.stopping.is_set():
                self.found.put(error)
        finally:
            for kernel in kernels:
                kernel.kill()

    def cancel(self, patience=None):
        self.stopping.set()
        self.found.put(ProblemFailed("the calls were cancelled"))
        for kernel in list(self.kernels):
            kernel.process.kill()

    def progress(self):
        return {"items": self.job.items, "accepted": self.done, "hosts": self.processes, "eta_seconds": -1, "errors": []}
