"""The notebooks run from a fresh kernel to their end, draw what they promise, and are kept without their outputs.

They run in an environment of their own (`make notebooks` makes it): the libraries of a notebook make every start of kanalyze
slower, so the environment of the other tests goes without them.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-notebooks" / "bin" / "python"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# Runs one notebook and prints, as JSON, how many of its cells gave a picture, a table, a text.
RUN = """
import json, sys
import nbformat
from nbclient import NotebookClient

book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=300, resources={"metadata": {"path": sys.argv[2]}}).execute()
outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
print(json.dumps([sorted(output.get("data", {})) for output in outputs]))
"""


def test_there_are_notebooks() -> None:
    assert [path.name[:2] for path in NOTEBOOKS][:3] == ["01", "02", "03"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert all(
        cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path) -> None:
    if not PYTHON.exists():
        pytest.skip("no environment for notebooks: `make notebooks` makes it")
    command = [str(PYTHON), "-c", RUN, str(path), str(path.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    kinds = json.loads(done.stdout.splitlines()[-1])
    assert sum("image/png" in each for each in kinds) >= 1
    assert sum("text/html" in each for each in kinds) >= 2
