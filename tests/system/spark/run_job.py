"""Runs command lines of kanalyze in one Spark session, as they come; an environment with PySpark is wanted.

run_job.py ANSWERS     A line of standard input is an argument list as JSON; each is answered by a line of JSON on the file
                       descriptor ANSWERS: its exit code and what it said (Java writes warnings of its own to both outputs).
"""

from __future__ import annotations

import io
import json
import os
import runpy
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO

from questions import answers, statistics
from read_both import read_both

from analyzer.cli.main import main
from analyzer.spark import Tables, dataflow, get_session, rows, tables, write
from analyzer.spark.session import SparkError, opened, told

NOT_VERIFIED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
# A small machine runs it beside other tests.
SETTINGS = (
    ("spark.driver.memory", "2g"),
    # What takes time is the start of everything: neither the optimising compiler nor a collector with threads pays here.
    # To verify what Spark's own jars hold is a seventh of the start.
    ("spark.driver.extraJavaOptions", f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {NOT_VERIFIED}"),
    ("spark.sql.shuffle.partitions", "2"),
    ("spark.sql.codegen.wholeStage", "false"),
    ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
)


def serve(answered: TextIO) -> None:
    """Answers until there are no more lines; the session that is active is the one that `kanalyze spark` finds."""
    with opened("local[2]", SETTINGS):
        for line in sys.stdin:
            print(json.dumps(_answer(json.loads(line))), file=answered, flush=True)


def _answer(words: Sequence[str]) -> dict[str, Any]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = OWN[words[0]](words[1:]) if words[0] in OWN else main(list(words))
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def _ask(words: Sequence[str]) -> int:
    """TO CAPTURE...: what a notebook asks of captures, before and after their tables are written below TO."""
    to, *captures = words

    def asked(found: Tables) -> dict[str, Any]:
        return answers(found.findings(), lambda name: [row.asDict() for row in found.metric(name).collect()])

    with tables(get_session(), captures) as found:
        hidden = [name for name in found if getattr(found, name) is not found[name]]
        told = {"before": asked(found), "statistics": statistics(found), "hidden": hidden}
    with tables(get_session(), captures) as found:
        write(found, to)
        print(json.dumps(told | {"written": asked(found)}))
    return 0


def _both(words: Sequence[str]) -> int:
    """SCRATCH ANSWERS CAPTURE...: every table as both engines read it."""
    scratch, answers, *captures = words
    read_both(get_session(), Path(scratch), Path(answers), captures)
    return 0


def _driver_files(_: Sequence[str]) -> int:
    """Files of several pieces that the driver hands on: their sizes, as executors see them."""

    def sizes(batches: Iterator[Any]) -> Iterator[Any]:
        for name, task, pieces in rows.files(rows.tuples(batches)):
            yield rows.row(name, task, str(sum(map(len, pieces))).encode())

    given = (piece for name in "abc" for piece in rows.of_file(name, 0, bytes(5 * rows.PIECE_BYTES // 2)))
    found = dataflow.of_driver(get_session(), given).mapInArrow(sizes, rows.SHAPE).collect()
    print(json.dumps(sorted((row.table, int(row.batch)) for row in found)))
    return 0


def _killed(_: Sequence[str]) -> int:
    """A job whose worker is killed from outside, as far as Spark can see."""

    def end(batches: Iterator[Any]) -> Iterator[Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    try:
        with told():
            get_session().range(0, 1, 1, 1).mapInArrow(end, "id bigint").collect()
    except SparkError as error:
        print(error)
        return 2
    return 0


def _recipe(words: Sequence[str]) -> int:
    """FILE: code of a guide."""
    runpy.run_path(words[0])
    return 0


# What is no command line of kanalyze.
OWN = {"ask": _ask, "both": _both, "driver_files": _driver_files, "killed": _killed, "recipe": _recipe}


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1]), "w") as given:
        serve(given)
