"""Bundles, signatures and certificates: the same bytes everywhere, what OpenSSL verifies, and what is refused."""
import gzip
import hashlib
import io
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

import gleaner
from gleaner import _bundle, _profile, _signing, _source, _trust, _wheels


def function(x):
    return x


def bundle(wheels=(), needs=(), of=function, **options):
    return _bundle.Bundle(_source.capture(of), gleaner.Options(**options).limits, wheels, needs)


def certificate(key, public, **changes):
    content = {"project": "ab" * 32, "key": _signing.base64url(public), "not_after": int((time.time() + 1000) * 1e6), **changes}
    key.with_suffix(".certificate.json").write_text(json.dumps({"payload": _signing.base64url(json.dumps(content).encode())}))


class Bundles(unittest.TestCase):
    def test_equal_content_has_equal_bytes_and_a_version(self):
        one, two, other = bundle(), bundle(), bundle(memory_megabytes=100)
        self.assertEqual((one.archive(), one.version), (two.archive(), two.version))
        self.assertNotEqual(one.version, other.version)
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(one.archive()))) as tar:
            self.assertEqual({entry.name: entry.mode for entry in tar},
                             {path: 0o755 if path in ("kernel.py", "manager.py") else 0o644 for path in one.files})
            self.assertIn(f'version = "{one.version}"', tar.extractfile("manifest.toml").read().decode())

    def test_a_large_archive_is_whole(self):
        data = os.urandom(200_000)
        self.assertEqual(gzip.decompress(_bundle.stored_gzip(data)), data)

    def test_wheels_are_shipped_and_no_longer_needed(self):
        with tempfile.TemporaryDirectory() as directory:
            wheel = pathlib.Path(directory) / "accelerator-1.0-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr("accelerator/__init__.py", "def fast(x):\n    return x * 100\n")

            def uses_it(x):
                import accelerator
                return accelerator.fast(x)

            self.assertEqual(gleaner.local(1).map(uses_it, [3], wheels=[wheel]).results(), [300])
            with zipfile.ZipFile(wheel, "a") as archive:
                archive.writestr("../outside.py", "")
            with self.assertRaisesRegex(ValueError, "outside"):
                bundle([wheel])


    def test_needs_are_those_of_syntax_imports_and_wheels_unless_they_are_named(self):
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, "newer_syntax.py").write_text("def modern(x):\n    match x:\n        case 1:\n            return 2\n")
            sys.path.insert(0, directory)
            self.addCleanup(sys.path.remove, directory)
            import newer_syntax

            self.assertEqual(bundle(of=newer_syntax.modern).needs, ["python>=3.10"])

        def numerical(x):
            import numpy
            return numpy.float64(x)

        def unreported(x):
            import numpy
            import yaml
            return yaml.dump(numpy.float64(x))

        self.assertEqual(bundle().needs, ["python>=3.9"])
        self.assertEqual(bundle(of=unreported).needs, ["python>=3.9", "numpy", "python-packages"])  # without it none is found
        self.assertEqual(bundle(of=numerical).needs, ["python>=3.9", "numpy"])
        self.assertEqual(bundle(of=numerical, needs=["numpy>=1.24", "python==3.11"]).needs, ["python==3.11", "numpy>=1.24"])
        self.assertIn(b'\nneeds = ["python>=3.9", "numpy"]\n', bundle(of=numerical).files["manifest.toml"])
        for wrong in ("Python>=3", "python>3", "python>=3.9.1", "python 3", ""):
            with self.assertRaisesRegex(ValueError, "expected for example"):
                bundle(needs=[wrong])

    def test_tags_of_wheels_become_needs(self):
        with tempfile.TemporaryDirectory() as directory:
            def wheel(name, requires="", module="fast"):
                path = pathlib.Path(directory) / name
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr(f"{module}.cpython-311-x86_64-linux-gnu.so", b"code")
                    archive.writestr("fast-1.data/purelib/more/__init__.py", "")
                    archive.writestr("fast-1.data/scripts/fast", "")
                    archive.writestr("fast-1.dist-info/METADATA", f"Name: fast\n{requires}\n")
                return path

            compiled = wheel("fast-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl")
            made = bundle([compiled])
            self.assertEqual(made.needs, ["python==3.11", "glibc>=2.17"])
            self.assertIn(b'\nx86_64-linux = "kernel.py"\n', made.files["manifest.toml"])
            self.assertTrue(made.brings("fast") and made.brings("more"))
            self.assertFalse([path for path in made.files if "scripts" in path])
            for name, requires, needs, platform in [
                    ("a-1-py3-none-any.whl", "", ["python>=3.9"], "any"),
                    ("a-1-py2.py3-none-any.whl", "Requires-Python: >=3.12", ["python>=3.12"], "any"),
                    ("a-1-2-cp310-abi3-manylinux2014_aarch64.whl", "", ["python>=3.10", "glibc>=2.17"], "aarch64-linux"),
                    ("a-1-cp312-cp312-linux_x86_64.whl", "", ["python==3.12"], "x86_64-linux")]:
                made = bundle([wheel(name, requires)])
                self.assertEqual(made.needs, needs, name)
                self.assertIn(f'\n{platform} = "kernel.py"\n'.encode(), made.files["manifest.toml"])
            for name, words in [("a.whl", "not named as a wheel"), ("a-1-cp311-cp311-win_amd64.whl", "another system"),
                                ("a-1-cp311-cp311-musllinux_1_1_x86_64.whl", "another system"), ("a-1-py2-none-any.whl", "not for Python 3"),
                                ("a-1-pp39-pypy39_pp73-linux_x86_64.whl", "not for CPython"),
                                ("a-1-cp311.cp312-cp311.cp312-linux_x86_64.whl", "several versions")]:
                with self.assertRaisesRegex(ValueError, words):
                    bundle([wheel(name)])
            with self.assertRaisesRegex(ValueError, "no version of Python suits"):
                bundle([compiled, wheel("b-1-cp312-cp312-linux_x86_64.whl", module="other")])
            with self.assertRaisesRegex(ValueError, "no computer suits"):
                bundle([compiled, wheel("b-1-cp311-cp311-linux_aarch64.whl", module="other")])
            with self.assertRaisesRegex(ValueError, "more than 0 MiB"):
                _wheels.Wheel(compiled).files(3)


