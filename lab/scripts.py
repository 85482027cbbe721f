"""The scripts of the lab: each file of `lab/incidents` and `lab/healthy` with a `run`."""

from __future__ import annotations

import ast
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_FOLDERS = {"incidents": "incident", "healthy": "healthy"}


@dataclass(frozen=True, slots=True)
class Script:
    name: str
    kind: str  # incident, healthy
    folder: str
    sentence: str  # first line of its docstring

    def load(self) -> Any:
        return importlib.import_module(f"lab.{self.folder}.{self.name}")


def scripts() -> dict[str, Script]:
    """Name -> script, incidents first."""
    found = {}
    for folder, kind in _FOLDERS.items():
        for path in sorted((_HERE / folder).glob("[!_]*.py")):
            told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            found[path.stem] = Script(path.stem, kind, folder, told.split("\n\n")[0].replace("\n", " "))
    return found
