"""Files with names, the table that is made of them, and what a dataset does with it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from made_rows import START_NS, connection, dataset, exchange

from analyzer.base.filters import Filters
from analyzer.base.settings import Settings
from analyzer.names.name_files import Name, NamesError
from analyzer.names.name_table import Names, read, who
from analyzer.report.sentences import sentence

HOUR_NS = 3_600_000_000_000
AT_TEN = 1_777_629_600_000_000_000  # 2026-05-01T10:00:00Z


def said(folder: Path, *texts: str | object) -> list[Name]:
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"names{number}")
        paths[-1].write_text(text if isinstance(text, str) else json.dumps(text))
    return list(read(paths).rows)


def test_a_hosts_file(tmp_path: Path) -> None:
    text = (
        "127.0.0.1 localhost\n::1 localhost\n# brokers\n10.0.0.1\tkafka-1 kafka-1.local # first\n\nFD00::0:1 kafka-2\n"
    )
    assert said(tmp_path, text) == [Name("10.0.0.1", host="kafka-1"), Name("fd00::1", host="kafka-2")]


def test_a_tsv_names_its_columns_in_any_order(tmp_path: Path) -> None:
    text = "pod\tIP\track\tfrom\tto\tnote\ncart-1\t::ffff:10.0.0.1\teu-a\t2026-05-01T10:00:00Z\t2026-05-01T13:00:00+02:00\tx\n"
    assert said(tmp_path, text) == [Name("10.0.0.1", AT_TEN, AT_TEN + HOUR_NS, pod="cart-1", zone="eu-a")]


def pod(name: str, address: str | None, **values: object) -> dict[str, object]:
    owner = {"kind": "ReplicaSet", "name": "cart-5d9", "controller": True}
    about = {"name": name, "namespace": "shop", "labels": {"pod-template-hash": "5d9"}, "ownerReferences": [owner]}
    spec = {"nodeName": "n1", "hostNetwork": values.pop("host_network", False)}
    status = {"podIP": address, "podIPs": [{"ip": address}] if address else [], "phase": "Running", **values}
    return {"kind": "Pod", "metadata": about, "spec": spec, "status": status}


def test_kubectl_as_it_is(tmp_path: Path) -> None:
    """A pod has the zone of its node; one in the node's network, without address, or over at an unknown time has no name."""
    ended = {"state": {"terminated": {"finishedAt": "2026-05-01T11:00:00Z"}}}
    items = [
        pod("cart-1", "10.1.0.1", startTime="2026-05-01T10:00:00Z"),
        pod("cart-0", "10.1.0.2", startTime="2026-05-01T10:00:00Z", phase="Failed", containerStatuses=[ended]),
        pod("agent", "192.168.0.1", host_network=True),
        pod("waits", None),
        pod("over", "10.1.0.3", phase="Succeeded"),
        {
            "kind": "Node",
            "metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "eu-1a"}},
            "status": {"addresses": [{"type": "InternalIP", "address": "192.168.0.1"}, {"type": "Hostname", "address": "n1"}]},
        },
        {
            "kind": "Service",
            "metadata": {"name": "kafka", "namespace": "data"},
            "spec": {"clusterIPs": ["10.96.0.7"], "clusterIP": "10.96.0.7"},
            "status": {"loadBalancer": {}},
        },
        {"kind": "Service", "metadata": {"name": "headless", "namespace": "data"}, "spec": {"clusterIP": "None"}},
        {"kind": "ConfigMap"},
    ]  # fmt: skip
    whose = ("n1", "shop", "deployment/cart", "eu-1a")
    assert said(tmp_path, {"kind": "List", "items": items}) == [
        Name("10.1.0.1", AT_TEN, None, whose[0], "cart-1", *whose[1:]),
        Name("10.1.0.2", AT_TEN, AT_TEN + HOUR_NS, whose[0], "cart-0", *whose[1:]),
        Name("192.168.0.1", host="n1", zone="eu-1a"),
        Name("10.96.0.7", host="kafka.data.svc", namespace="data"),
    ]


