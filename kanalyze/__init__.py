"""The Python API under the name of the product: `kanalyze.read` is `analyzer.read`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import analyzer

if Path(analyzer.__file__ or "").resolve() != Path(__file__).resolve().parents[1] / "analyzer" / "__init__.py":
    raise ImportError(
        f"{analyzer.__file__} hides the package `analyzer` of kanalyze: rename it, or start Python elsewhere or with -P"
    )

if TYPE_CHECKING:
    from analyzer import Capture, read

__all__ = ["Capture", "read"]


def __getattr__(name: str) -> Any:
    """The API on first use, as `analyzer` gives it."""
    if name in __all__:
        return getattr(analyzer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is offered after `from kanalyze import`, before it is loaded, too."""
    return sorted(__all__)
