"""Files with names: hosts, TSV with a head, JSON of kubectl, EC2 and GCE. What a file is, its content says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from itertools import islice, repeat, zip_longest
from socket import AF_INET, inet_pton
from typing import Any, NamedTuple

# Columns of a TSV that mean the same.
_COLUMNS = {"ip": "address", "rack": "zone", "node": "host", "name": "host", "begin": "from", "until": "to"}
# Others are not looked at.
_MOST_COLUMNS = 100
_FIELDS = ("host", "pod", "namespace", "workload", "zone")
_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_SURROGATE = re.compile(r"\\u[dD]")
# Each takes some hundred bytes of memory until the tables have them.
MOST_NAMES_OF_A_FILE = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ENDED = ("Succeeded", "Failed")
# What a column of moments holds, ns: years 1678 to 2262. Lists write year 1 or 9999 for a name without a begin or end.
_FIRST_NS, _LAST_NS = -(1 << 63) + 1, (1 << 63) - 1


class NamesError(OSError, ValueError):
    """A file that holds no names, or a wrong one: one line for a person."""


class Name(NamedTuple):
    """What an address is called from `begin_ns` on and before `end_ns`, ns since the epoch; None: open, or not said."""

    address: str
    begin_ns: int | None = None
    end_ns: int | None = None
    host: str | None = None
    pod: str | None = None
    namespace: str | None = None
    workload: str | None = None
    zone: str | None = None


def names_in(path: str, data: bytes) -> list[Name]:
    """What the file with these bytes says. Raises NamesError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NamesError(f"{path}: not text in UTF-8, so it holds no names") from None
    try:
        told = _json(text) if text.lstrip()[:1] in ("{", "[") else _lines(text)
        found = list(islice(told, MOST_NAMES_OF_A_FILE + 1))
    except json.JSONDecodeError as error:
        raise NamesError(f"{path}: JSON that breaks off or is wrong in line {error.lineno}") from None
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise NamesError(f"{path}: JSON of another form than kubectl, EC2 or GCE write") from error
    except ValueError as error:
        raise NamesError(f"{path}: {error}") from None
    if not found:
        raise NamesError(f"{path}: holds no address with a name")
    if len(found) > MOST_NAMES_OF_A_FILE:
        raise NamesError(f"{path}: more than {MOST_NAMES_OF_A_FILE:,} names; leave those of the capture's network")
    return found


def _lines(text: str) -> Iterator[Name]:
    head = text.partition("\n")[0]
    return _tsv(text) if "\t" in head and "address" in _heads(head) else _hosts(text)


def _split(text: str) -> list[str]:
    """Lines, before each takes the memory of a row."""
    lines = text.splitlines()
    if len(lines) > MOST_NAMES_OF_A_FILE:
        raise ValueError(f"more than {MOST_NAMES_OF_A_FILE:,} lines; leave those of the capture's network")
    return lines


def _heads(line: str) -> list[str]:
    heads = [word.strip().lower() for word in line.lstrip("#").split("\t")[:_MOST_COLUMNS]]
    return [_COLUMNS.get(word, word) for word in heads]


def _tsv(text: str) -> Iterator[Name]:
    """The first line names the columns: address, any of _FIELDS, from, to. It is read column by column: each step is one call."""
    first, *lines = _split(text)
    numbers = [number for number, line in enumerate(lines, 2) if line and not line.isspace()]
    cells = zip_longest(*(lines[number - 2].split("\t", _MOST_COLUMNS) for number in numbers), fillvalue="")
    columns: dict[str, list[str]] = {}
    for head, column in zip(_heads(first), cells, strict=False):
        values = list(map(str.strip, column))
        columns[head] = [new or old for new, old in zip(values, columns.get(head, values), strict=True)]
    addresses = columns.get("address", [""] * len(numbers))
    if not all(addresses):
        raise ValueError(f"line {numbers[addresses.index('')]} has no address")
    begins, ends = (_moments(columns[name], numbers) if name in columns else repeat(None) for name in ("from", "to"))
    fields = ([value or None for value in columns[name]] if name in columns else repeat(None) for name in _FIELDS)
    return map(Name, map(_address, addresses, numbers), begins, ends, *fields)


