"""Bytes in, values out: capture formats, TCP streams and Kafka messages, with no files, clock, Arrow or printing.

The hot stages are plain Python files that Cython also compiles. `KANALYZE_UNCOMPILED=1` loads the plain files even where
compiled ones lie beside them, so that both can be tested and compared.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType


class _PlainFilesOnly:
    """A finder that sees only `.py` files of this package."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(__name__ + ".") or path is None:
            return None
        for folder in path:
            spec = FileFinder(folder, (SourceFileLoader, [".py"])).find_spec(name, target)
            if spec is not None and spec.loader is not None:
                return spec
        return None


if os.environ.get("KANALYZE_UNCOMPILED", "") not in ("", "0"):
    sys.meta_path.insert(0, _PlainFilesOnly)
