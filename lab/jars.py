"""Kafka's jars by their Maven coordinates, and our Java client compiled against them; kept in `build/lab` once made."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("KANALYZE_LAB_CACHE", ROOT / "build" / "lab"))
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>lab</groupId><artifactId>lab</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
BROKER_VERSION = "3.9.1"
NEW_VERSION = "4.1.0"
NEWEST_VERSION = "4.3.1"
# A Java library as many applications still have it.
OLD_LIBRARY = "2.8.2"
FLINK, FLINK_KAFKA = "2.0.1", "4.0.1-2.0"
SPARK = "4.2.0"
# How a broker writes its logs: until 3.9 by the old log4j, from 4.0 on by the second.
_LOGGING = {
    "2": ("org.slf4j", "slf4j-reload4j", "1.7.36"),
    "3": ("org.slf4j", "slf4j-reload4j", "1.7.36"),
    "4": ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
}


def jars(version: str = BROKER_VERSION, *more: str) -> Path:
    """The folder with the jars of a broker, which hold Java's clients too, and with those of `more` of Kafka's artifacts."""
    kafka = [("org.apache.kafka", name, version) for name in ("kafka_2.13", "kafka-tools", *more)]
    return _fetched(CACHE / "-".join(["kafka", version, *more]), [*kafka, _LOGGING[version[0]]])


def flink() -> Path:
    """The folder with the jars of Apache Flink, which runs a job in one process, and of its connector for Kafka."""
    own = [
        ("org.apache.flink", name, FLINK) for name in ("flink-clients", "flink-streaming-java", "flink-connector-base")
    ]
    connector = ("org.apache.flink", "flink-connector-kafka", FLINK_KAFKA)
    return _fetched(CACHE / f"flink-{FLINK}", [*own, connector, _LOGGING["4"]])


def spark() -> Path:
    """The folder with the jars of Apache Spark, which runs a query in one process, and of its source and sink for Kafka."""
    own = [("org.apache.spark", f"{name}_2.13", SPARK) for name in ("spark-sql", "spark-sql-kafka-0-10")]
    return _fetched(CACHE / f"spark-{SPARK}", own)


def _fetched(folder: Path, wanted: list[tuple[str, str, str]]) -> Path:
    """The folder with these jars and all that they need."""
    if not (folder / ".complete").exists():
        if not shutil.which("mvn"):
            raise RuntimeError("the lab needs Maven for Kafka's jars (Debian: apt install maven)")
        folder.mkdir(parents=True, exist_ok=True)
        pom = folder / "pom.xml"
        pom.write_text(_POM.format("".join(_DEPENDENCY.format(*each) for each in wanted)))
        words = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        subprocess.run(words, check=True, timeout=600)
        (folder / ".complete").touch()
    return folder


def java_clients(version: str = BROKER_VERSION) -> str:
    """The class path of `lab/java`, compiled."""
    libraries = jars(version)
    classes = CACHE / f"classes-{version}"
    sources = sorted((ROOT / "lab" / "java").glob("*.java"))
    newest = max(source.stat().st_mtime for source in sources)
    done = classes / ".compiled"
    if not done.exists() or done.stat().st_mtime < newest:
        classes.mkdir(parents=True, exist_ok=True)
        names = [str(source) for source in sources]
        subprocess.run(["javac", "-cp", f"{libraries}/*", "-d", str(classes), *names], check=True, timeout=300)
        done.touch()
    return f"{classes}:{libraries}/*"
