"""deploy/fleet/README.md, literally: its five commands make a lab of computing PCs behind a relay. What installs packages and starts
services does here what the packages and their units do."""
import os
import re
import shutil
import signal
import subprocess
import unittest

from harness import SLOW, SOURCE, free_port, main
from kernels import Held
from tree import Tree

FLEET = SOURCE / "deploy" / "fleet"
STAND_INS = {
    # The package has the program, which is there.
    "apt-get": '[ "$1 $2 $3" = "install -y ./packages/gleaner-relay_1.0.0_amd64.deb" ] && [ -e "$3" ]',
    "systemctl": '[ "$*" = "start gleaner-relay" ] && (setsid gleaner-relay run >relay.log 2>&1 & echo $! >relay.pid) && '
                 "until gleaner-relay status >status 2>&1; do sleep 0.1; done",  # Type=notify
    "ansible-playbook": 'grep -q gleaner-client "$3" && sed "s/^gleaner_join_code: //" "${5#@}" >pcs.code',
    "runuser": '[ "$1 $2 $3" = "-u gleaner-relay --" ] && shift 3 && exec "$@"',
    "hostname": "echo 127.0.0.1",
}


class Lab(unittest.TestCase):
    def test_five_commands(self):
        block, = re.findall(r"^```sh\n(CODE=.*?)^```$", (FLEET / "README.md").read_text(), re.M | re.S)
        self.assertEqual(len(block.splitlines()), 5)
        with Tree() as grid:
            grid.start_server()
            held = Held(grid, 20, pause=0.05)
            identity = held.add()
            here = grid.directory / "here"
            (here / "packages").mkdir(parents=True)
            (here / "packages" / "gleaner-relay_1.0.0_amd64.deb").touch()
            shutil.copy2(FLEET / "playbook.yml", here)
            stand_ins = grid.directory / "stand-ins"
            stand_ins.mkdir()
            for name, text in STAND_INS.items():
                (stand_ins / name).write_text(f"#!/bin/sh\n{text}\n")
                (stand_ins / name).chmod(0o755)
            environment = {**os.environ, "PATH": f"{stand_ins}:{os.path.dirname(grid.program('gleaner-relay'))}:{os.environ['PATH']}",
                           "GLEANER_RELAY": str(here / "relay"), "GLEANER_PROJECT": str(grid.project / "admin")}
            # As the package's directory would be; the port is what this machine has free.
            commands = block.replace("gleaner-relay join", f"gleaner-relay join --address 127.0.0.1 --port {free_port()}")
            done = subprocess.run(["sh", "-e", "-c", commands], cwd=here, env=environment, capture_output=True, text=True, timeout=60 * SLOW)
            if (here / "relay.pid").exists():
                relay = int((here / "relay.pid").read_text())
                self.addCleanup(os.kill, relay, signal.SIGKILL)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for name in ("pc-1", "pc-2"):
                grid.join(name, code=(here / "pcs.code").read_text().strip())
                held.start_client(name)
            held.let_go()
            grid.wait_finished(identity)
            self.assertEqual(grid.results(identity), held.expected)
            [told] = grid.admin_json("relay", "list")["items"]
            self.assertEqual((told["name"], told["state"], told["hosts"], told["children"]), ("lab-b12", "active", 2, 250))


if __name__ == "__main__":
    main()
