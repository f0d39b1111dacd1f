"""Where a project's server is, how to know it, and the admin token."""
import base64
import json
import os
import pathlib
import urllib.parse
import zlib

from ._errors import GridError


class Profile:
    """`url`, `token`, `fingerprint` of the root key (hexadecimal; empty: the system's authorities vouch), `authorities`
    (may they vouch beside the root key?) and `signer`, the key file, or None."""

    def __init__(self, url, token, fingerprint="", authorities=False, signer=None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise GridError(f"{url!r} is not a server's address: it begins with https://")
        self.host, self.port = parts.hostname, parts.port or 443
        self.url, self.token, self.fingerprint, self.authorities, self.signer = url, token, fingerprint, authorities, signer


def find_profile(project=None, token=None, root=None, signer=None):
    """From a directory with an admin profile, or an address or join code with a token; what is not given, from the environment.

    GLEANER_PROJECT names the directory, as for gleaner-admin, or GLEANER_SERVER an address, with GLEANER_TOKEN and, for a server
    with a certificate of its own, GLEANER_ROOT: the root key's fingerprint. GLEANER_SIGNER names the signer's key.
    """
    project = project or os.environ.get("GLEANER_PROJECT") or os.environ.get("GLEANER_SERVER") or "."
    signer = signer or os.environ.get("GLEANER_SIGNER")
    text = os.fspath(project)
    if text.startswith(("https://", "gleaner://")):
        token, root = token or os.environ.get("GLEANER_TOKEN"), root or os.environ.get("GLEANER_ROOT") or ""
        if not token:
            raise GridError(f"{text} needs an admin token: connect(address, token=...), or set GLEANER_TOKEN")
        if text.startswith("gleaner://"):
            return Profile(*read_join_code(text, token), signer=signer)
        return Profile(text, token, root, not root, signer)
    return read_directory(pathlib.Path(text).expanduser(), token, signer)


def read_directory(path, token, signer):
    files = [path] if path.is_file() else [path / "admin.json", path / "admin" / "admin.json"]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise GridError(f"there is no admin.json in {path} or its admin directory: name the directory that `gleaner-server init` "
                        "made, or a copy of its admin directory, with connect(...) or $GLEANER_PROJECT")
    try:
        document = json.loads(file.read_bytes())
        if document.get("tls_key"):
            raise GridError(f"{file} is the profile of a relay, which only tells its status: connect to the project's server")
        token = token or read_secret(file.parent / document["token_file"])
        return Profile(document["url"], token, document["root_fingerprint"], bool(document.get("public_certificate")),
                       signer or find_signer(file.parent))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise GridError(f"{file} is no admin profile as `gleaner-server init` writes it") from None


def read_secret(path):
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise GridError(f"others may read {path}: run `chmod 600 {path}`")
        return path.read_text().strip()
    except OSError as error:
        raise GridError(f"cannot read the admin token {path}: {error.strerror}") from None


def find_signer(profile):
    """Where `gleaner-server init` puts the offline keys, or beside the profile; None if they are elsewhere."""
    project = profile.parent if profile.name == "admin" else profile
    for path in (profile / "signer.key", project.with_name(project.name + ".offline") / "signer.key"):
        if path.is_file():
            return path
    return None


def read_join_code(text, token):
    """(url, token, fingerprint, authorities); the code's secret is for hosts."""
    address, _, letters = text[len("gleaner://"):].strip().rpartition("/")
    try:
        data = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
    except ValueError:
        data = b""
    if len(data) < 53 or not 1 <= data[0] <= 4 or zlib.crc32(address.lower().encode() + data[:-4]) != int.from_bytes(data[-4:], "big"):
        raise GridError("the join code is damaged: copy it again, whole, as the project shows it")
    return f"https://{address}", token, data[1:33].hex(), data[0] in (3, 4)
