"""kanalyze: Kafka traffic in packet captures, told in tables, statistics and findings. `analyzer.read` is the way in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyzer.api import Capture, read

__all__ = ["Capture", "read"]


def __getattr__(name: str) -> Any:
    """The API on first use: the command line starts without it."""
    if name in __all__:
        from analyzer import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is offered after `from analyzer import`: the API, before it is loaded, too."""
    return sorted(__all__)
