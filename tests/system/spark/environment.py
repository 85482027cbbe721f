"""The environment with PySpark in which programs of these tests run: .venv-spark, or the one that KANALYZE_SPARK names."""

from __future__ import annotations

import os
import warnings

import pytest
from paths import ROOT

from analyzer.spark.session import java_problem

PYTHON = ROOT / os.environ.get("KANALYZE_SPARK", ".venv-spark") / "bin" / "python"
# Where nothing may be skipped (.ci/run, `make test-spark`), what lacks is a failure.
REQUIRED = "KANALYZE_SPARK_REQUIRED"


def python() -> str:
    """The Python that has PySpark. Skips, or fails where REQUIRED is set, when the machine cannot run Spark."""
    lacking = java_problem() if PYTHON.exists() else f"no {PYTHON.parent.parent.name}: `make test-spark-all` makes it"
    if lacking and os.environ.get(REQUIRED):
        pytest.fail(f"Spark cannot be tested: {lacking}")
    if lacking:
        # Reasons of skips are not printed by default; warnings are.
        warnings.warn(f"SPARK IS NOT TESTED: {lacking}", stacklevel=2)
        pytest.skip(lacking)
    return str(PYTHON)
