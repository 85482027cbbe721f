"""The version of kanalyze, where a start-up that must be quick can read it (a test holds it equal to pyproject.toml)."""

from __future__ import annotations

VERSION = "0.1.0"