def test_instances_of_ec2_and_gce(tmp_path: Path) -> None:
    card = {
        "PrivateIpAddresses": [{"PrivateIpAddress": "10.0.0.4", "Association": {"PublicIp": "3.3.3.3"}}],
        "Attachment": {"AttachTime": "2026-05-01T10:00:00+00:00"},
    }
    instance = {
        "InstanceId": "i-1",
        "PrivateDnsName": "ip-10-0-0-4.internal",
        "PrivateIpAddress": "10.0.0.4",
        "Placement": {"AvailabilityZone": "us-east-1a"},
        "Tags": [{"Key": "Name", "Value": "broker-4"}],
        "NetworkInterfaces": [card],
    }
    terminated = {"InstanceId": "i-2", "Placement": {"AvailabilityZone": "us-east-1a"}}
    ec2 = {"Reservations": [{"Instances": [instance, terminated]}]}
    named = {"host": "broker-4", "zone": "us-east-1a"}
    assert said(tmp_path, ec2) == [Name("10.0.0.4", AT_TEN, **named), Name("3.3.3.3", AT_TEN, **named)]
    gce = [
        {
            "name": "client-1",
            "zone": "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-b",
            "networkInterfaces": [{"networkIP": "10.128.0.2", "accessConfigs": [{"natIP": "34.1.1.1"}, {}]}],
            "creationTimestamp": "2026-05-01T03:00:00.000-07:00",
        }
    ]
    named = {"host": "client-1", "zone": "us-central1-b"}
    assert said(tmp_path, gce) == [Name("10.128.0.2", AT_TEN, **named), Name("34.1.1.1", AT_TEN, **named)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no address with a name"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"{", "JSON that breaks off or is wrong in line 1"),
        (b'{"items": [{"kind": "Pod"}]}', "JSON of another form"),
        (b'{"items": 7}', "JSON of another form"),
        (b'[1, "x"]', "JSON of another form"),
        (b'{"Reservations": [{}]}', "JSON of another form"),
        (b"[" * 100_000, "JSON"),
        (b"10.0.0.300 kafka", "line 1: '10.0.0.300' is no IP address"),
        (b"what is this", "line 1: 'what' is no IP address"),
        (b"lonely\n", "line 1 is neither of a hosts file nor the head of a TSV"),
        (b"address\tfrom\n10.0.0.1\tyesterday", "line 2: 'yesterday' is no time like"),
        (b"address\thost\n\tkafka", "line 2 has no address"),
        (b'{"kind": "Pod", "metadata": {"name": "a", "namespace": ["b"]}, "status": {"podIP": "10.0.0.1"}}', "no text"),
        (b'{"kind": "Pod", "metadata": {"name": "a"}, "status": {"podIP": 7}}', "JSON of another form"),
    ],
)
def test_a_bad_file_gets_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "names"
    path.write_bytes(content)
    with pytest.raises(NamesError) as told:
        read([path])
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("255.255.255.255", "255.255.255.255"),
        ("::FFFF:10.0.0.1", "10.0.0.1"),
        ("FD00:0:0::0001", "fd00::1"),
        ("::1.2.3.4", "::102:304"),
        *(
            (text, None)
            for text in ("10.0.0.01", "010.0.0.1", "10.0.1", "10", "0x0a.0.0.1", "1.2.3.256", "1.2.3.4 ", "1.2.3.٤")
        ),
    ],
)
def test_an_address_is_as_tables_have_it(tmp_path: Path, written: str, address: str | None) -> None:
    pod = {"kind": "Pod", "metadata": {"name": "a"}, "status": {"podIP": written}}
    if address is not None:
        assert said(tmp_path, pod) == [Name(address, pod="a")]
        return
    with pytest.raises(NamesError, match="is no IP address"):
        said(tmp_path, pod)


