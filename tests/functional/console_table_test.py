"""The table of a problem at the console, by clicks: rows, order, failed rows, these run again, and a row's results.
The long form, test_a_million_rows, prints the longest frames while it scrolls and the server's memory."""
import hashlib
import io
import json
import os
import pathlib
import struct
import sys
import tarfile
import time
import unittest

from browser import CHROMIUM
from harness import SLOW, Grid, main, needs
from person import Person
from wrapping import add_wrapped

ROWS = 250
PICTURE = os.environ.get("GLEANER_PICTURE")  # a file for a screenshot
CELLS = "[...document.querySelectorAll('section[aria-label=Table] .rows [role=row]')].map(row => row.children[%d].innerText)"
SCROLL = "(window => window.scrollTop = %s)(document.querySelector('section[aria-label=Table] .window'))"

# The page is told of other results of a problem than it has.
INSTEAD = """(real => window.fetch = async (path, init) => {
  const reply = await real(path, init);
  if (path !== '/v1/admin/problems/%d') return reply;
  const problem = await reply.json();
  Object.assign(problem, %s);
  return new Response(JSON.stringify(problem), {status: 200, headers: {'Content-Type': 'application/json'}});
})(window.fetch.bind(window))"""
# What each frame took, in milliseconds, while the table is scrolled through, a screen a frame.
FRAMES = """new Promise(done => {
  const window_ = document.querySelector('section[aria-label=Table] .window'), end = window_.scrollHeight - window_.clientHeight, frames = [];
  let last = 0, turn = 0;
  const step = now => {
    if (last) frames.push(now - last);
    last = now;
    if (++turn > %d) return done(frames);
    if (%s) window_.scrollTop = turn %% 40 === 0 ? Math.random() * end : Math.min(end, window_.scrollTop + 300);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
MILLION = 10**6


def store(grid, data):
    """A blob; what a result file says of it."""
    digest = hashlib.sha256(data).hexdigest()
    for begin in range(0, len(data), 4 << 20):
        status, _, reply = grid.request("PATCH", f"/v1/uploads/{digest}", data[begin:begin + (4 << 20)], grid.admin_token,
                                        {"Upload-Offset": str(begin), "Upload-Length": str(len(data)), "Content-Type": "application/octet-stream"})
        assert status == 200, reply
    return {"digest": digest, "bytes": len(data)}


def archive(rows, index=True):
    """rows.tar of these rows' files, with the index behind it (shared/base/row_index.h)."""
    members, bounds = io.BytesIO(), []
    for number, files in enumerate(rows, 1):
        begin = members.tell()
        for name, content in files.items():
            member = tarfile.TarInfo(f"{number:06}/{name}")
            member.size = len(content)
            members.write(member.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512))
        bounds.append(begin)
    bounds.append(members.tell())
    return members.getvalue() + bytes(1024) + (struct.pack(f"<{len(bounds)}Q", *bounds) + b"glnrows1" + struct.pack("<Q", len(rows)) if index else b"")


def memory(process, field):
    return next(int(line.split()[1]) >> 10 for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith(field))


