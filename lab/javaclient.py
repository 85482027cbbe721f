"""Clients of the lab by Apache's Java library: `lab/java/LabClient.java` as a program on a host."""

from __future__ import annotations

import subprocess

from lab.jars import BROKER_VERSION, java_clients
from lab.namespaces import Host, run_here
from lab.session import Lab

_JAVA = ("java", "-Xmx96m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")


def java_produce(
    lab: Lab, host: Host, client: str, topic: str, per_s: float = 10, library: str = BROKER_VERSION, **more: str
) -> subprocess.Popen[bytes]:
    """A producer; settings as in `clients.config`. SIGTERM (`terminate`) ends it in order."""
    return _start(lab, host, library, ("produce", topic, str(per_s)), {"client_id": client, **more})


def java_consume(
    lab: Lab,
    host: Host,
    client: str,
    group: str,
    topic: str,
    record_ms: str = "0",
    library: str = BROKER_VERSION,
    **more: str,
) -> subprocess.Popen[bytes]:
    """A consumer of a group that takes so long for each record."""
    own = {"client_id": client, "group_id": group, "auto_offset_reset": "earliest", **more}
    return _start(lab, host, library, ("consume", topic, record_ms), own)


def _start(
    lab: Lab, host: Host, library: str, words: tuple[str, ...], settings: dict[str, str]
) -> subprocess.Popen[bytes]:
    settings.setdefault("bootstrap_servers", lab.bootstrap)
    pairs = [f"{name.replace('_', '.')}={value}" for name, value in settings.items()]
    log = f"-Dlog4j.configuration=file:{lab.folder}/client-log4j.properties"
    (lab.folder / "client-log4j.properties").write_text(
        "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.out.layout.ConversionPattern=%d{HH:mm:ss.SSS} %p %m%n\n"
    )
    java = [*_JAVA, log, "-cp", java_clients(library), "LabClient", *words, *pairs]
    program = run_here(host, java, host.log)
    lab.programs.append(program)
    return program
