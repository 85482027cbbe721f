"""Writes docs/notebooks/: the notebooks as they look when they have run, for readers who do not run them. In the environment of
notebooks: `make rendered`. What needs Spark is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
RENDERED = ROOT / "docs" / "notebooks"
ON_SPARK = "_spark_"
SECONDS = 300


def rendered(path: Path) -> Any:
    """A notebook with its outputs, without the times at which its cells ran."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=SECONDS, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    return book


def main() -> None:
    RENDERED.mkdir(exist_ok=True)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if ON_SPARK not in path.stem:
            nbformat.write(rendered(path), RENDERED / path.name)
            print(f"docs/notebooks/{path.name} written")


if __name__ == "__main__":
    main()
