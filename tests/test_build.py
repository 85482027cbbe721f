"""A machine without a working C compiler still installs kanalyze: the stages stay plain Python."""

from __future__ import annotations

import os
import re
import shutil
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


# Answers like a compiler on a machine with Python but without its headers, or breaks at the first stage.
NO_HEADERS = 'for word; do shift; case $word in -I*python*) ;; *) set -- "$@" "$word";; esac; done; exec gcc "$@"'
BREAKS = 'case "$*" in *probe.c*) exec gcc "$@";; *) echo broken >&2; exit 1;; esac'


@pytest.mark.xdist_group("build")
@pytest.mark.parametrize(
    ("script", "said"), [("exit 1", "no C compiler"), (NO_HEADERS, "no headers of Python"), (BREAKS, "")]
)
def test_a_build_in_place_leaves_plain_python_and_one_line(tmp_path: Path, script: str, said: str) -> None:
    """What `make demo` runs: no page of warnings, no error, and no compiled file that is older than its source."""
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    tree = tmp_path / "tree"
    for name in ("dissectors", "analyzer", "build/stages"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("*.so"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, tree)
    (tree / "dissectors" / "_shared.cpython-311-x86_64-linux-gnu.so").write_bytes(b"old")
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=tree, env=os.environ | {"CC": str(compiler)}, capture_output=True, text=True)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "plain Python" in line]
    assert done.returncode == 0 and len(lines) == 1 and said in lines[0] and "apt install gcc python3-dev" in lines[0]
    assert not list(tree.glob("dissectors/**/*.so"))
    if said:
        assert len((done.stdout + done.stderr).splitlines()) == 1


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


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_the_version_is_that_of_the_tag(tmp_path: Path) -> None:
    """In a checkout, in an archive of a commit, and behind a tag; where nobody can know it, it still builds."""

    def git(*words: str) -> bytes:
        command = ["git", "-C", tmp_path / "tree", "-c", "user.name=a", "-c", "user.email=a@example.com", *words]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def version(folder: Path) -> str:
        command = [sys.executable, "-m", "setuptools_scm", "--root", str(folder)]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout.strip()

    tree, archive = tmp_path / "tree", tmp_path / "archive"
    (tree / "analyzer").mkdir(parents=True)
    for name in ("pyproject.toml", ".git_archival.txt", ".gitattributes"):
        shutil.copy2(ROOT / name, tree)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    git("tag", "v1.2.0")
    assert version(tree) == "1.2.0"
    archive.mkdir()
    (tmp_path / "archive.tar").write_bytes(git("archive", "HEAD"))
    shutil.unpack_archive(tmp_path / "archive.tar", archive)
    assert version(archive) == "1.2.0"
    git("commit", "-q", "--allow-empty", "-m", "second")
    assert re.fullmatch(r"1\.2\.1\.dev1\+g[0-9a-f]+", version(tree))
    (archive / ".git_archival.txt").unlink()
    assert version(archive) == "0.0"
