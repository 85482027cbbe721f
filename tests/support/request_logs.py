"""The short logs of requests that are kept beside captures of incidents, as the brokers wrote them."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import cramjam

from dissectors.kafka.schema.lookup import api_names

_KEYS = {name.lower(): key for key, name in api_names()}
_TIMES = {
    "totalTimeMs": "total_ms",
    "requestQueueTimeMs": "request_queue_ms",
    "localTimeMs": "local_ms",
    "remoteTimeMs": "remote_ms",
    "throttleTimeMs": "throttle_ms",
    "responseQueueTimeMs": "response_queue_ms",
    "sendTimeMs": "send_ms",
}


def as_written(short: Path, target: Path) -> Path:
    """Writes the lines of `NAME.requests.tsv.zst` as JSON behind a moment."""
    text = bytes(cramjam.zstd.decompress(short.read_bytes())).decode()
    lines = []
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        header = {
            "requestApiKey": _KEYS[row["api"].replace("_", "").lower()],
            "requestApiVersion": int(row["version"]),
            "correlationId": int(row["correlation_id"]),
            "clientId": row["client_id"],
        }
        found = {"isForwarded": False, "requestHeader": header, "request": {}, "response": {}}
        found |= {"connection": row["connection"], **{name: float(row[column]) for name, column in _TIMES.items()}}
        moment = datetime.fromtimestamp(float(row["logged_at"]), UTC).strftime("%Y-%m-%dT%H:%M:%S,%f")[:-3]
        lines.append(f"{moment} Completed request:{json.dumps(found)}\n")
    target.write_text("".join(lines))
    return target
