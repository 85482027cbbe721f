"""Applications of Apache Kafka that are many clients each: a Connect worker, MirrorMaker, a Streams application, a job of Flink,
a query of Spark."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from lab.jars import NEW_VERSION, ROOT, flink, jars, spark
from lab.namespaces import Host, run_here
from lab.session import Lab

_JAVA = ("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_LOGGING = """rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
"""
_REST = 8083
# What Spark needs of Java 17.
_OPENED = (
    "java.lang",
    "java.lang.invoke",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "sun.nio.ch",
    "sun.util.calendar",
)


def connect_worker(lab: Lab, host: Host, group: str, version: str = NEW_VERSION) -> subprocess.Popen[bytes]:
    """A worker of a Connect cluster, with the connectors for files."""
    settings = {
        "bootstrap.servers": lab.bootstrap,
        "group.id": group,
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "listeners": f"http://127.0.0.1:{_REST}",
        "plugin.discovery": "service_load",
        "plugin.path": str(jars(version, "connect-runtime", "connect-file")),
        "offset.flush.interval.ms": "5000",
        "config.providers": "",
        **{f"{name}.storage.topic": f"{group}-{name}s" for name in ("config", "status")},
        "offset.storage.topic": f"{group}-offsets",
        **{f"{name}.storage.replication.factor": "1" for name in ("config", "status", "offset")},
        "offset.storage.partitions": "3",
        "status.storage.partitions": "2",
    }
    main = "org.apache.kafka.connect.cli.ConnectDistributed"
    return _start(lab, host, settings, main, jars(version, "connect-runtime", "connect-file"))


def connector(host: Host, name: str, settings: dict[str, str]) -> None:
    """Makes a connector by the worker's REST interface, once that answers."""
    host.call(_put, f"http://127.0.0.1:{_REST}/connectors/{name}/config", settings)


def mirror_maker(lab: Lab, host: Host, settings: dict[str, str], version: str = NEW_VERSION) -> subprocess.Popen[bytes]:
    """A MirrorMaker of its own (connect-mirror-maker.sh)."""
    main = "org.apache.kafka.connect.mirror.MirrorMaker"
    return _start(lab, host, settings, main, jars(version, "connect-runtime", "connect-mirror"))


def word_count(lab: Lab, host: Host, application: str, source: str, target: str) -> subprocess.Popen[bytes]:
    """An instance of a Streams application that counts the words of a topic; Java compiles it as it starts."""
    settings = {
        "application.id": application,
        "bootstrap.servers": lab.bootstrap,
        "state.dir": str(lab.folder / f"streams-{host.name}"),
        "commit.interval.ms": "2000",
    }
    words = [source, target, *(f"{name}={value}" for name, value in settings.items())]
    return _run(
        lab,
        host,
        jars(NEW_VERSION, "kafka-streams"),
        str(ROOT / "lab" / "java" / "streams" / "LabStreams.java"),
        *words,
    )


def flink_job(lab: Lab, host: Host, group: str, source: str, target: str, *prefix: str) -> subprocess.Popen[bytes]:
    """A job of Flink with two tasks that copies a topic; its sources' client ids begin with the prefix, if one is given."""
    return _run(
        lab,
        host,
        flink(),
        "--add-opens=java.base/java.util=ALL-UNNAMED",
        str(ROOT / "lab" / "java" / "flink" / "LabFlink.java"),
        *(lab.bootstrap, group, source, target, *prefix),
    )


def spark_query(lab: Lab, host: Host, source: str, target: str) -> subprocess.Popen[bytes]:
    """A streaming query of Spark that copies a topic in batches, one a second."""
    return _run(
        lab,
        host,
        spark(),
        "-Xmx600m",
        *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
        str(ROOT / "lab" / "java" / "spark" / "LabSpark.java"),
        *(lab.bootstrap, source, target, str(lab.folder / f"spark-{host.name}")),
    )


def until_said(host: Host, words: str, seconds: float = 150) -> None:
    """Waits until the log of a host has these words."""
    end = time.monotonic() + seconds
    while words not in host.log.read_text(errors="replace"):
        if time.monotonic() > end:
            raise RuntimeError(f"never said on {host.name}: {words}")
        time.sleep(0.5)


def _start(lab: Lab, host: Host, settings: dict[str, str], main: str, libraries: Path) -> subprocess.Popen[bytes]:
    path = lab.folder / f"{host.name}.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return _run(lab, host, libraries, main, str(path))


def _run(lab: Lab, host: Host, libraries: Path, *words: str) -> subprocess.Popen[bytes]:
    log = lab.folder / "application-log4j2.properties"
    log.write_text(_LOGGING)
    java = [*_JAVA, f"-Dlog4j2.configurationFile=file:{log}", "-cp", f"{libraries}/*", *words]
    program = run_here(host, java, host.log)
    lab.programs.append(program)
    return program


def _put(address: str, settings: dict[str, Any]) -> None:
    request = urllib.request.Request(
        address, json.dumps(settings).encode(), {"Content-Type": "application/json"}, method="PUT"
    )
    end = time.monotonic() + 50
    while True:
        try:
            urllib.request.urlopen(request, timeout=10).close()
            return
        except (OSError, urllib.error.URLError):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
