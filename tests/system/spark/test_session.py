"""What is told when Spark cannot run, and which line of Spark's long errors. No Spark is needed for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.spark import rows, session, stages
from analyzer.spark.same_code import Code, OtherCodeError, check, code_here
from analyzer.spark.session import TRACEBACK, SparkError, java_problem, opened, reason, told


def java(folder: Path, says: str) -> dict[str, str]:
    """An environment whose Java says that it is of this version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return {"JAVA_HOME": str(folder)}


@pytest.mark.parametrize(
    ("says", "problem"),
    [
        ('openjdk version "17.0.15" 2025-04-15', ""),
        ('openjdk version "21" 2023-09-19', ""),
        ('java version "1.8.0_392"', "is Java 8; Spark needs Java 17"),
        ('openjdk version "11.0.2"', "is Java 11; Spark needs Java 17"),
        ("what?", "of an unknown version"),
    ],
)
def test_java_is_asked_for_its_version(says: str, problem: str, tmp_path: Path) -> None:
    told = java_problem(java(tmp_path, says))
    assert bool(told) == bool(problem) and problem in told and "\n" not in told


def test_java_of_the_path_counts_without_java_home(tmp_path: Path) -> None:
    java(tmp_path, 'openjdk version "17"')
    assert java_problem({"PATH": str(tmp_path / "bin")}) == ""
    assert java_problem({"PATH": str(tmp_path)}).startswith("no Java found")
    assert "cannot be run" in java_problem({"JAVA_HOME": str(tmp_path / "nowhere")})


def test_of_a_worker_the_line_that_says_what_happened_is_told() -> None:
    text = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/x/stages.py", line 3, in read
    raise InputError("a")
analyzer.inputs.sources.InputError: s3://b/x.pcap: no such object

The above exception was the direct cause of the following exception:
java.lang.IllegalStateException: no"""
    assert reason(RuntimeError(text)) == "s3://b/x.pcap: no such object"
    assert reason(RuntimeError("\n[CODE] it is wrong\n at x")) == "[CODE] it is wrong"
    assert reason(RuntimeError("")) == "RuntimeError"


@pytest.mark.parametrize(
    ("java", "told"),
    [
        ("Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times", "Job aborted due to stage failure"),
        (
            "Job aborted due to stage failure: Task 3 in stage 2.0 failed 4 times, most recent failure: Lost task 3.3 in stage 2.0 "
            "(TID 9) (10.0.0.1 executor 2): ExecutorLostFailure (executor 2 exited caused by one of the running tasks) "
            "Reason: worker lost: Not receiving heartbeat",
            "executors were lost, the last one so: worker lost: Not receiving heartbeat",
        ),
        (
            "Job aborted: Lost task 0.0: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
            "a Python worker was killed",
        ),
    ],
)
def test_of_java_the_line_behind_the_name_of_a_call_is_told(java: str, told: str) -> None:
    text = (
        f"An error occurred while calling o66.collectToPython.\n: org.apache.spark.SparkException: {java}\n\tat org.x.Y"
    )
    assert reason(RuntimeError(text)).startswith(told)


def test_without_pyspark_one_line_says_what_to_install(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        with pytest.raises(SparkError, match=r"pip install 'kanalyze\[spark\]'"), opened():
            pass
        capture = SAMPLES / "throttle.pcap.zst"
        assert main(["spark", str(capture), "--out", str(tmp_path / "out")]) == 2
        assert "pip install 'kanalyze[spark]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["spark", "x.pcap"], "give --out DIR"),
        (["spark", "x.pcap", "--out", "y", "--conf", "memory=1"], "is not a property like spark.executor.memory=4g"),
        (["spark", "x.pcap", "--out", "y", "--task-size", "few"], "is not a size"),
    ],
)
def test_a_wrong_command_line_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1


def test_runs_that_were_made_again_otherwise_are_one_sentence() -> None:
    with pytest.raises(stages.LostRunError) as lost:
        stages.facts_of({1: {}}, 7)
    text = f"thrown from the Python worker:\nTraceback (most recent call last):\n  x\n{stages.__name__}.LostRunError: {lost.value}"
    assert reason(RuntimeError(text)).startswith("executors were lost with what they held")


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"compiled": not code_here().compiled}, "compiled, of "),
        ({"constants": code_here().constants ^ 1}, " with other constants; the driver runs"),
        ({"version": "0.0.7"}, "the driver runs 0.0.7, "),
    ],
)
def test_a_worker_that_runs_other_code_ends_the_run_with_one_line(other: dict[str, Any], says: str) -> None:
    driver: Code = code_here()._replace(**other)
    given = stages.Order(Options(), driver)
    with pytest.raises(OtherCodeError, match="PYTHONSAFEPATH") as ended:
        list(stages.unpacked(iter([rows.row(rows.FRAGMENTS, 0, b"")]), given))
    text = f"{TRACEBACK}\n  x\n{OtherCodeError.__module__}.OtherCodeError: {ended.value}"
    assert says in reason(RuntimeError(text)) and reason(RuntimeError(text)) == str(ended.value)


def test_a_worker_may_run_the_same_code_from_elsewhere() -> None:
    check(code_here()._replace(place="/elsewhere"))


def test_a_module_that_hides_kanalyze_from_workers_is_told() -> None:
    error = type("WorkerError", (Exception,), {"__module__": "pyspark.errors"})
    text = f"{TRACEBACK}\n  x\nModuleNotFoundError: No module named 'analyzer.spark'; 'analyzer' is not a package"
    with pytest.raises(SparkError, match=r"a file analyzer\.py .* hides kanalyze"), told():
        raise error(text)


@pytest.mark.parametrize("by_row", [False, True])
def test_of_a_job_of_files_spark_compiles_nothing_unless_a_person_says_so(
    by_row: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, str] = {}

    def get_session(_: Any, settings: Sequence[tuple[str, str]], *__: Any, **___: Any) -> Any:
        given.update(dict(settings))
        return SimpleNamespace(stop=lambda: None)

    monkeypatch.setattr(session, "_pyspark", lambda: SimpleNamespace(getActiveSession=lambda: None))
    monkeypatch.setattr(session, "get_session", get_session)
    with opened(settings=[("spark.sql.adaptive.enabled", "true")], by_row=by_row):
        pass
    assert given.pop("spark.sql.adaptive.enabled") == "true"
    codegen = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    assert given == ({} if by_row else codegen)
