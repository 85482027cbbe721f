"""`import kanalyze`: the API under the name of the product."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from paths import ROOT

import analyzer
import kanalyze


def test_it_is_the_api_of_analyzer() -> None:
    assert kanalyze.read is analyzer.read and kanalyze.Capture is analyzer.Capture
    assert dir(kanalyze) == dir(analyzer)


def test_it_has_spark_too() -> None:
    from_product, from_package = import_module("kanalyze.spark"), import_module("analyzer.spark")
    assert from_product.__all__ == from_package.__all__
    assert all(getattr(from_product, name) is getattr(from_package, name) for name in from_product.__all__)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'kanalyze' has no attribute 'reed'"):
        kanalyze.reed  # noqa: B018


def test_it_loads_nothing_before_it_is_used() -> None:
    code = (
        "import kanalyze, sys; print([name for name in ('pyarrow', '_duckdb', 'analyzer.api') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_module_of_somebody_else_that_hides_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "analyzer.py").write_text("def read(): ...")
    words = [sys.executable, "-c", "import kanalyze"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    told = ended.stderr.splitlines()[-1]
    assert told.startswith(
        f"ImportError: {tmp_path / 'analyzer.py'} hides the package `analyzer` of kanalyze: rename it"
    )
