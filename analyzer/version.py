"""The version of kanalyze, where a start-up that must be quick can read it.

It comes from the tags of the repository: building kanalyze writes `built_version.py` (setuptools-scm, see pyproject.toml).
"""

from __future__ import annotations

try:
    from analyzer.built_version import VERSION
except ModuleNotFoundError:
    # A tree that was never installed.
    VERSION = "0.0"

__all__ = ["VERSION"]
