"""The root key in a hardware token: SoftHSM, in a directory of the test's own."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from harness import SQUARES, Grid, main, managers_settings, needs

MODULE = next(iter(sorted([*pathlib.Path("/usr/lib").glob("softhsm/libsofthsm2.so"),
                           *pathlib.Path("/usr/lib").glob("*/softhsm/libsofthsm2.so")])), None)
AVAILABLE = MODULE is not None and shutil.which("softhsm2-util") and shutil.which("pkcs11-tool")


class TokenGrid(Grid):
    """A project whose root key is in a token: the machine that signs is not the one that serves."""

    def __init__(self):
        super().__init__()
        self.token = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-token-"))
        (self.token / "tokens").mkdir()
        (self.token / "conf").write_text(f"directories.tokendir = {self.token / 'tokens'}\nlog.level = ERROR\n")
        self.pin = self.token / "pin"
        self.pin.touch(mode=0o600)
        self.pin.write_text("1234\n")
        self.env = {**os.environ, "SOFTHSM2_CONF": str(self.token / "conf")}
        self.tool("softhsm2-util", "--init-token", "--free", "--label", "lab", "--pin", "1234", "--so-pin", "5678")
        self.make_key("root", "01", "EC:edwards25519")

    def tool(self, *arguments):
        subprocess.run(arguments, env=self.env, check=True, capture_output=True, stdin=subprocess.DEVNULL)

    def make_key(self, label, number, kind):
        self.tool("pkcs11-tool", "--module", str(MODULE), "--login", "--pin", "1234", "--token-label", "lab", "--keypairgen",
                  "--key-type", kind, "--label", label, "--id", number)

    def uri(self, token="lab", key="object=root", pin=None):
        return f"pkcs11:token={token};{key}?module-path={MODULE}&pin-source=file:{pin or self.pin}"

    def __enter__(self):
        self.run("gleaner-server", "init", self.project, "--offline", self.offline, "--address", "127.0.0.1", "--port", self.port,
                 "--root-key", self.uri(), env=self.env)
        for settings in (managers_settings(self), "work.heartbeat_seconds = 1"):
            self.change_settings(settings)
        self.join_code = self.run("gleaner-server", "join-code", self.project).stdout.strip()
        return self

    def __exit__(self, *how):
        super().__exit__(*how)
        shutil.rmtree(self.token, ignore_errors=True)

    def keys(self, command, *arguments, uri=None, check=True):
        return self.run("gleaner-admin", "keys", command, "--root", uri or self.uri(), *arguments, env=self.env, check=check)


@needs(AVAILABLE, "SoftHSM (softhsm2) and pkcs11-tool (opensc) are not installed")
class Token(unittest.TestCase):
    def test_a_project_lives_by_a_key_that_nobody_has_seen(self):
        with TokenGrid() as grid:
            self.assertFalse((grid.offline / "root.key").exists())
            self.assertTrue((grid.offline / "signer.key").exists())
            grid.start_server()
            grid.add_application(SQUARES)
            grid.add_client("one")
            self.compute(grid, "before")
            # Everything else that the root key does.
            grid.keys("rotate", "--out", grid.directory / "new")
            grid.run("gleaner-server", "take-keys", grid.project, grid.directory / "new")
            grid.kill("server", 15)
            grid.start_server()
            self.compute(grid, "after")
            grid.keys("signer", "--name", "alice", "--out", grid.directory / "alice.key")
            grid.keys("work", "--public-key", grid.project / "keys" / "work.certificate.json", "--out", grid.directory / "w.json")
            grid.keys("revoke", "--application", "squares", "--below", "99", "--list", grid.directory / "list.json")
            shutil.copy(grid.directory / "list.json", grid.project / "keys" / "revocations.json")
            seen = grid.membership("one") / "identity" / "revocations.json"
            grid.wait_until("the list", lambda: seen.exists(), 60)

    def compute(self, grid, name):
        identity = grid.add_problem("squares", name, count=100)
        grid.wait_finished(identity)
        self.assertEqual(grid.results(identity)["sum.txt"], b"%d\n" % sum(i * i for i in range(100)))

    def test_what_does_not_fit_is_said(self):
        with TokenGrid() as grid:
            def refused(*words, **uri):
                done = grid.keys("signer", "--name", "a", "--out", grid.directory / "a.key", uri=grid.uri(**uri), check=False)
                self.assertNotEqual(done.returncode, 0)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertFalse((grid.directory / "a.key").exists())

            refused("no token fits", token="another")
            refused("no such private key", key="object=another")
            refused("names no key", key="")
            wrong = grid.token / "wrong"
            wrong.touch(mode=0o600)
            wrong.write_text("9999")
            refused("does not take the PIN", pin=wrong)
            grid.pin.chmod(0o644)
            refused("chmod 600")
            grid.pin.chmod(0o600)
            grid.make_key("p256", "02", "EC:prime256v1")
            refused("not an Ed25519 key", key="object=p256")
            grid.make_key("root", "03", "EC:edwards25519")
            refused("several such", key="object=root")
            grid.keys("signer", "--name", "a", "--out", grid.directory / "a.key", uri=grid.uri(key="object=root;id=%01"))


if __name__ == "__main__":
    main()
