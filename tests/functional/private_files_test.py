"""Whatever umask a program was started with, what it keeps is its user's alone; and it says so where it was not."""
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import AS_NOBODY, BUILD, MANDELBROT, NOBODY, SANDBOX_OFF, Grid, free_port, main, of_files

OPEN = ["sh", "-c", 'umask 000; exec "$@"', "sh"]


def mode(path):
    return path.lstat().st_mode & 0o777


def open_ones(*roots):
    """What others may read or change, by its modes alone."""
    found = []
    for root in roots:
        for path in [root, *root.rglob("*")]:
            if not path.is_symlink() and mode(path) & 0o077 and path.name != "view":  # which viewers may read
                found.append((oct(mode(path)), str(path)))
    return found


class Place(Grid):
    """One whose programs run with umask 000, as `user`; in a directory that others may pass."""

    def __init__(self, user=()):
        super().__init__()
        self.user = list(user)

    def __enter__(self):
        self.directory.chmod(0o755)
        self.programs = self.directory / "bin"  # the build may be out of others' reach
        self.programs.mkdir()
        for name in ("gleaner-server", "gleaner-client", "gleaner-relay", "gleaner-sandbox", "gleaner-unpack", "gleaner"):
            shutil.copy(BUILD / "bin" / name, self.programs)
        if self.user:
            os.chown(self.directory, NOBODY, NOBODY)
        return super().__enter__()

    def program(self, name):
        own = self.programs / str(name)
        return str(own) if own.exists() else super().program(name)

    def run(self, name, *arguments, check=True, **more):
        if not (self.programs / str(name)).exists():
            return super().run(name, *arguments, check=check, **more)
        done = subprocess.run([*self.user, *OPEN, self.program(name), *map(str, arguments)], capture_output=True, text=True)
        if check and done.returncode:
            raise AssertionError(f"{name} {arguments}: {done.stderr}{done.stdout}")
        return done

    def start(self, label, name, *arguments, before=(), **more):
        return super().start(label, name, *arguments, before=[*self.user, *OPEN, *before], **more)


class PrivateFiles:
    def place(self):
        place = Place(self.user)
        place.__enter__()
        self.addCleanup(place.__exit__, None, None, None)
        return place

    @of_files("rows and files are elsewhere")
    def test_a_project_and_its_backup(self):
        grid = self.place()
        grid.start_server()
        self.assertEqual(open_ones(grid.project / "admin", grid.project / "keys", grid.offline), [])
        grid.add_application(MANDELBROT)
        grid.add_client("a", sandbox=SANDBOX_OFF if self.user else None)  # else the harness looks, as the superuser
        identity = grid.add_problem("mandelbrot", "private", width=40, height=40, iterations=20)
        grid.wait_finished(identity)
        stores = list(grid.project.glob("store.sqlite*"))
        self.assertEqual({path.name for path in stores}, {"store.sqlite", "store.sqlite-wal", "store.sqlite-shm"})
        backup = grid.directory / "backup"
        grid.run("gleaner-server", "backup", grid.project, backup)
        self.private(grid.project, backup)
        for path in [*stores, backup / "store.sqlite"]:
            self.assertEqual(mode(path), 0o600, path)
        self.private(grid.state("a"))

    def test_what_is_open_is_closed_and_told(self):
        grid = self.place()
        grid.project.chmod(0o755)
        (grid.project / "server.toml").chmod(0o666)
        grid.start_server()
        self.assertIn(f"{grid.project} was open to other users of this computer (mode 755)", grid.log("server"))
        self.assertEqual((mode(grid.project), mode(grid.project / "server.toml")), (0o700, 0o600))
        grid.kill("server", 15)
        grid.start_server()
        self.assertEqual(grid.log("server").count("was open to other users"), 1)
        grid.state("b").mkdir(mode=0o755)
        grid.state("b").chmod(0o755)
        if self.user:
            os.chown(grid.state("b"), NOBODY, NOBODY)
        self.assertIn("was open to other users of this computer (mode 755)", grid.join("b").stderr)
        self.assertEqual(mode(grid.state("b")), 0o700)

    def test_a_relay(self):
        grid = self.place()
        grid.start_server()
        code = grid.admin("relay", "allow", "lab", "--children", "3").stdout.strip()
        relay, port = grid.directory / "relay", free_port()
        grid.run("gleaner-relay", "--relay", relay, "join", code, "--address", "127.0.0.1", "--port", port)
        grid.start("relay", "gleaner-relay", "--relay", relay, "run")
        grid.wait_until("the relay", lambda: (relay / "store.sqlite-wal").exists() and "join code" in grid.log("relay"))
        self.assertEqual(open_ones(relay), [])


