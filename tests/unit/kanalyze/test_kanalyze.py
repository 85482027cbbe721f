"""`import kanalyze`: the API under the name of the product."""

import subprocess
import sys

import pytest

import analyzer
import kanalyze


def test_it_is_the_api_of_analyzer() -> None:
    assert kanalyze.read is analyzer.read and kanalyze.Capture is analyzer.Capture
    assert dir(kanalyze) == dir(analyzer)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'kanalyze' has no attribute 'reed'"):
        kanalyze.reed  # noqa: B018


def test_it_loads_nothing_before_it_is_used() -> None:
    code = (
        "import kanalyze, sys; print([name for name in ('pyarrow', '_duckdb', 'analyzer.api') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
