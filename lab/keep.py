"""What is kept of a run: the capture, its truth, and the brokers' own account of each request."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zstandard

from lab.jars import ROOT
from lab.namespaces import command
from lab.scripts import Script
from lab.session import Lab, Truth

DATA = ROOT / "tests" / "data" / "incidents"
# Of a request in a broker's log; times in ms.
_TIMES = ("requestQueueTimeMs", "localTimeMs", "remoteTimeMs", "throttleTimeMs", "responseQueueTimeMs", "sendTimeMs")
COLUMNS = (
    *("logged_at", "broker", "connection", "client_id", "api", "version", "correlation_id", "total_ms"),
    *("request_queue_ms", "local_ms", "remote_ms", "throttle_ms", "response_queue_ms", "send_ms"),
)


def keep(script: Script, lab: Lab, truth: Truth) -> int:
    """Writes the files of a run; gives the size of its captures in bytes."""
    DATA.mkdir(parents=True, exist_ok=True)
    return sum(_keep(script, lab, truth, apart) for apart in lab.captures)


def _keep(script: Script, lab: Lab, truth: Truth, apart: str) -> int:
    """One capture; `apart` tells where it was taken, if it is not the script's main one."""
    name = f"{script.name}_{apart}" if apart else script.name
    captured, *more = lab.captures[apart]
    if more:
        captured = lab.folder / f"merged{apart}.pcap"
        command("mergecap", "-F", "nsecpcap", "-w", str(captured), *map(str, lab.captures[apart]))
    begin, end = _span(captured)
    packed = _packed(captured.read_bytes())
    (DATA / f"{name}.pcap.zst").write_bytes(packed)
    log = "".join(_requests(lab, begin - 1, end + 1))
    (DATA / f"{name}.requests.tsv.zst").write_bytes(_packed(log.encode()))
    if lab.names:
        (DATA / f"{name}.names.tsv").write_text(lab.names)
    told = _truth(script, lab, truth)
    told = {"name": name, "script": script.name, **told, "captured_at": lab.captured_at[apart]}
    (DATA / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
    return len(packed)


def _packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=19).compress(data)


def _span(path: Path) -> tuple[float, float]:
    """The times of the first and last packet, s."""
    words = ["tshark", "-r", str(path), "-T", "fields", "-e", "frame.time_epoch"]
    times = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout.split()
    if not times:
        raise RuntimeError("nothing was captured")
    return float(times[0]), float(times[-1])


def _truth(script: Script, lab: Lab, truth: Truth) -> dict[str, Any]:
    steps = [f"{_clock(step.begin)} for {step.end - step.begin:.3f} s: {step.what}" for step in lab.steps]
    return {
        "kind": script.kind,
        "what": " ".join([script.sentence, truth.what]).strip(),
        "causes": truth.causes,
        "subject": truth.subject,
        "done": [step.replace(" for 0.000 s:", ":") for step in steps],
        "hosts": lab.hosts,
        "kafka": lab.version,
        **({"counted": lab.counted} if lab.counted else {}),
    }


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _requests(lab: Lab, begin: float, end: float) -> list[str]:
    """Requests that brokers finished in this time, as lines of a table in the order of their times."""
    rows = []
    for broker in lab.brokers:
        if not broker.requests.exists():
            continue
        for line in broker.requests.read_text(errors="replace").splitlines():
            at, _, rest = line.partition(" ")
            time = datetime.fromisoformat(at.replace(",", ".")).astimezone().timestamp()
            if begin <= time <= end and "{" in rest:
                told = json.loads(rest[rest.index("{") :])
                head = told["requestHeader"]
                row = [f"{time:.3f}", broker.number, told["connection"], head["clientId"], head["requestApiKeyName"]]
                row += [head["requestApiVersion"], head["correlationId"], told["totalTimeMs"]]
                rows.append((time, "\t".join(map(str, [*row, *(told[name] for name in _TIMES)])) + "\n"))
    return ["\t".join(COLUMNS) + "\n", *(line for _, line in sorted(rows, key=lambda row: row[0]))]
