"""Kafka's jars by their Maven coordinates, and our Java client compiled against them; kept in `build/lab` once made."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("KANALYZE_LAB_CACHE", ROOT / "build" / "lab"))
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>lab</groupId><artifactId>lab</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{version}</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{version}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
"""
# Brokers from 4.0 on log by other means; what they say of requests is the same.
BROKER_VERSION = "3.9.1"


def jars(version: str = BROKER_VERSION) -> Path:
    """The folder with the jars of a broker, which hold Java's clients too."""
    folder = CACHE / f"kafka-{version}"
    if not (folder / ".complete").exists():
        if not shutil.which("mvn"):
            raise RuntimeError("the lab needs Maven for Kafka's jars (Debian: apt install maven)")
        folder.mkdir(parents=True, exist_ok=True)
        pom = folder / "pom.xml"
        pom.write_text(_POM.format(version=version))
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
