"""What an answer leaves out as a question of it failed: it is named, with the reason, and all others are answered."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

from analyzer.base.text import printable

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset


def limit_reason(error: BaseException) -> str | None:
    """The line to say when memory or disk did not suffice for a question; None for any other error."""
    import _duckdb as engine

    line = _first_line(error)
    if isinstance(error, engine.OutOfMemoryException):
        return f"{line}; raise --memory, or choose a --temp-dir with more space"
    return line if isinstance(error, engine.IOException) else None


def is_bug(error: BaseException) -> bool:
    """Whether only we can have caused an error, not the world: SQL of ours that fails is one."""
    import _duckdb as engine

    if isinstance(error.__cause__, engine.Error):
        return True
    # The engine tells an interrupt in one way or the other.
    told = isinstance(error, OSError | MemoryError | engine.Error) or str(error) == "Query interrupted"
    return isinstance(error, Exception) and not told


def bug_line(error: BaseException) -> str:
    """What is said of a bug: what it is and where."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}, {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""  # noqa: PTH119
    return f"a bug in kanalyze, not in your input: {type(error).__name__}: {_first_line(error)}{place}"


def leave_out(dataset: Dataset, what: str, error: Exception) -> str | None:
    """Notes why `what` is missing from an answer about `dataset`, and returns the line to say of it; None when the error must
    end the run. A bug is kept to be reported."""
    reason = limit_reason(error)
    if reason is None and is_bug(error):
        reason = bug_line(error)
        dataset.bugs.append(error)
    if reason is not None:
        dataset.left_out[what] = reason
    return reason


def _first_line(error: BaseException) -> str:
    """Safe to print: the engine repeats values, and those are captured ones."""
    return printable(str(error).strip().partition("\n")[0])
