"""Brokers of the lab: real Kafka in KRaft mode, small, each on a host of its own, with its log of requests."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from lab.jars import BROKER_VERSION, jars
from lab.namespaces import Host, run_here

PORT = 9092
CONTROLLER_PORT = 9093
_JAVA = ("java", "-Xmx256m", "-Xms128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_LOG4J = """log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File={folder}/server.log
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%d{{yyyy-MM-dd'T'HH:mm:ss,SSS}} %p %m (%c)%n
log4j.appender.requests=org.apache.log4j.FileAppender
log4j.appender.requests.File={folder}/requests.log
log4j.appender.requests.layout=org.apache.log4j.PatternLayout
log4j.appender.requests.layout.ConversionPattern=%d{{yyyy-MM-dd'T'HH:mm:ss,SSS}} %m%n
log4j.logger.kafka.request.logger=DEBUG, requests
log4j.additivity.kafka.request.logger=false
"""
_LOG4J2 = """rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
appender.file.type=File
appender.file.name=file
appender.file.fileName={folder}/server.log
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d{{yyyy-MM-dd'T'HH:mm:ss,SSS}} %p %m (%c)%n
appender.requests.type=File
appender.requests.name=requests
appender.requests.fileName={folder}/requests.log
appender.requests.layout.type=PatternLayout
appender.requests.layout.pattern=%d{{yyyy-MM-dd'T'HH:mm:ss,SSS}} %m%n
logger.requests.name=kafka.request.logger
logger.requests.level=DEBUG
logger.requests.additivity=false
logger.requests.appenderRef.requests.ref=requests
"""
_SETTINGS = {
    "num.network.threads": "2",
    "num.io.threads": "4",
    "num.partitions": "1",
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "500",
    "log.cleaner.enable": "false",
    "log.index.size.max.bytes": "1048576",
    "controlled.shutdown.enable": "true",
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "1000",
}


class Broker:
    """One broker: a process that may be stopped, killed, paused and started again, at the same address."""

    def __init__(self, host: Host, number: int, settings: Mapping[str, str], version: str = BROKER_VERSION) -> None:
        self.host, self.number, self.version = host, number, version
        self.address = f"{host.address}:{PORT}"
        self.folder = host.network.folder / f"broker-{number}"
        self.folder.mkdir()
        self.data = self.folder / "data"
        self.log_dirs = [self.data / "logs"]
        self.settings = dict(settings)
        self._process: subprocess.Popen[bytes] | None = None

    def format(self, cluster: str, *more: str) -> None:
        """Makes its storage; `more` are options of kafka-storage, such as `--add-scram`."""
        dirs = ",".join(str(each) for each in self.log_dirs)
        lines = "".join(f"{name}={value}\n" for name, value in {**self.settings, "log.dirs": dirs}.items())
        (self.folder / "server.properties").write_text(lines)
        logging = _LOG4J if self.version.startswith("3") else _LOG4J2
        (self.folder / "log4j.properties").write_text(logging.format(folder=self.folder))
        tool = ("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self.folder / "server.properties"), *more)
        done = subprocess.run([*self._java(), *tool], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(f"broker {self.number}: {done.stdout}{done.stderr}")

    def _java(self) -> list[str]:
        name = "log4j.configuration" if self.version.startswith("3") else "log4j2.configurationFile"
        return [*_JAVA, f"-D{name}=file:{self.folder}/log4j.properties", "-cp", f"{jars(self.version)}/*"]

    def start(self) -> None:
        """Starts it; `wait` tells when it serves."""
        assert self._process is None
        self._from = len(self.server_log())
        words = [*self._java(), "kafka.Kafka", str(self.folder / "server.properties")]
        self._process = run_here(self.host, words, self.folder / "output.log")

    def wait(self, seconds: float = 120) -> None:
        """Returns when it serves clients."""
        self.wait_for("Kafka Server started", seconds, self._from)

    def wait_for(self, words: str, seconds: float, since: int = 0) -> None:
        """Returns when its log has these words, from character `since` on."""
        end = time.monotonic() + seconds
        while words not in self.server_log()[since:]:
            if time.monotonic() > end or self._process is None or self._process.poll() is not None:
                raise RuntimeError(f"broker {self.number} did not say {words!r}: see {self.folder}")
            time.sleep(0.1)

    def server_log(self) -> str:
        path = self.folder / "server.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def pause(self, seconds: float) -> None:
        """It stands still, as in a long collection of garbage or on a frozen machine; its kernel goes on."""
        self.signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """It is gone at once; its kernel closes its sockets."""
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def stop(self, seconds: float = 30) -> None:
        """An orderly stop: it hands on what it leads."""
        if self._process:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    @property
    def requests(self) -> Path:
        """Its log of requests: a time and a JSON object a line."""
        return self.folder / "requests.log"


def settings_of(
    number: int, address: str, controller: str, roles: str, count: int, more: Mapping[str, str]
) -> dict[str, str]:
    """server.properties of one broker of `count`; `controller` is `id@address` of the only controller.

    In the values of `more`, `{address}` and `{number}` stand for the broker's own; a broker that is no controller does without
    the controller's listener.
    """
    replicas = str(min(count, 3))
    own = {
        "process.roles": roles,
        "node.id": str(number),
        "controller.quorum.voters": f"{controller}:{CONTROLLER_PORT}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": "1",
    }
    listeners = {
        "broker": f"PLAINTEXT://{address}:{PORT}",
        "controller": f"CONTROLLER://{address}:{CONTROLLER_PORT}",
        "broker,controller": f"PLAINTEXT://{address}:{PORT},CONTROLLER://{address}:{CONTROLLER_PORT}",
    }
    own["listeners"] = listeners[roles]
    if roles == "broker":
        own["advertised.listeners"] = own["listeners"]
    elif roles == "broker,controller":
        own["advertised.listeners"] = f"PLAINTEXT://{address}:{PORT}"
    wanted = {
        name: value.replace("{address}", address).replace("{number}", str(number)) for name, value in more.items()
    }
    if roles == "controller":
        for of_brokers in ("listeners", "advertised.listeners", "inter.broker.listener.name"):
            wanted.pop(of_brokers, None)
    if roles == "broker" and "listeners" in wanted:
        wanted["listeners"] = wanted["listeners"].replace(f",CONTROLLER://{address}:{CONTROLLER_PORT}", "")
    return {**_SETTINGS, **own, **wanted}
