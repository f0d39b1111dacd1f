"""Signatures of applications with the caller's signer key, made by the `openssl` command.

Python's standard library has no Ed25519. OpenSSL reads the key file itself, so that the key never enters this process; and it is
where gleaner-admin is not: on any Linux, in a container, on a Mac. Errors: SigningError, with what to do.
"""
import base64
import json
import os
import pathlib
import subprocess
import tempfile
import time

from ._errors import SigningError


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Signer:
    """A signer key and its certificate, which is beside it."""

    def __init__(self, key):
        self.key = pathlib.Path(key).expanduser()
        certificate = self.key.with_suffix(".certificate.json")
        try:
            mode = self.key.stat().st_mode
            self.certificate = json.loads(certificate.read_bytes())
            about = json.loads(from_base64url(self.certificate["payload"]))
            self.project, certified = about["project"], from_base64url(about["key"])
            expires = about["not_after"]
        except OSError as error:
            raise SigningError(f"cannot read {error.filename}: {error.strerror}; the signer's key and certificate belong together, "
                               "as `gleaner-server init` or `gleaner-admin keys` wrote them") from None
        except (ValueError, KeyError, TypeError):
            raise SigningError(f"{certificate} is not a signer's certificate") from None
        if os.name == "posix" and mode & 0o077:
            raise SigningError(f"others may read {self.key}: run `chmod 600 {self.key}`")
        if expires < time.time() * 1e6:
            raise SigningError(f"{certificate} has expired: certify the signer again with `gleaner-admin keys`")
        if self._openssl("pkey", "-in", str(self.key), "-pubout", "-outform", "DER")[-32:] != certified:
            raise SigningError(f"{certificate} certifies another key than {self.key}")

    def application(self, name, version, digest, size):
        """The body of `POST /v1/admin/applications`."""
        payload = json.dumps({"version": 1, "project": self.project, "name": name, "application_version": version, "archive": digest,
                              "archive_bytes": size, "signed_at": int(time.time() * 1e6)}).encode()
        with tempfile.NamedTemporaryFile() as message:
            message.write(b"gleaner-1\napplication\n" + payload)
            message.flush()
            signature = self._openssl("pkeyutl", "-sign", "-inkey", str(self.key), "-rawin", "-in", message.name)
        key = json.loads(from_base64url(self.certificate["payload"]))["key"]
        return {"application": {"type": "application", "payload": base64url(payload), "key": key, "signature": base64url(signature)},
                "signer": self.certificate}

    def _openssl(self, *arguments):
        try:
            done = subprocess.run(["openssl", *arguments], capture_output=True, stdin=subprocess.DEVNULL, check=False)
        except FileNotFoundError:
            raise SigningError("there is no openssl command, which signs applications: install the package openssl") from None
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip().splitlines()[:1] or ["no reason given"]
            raise SigningError(f"openssl cannot use {self.key}: {words[0]} (Ed25519 needs OpenSSL 3)")
        return done.stdout
