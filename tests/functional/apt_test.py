"""The repository that deploy/apt makes, read by apt itself: installed from, upgraded from, and refused where it was changed."""
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

from harness import SOURCE, main, needs

MAKE = SOURCE / "deploy" / "apt" / "make-repository"
SOURCES = SOURCE / "deploy" / "apt" / "gleaner.sources"
MISSING = [name for name in ("apt-get", "apt-ftparchive", "dpkg-deb", "gpg") if not shutil.which(name)]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@needs(not MISSING, f"not installed: {', '.join(MISSING)}")
class Repository(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gleaner-apt-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.directory.chmod(0o755)
        self.repository = self.directory / "repository"
        self.key = self.make_key("ours")
        self.root = self.directory / "root"
        for place in ("etc/apt/keyrings", "etc/apt/sources.list.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/lib/dpkg/info",
                      "var/lib/dpkg/updates", "var/cache/apt/archives/partial", "var/log/apt"):
            (self.root / place).mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").write_text("")
        (self.root / "apt.conf").write_text("")  # instead of this machine's
        self.made = 0
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.repository))
        threading.Thread(target=web.serve_forever, daemon=True).start()
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        address = f"http://127.0.0.1:{web.server_port}"
        source = SOURCES.read_text().replace("https://grid.example.org/apt", address)
        self.assertIn(address, source)
        (self.root / "etc/apt/sources.list.d/gleaner.sources").write_text(source.replace("/etc/apt/keyrings", f"{self.root}/etc/apt/keyrings"))

    def make_key(self, name):
        home = self.directory / name
        home.mkdir(mode=0o700)
        environment = {**os.environ, "GNUPGHOME": str(home)}
        self.addCleanup(subprocess.run, ["gpgconf", "--kill", "gpg-agent"], env=environment)
        subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", f"{name} <{name}@example.org>", "ed25519", "sign",
                        "never"], env=environment, check=True, capture_output=True)
        return environment, f"{name}@example.org"

    def package(self, version, content=None, name="gleaner-client"):
        place = self.directory / f"{name}-{version}"
        shutil.rmtree(place, ignore_errors=True)
        (place / "DEBIAN").mkdir(parents=True)
        (place / "DEBIAN" / "control").write_text(f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: A test <a@example.org>\n"
                                                  "Description: A test\n")
        (place / "usr/share/gleaner").mkdir(parents=True)
        (place / "usr/share/gleaner/version").write_text(content or version)
        made = self.directory / f"{name}_{version}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", place, made], check=True, capture_output=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"})
        return made

    def make(self, *packages, key=None, check=True):
        environment, name = key or self.key
        done = subprocess.run([MAKE, self.repository, name, *packages], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode == 0, check, done.stderr)
        if check:
            self.made += 1  # web servers tell changes by the second
            for name in ("InRelease", "Release", "Release.gpg"):
                os.utime(self.repository / "dists/stable" / name, (1e9 + self.made,) * 2)
        if check and key is None:
            shutil.copy(self.repository / "gleaner-archive-keyring.gpg", self.root / "etc/apt/keyrings")
        return done.stderr

    def apt(self, *arguments, check=True):
        root = self.root
        options = [f"Dir={root}", f"Dir::State::status={root}/var/lib/dpkg/status", "APT::Sandbox::User=", "Acquire::Languages=none",
                   "APT::Architecture=amd64", "APT::Architectures::=amd64", f"DPkg::Options::=--root={root}", "DPkg::Options::=--force-not-root",
                   "DPkg::Options::=--force-bad-path", f"DPkg::Options::=--log={root}/var/log/dpkg.log", "DPkg::Use-Pty=0", "Acquire::http::Proxy=DIRECT"]
        words = [word for option in options for word in ("-o", option)]
        done = subprocess.run(["apt-get", "-q", "-y", *words, *arguments], capture_output=True, text=True,
                              env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "APT_CONFIG": str(self.root / "apt.conf")})
        said = done.stdout + done.stderr
        if check is not None:
            self.assertEqual(done.returncode == 0, check, said)
        return said

    def installed(self):
        return (self.root / "usr/share/gleaner/version").read_text()

    def test_apt_installs_from_it_and_upgrades(self):
        self.make(self.package("1.0.0"))
        self.assertNotRegex(self.apt("update"), "(?m)^(W:|E:|Ign)")
        self.apt("install", "gleaner-client")
        self.assertEqual(self.installed(), "1.0.0")
        self.make(self.package("1.1.0"), self.package("1.1.0", name="gleaner-agent"))
        self.apt("update")
        self.assertIn("1 upgraded", self.apt("upgrade"))
        self.assertEqual(self.installed(), "1.1.0")
        with self.subTest("the former version is there still"):
            self.apt("install", "--allow-downgrades", "gleaner-client=1.0.0")
            self.assertEqual(self.installed(), "1.0.0")
        with self.subTest("who has read what was signed before still finds the lists it names"):
            before = (self.repository / "dists/stable/InRelease").read_text()
            self.make(self.package("1.2.0"))
            digests = [line.split()[0] for line in before[before.index("SHA256:"):].splitlines() if line.startswith(" ")]
            self.assertEqual(len(digests), 2)
            lists = self.repository / "dists/stable/main/binary-amd64/by-hash/SHA256"
            for digest in digests:
                self.assertTrue((lists / digest).exists(), digest)
        self.assertEqual(len(list((self.repository / "dists").iterdir())), 2)  # the link and what it names

    def test_what_was_changed_on_the_way_is_refused(self):
        self.make(self.package("1.0.0"))
        lists = self.repository / "dists/stable/main/binary-amd64"
        with self.subTest("a list"):
            for name in ("Packages", "Packages.gz", *(f"by-hash/SHA256/{path.name}" for path in (lists / "by-hash/SHA256").iterdir())):
                (lists / name).write_bytes(b"Package: evil\n")
            self.assertRegex(self.apt("update", check=False), "Hash Sum mismatch|unexpected size|not have the expected hash")
        with self.subTest("a package"):
            self.make()
            self.apt("update")
            package, = (self.repository / "pool/main").iterdir()
            good = package.read_bytes()
            package.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
            self.assertRegex(self.apt("install", "gleaner-client", check=False), "Hash Sum mismatch|unexpected size")
            package.write_bytes(good)
        with self.subTest("somebody else's signature"):
            self.make(self.package("9.0.0"), key=self.make_key("theirs"))
            self.assertIn("NO_PUBKEY", self.apt("update", check=None))
            self.assertIn("'9.0.0' for 'gleaner-client' was not found", self.apt("install", "gleaner-client=9.0.0", check=False))
        with self.subTest("no signature"):
            for name in ("InRelease", "Release.gpg"):
                (self.repository / "dists/stable" / name).unlink()
            self.assertIn("is no longer signed", self.apt("update", check=False))

    def test_mistakes_are_said_and_change_nothing(self):
        self.make(self.package("1.0.0"))
        signed = (self.repository / "dists/stable/InRelease").read_text()
        self.assertIn("needs a higher version", self.make(self.package("1.0.0", "something else"), check=False))
        broken = self.directory / "broken.deb"
        broken.write_text("no package")
        self.assertIn("is no Debian package", self.make(broken, check=False))
        environment, _ = self.key
        self.assertIn("no secret key called nobody", self.make(key=(environment, "nobody"), check=False))
        self.assertEqual((self.repository / "dists/stable/InRelease").read_text(), signed)
        self.assertEqual(self.make(self.package("1.0.0")), "")  # the same package again


if __name__ == "__main__":
    main()
