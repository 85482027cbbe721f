"""The Spark session of a run: the one that is there, or a sane one of our own. PySpark is imported when it is needed.

A session that somebody else made is theirs: of its settings only the two that rows in Arrow form need are touched (`prepare`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base.workers import search_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17
LOG_SETTINGS = Path(__file__).parent / "log4j2.properties"
# Before this release an Arrow batch has a limit of rows only, and rows of ours may hold a megabyte.
BYTES_LIMITED_FROM = (4, 1)
MOST_ROWS = 64
SHUFFLE_PARTITIONS_PER_CORE = 4
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# Of a job of ours Java only carries the bytes: compiling its code well takes twice the time that it saves.
OF_ONE_JOB = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# A job of ours hands files from one step to the next: some hundred rows. To compile Java for each step, and to plan it anew by what
# came before, costs more than it saves: a tenth of the CPU, whatever the size of the captures.
OF_FILES = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
# Without it workers look for modules in the working directory first, whatever lies there.
SAFE_PATH = {"spark.executorEnv.PYTHONSAFEPATH": "1"}
NO_CODE = "; the Python of the executors has no kanalyze: ship an environment (spark.archives) or set PYSPARK_PYTHON"
HIDDEN = "; a file analyzer.py where workers of Spark start hides kanalyze: rename it, or set spark.executorEnv.PYTHONSAFEPATH=1"
TRACEBACK = "Traceback (most recent call last):"
_END = re.compile(r"([\w.]+(?:Error|Exception|Interrupt|Exit))(?:: (.*))?$")
# What Java's errors begin with, and the names of its classes before the text of one.
_CALLED = "An error occurred while calling "
_JAVA_NAMES = re.compile(r"^(?::\s*)?(?:[\w.$]+(?:Exception|Error|Throwable):\s*)*")
_MORE_ROOM = (
    "give Spark more memory (spark.executor.memoryOverhead) or fewer cores (--jobs), or smaller tasks (--task-size)"
)
# What nobody of ours lived to word.
_LOST = (
    (
        re.compile("Python worker exited unexpectedly"),
        f"a Python worker was killed, as happens where memory is short: {_MORE_ROOM}",
    ),
    (re.compile(r"ExecutorLostFailure .*?Reason: ([^\n]*)"), "executors were lost, the last one so: {}"),
)
# Set by spark-submit for the program that it starts.
SUBMITTED = "PYSPARK_GATEWAY_PORT"


class SparkError(OSError):
    """What stops a run on Spark and is no bug of ours: no Java, no PySpark, a failed job. The text is a message for a person."""


@contextmanager
def opened(
    master: str | None = None,
    settings: Sequence[tuple[str, str]] = (),
    temp_dir: Path | None = None,
    cores: int | None = None,
    by_row: bool = False,
) -> Iterator[SparkSession]:
    """A session as `get_session` gives it, for one job; one that was made for it is stopped at the end. `by_row`: Spark itself
    looks at rows of the tables."""
    active = _pyspark().getActiveSession()
    given = settings if by_row else (*OF_FILES.items(), *settings)
    spark = get_session(master, given, temp_dir, cores, for_one_job=True)
    try:
        yield spark
    finally:
        if active is None:
            spark.stop()


def get_session(
    master: str | None = None,
    settings: Sequence[tuple[str, str]] = (),
    temp_dir: Path | None = None,
    cores: int | None = None,
    *,
    for_one_job: bool = False,
) -> SparkSession:
    """The session that is active, that spark-submit or a Connect server offers, or one that is made here.

    `master` as Spark takes it, `sc://host` for a Connect server; None: SPARK_REMOTE, what spark-submit says, or this
    machine with `cores` (None: all). `settings` are pairs of Spark's own names and values, for a session that is made here.
    With `for_one_job` nobody asks questions in that session. Raises SparkError.
    """
    sessions = _pyspark()
    spark: SparkSession | None = sessions.getActiveSession()
    if spark is None:
        spark = _made(sessions.builder.appName("kanalyze"), master, dict(settings), temp_dir, cores, for_one_job)
    prepare(spark)
    return spark


def prepare(spark: SparkSession) -> None:
    """The settings without which rows in Arrow form could be mixed up (columns are matched by place) or grow too large."""
    spark.conf.set("spark.sql.execution.arrow.pyspark.validateSchema.enabled", "true")
    if version(spark) < BYTES_LIMITED_FROM:
        name = "spark.sql.execution.arrow.maxRecordsPerBatch"
        most = int(spark.conf.get(name) or 0)
        if not 0 < most <= MOST_ROWS:
            spark.conf.set(name, str(MOST_ROWS))


def version(spark: SparkSession) -> tuple[int, int]:
    """Major and minor number of the Spark that runs the session."""
    major, minor = re.findall(r"\d+", spark.version)[:2]
    return int(major), int(minor)


def java_problem(environment: Mapping[str, str] = os.environ) -> str:
    """One line when there is no Java that Spark can use; empty when all is well."""
    advice = f"Spark needs Java {JAVA} or newer (Debian: apt install openjdk-17-jre-headless)"
    home = environment.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java", path=environment.get("PATH"))
    if java is None:
        return f"no Java found, neither by JAVA_HOME nor on the PATH; {advice}"
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} cannot be run ({error}); {advice}, and JAVA_HOME must name its directory"
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    if found is None or int(found[1]) < JAVA:
        return f"{java} is Java {found[1] if found else 'of an unknown version'}; {advice}"
    return ""


def _pyspark() -> Any:
    try:
        import pandas  # noqa: F401  (mapInArrow asks for it)
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SparkError(f"no {error.name} in this environment: pip install 'kanalyze[spark]'") from error
    return SparkSession


def _made(
    builder: Any,
    master: str | None,
    settings: dict[str, str],
    temp_dir: Path | None,
    cores: int | None,
    for_one_job: bool,
) -> SparkSession:
    remote = master if master and master.startswith("sc://") else None
    if remote or (master is None and os.environ.get("SPARK_REMOTE")):
        return _got((builder.remote(remote) if remote else builder), settings)
    if SUBMITTED in os.environ:
        ours = SAFE_PATH if for_one_job else {}
        return _got(builder.master(master) if master else builder, ours | settings)
    if problem := java_problem():
        raise SparkError(problem)
    # Python workers that Spark would start with the system's Python have neither kanalyze nor its dependencies.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master = master or f"local[{cores or '*'}]"
    defaults = _defaults(temp_dir) | SAFE_PATH
    if for_one_job:
        defaults[JAVA_OPTIONS] += OF_ONE_JOB
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        defaults |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        if os.environ["PYSPARK_PYTHON"] == sys.executable:
            defaults["spark.executorEnv.PYTHONPATH"] = search_path()
    if JAVA_OPTIONS in settings:
        settings[JAVA_OPTIONS] = f"{defaults[JAVA_OPTIONS]} {settings[JAVA_OPTIONS]}"
    return _got(builder.master(master), defaults | settings)


def _defaults(temp_dir: Path | None) -> dict[str, str]:
    """Settings of a session of our own."""
    cores = os.cpu_count() or 1
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        "spark.driver.memory": "2g",
        JAVA_OPTIONS: f"-Dlog4j2.configurationFile=file:{LOG_SETTINGS} -XX:ReservedCodeCacheSize=256m",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(SHUFFLE_PARTITIONS_PER_CORE * cores),
    } | ({"spark.local.dir": str(temp_dir)} if temp_dir else {})


def _got(builder: Any, settings: Mapping[str, str]) -> SparkSession:
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        spark: SparkSession = builder.getOrCreate()
        # A Connect session is lazy: whether there is a server shows with the first question.
        _ = spark.version
    except Exception as error:  # Java's, Py4J's and gRPC's errors have no base in common
        raise SparkError(f"no Spark session: {reason(error)}") from error
    return spark


@contextmanager
def told() -> Iterator[None]:
    """Words what a job fails with. Errors of our own, and Ctrl-C, pass."""
    try:
        yield
    except Exception as error:  # Java's, Py4J's and gRPC's errors have no base in common
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        line = reason(error)
        advice = (
            HIDDEN if "'analyzer' is not a package" in line else NO_CODE if "No module named 'analyzer'" in line else ""
        )
        raise SparkError(f"{line}{advice}") from error


def reason(error: BaseException) -> str:
    """The line of an error of Spark that says what happened; of Python's traceback in a worker its end."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if TRACEBACK in lines:
        ends = filter(None, map(_END.match, lines[lines.index(TRACEBACK) :]))
        for end in ends:
            # Errors that are made for a person need no name.
            return end[2] if end[1].startswith("analyzer.") and end[2] else end[0]
    for pattern, words in _LOST:
        if found := pattern.search(str(error)):
            return words.format(*found.groups())
    if len(lines) > 1 and lines[0].startswith(_CALLED):
        return _JAVA_NAMES.sub("", lines[1])
    return lines[0] if lines else type(error).__name__
