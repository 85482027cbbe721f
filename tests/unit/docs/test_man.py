"""Man pages: one for each command, without a complaint of groff, saying what --help says."""

from __future__ import annotations

import runpy
import shutil
import subprocess

import pytest
from paths import ROOT

from analyzer.cli.main import verbs

PAGES: dict[str, str] = runpy.run_path(str(ROOT / "docs" / "write_man.py"))["pages"]()


def test_there_is_a_page_for_each_command() -> None:
    assert PAGES.keys() == {"kanalyze.1", *(f"kanalyze-{verb}.1" for verb in verbs())}


@pytest.mark.parametrize("name", ["kanalyze.1", "kanalyze-latency.1", "kanalyze-decode.1"])
def test_pages_are_clean_roff(name: str) -> None:
    if shutil.which("groff") is None:
        pytest.skip("no groff")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"], input=PAGES[name].encode(), capture_output=True, check=True
    )
    assert done.stderr == b""
    text = done.stdout.decode().replace("\u2010", "-")
    assert ("OPTIONS" in text and "EXAMPLES" in text) or name == "kanalyze.1"
    assert "--help" in text
