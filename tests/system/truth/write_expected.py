"""Writes tests/system/truth/expected/NAME.json: what a capture must say, from the broker's own log alone.

    python tests/system/truth/write_expected.py SHARED/captures/lab

Nothing of ours is imported. A line of the log counts when the independent frame list has the same request (connection,
correlation id, API key, version) with a reply; lines with `isForwarded` are the inside of an Envelope and are dropped.
Requests that the frame list has and the log has not (logins, the capture's edges) are listed, so that a reader can leave them
out.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from ipaddress import ip_address
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent / "expected"
CONNECTION = re.compile(r"(.+):(\d+)-([^-]+):(\d+)(-\d+)*")
PRODUCE, FETCH, METADATA, COMMIT, JOIN, END_TXN = 0, 1, 3, 8, 11, 26
Line = dict[str, Any]
Key = tuple[str, int, int, int]


def text(path: Path) -> str:
    return subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True).stdout.decode()


def connection(name: str) -> str:
    broker, broker_port, client, client_port = CONNECTION.fullmatch(name).group(1, 2, 3, 4)  # type: ignore[union-attr]
    return f"{ip_address(broker)}:{broker_port}-{ip_address(client)}:{client_port}"


def key_of(line: Line) -> Key:
    header = line["requestHeader"]
    return connection(line["connection"]), header["correlationId"], header["requestApiKey"], header["requestApiVersion"]


def frames(path: Path) -> tuple[set[Key], set[Key]]:
    """Requests of the frame list: those with a reply, and all."""
    names = ("correlation_id", "api_key", "api_version")
    answered, seen = set(), set()
    for row in csv.DictReader(io.StringIO(text(path)), delimiter="\t"):
        key = (connection(row["connection"]), *(int(row[name]) for name in names))
        seen.add(key)
        if row["response_first_ns"]:
            answered.add(key)
    return answered, seen  # type: ignore[return-value]


def error_codes(body: Any) -> list[int]:
    if isinstance(body, list):
        return [code for element in body for code in error_codes(element)]
    if not isinstance(body, dict):
        return []
    found = []
    for name, value in body.items():
        if name.lower().endswith("errorcode") and isinstance(value, int):
            found += [value] if value else []
        else:
            found += error_codes(value)
    return found


def expected(log: list[Line], answered: set[Key], seen: set[Key]) -> dict[str, Any]:
    lines = [line for line in log if not line["isForwarded"] and key_of(line) in answered]
    logged = {key_of(line) for line in log if not line["isForwarded"]}
    return {
        "requests": dict(sorted(Counter(str(line["requestHeader"]["requestApiKey"]) for line in lines).items())),
        "errors": errors(lines),
        "throttled": throttled(lines),
        "principals": logins(lines),
        "software": software(lines),
        "groups": groups(lines),
        "transactions": transactions(lines),
        "produced_bytes": produced(lines),
        "not_logged": sorted([*key] for key in seen - logged),
    }


def errors(lines: list[Line]) -> dict[str, int]:
    """`API key:code` -> replies that hold the code."""
    found: Counter[str] = Counter()
    for line in lines:
        key = line["requestHeader"]["requestApiKey"]
        found.update({f"{key}:{code}" for code in error_codes(line["response"])})
    return dict(sorted(found.items()))


def throttled(lines: list[Line]) -> dict[str, list[int]]:
    """Client id -> replies with a throttle time, and the sum of those times in ms."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for line in lines:
        time_ms = (line["response"] or {}).get("throttleTimeMs") or 0
        if time_ms > 0:
            sums = found[line["requestHeader"]["clientId"]]
            sums[0] += 1
            sums[1] += time_ms
    return dict(sorted(found.items()))


def logins(lines: list[Line]) -> dict[str, str]:
    """Connection -> the last user that the broker knew on it, SASL only."""
    sasl = (line for line in lines if line["securityProtocol"].startswith("SASL"))
    return {connection(line["connection"]): line["principal"] for line in sasl}


def software(lines: list[Line]) -> dict[str, str]:
    """Connection -> name and version that the client told; those that told nothing are left out."""
    found = {}
    for line in lines:
        told = line.get("clientInformation") or {}
        if told.get("softwareName", "unknown") != "unknown":
            found[connection(line["connection"])] = f"{told['softwareName']} {told['softwareVersion']}"
    return found


def groups(lines: list[Line]) -> dict[str, dict[str, int]]:
    """Classic group -> its last generation, members that joined, commits without any error."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        key, request, response = line["requestHeader"]["requestApiKey"], line["request"], line["response"] or {}
        if key == JOIN and response.get("errorCode") == 0 and response.get("generationId", -1) >= 0:
            group = found.setdefault(request["groupId"], {"generation": 0, "members": set()})
            group["generation"] = max(group["generation"], response["generationId"])
            group["members"].add(response["memberId"])
    return {name: {**group, "members": len(group["members"])} for name, group in sorted(found.items())}


def transactions(lines: list[Line]) -> dict[str, list[int]]:
    """Transactional id -> committed, aborted: EndTxn requests that the coordinator took."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for line in lines:
        if line["requestHeader"]["requestApiKey"] == END_TXN and (line["response"] or {}).get("errorCode") == 0:
            committed = line["request"].get("committed", line["request"].get("transactionResult"))
            found[line["request"]["transactionalId"]][0 if committed else 1] += 1
    return dict(sorted(found.items()))


def produced(lines: list[Line]) -> dict[str, int]:
    """Topic -> bytes of records in Produce requests, acks=0 left out (they have no reply). Logs before 2.8 have no sizes."""
    names = {
        topic["topicId"]: topic["name"]
        for line in lines
        if line["requestHeader"]["requestApiKey"] == METADATA
        for topic in (line["response"] or {}).get("topics") or []
        if isinstance(topic, dict) and topic.get("topicId") and topic.get("name")
    }
    found: Counter[str] = Counter()
    for line in lines:
        if line["requestHeader"]["requestApiKey"] == PRODUCE:
            for topic in line["request"].get("topicData") or []:
                name = topic.get("name") or names.get(topic.get("topicId", ""))
                sizes = [part.get("recordsSizeInBytes") for part in topic.get("partitionData") or []]
                if name and all(size is not None for size in sizes):
                    found[name] += sum(sizes)
    return dict(sorted(found.items()))


def main(folder: Path) -> None:
    HERE.mkdir(exist_ok=True)
    for path in sorted(folder.glob("*.exchanges.tsv.zst")):
        name = path.name.split(".")[0]
        log = folder / f"{name}.requests.jsonl.zst"
        if not log.exists():
            continue
        lines = [json.loads(each) for each in text(log).splitlines()]
        found = expected(lines, *frames(path))
        (HERE / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(name, sum(found["requests"].values()), "requests")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
