"""Where the project and its captures are, so that a test says it the same way wherever its file stands."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
# More captures with their broker's log.
LOGGED = ROOT / "tests" / "data" / "logged"
# Captures beside the checkout; tests that need them are skipped without.
SHARED = Path(os.environ.get("KANALYZE_SHARED", ROOT.parent / "shared"))
LAB = SHARED / "captures" / "lab"
# The layout of every message in every version, compared with Apache's field lists.
LAYOUTS = ROOT / "tests" / "unit" / "dissectors" / "kafka" / "schema" / "layouts.txt"
