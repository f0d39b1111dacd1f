"""A display that nobody sees (Xvfb), its pixels, and pictures in files: for tests and measurements of what is shown."""
import json
import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

HEAD_BYTES = 16 << 10


class Display:
    """`with Display(1280, 720) as display:` gives `display.env`; pixels() is what is on the screen."""

    available = shutil.which("Xvfb") is not None

    def __init__(self, width, height):
        self.width, self.height = width, height

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-display-"))
        os.chmod(self.directory, 0o755)
        reading, writing = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{self.width}x{self.height}x24",
                                        "-fbdir", str(self.directory), "-nolisten", "tcp", "-noreset", "-ac"],
                                       pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(writing)
        with os.fdopen(reading) as told:
            number = told.readline().strip()
        if not number:
            raise AssertionError("Xvfb did not start")
        self.env = {key: value for key, value in os.environ.items() if key not in ("WAYLAND_DISPLAY", "XDG_SESSION_TYPE")}
        self.env.update(DISPLAY=f":{number}", SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def pixels(self):
        """The screen as bytes, four a pixel: blue, green, red, nothing."""
        with open(self.directory / "Xvfb_screen0", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as dump:
            fields = struct.unpack(">25I", dump[:100])
            head, height, line, colours = fields[0], fields[5], fields[12], fields[19]
            begin = head + 12 * colours
            return dump[begin:begin + height * line]

    def colours(self):
        pixels = self.pixels()
        return len({pixels[i:i + 3] for i in range(0, len(pixels), 4 * 7)})


def runtime_of(pid):
    """Seconds of processor time of all threads of a process."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


class View:
    """Writes what a client publishes (client/view/view_file.h)."""

    def __init__(self, path, width, height):
        self.path, self.width, self.height = pathlib.Path(path), width, height
        self.changes = 0
        self.finished = 0
        self.path.write_bytes(b"\0" * HEAD_BYTES + b"\x12\x15\x1d" * (width * height))
        self.write_head()

    def write_head(self):
        self.changes += 1
        text = json.dumps({
            "version": 1, "written": int(time.time() * 1e6), "project": "Room 12", "host": "pc-7", "mode": "run",
            "reason": "computing scene D on 1 of 1 core: nobody has used this computer for 12 minutes",
            "given": {"today": 60 * self.finished, "week": 60 * self.finished, "year": 60 * self.finished},
            "cores": [{"state": "running", "problem": "scene D", "begin": 0, "finished": self.finished, "end": self.height}],
            "picture": {"number": 1, "change": self.changes, "width": self.width, "height": self.height, "problem": "scene D",
                        "application": "Ray tracer", "meaning": "one scan-line", "items": self.finished}}).encode()
        with open(self.path, "r+b") as file:
            file.write(b"GLNVIEW1" + struct.pack("<II", zlib.crc32(text), len(text)) + text)

    def write_row(self, row):
        line = b"".join(bytes(((x * 5 + row) % 256, (x + row * 3) % 256, (row * 7) % 256)) for x in range(self.width))
        with open(self.path, "r+b") as file:
            file.seek(HEAD_BYTES + 3 * self.width * row)
            file.write(line)
        self.finished += 1
        self.write_head()


def read_view(path):
    """What a client published: the text as an object, and the picture's bytes. None while it is being written."""
    data = pathlib.Path(path).read_bytes()
    checksum, length = struct.unpack("<II", data[8:16])
    text = data[16:16 + length]
    if data[:8] != b"GLNVIEW1" or zlib.crc32(text) != checksum:
        return None
    view = json.loads(text)
    size = 3 * view["picture"]["width"] * view["picture"]["height"]
    return view, data[HEAD_BYTES:HEAD_BYTES + size]


def read_png(data):
    """Width, height and the red, green, blue bytes of a PNG with 8 bits a channel, without an alpha channel."""
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2), "a PNG of another kind"
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, line = zlib.decompress(packed), 3 * width
    above, pixels = bytearray(line), bytearray()
    for y in range(height):
        method, row = raw[y * (line + 1)], bytearray(raw[y * (line + 1) + 1:(y + 1) * (line + 1)])
        for x in range(line):
            left = row[x - 3] if x >= 3 else 0
            corner = above[x - 3] if x >= 3 else 0
            if method == 1:
                row[x] = (row[x] + left) & 255
            elif method == 2:
                row[x] = (row[x] + above[x]) & 255
            elif method == 3:
                row[x] = (row[x] + (left + above[x]) // 2) & 255
            elif method == 4:
                guess = left + above[x] - corner
                best = min((abs(guess - left), 0, left), (abs(guess - above[x]), 1, above[x]), (abs(guess - corner), 2, corner))
                row[x] = (row[x] + best[2]) & 255
        pixels += row
        above = row
    return width, height, bytes(pixels)
