"""A machine without a working C compiler still installs kanalyze: the stages stay plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
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


def test_only_compiled_stages_are_kept_from_the_type_checker() -> None:
    """`pyproject.toml` names packages of stages; their other files must be named too, or nobody checks their types."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    ignored, checked = (
        [name for each in settings if each.get("ignore_errors") is wanted for name in each["module"]]
        for wanted in (True, False)
    )
    for path in sorted((ROOT / "dissectors").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if "\nimport cython\n" not in path.read_text() and path.name != "__init__.py":
            assert name in checked or not any(fnmatch(name, each) for each in ignored), f"{name} is no compiled stage"
    assert all((ROOT / name.replace(".", "/")).with_suffix(".py").exists() for name in checked)
