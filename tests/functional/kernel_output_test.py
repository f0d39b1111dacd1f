"""What a running kernel says is seen while it runs: by `problem output`, and at the console."""
import re
import unittest

from browser import CHROMIUM
from harness import SANDBOX_OFF, SLOW, Grid, main, needs
from kernels import kernel_bundle
from person import Person

# Says a line a tenth of a second until a file is there, which the test makes.
TALKER = """\
    begin, end = int(words[2]), int(words[3])
    for item in range(begin, end):
        n = 0
        while not os.path.exists({free!r}):
            n += 1
            sys.stderr.write(f"step {{n}} of item {{item}}\\n")
            sys.stderr.flush()
            if n % 10 == 0: say(f"log ten more, {{n}} in all")
            time.sleep(0.1)
        value = str(item * item)
        say(f"item {{item}} {{len(value)}}")
        sys.stdout.write(value)
        sys.stdout.flush()
    say(f"done {{end}}")
"""


class KernelOutput(unittest.TestCase):
    def setUp(self):
        self.grid = Grid("work.commit_seconds = 1\nwork.heartbeat_seconds = 2", name="The attic")
        self.grid.__enter__()
        self.addCleanup(self.grid.__exit__, None, None, None)
        self.free = self.grid.directory / "free"
        self.grid.start_server()
        self.grid.add_application(kernel_bundle(self.grid, "talker", TALKER.format(free=str(self.free))))

    def test_a_terminal(self):
        identity = self.grid.add_problem("talker", "talker", count=2)
        nobody = self.grid.admin("problem", "output", identity, check=False)
        self.assertNotEqual(nobody.returncode, 0)
        self.assertIn("no host computes it now", nobody.stderr)
        self.grid.add_client("kitchen-pc", sandbox=SANDBOX_OFF)
        self.grid.wait_until("it computes", lambda: self.grid.problem(identity)["hosts"] == 1, 60 * SLOW)
        first = self.grid.admin("problem", "output", identity)
        self.assertIn("(kitchen-pc) sends it with its next report", first.stdout)
        self.assertRegex(first.stdout, r"step 1 of item 0\nstep 2 of item 0\n")
        self.grid.wait_until("more of it, with what it logs", lambda: re.search(
            r"\nten more, 30 in all\n(.*\n)*step 32 of item 0\n", self.grid.admin_json("problem", "output", identity)["text"]), 60 * SLOW)
        self.free.touch()
        self.grid.wait_finished(identity)
        over = self.grid.admin("problem", "output", identity, check=False)
        self.assertIn("no host computes it now", over.stderr)

    @needs(CHROMIUM, "chromium is not installed")
    def test_the_console(self):
        identity = self.grid.add_problem("talker", "talker", count=2)
        self.grid.add_client("kitchen-pc", sandbox=SANDBOX_OFF)
        self.grid.wait_until("it computes", lambda: self.grid.problem(identity)["hosts"] == 1, 60 * SLOW)
        with Person(self, self.grid) as person:
            person.log_in()
            person.go(f"#/problems/{identity}")
            person.wait("the card", person.has("Kernel output"))
            person.push("Show")
            person.wait("what it says", "/step 20 of item 0\\n/.test(document.querySelector('pre.output')?.innerText)", 60)
            person.wait("whose it is", person.has("The last 64 KiB of the kernel on kitchen-pc"))
            person.accessible()
            before = person.run("document.querySelector('pre.output').innerText.length")
            person.wait("more of it by itself", f"document.querySelector('pre.output').innerText.length > {before}", 30)
            self.free.touch()
            person.heading_says("finished", 60)
            self.assertEqual([each for each in person.complaints() if "409" not in str(each)], [])


if __name__ == "__main__":
    main()
