"""Builds the wheels of kanalyze for Linux: one for each processor, for every Python from 3.11 on. `make wheels`.

A wheel holds the compiled stages with Python's stable ABI, so one file serves 3.11, 3.12, 3.13, 3.14 and later. (Measured on
500 MB of mixed traffic, three runs each: the stages take 3 % longer than with the ABI of one release, a report less than 1 %.)
zig's C compiler, a package like any other, builds for another processor and against an old glibc, so neither Docker nor a
second machine is needed. Afterwards two tools that we did not write look at each wheel: auditwheel at the symbols of glibc that
it needs, abi3audit at those of Python.

macOS needs a machine of its own: `.github/workflows/release.yml`.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The oldest glibc of a supported distribution that DuckDB and pyarrow still run on (RHEL 8, Debian 10): PEP 600.
GLIBC = (2, 28)
PROCESSORS = ("x86_64", "aarch64")
PYTHON_TAG = "cp311"


def cross_compiler(processor: str) -> dict[str, str]:
    """Environment variables that make setuptools build for Linux on `processor` with zig."""
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{processor}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"]
    zig = shlex.join(command)
    return {
        "CC": zig,
        "LDSHARED": f"{zig} -shared -s",
        # Without the checks of undefined behaviour that zig adds to builds for debugging.
        "CFLAGS": "-O3 -g0 -DNDEBUG -fwrapv -fno-sanitize=undefined",
        # The headers of this Python serve all 64-bit Linux: the stable ABI has no part that differs.
        "CPPFLAGS": f"-I{sysconfig.get_path('include')}",
        "_PYTHON_HOST_PLATFORM": f"linux-{processor}",
    }


def version() -> dict[str, str]:
    """The version of this checkout, for a copy that has no git."""
    told = subprocess.run(
        [sys.executable, "-m", "setuptools_scm", "--root", ROOT], capture_output=True, text=True, check=True
    ).stdout
    return {"SETUPTOOLS_SCM_PRETEND_VERSION_FOR_KANALYZE": told.strip()}


def build(target: Path, compiler: dict[str, str], platform: str = "") -> Path:
    """Builds one wheel into `target`; `compiler` are environment variables, `platform` is a tag of PEP 425 (empty: this machine).

    Raises SystemExit, with what pip said, when that fails or when nothing was compiled.
    """
    options = f"--build-option=--py-limited-api={PYTHON_TAG}" + (f" --plat-name={platform}" if platform else "")
    with tempfile.TemporaryDirectory() as folder:
        tree, made = Path(folder) / "kanalyze", Path(folder) / "made"
        copy_of_sources(tree)
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(made)]
        command += [f"--config-settings={options}", str(tree)]
        done = subprocess.run(
            command,
            env=os.environ | version() | compiler,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        wheels = list(made.glob("*.whl"))
        if done.returncode or not any(name.endswith(".abi3.so") for name in zipfile.ZipFile(wheels[0]).namelist()):
            raise SystemExit(done.stdout)
        target.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy2(wheels[0], target))


def copy_of_sources(tree: Path) -> None:
    """What git knows, as it is in this checkout: what was compiled here must not get into the wheel of another processor."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if name.startswith(("analyzer/", "dissectors/", "kanalyze/", "docs/write_man.py")) or "/" not in name:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def audit(wheel: Path) -> None:
    """Raises CalledProcessError when a wheel needs more of glibc or of Python than its name promises."""
    told = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=True
    ).stdout
    print(" ".join(told.split()))
    subprocess.run(
        [sys.executable, "-m", "abi3audit", "--strict", "--report", wheel], check=True, stdout=subprocess.DEVNULL
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--to", type=Path, default=ROOT / "dist")
    asked.add_argument("--processor", choices=PROCESSORS, action="append")
    given = asked.parse_args()
    for processor in given.processor or PROCESSORS:
        # The image takes the one that is there.
        for older in given.to.glob(f"kanalyze-*_{processor}.whl"):
            older.unlink()
        wheel = build(given.to, cross_compiler(processor), f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{processor}")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        audit(wheel)


if __name__ == "__main__":
    main()