class AsSomebody(PrivateFiles, unittest.TestCase):
    user = AS_NOBODY if os.geteuid() == 0 else []

    def private(self, *directories):
        self.assertEqual(open_ones(*directories), [])


@unittest.skipUnless(os.geteuid() == 0, "for the superuser")
class AsTheSuperuser(PrivateFiles, unittest.TestCase):
    """Managers and kernels are users of their own, who read what is laid out for them: the directory is what keeps others out."""

    user = []

    def private(self, *directories):
        for directory in directories:
            self.assertEqual(mode(directory), 0o700)
            for path in directory.rglob("*"):
                self.assertEqual(mode(path) & 0o022 if not path.is_symlink() else 0, 0, path)
                seen = subprocess.run([*AS_NOBODY, "test", "-e", path], check=False).returncode
                self.assertEqual(seen, 1, path)

    def test_a_directory_of_somebody_else_s_is_told(self):
        """As where a volume belongs to another user, who alone may close it."""
        grid = self.place()
        for path in [grid.project, *grid.project.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        os.chown(grid.project, 1, 1)
        grid.project.chmod(0o777)
        grid.user = AS_NOBODY
        grid.start_server()
        self.assertIn(f"run `chmod 700 {grid.project}` as its owner", grid.log("server"))

    def test_root_makes_a_project_for_the_owner_of_its_directory(self):
        """As the server's package has made it; the offline keys are root's."""
        with Place() as grid:
            place, offline = grid.directory / "of the server", grid.directory / "root keys"
            place.mkdir(0o700)
            os.chown(place, NOBODY, NOBODY)
            grid.run("gleaner-server", "init", place, "--offline", offline, "--address", "127.0.0.1", "--port", free_port())
            self.assertEqual({path.lstat().st_uid for path in [place, *place.rglob("*")]}, {NOBODY})
            self.assertEqual({path.lstat().st_uid for path in [offline, *offline.rglob("*")]}, {0})
            self.assertEqual([], open_ones(offline))
            for command in (["run", place], ["take-keys", place, offline]):
                refused = grid.run("gleaner-server", *command, check=False)
                self.assertEqual(refused.returncode, 1)
                self.assertIn(f"sudo -u '#{NOBODY}' gleaner-server {command[0]} {place}", refused.stderr)
            grid.user = AS_NOBODY
            self.assertIn("good", grid.run("gleaner-server", "run", place, "--check-config").stdout)
            # As sudo leaves it to others than the superuser.
            grid.user = [*AS_NOBODY, "sh", "-c", 'ulimit -c 0; exec "$@"', "sh"]
            piped = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().startswith("|")
            self.assertIn("rlimit_core=default" if piped else "managers are confined by namespaces",
                          grid.run("gleaner-server", "run", place, "--check-config").stdout)

    def test_root_runs_no_client_on_the_state_of_another_user(self):
        with Place() as grid:
            state = grid.directory / "its state"
            state.mkdir(0o700)
            os.chown(state, NOBODY, NOBODY)
            refused = grid.run("gleaner-client", "run", "--state", state, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(f"sudo -u '#{NOBODY}' gleaner-client run", refused.stderr + refused.stdout)
            self.assertEqual([], list(state.iterdir()))


if __name__ == "__main__":
    main()