@needs(CHROMIUM, "chromium is not installed")
class ConsoleTable(unittest.TestCase):
    def small(self, grid):
        """A table of three rows, computed."""
        server = grid.start_server()
        add_wrapped(grid, "twice", "awk", "--", "BEGIN {{ print {x} * 2 }}")
        grid.add_client("kitchen-pc")
        table = grid.directory / "three.csv"
        table.write_text("x\n1\n2\n3\n")
        identity = grid.add_problem("twice", "twice", "--table", table)
        grid.wait_finished(identity, timeout=120 * SLOW)
        return server, identity

    def test_results_of_a_row(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            _, identity = self.small(grid)
            results = grid.problem(identity)["results"]
            picture = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082")
            rows = [{"out.txt": b"2\n"}, {"out.txt": b"4\n", "dot.png": picture, "data.bin": b"\0" * 700}, {"error.txt": b"no such thing\n"}]
            with Person(self, grid) as person:
                person.log_in()
                # What the page makes addresses of; the content policy lets nobody fetch these.
                person.run("window.made = {}; (real => URL.createObjectURL = what => { const address = real(what); made[address] = what; return address })(URL.createObjectURL); 0")
                for index in (True, False):
                    other = [{**each, **store(grid, archive(rows, index))} if each["name"] == "rows.tar" else each for each in results]
                    person.go("#/problems")
                    person.run(INSTEAD % (identity, json.dumps({"results": other})))
                    person.go(f"#/problems/{identity}")
                    person.wait("the table", f"{CELLS % 0}.join() === '1,2,3'")
                    person.push("2")
                    row = "document.querySelector('section[aria-label=\"Results of row 2\"]')"
                    if index:
                        person.wait("its files", f"{row}?.querySelectorAll('li').length === 3")
                        self.assertEqual(person.run(f"[...{row}.querySelectorAll('li a')].map(a => a.download)"), ["out.txt", "dot.png", "data.bin"])
                        self.assertEqual(person.run(f"[...{row}.querySelectorAll('pre')].map(pre => pre.textContent)"), ["4\n"])
                        person.wait("its picture", f"{row}.querySelector('img')?.naturalWidth === 1")
                        tar = person.run(f"made[{row}.querySelector('a[download=\"row-2.tar\"]').href].arrayBuffer().then(got => [...new Uint8Array(got)])")
                        with tarfile.open(fileobj=io.BytesIO(bytes(tar))) as own:
                            self.assertEqual([(each.name, each.size) for each in own], [("000002/out.txt", 2), ("000002/dot.png", len(picture)), ("000002/data.bin", 700)])
                        person.accessible()
                        self.assertIn("row=2", person.run("location.hash"))
                        person.push("3")
                        person.wait("a failed row's last words", person.has("no such thing"))
                        person.push("Close")
                        person.wait("the row is closed", "!document.body.innerText.includes('Results of row')")
                    else:
                        person.wait("that there is no index", f"{row}?.innerText.includes('bundled by an older gleaner-admin')")
                        self.assertEqual(person.run(f"{row}.querySelector('a').download"), "rows.tar")
                        person.accessible()
                self.assertEqual(person.complaints(), [])

    @unittest.skipUnless(os.environ.get("GLEANER_MILLION") or "test_a_million_rows" in " ".join(sys.argv), "the long form: GLEANER_MILLION=1")
    def test_a_million_rows(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            server, identity = self.small(grid)
            lines = (f"{row},{row * 37 % 1000003 / 8},words of row {row},{'exit 1' if row % 1000 == 0 else 'ok'},0.512,kitchen-pc\n" for row in range(1, MILLION + 1))
            data = ("row,x,text,status,seconds,host\n" + "".join(lines)).encode()
            table = {"name": "table.csv", "media_type": "text/csv", **store(grid, data)}
            pathlib.Path(f"/proc/{server.pid}/clear_refs").write_text("5")  # the peak is measured from here
            before = memory(server, "VmRSS")
            with Person(self, grid) as person:
                person.log_in()
                person.go("#/problems")
                person.run(INSTEAD % (identity, json.dumps({"items": MILLION, "accepted": MILLION, "results": [table]})))
                person.go(f"#/problems/{identity}")
                seconds = {}

                def timed(what, done, act=lambda: None):
                    begun = time.monotonic()
                    act()
                    person.wait(what, done, 60)
                    seconds[what] = round(time.monotonic() - begun, 2)

                timed("first rows", f"{CELLS % 0}.slice(0, 3).join() === '1,2,3'")
                still, frames = (sorted(person.run(FRAMES % (300, moves))) for moves in ("false", "true"))
                timed("last row", f"{CELLS % 0}.slice(-1)[0] === '{MILLION}'", lambda: person.run(SCROLL % "window.scrollHeight"))
                timed("order by a number", f"{CELLS % 1}[0] === '125000.25'", lambda: person.push("x"))
                timed("order by a text", f"{CELLS % 2}[0] === 'words of row 1'", lambda: (person.push("text")))
                timed("failed rows", f"{CELLS % 3}[0] === 'exit 1'", lambda: person.push("Failed (1,000)"))
                self.assertEqual(person.complaints(), [])
            peak = memory(server, "VmHWM")
            print(f"a million rows, {len(data) >> 20} MiB: seconds {seconds}; "
                  f"of 300 frames the longest three {[round(each) for each in frames[-3:]]} ms, without scrolling {[round(each) for each in still[-3:]]} ms; "
                  f"server {before} MiB, at most {peak} MiB")
            if SLOW == 1:
                self.assertLess(frames[int(len(frames) * 0.99)], 50 + still[int(len(still) * 0.99)] - 17)  # beside what others do here
                self.assertLess(peak, 200)

    def test_a_table(self):
        with Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 1", name="The attic") as grid:
            grid.start_server()
            add_wrapped(grid, "halves", "awk", "--number", "half=^half (.*)", "--", 'BEGIN {{ if ({x} % 50 == 7) exit 3; print "half", {x} / 2 }}')
            grid.add_client("kitchen-pc")
            table = grid.directory / "x.csv"
            table.write_text("x\n" + "".join(f"{x}\n" for x in range(ROWS)))
            identity = grid.add_problem("halves", "halves", "--table", table)
            grid.wait_finished(identity, timeout=120 * SLOW)
            with Person(self, grid) as person:
                person.log_in()
                person.go(f"#/problems/{identity}")
                person.wait("the first rows", f"{CELLS % 0}.slice(0, 9).join() === '1,2,3,4,5,6,7,8,9'")
                person.wait("how many there are", person.has("250 rows"))
                self.assertEqual(person.run("[...document.querySelectorAll('section[aria-label=Table] [role=columnheader]')].map(each => each.innerText)"),
                                 ["row", "x", "half", "status", "seconds", "host"])
                self.assertLess(person.run(f"{CELLS % 0}.length"), 60)  # only those in view are in the page
                person.accessible()
                person.run(SCROLL % "window.scrollHeight")
                person.wait("the last rows", f"{CELLS % 0}.slice(-3).join() === '248,249,250'")
                person.push("half")  # numbers begin with the largest
                person.wait("the order by a number", f"{CELLS % 2}.slice(0, 2).join() === '124.5,124'")
                person.push("half ↓")
                person.wait("the other way round", f"{CELLS % 2}.slice(0, 3).join() === '0,0.5,1'")
                if PICTURE:
                    pathlib.Path(PICTURE).write_bytes(person.picture())
                person.push("Failed (5)")
                person.wait("the failed rows", f"{CELLS % 3}.join() === 'exit 3,exit 3,exit 3,exit 3,exit 3'")
                person.wait("their hosts", f"{CELLS % 5}[0] === 'kitchen-pc'")
                person.push("Run failed rows again")
                person.wait("that it was done", "document.querySelector('.said p')?.innerText.includes('The failed rows of halves run again.')")
                grid.wait_until("they were computed again", lambda: any(
                    each["kind"] == "reject" for each in grid.admin_json("problem", "decisions", identity)["items"]), 60 * SLOW)
                person.heading_says("finished", 120)
                person.wait("the table, still", person.has("Failed (5)"))
                self.assertEqual(person.complaints(), [])


if __name__ == "__main__":
    main()