def _moments(column: list[str], numbers: list[int]) -> Iterator[int | None]:
    return map(_ns, column, numbers)


def _hosts(text: str) -> Iterator[Name]:
    """As in /etc/hosts: an address, its name, other names that do not count. Names of loopback addresses say nothing."""
    for number, line in enumerate(_split(text), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) < 2:
            raise ValueError(f"line {number} is neither of a hosts file nor the head of a TSV with a column address")
        address = _address(words[0], number)
        if not address.startswith("127.") and address != "::1":
            yield Name(address, None, None, words[1])


def _json(text: str) -> Iterator[Name]:
    """JSON may spell half of a pair of surrogates, which no text in UTF-8 has."""
    has_surrogates = _SURROGATE.search(text)
    for name in _listed(json.loads(text)):
        if not all(value is None or isinstance(value, str) for value in name[3:]):
            raise ValueError("a name that is no text")
        if has_surrogates:
            told = (value and value.encode("utf-8", "replace").decode() for value in name[3:])
            yield Name(*name[:3], *told)
        else:
            yield name


def _listed(told: Any) -> Iterator[Name]:
    if isinstance(told, list):
        if any("networkInterfaces" in each for each in told):
            return _gce(told)
        return _ec2([{"Instances": each} if isinstance(each, list) else {"Instances": [each]} for each in told])
    if "Reservations" in told:
        return _ec2(told["Reservations"])
    if "items" in told:
        return _kubernetes(told["items"])
    return _kubernetes([told]) if "kind" in told else iter(())


def _kubernetes(items: Iterable[dict[str, Any]]) -> Iterator[Name]:
    items = list(items)
    nodes = {each["metadata"]["name"]: each for each in items if each.get("kind") == "Node"}
    zones = {name: _zone(node) for name, node in nodes.items()}
    make: dict[str, Callable[[dict[str, Any]], Iterator[Name]]] = {
        "Node": lambda each: _node(each, zones),
        "Pod": lambda each: _pod(each, zones),
        "Service": _service,
    }
    for each in items:
        if each.get("kind") in make:
            yield from make[each["kind"]](each)


def _zone(node: dict[str, Any]) -> str | None:
    labels = node["metadata"].get("labels") or {}
    return next((labels[label] for label in _ZONE_LABELS if labels.get(label)), None)


def _node(node: dict[str, Any], zones: dict[str, str | None]) -> Iterator[Name]:
    name = node["metadata"]["name"]
    begin = _ns(node["metadata"].get("creationTimestamp"))
    for each in node.get("status", {}).get("addresses") or ():
        if each["type"] in ("InternalIP", "ExternalIP"):
            yield Name(_address(each["address"]), begin, host=name, zone=zones[name])


def _pod(pod: dict[str, Any], zones: dict[str, str | None]) -> Iterator[Name]:
    """A pod in its node's network has the node's address, which others have too: it says nothing of who is there."""
    about, spec, status = pod["metadata"], pod.get("spec", {}), pod.get("status", {})
    if spec.get("hostNetwork"):
        return
    node = spec.get("nodeName")
    begin, end = _ns(status.get("startTime") or about.get("creationTimestamp")), _end_of(status)
    if status.get("phase") in _ENDED and end is None:
        return  # its address may be another's by now
    told = (node, about["name"], about.get("namespace"), _workload(about), zones.get(node or ""))
    addresses = {each["ip"]: None for each in status.get("podIPs") or ()}
    if status.get("podIP"):
        addresses[status["podIP"]] = None
    for address in addresses:
        yield Name(_address(address), begin, end, *told)


def _end_of(status: dict[str, Any]) -> int | None:
    """When the last container of a pod that is over ended."""
    if status.get("phase") not in _ENDED:
        return None
    states = [each.get("state", {}).get("terminated") or {} for each in status.get("containerStatuses") or ()]
    ends = [_ns(each.get("finishedAt")) for each in states]
    return max((end for end in ends if end is not None), default=None)