def test_a_file_beyond_the_limits_gets_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed it may be small: what counts is what comes out."""
    hosts = "".join(f"10.0.0.{number} kafka\n" for number in range(1, 5))
    pods = [pod(f"pod-{number}", f"10.0.0.{number}") for number in range(1, 6)]
    path = tmp_path / "names.gz"
    most = "analyzer.names.name_files.MOST_NAMES_OF_A_FILE"
    for text, too_much in (
        (hosts + "#" * 2_000_000, "lines"),
        ("address\thost\n" + hosts.replace(" ", "\t"), "lines"),
        (json.dumps({"items": pods}), "names"),
    ):
        path.write_bytes(gzip.compress(text.encode()))
        monkeypatch.setattr(most, 5)
        assert len(read([path]).rows) in (4, 5)
        monkeypatch.setattr(most, 4)
        with pytest.raises(NamesError, match=f"more than 4 {too_much}"):
            read([path])
    monkeypatch.setattr(most, 5)
    path.write_bytes(gzip.compress(hosts.encode() + b"#" * 2_000_000))
    monkeypatch.setattr("analyzer.names.name_table.MOST_BYTES", 1_000_000)
    with pytest.raises(NamesError, match="more than 1 MB of names"):
        read([path])


def test_rows_of_an_address_never_overlap_and_contradictions_are_said(tmp_path: Path) -> None:
    """At each moment the address has what all names valid then agree on, field by field."""
    text = "address\tpod\tzone\tfrom\tto\n"
    text += "10.0.0.1\tone\ta\t2026-05-01T10:00:00\t2026-05-01T12:00:00\n10.0.0.1\ttwo\ta\t2026-05-01T11:00:00\t\n"
    (tmp_path / "names").write_text(text)
    names = read([tmp_path / "names"])
    ten, eleven, twelve = (AT_TEN + hours * HOUR_NS for hours in range(3))
    assert names.rows == (
        Name("10.0.0.1", ten, eleven, pod="one", zone="a"),
        Name("10.0.0.1", eleven, twelve, zone="a"),
        Name("10.0.0.1", twelve, None, pod="two", zone="a"),
    )
    assert names.warnings() == [
        "names: 1 address has two names at the same time, and so none: 10.0.0.1 is pod one and two"
    ]


def test_the_first_of_several_files_counts_where_both_name_a_field(tmp_path: Path) -> None:
    assert said(tmp_path, "10.0.0.1 mine\n", "address\thost\tzone\n10.0.0.1\ttheirs\ta\n") == [
        Name("10.0.0.1", host="mine", zone="a")
    ]


LINKS = [
    connection(1, client_address="10.0.0.1", broker_address="10.0.9.1", first_time_ns=START_NS),
    connection(2, client_address="10.0.0.1", broker_address="10.0.9.1", first_time_ns=START_NS + HOUR_NS),
    connection(3, client_address="10.0.0.2", broker_address="10.0.9.1"),
]
ROWS = {"connections": LINKS, "exchanges": [exchange(number, connection=number) for number in (1, 2, 3)]}


def test_a_connection_has_the_name_of_its_beginning(tmp_path: Path) -> None:
    rows = (
        Name("10.0.0.1", None, START_NS + 1, "n1", "old", "shop", None, "a"),
        Name("10.0.0.1", START_NS + HOUR_NS, None, "n1", "new", "shop", None, "b"),
        Name("10.0.0.2", START_NS + HOUR_NS, None, "late"),
        Name("10.0.9.1", host="kafka-1", zone="it's"),
        Name("10.0.9.9", host="unseen"),
    )
    with dataset(tmp_path, ROWS, names=Names(rows)) as found:
        told = found.query(
            "SELECT connection, client_pod, client_zone, broker_host, broker_zone FROM connections ORDER BY 1"
        )
        assert [tuple(row.values()) for row in told] == [
            (1, "old", "a", "kafka-1", "it's"),
            (2, "new", "b", "kafka-1", "it's"),
            (3, None, None, "kafka-1", "it's"),
        ]
        assert found.metric("names") == [{"addresses": 3, "named": 2, "at_another_time": 1, "never_seen": 1}]
    for filters, left in (
        (Filters(clients=("NEW",)), [2]),
        (Filters(namespaces=("sh?p",)), [1, 2]),
        (Filters(namespaces=("other",)), []),
        (Filters(zones=("B",)), [2]),
        (Filters(zones=("c",)), []),
        (Filters(zones=("?",), namespaces=("shop",)), [1, 2]),
        (Filters(brokers=("kafka-*",)), [1, 2, 3]),
        (Filters(brokers=("IT'S",)), [1, 2, 3]),
        (Filters(brokers=("rack-a",)), []),
    ):
        with dataset(tmp_path, ROWS, names=Names(rows), filters=filters) as found:
            assert [row["exchange"] for row in found.query("SELECT exchange FROM exchanges ORDER BY 1")] == left


def test_who_it_is_in_a_sentence() -> None:
    row = {
        "client_pod": "cart-1",
        "client_namespace": "shop",
        "client_host": "n1",
        "broker_pod": None,
        "broker_host": "k1",
    }
    assert (who(row), who(row, "broker")) == ("shop/cart-1", "k1")
    row = {"broker": "10.0.0.1:9092", "told": "fd00::1 and 10.0.0.11", "v6": "[fd00::1]:9092"}
    names = {"10.0.0.1": "k1", "fd00::1": "k2"}
    assert (
        sentence("{broker}, {told}, {v6}", {**row, "names": names})
        == "10.0.0.1:9092 (k1), fd00::1 (k2) and 10.0.0.11, [fd00::1]:9092 (k2)"
    )


def test_rows_by_names_are_those_of_all(tmp_path: Path) -> None:
    """By each of the names the counts add up to the same; without a name a row is its own."""
    rows = (Name("10.0.0.1", None, START_NS + 1, "n1", "old", "shop", "deployment/cart"),)
    links = [*LINKS, connection(4, client_address="10.0.0.3", client_rack="eu-1c")]
    tables = {"connections": links, "exchanges": [*ROWS["exchanges"], exchange(4, connection=4)]}
    told = {"pod": "shop/old", "namespace": "shop", "workload": "deployment/cart", "zone": "eu-1c"}
    with dataset(tmp_path, tables, names=Names(rows)) as found:
        for by, name in told.items():
            found.choose(Settings((by,)))
            for metric in ("latency", "profile"):
                counts = Counter[str | None]()
                for row in found.metric(metric):
                    counts[row["client_name"]] += row["count"]
                assert counts == {name: 1, None: 3}, (by, metric)
    with pytest.raises(ValueError, match="several of pod"):
        Settings(("pod", "zone"))


def table_of(path: Path, columns: str) -> list[tuple[object, ...]]:
    """The table `names` that is made of a file."""
    with duckdb.connect() as database:
        read([path]).create(database)
        return database.execute(f"SELECT {columns} FROM names").fetchall()


def test_years_beyond_a_column_are_an_open_end(tmp_path: Path) -> None:
    path = tmp_path / "names"
    path.write_bytes(b"address\thost\tfrom\tto\n10.0.0.1\tkafka\t0001-01-01T00:00:00Z\t9999-12-31T00:00:00Z\n")
    (row,) = table_of(path, f"host, begin_ns < 0, end_ns > {1 << 62}")
    assert row == ("kafka", True, True)


def test_a_name_may_hold_anything(tmp_path: Path) -> None:
    hostile = "a\x1b[31m'\\ \"FROM exchanges --\u202e {x} \ud800 \0"
    path = tmp_path / "names"
    path.write_text(json.dumps([{"networkInterfaces": [{"networkIP": "10.0.0.1"}], "name": hostile}]), "utf-8")
    (row,) = table_of(path, "*")
    assert row[:4] == ("10.0.0.1", -(1 << 63), (1 << 63) - 1, hostile.replace("\ud800", "?"))


def test_a_hundred_thousand_names_are_there(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("".join(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255} host{n}\n" for n in range(100_000)), "utf-8")
    with dataset(tmp_path / "d", {"connections": [connection(1)]}, names=read([path])) as found:
        assert found.query("SELECT count(*) AS n FROM names")[0]["n"] == 100_000
