"""Whose a state directory is: root leaves nothing that the client's user cannot read."""
import os
import pwd
import unittest

from harness import Grid, main, others_reach


class Identity(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "only root can act as somebody else")
    def test_root_acts_as_the_owner_of_the_state(self):
        with Grid() as grid:
            grid.start_server()
            os.chmod(grid.directory, 0o755)
            if not others_reach(grid.state("one")):
                self.skipTest("other users cannot reach the state here")
            owner = pwd.getpwnam("nobody").pw_uid
            state = grid.state("one")
            state.mkdir(mode=0o750)
            os.chown(state, owner, -1)
            joined = grid.join("one")
            self.assertIn("it runs as nobody", joined.stdout)
            grid.control("one", "prefs", "set", "idle_minutes", "7")
            files = [state, *state.rglob("*")]
            self.assertGreater(len(files), 5)
            self.assertEqual({path.lstat().st_uid for path in files}, {owner})
            grid.run("gleaner-client", "leave", "--state", state)
            self.assertFalse((state / "projects").exists())


if __name__ == "__main__":
    main()
