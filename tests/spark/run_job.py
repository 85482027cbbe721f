"""Runs command lines of kanalyze one after the other in one Spark session; an environment with PySpark is wanted.

run_job.py COMMANDS TO     COMMANDS: JSON, a list of argument lists; TO: for each its exit code and what it said, as JSON (Java
                           writes warnings of its own to both outputs)
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from analyzer.cli.main import main
from analyzer.spark.session import opened

# A small machine runs it beside other tests.
SETTINGS = (
    ("spark.driver.memory", "1g"),
    ("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
    ("spark.sql.shuffle.partitions", "2"),
    ("spark.sql.codegen.wholeStage", "false"),
    ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
)


def run(commands: list[list[str]], answers: Path, master: str = "local[2]") -> None:
    """Runs them all; the session that is active is the one that `kanalyze spark` finds."""
    found = []
    with opened(master, SETTINGS):
        for command in commands:
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                code = main(command)
            found.append({"code": code, "out": out.getvalue(), "err": err.getvalue()})
    answers.write_text(json.dumps(found))


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
