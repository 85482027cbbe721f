"""A wheel, installed where there is no compiler, runs the compiled stages; nothing of the checkout is used."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kanalyze_process import COMMAND
from paths import ROOT, SAMPLES

from analyzer.cli.main import verbs

# Not optimised: what is tested is where files go, not how fast they are.
HASTY = {"CFLAGS": "-O0 -g0"}
STAGES = ROOT / "build" / "stages"
# As setuptools calls it where a wheel is built, so that it finds there what it would compile.
KEPT = ROOT / "build" / "wheel" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment with our wheel; libraries are those of the environment that runs the tests."""
    for program, name in (("gcc", "C compiler"), ("git", "git")):
        if shutil.which(program) is None:
            pytest.skip(f"no {name}")
    folder = tmp_path_factory.mktemp("wheel")
    wheels = tool()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wheels, "copy_of_sources", partial(with_what_was_made, wheels.copy_of_sources))
        wheel = wheels.build(folder / "dist", HASTY)
    keep(wheel)
    assert "-cp311-abi3-" in wheel.name
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    made: Path = folder / "env" / "bin" / "python"
    install = ["pip", "--python", made, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel]
    subprocess.run([sys.executable, "-m", *install], check=True)
    site = subprocess.run([made, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True)
    pth = Path(site.stdout.strip()) / "libraries.pth"
    pth.write_text(f"{sysconfig.get_path('purelib')}\n")
    return made


def with_what_was_made(copy: Callable[[Path], None], tree: Path) -> None:
    """Copies the sources, and what Cython made of them for this checkout and the compiler for this test before: each is made again
    where a source is newer."""
    copy(tree)
    for path, to in ((STAGES, tree / STAGES.relative_to(ROOT)), (KEPT, tree / "build" / KEPT.name)):
        if path.exists():
            shutil.copytree(path, to)


def keep(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(KEPT, [name for name in packed.namelist() if name.endswith(".so")])


def tool() -> Any:
    """tools/wheels.py as a module."""
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "tools" / "wheels.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(python: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """`kanalyze` of the environment, without a compiler on the path, from a folder that is not the checkout."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KANALYZE_"))}
    environment["PATH"] = str(python.parent)
    return subprocess.run(
        [python.with_name("kanalyze"), *words], capture_output=True, text=True, env=environment, cwd=python.parent
    )


@pytest.mark.xdist_group("build")
def test_the_stages_of_a_wheel_are_compiled(python: Path) -> None:
    where = subprocess.run(
        [python, "-c", "import dissectors.tcp.reassembly as stage; print(stage.__file__)"],
        capture_output=True,
        text=True,
        cwd=python.parent,
    ).stdout.strip()
    assert where.endswith(".abi3.so")
    assert not where.startswith(str(ROOT / "dissectors"))
    checks = json.loads(run(python, "doctor", "--format", "json").stdout)["checks"]
    assert {check["name"]: check["found"] for check in checks}["stages"] == "compiled"


@pytest.mark.xdist_group("build")
def test_a_wheel_answers_as_the_checkout_does(python: Path) -> None:
    capture = SAMPLES / "groups_848.pcap.zst"
    installed = run(python, "latency", capture, "--format", "json")
    here = subprocess.run([*COMMAND, "latency", capture, "--format", "json"], capture_output=True, text=True, cwd=ROOT)
    assert installed.returncode == 0, installed.stderr
    assert installed.stdout == here.stdout


@pytest.mark.xdist_group("build")
def test_a_wheel_has_all_data_files(python: Path) -> None:
    """Each SQL file, definition and table of the packages is in it."""
    installed = Path(
        subprocess.run(
            [python, "-c", "import analyzer; print(analyzer.__path__[0])"],
            capture_output=True,
            text=True,
            cwd=python.parent,
        ).stdout.strip()
    ).parent
    for package in ("analyzer", "dissectors", "kanalyze"):
        names = subprocess.run(["git", "-C", ROOT, "ls-files", package], capture_output=True, text=True).stdout.split()
        assert names
        assert not [name for name in names if not (installed / name).exists()]


@pytest.mark.xdist_group("build")
def test_a_wheel_brings_the_man_page_of_each_command(python: Path) -> None:
    pages = {path.name for path in (python.parent.parent / "share" / "man" / "man1").iterdir()}
    assert pages == {"kanalyze.1", *(f"kanalyze-{verb}.1" for verb in verbs())}