def _workload(about: dict[str, Any]) -> str | None:
    """deployment/shop, where a ReplicaSet of that deployment owns the pod; statefulset/kafka."""
    owner = next((each for each in about.get("ownerReferences") or () if each.get("controller")), None)
    if owner is None:
        return None
    kind, name = owner["kind"].lower(), owner["name"]
    version = (about.get("labels") or {}).get("pod-template-hash")
    if kind == "replicaset" and version and name.endswith(f"-{version}"):
        return f"deployment/{name.removesuffix(f'-{version}')}"
    return f"{kind}/{name}"


def _service(service: dict[str, Any]) -> Iterator[Name]:
    about, spec = service["metadata"], service.get("spec", {})
    begin = _ns(about.get("creationTimestamp"))
    balancers = (service.get("status", {}).get("loadBalancer") or {}).get("ingress") or ()
    addresses = [*(spec.get("clusterIPs") or [spec.get("clusterIP")]), *(spec.get("externalIPs") or ())]
    addresses += [each.get("ip") for each in balancers]
    for address in dict.fromkeys(each for each in addresses if each and each != "None"):
        host = f"{about['name']}.{about.get('namespace', 'default')}.svc"
        yield Name(_address(address), begin, host=host, namespace=about.get("namespace"))


def _ec2(reservations: Iterable[dict[str, Any]]) -> Iterator[Name]:
    for instance in (each for reservation in reservations for each in reservation["Instances"]):
        tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags") or ()}
        host = tags.get("Name") or instance.get("PrivateDnsName") or instance["InstanceId"]
        zone = (instance.get("Placement") or {}).get("AvailabilityZone")
        found: dict[str, int | None] = {}
        for card in instance.get("NetworkInterfaces") or ():
            begin = _ns((card.get("Attachment") or {}).get("AttachTime"))
            private = card.get("PrivateIpAddresses") or ()
            addresses = [each.get("PrivateIpAddress") for each in private]
            addresses += [(each.get("Association") or {}).get("PublicIp") for each in private]
            addresses += [each.get("Ipv6Address") for each in card.get("Ipv6Addresses") or ()]
            found |= {each: begin for each in addresses if each}
        for name in ("PrivateIpAddress", "PublicIpAddress", "Ipv6Address"):
            if instance.get(name):
                found.setdefault(instance[name], None)
        for address, begin in found.items():
            yield Name(_address(address), begin, host=host, zone=zone)


def _gce(instances: Iterable[dict[str, Any]]) -> Iterator[Name]:
    for instance in instances:
        zone = (instance.get("zone") or "").rpartition("/")[2] or None
        begin = _ns(instance.get("creationTimestamp"))
        for card in instance.get("networkInterfaces") or ():
            addresses = [card.get("networkIP"), card.get("ipv6Address")]
            addresses += [each.get("natIP") for each in card.get("accessConfigs") or ()]
            addresses += [each.get("externalIpv6") for each in card.get("ipv6AccessConfigs") or ()]
            for address in dict.fromkeys(each for each in addresses if each):
                yield Name(_address(address), begin, host=instance["name"], zone=zone)


def _address(text: str, line: int | None = None) -> str:
    """The address as tables have it."""
    if not isinstance(text, str):
        raise TypeError  # ip_address takes numbers, too
    try:
        inet_pton(AF_INET, text)  # many times faster, and takes only what tables have
        return text
    except (OSError, ValueError):
        pass
    try:
        found = ip_address(text)
    except ValueError:
        raise ValueError(f"{_where(line)}{text!r:.60} is no IP address") from None
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)


def _ns(text: str | None, line: int | None = None) -> int | None:
    """A moment as such files have it (RFC 3339; without a zone it is UTC), ns since the epoch."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{_where(line)}{text!r:.60} is no time like 2026-05-01T10:59:00Z") from None
    since = (found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH
    told = ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
    return min(max(told, _FIRST_NS), _LAST_NS)


def _where(line: int | None) -> str:
    return "" if line is None else f"line {line}: "
