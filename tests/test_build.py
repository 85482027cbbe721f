"""A machine without a working C compiler still installs kanalyze: the stages stay plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


# Both write to build/stages.
@pytest.mark.xdist_group("build")
@pytest.mark.parametrize("compiler", ["/bin/false", "/nowhere/cc"])
def test_build_goes_through_without_a_compiler(compiler: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "setup.py",
        "build_ext",
        "--build-lib",
        tmp_path / "lib",
        "--build-temp",
        tmp_path / "temp",
    ]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"CC": compiler}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("stay plain Python") == 1
    assert "apt install gcc" in done.stdout + done.stderr
    assert not list(tmp_path.rglob("*.so"))
