"""Compiled stages and the tables of constants beside them: what was built before a table changed is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dissectors import constants, layout
from dissectors.packet import packets

ROOT = Path(__file__).resolve().parents[3]
TABLES = ("dissectors.layout", "dissectors.problems")


def test_names_values_and_tables_count() -> None:
    assert constants.constants("dissectors.layout")["UNKNOWN"] == layout.UNKNOWN
    assert len({constants.digest(tables) for tables in (TABLES, TABLES[:1], TABLES[1:], ())}) == 4


def test_a_stage_of_other_constants_is_refused() -> None:
    constants.check("dissectors.some.stage", TABLES, constants.digest(TABLES))
    with pytest.raises(constants.StaleStages, match=r"dissectors\.some\.stage .*build or install again"):
        constants.check("dissectors.some.stage", TABLES, constants.digest(TABLES) ^ 1)


@pytest.mark.skipif((packets.__file__ or "").endswith(".py"), reason="the stages are not compiled")
def test_a_column_that_the_compiled_stages_lack_ends_a_run(tmp_path: Path) -> None:
    """With a new column in the middle of a batch, and no build, every number behind it would be read from its neighbour."""
    for name in ("analyzer", "dissectors"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "dissectors" / "layout.py"
    text = table.read_text()
    assert "\nVALUE_ACKS" in text
    table.write_text(text.replace("\nVALUE_ACKS", "\nVALUE_INSERTED = _value.column()\nVALUE_ACKS", 1))

    def run(verb: str, *words: str, **changed: str) -> tuple[int, str, str]:
        command = [sys.executable, "-c", "from analyzer.cli.main import run; run()", verb, *words]
        done = subprocess.run(command, cwd=tmp_path, env=os.environ | changed, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    capture = str(ROOT / "samples" / "throttle.pcap.zst")
    code, out, err = run("report", capture)
    assert (code, out) == (2, "") and err.count("\n") == 1 and "build or install again" in err
    assert "compiled from an older source" in run("doctor")[1]
    code, out, err = run("clients", "--client", "shop-churn", capture, KANALYZE_UNCOMPILED="1")
    assert code == 0 and "shop-churn" in out and err.count("\n") == 1
