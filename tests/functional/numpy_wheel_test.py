"""numpy as a compiled wheel inside a bundle, on a computer that has neither numpy nor the libraries that it needs. The wheel is built
from the files of Debian's package python3-numpy, since tests fetch nothing: with the libraries of BLAS, LAPACK and Fortran, as the
wheels of PyPI have theirs."""
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import unittest
import zipfile

from computers import hidden
from harness import SLOW, SOURCE, Grid, main, needs

sys.path.insert(0, str(SOURCE / "tools" / "python"))
import gleaner
import python_calls

MODULE = pathlib.Path("/usr/lib/python3/dist-packages/numpy")
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
PYTHON = "/usr/bin/python3"
# What numpy runs before it loads anything of its own. Loaded by their names, the libraries are found by whatever asks for them.
LOAD_LIBRARIES = """import ctypes, pathlib
for name in %r:
    ctypes.CDLL(str(pathlib.Path(__file__).parent.parent / "numpy.libs" / name), ctypes.RTLD_GLOBAL)
"""


def foreign_libraries():
    """Names and files of the libraries that numpy's modules need besides those of C, each after those that it needs."""
    found = {}

    def add(file):
        for name, path in re.findall(r"(\S+) => (/\S+)", subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout):
            if name not in found and not re.match(r"lib(c|m|gcc_s)\.so", name):
                add(path)
                found.setdefault(name, pathlib.Path(path).resolve())

    for module in MODULE.rglob("*.so"):
        add(module)
    return found


def build_wheel(directory):
    """numpy-VERSION-cp3X-cp3X-manylinux_2_YY_x86_64.whl, and the libraries that it brings."""
    said = subprocess.run([PYTHON, "-c", "import numpy, sys; print(numpy.__version__, 'cp%d%d' % sys.version_info[:2])"],
                          capture_output=True, text=True, check=True).stdout
    version, python = said.split()
    libraries = foreign_libraries()
    glibc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
    tag = f"{python}-{python}-manylinux_{glibc}_x86_64"
    info = f"numpy-{version}.dist-info"
    files = {str(path.relative_to(MODULE.parent)): path.read_bytes() for path in sorted(MODULE.rglob("*"))
             if path.is_file() and "tests" not in path.parts and "__pycache__" not in path.parts and path.suffix not in (".h", ".a", ".pyi")}
    files["numpy/_distributor_init.py"] = (LOAD_LIBRARIES % list(libraries)).encode()
    files |= {f"numpy.libs/{name}": path.read_bytes() for name, path in libraries.items()}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: numpy\nVersion: {version}\nRequires-Python: >=3.8\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},sha256={hashlib.sha256(content).hexdigest()},{len(content)}\n" for name, content in files.items())
    wheel = directory / f"numpy-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**files, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(name, content)
    return wheel, libraries


@needs(MODULE.exists() and os.uname().machine == "x86_64", "python3-numpy for x86-64 is not installed")
class NumpyWheel(unittest.TestCase):
    def test_a_compiled_wheel_on_a_bare_computer(self):
        with Grid() as server:
            server.start_server()
            server.join("bare")
            wheel, libraries = build_wheel(server.directory)
            self.assertIn("libblas.so.3", libraries)
            hide = [MODULE, *MODULE.parent.glob("numpy-*"), LIBRARIES / "blas", LIBRARIES / "lapack", *libraries.values()]
            server.start_client("bare", before=hidden(*dict.fromkeys(hide)))
            grid = gleaner.connect(server.project / "admin", signer=server.offline / "signer.key")

            without = grid.map(python_calls.solved, [2])
            server.wait_until("the host is known", lambda: "0 of 1 host online" in server.problem(without.id)["needs"], 60 * SLOW)
            self.assertIn("needs Python", server.problem(without.id)["needs"])
            self.assertIn("numpy", server.problem(without.id)["needs"])
            server.admin("problem", "cancel", without.id, "--yes")

            run = grid.map(python_calls.solved, range(1, 21), wheels=[wheel])
            for size, (file, solution) in zip(range(1, 21), run):
                self.assertRegex(file, f"/wheels/{re.escape(wheel.stem)}/numpy/__init__.py$")
                self.assertEqual(solution, [float(i) for i in range(size)])
            self.assertFalse(any(each.startswith("numpy") for each in server.admin_json("host", "show", "bare")["capabilities"]))
            needed = server.admin("app", "show", server.problem(run.id)["application"]).stdout
            self.assertRegex(needed, r"python==3\.\d+.*glibc>=2\.\d+")
            self.assertNotIn("numpy>=", needed)


if __name__ == "__main__":
    main()