class Signatures(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.key = pathlib.Path(directory.name) / "signer.key"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.key], check=True, capture_output=True)
        self.key.chmod(0o600)
        self.public = subprocess.run(["openssl", "pkey", "-in", self.key, "-pubout", "-outform", "DER"], check=True,
                                     capture_output=True).stdout[-32:]

    def test_openssl_verifies_a_signature(self):
        certificate(self.key, self.public)
        signed = _signing.Signer(self.key).application("name", "1.0", "cd" * 32, 5)["application"]
        message, signature, public = (self.key.with_name(name) for name in ("message", "signature", "public.der"))
        payload = _signing.from_base64url(signed["payload"])
        message.write_bytes(b"gleaner-1\napplication\n" + payload)
        signature.write_bytes(_signing.from_base64url(signed["signature"]))
        public.write_bytes(bytes.fromhex("302a300506032b6570032100") + self.public)
        subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-keyform", "DER", "-rawin", "-in", message, "-sigfile", signature],
                       check=True, capture_output=True)
        self.assertEqual(json.loads(payload)["archive"], "cd" * 32)

    def test_keys_that_cannot_sign_are_told(self):
        for change, words in [(lambda: certificate(self.key, bytes(32)), "another key"),
                              (lambda: certificate(self.key, self.public, not_after=1), "expired"),
                              (lambda: self.key.with_suffix(".certificate.json").write_text("{}"), "not a signer's certificate"),
                              (lambda: self.key.with_suffix(".certificate.json").unlink(), "cannot read")]:
            change()
            with self.assertRaisesRegex(gleaner.SigningError, words):
                _signing.Signer(self.key)
        certificate(self.key, self.public)
        self.key.chmod(0o644)
        with self.assertRaisesRegex(gleaner.SigningError, "chmod 600"):
            _signing.Signer(self.key)


class Trust(unittest.TestCase):
    def test_openssl_reads_a_root_certificate_and_its_issuer(self):
        name = _trust.tlv(0x30, _trust.tlv(0x31, _trust.tlv(0x30, _trust.tlv(0x06, b"\x55\x04\x03") + _trust.tlv(0x0c, b"Gleaner root"))))
        made = _trust.root_certificate(name, hashlib.sha256(b"key").digest())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=made)
        self.assertEqual(context.get_ca_certs()[0]["subject"], ((("commonName", "Gleaner root"),),))
        self.assertEqual(_trust.issuer_of(made), name)
        for length in range(len(made) // 4):
            with self.assertRaises(gleaner.Untrusted):
                _trust.issuer_of(made[:length])


class Profiles(unittest.TestCase):
    def test_from_a_directory_and_from_the_environment(self):
        with tempfile.TemporaryDirectory() as directory:
            admin = pathlib.Path(directory) / "project" / "admin"
            admin.mkdir(parents=True)
            with self.assertRaisesRegex(gleaner.GridError, "no admin.json"):
                _profile.find_profile(admin)
            (admin / "token").write_text("secret\n")
            (admin / "token").chmod(0o644)
            (admin / "admin.json").write_text(json.dumps({"url": "https://grid:8443", "root_fingerprint": "ab" * 32, "token_file": "token"}))
            with self.assertRaisesRegex(gleaner.GridError, "chmod 600"):
                _profile.find_profile(admin)
            (admin / "token").chmod(0o600)
            key = admin.parent.with_name("project.offline") / "signer.key"
            key.parent.mkdir()
            key.touch()
            for place in (admin, admin.parent, admin / "admin.json"):
                found = _profile.find_profile(place)
                self.assertEqual((found.host, found.port, found.token, found.fingerprint, found.signer), ("grid", 8443, "secret", "ab" * 32, key))
        with self.assertRaisesRegex(gleaner.GridError, "admin token"):
            _profile.find_profile("https://grid:8443")
        found = _profile.find_profile("https://grid.example.org", token="t")
        self.assertEqual((found.port, found.authorities), (443, True))
        with self.assertRaisesRegex(gleaner.GridError, "damaged"):
            _profile.find_profile("gleaner://grid:8443/AAAA", token="t")


if __name__ == "__main__":
    unittest.main()
