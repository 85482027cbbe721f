"""Tasks resolve what is sure and stitching does the rest: the rows are those of one run, wherever a capture is cut.

KANALYZE_LONG=1 takes every lab capture, KANALYZE_CUTS cuts of each (3), from seed KANALYZE_SEED (0) on.
"""

from __future__ import annotations

import os
import random
import shutil
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import LONG, also_long, one_in
from made_capture import Conversation, merged, pcap, reply, request
from opening_bytes import OPENINGS, conversation
from parts_of_captures import LITTLE_ENDIAN, Told, content, cut, days, of_one_run, packets, same_rows
from paths import ROOT

from analyzer.base.options import Options
from analyzer.distributed import resolver
from analyzer.distributed.fragments import COMPLETE, MARKER, SEGMENT, pieces, unpack
from analyzer.distributed.pending_rows import of_batch, of_segments, picked
from analyzer.distributed.plan import Task
from analyzer.distributed.tasks import read_task
from analyzer.inputs.engine import Engine
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import Piece, Source
from analyzer.run import local, raw_views
from dissectors import layout
from dissectors.tcp.pending_columns import FATE_LEAVES

CUTS = int(os.environ.get("KANALYZE_CUTS", "3"))
SEED = int(os.environ.get("KANALYZE_SEED", "0"))
# Ways to cut each sample and each damaged capture.
SEEDS = 2 if LONG else 1


def compare(
    raw: bytes,
    folder: Path,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
    options: Options | None = None,
    expected: dict[str, list[str]] | None = None,
    most_cuts: int = 16 // one_in(2),
    apart: bool = LONG,
) -> Told:
    """Cuts, packs and looks at random; every row of every table must be that of the whole capture."""
    options = options or Options()
    chance = random.Random(seed)
    monkeypatch.setattr(resolver, "FRESH_BYTES", chance.choice((0, 0, 500, 2_000, 8_192)))
    monkeypatch.setattr(resolver, "LOOK_ROWS", chance.choice((1, 1, 3, 20, 100)))
    monkeypatch.setattr(resolver, "PENDING_BYTES", chance.choice((1_000, 30_000, 1 << 20)))
    monkeypatch.setattr(resolver, "MOST_PENDING_BYTES", chance.choice((3_000, 90_000, 1 << 22)))
    # Texts of a run with many rows are numbered.
    are_large = seed % 2 == 0
    monkeypatch.setattr(raw_views, "is_large", lambda _: are_large)
    folder.mkdir(exist_ok=True)
    count = len(packets(raw)) - 1
    tasks = cut(raw, folder, chance.sample(range(1, count), min(count - 2, chance.randint(1, most_cuts))), chance)
    return same_rows(raw, tasks, folder, chance.randint(1, 4), options, expected, apart)


@pytest.mark.parametrize("seed", range(3 if LONG else 1))
def test_openings_cut_anywhere(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes before Kafka lies in one task, Kafka in others."""
    conversations = [
        conversation(said, how, 41_000 + 3 * number + place)
        for number, (said, _, _) in enumerate(OPENINGS.values())
        for place, how in enumerate(("segments", "joined", "bytes"))
    ]
    told = compare(pcap(merged(conversations)), tmp_path / "cut", SEED + seed, monkeypatch)
    assert told.spans + told.wholes > 0


@pytest.mark.parametrize("name", also_long(["tls_stall_snap80"], ["nat_tls_java", "secure_day_41"]))
def test_tls_without_keys_cut_anywhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was silent, and for how long, is told of whole connections: cuts within a silence change nothing."""
    raw = content(ROOT / "tests" / "data" / "incidents" / f"{name}.pcap.zst")
    expected = of_one_run(raw, tmp_path, Options())
    assert len(expected["unread_silences"]) >= 4
    compare(raw, tmp_path / "cut", SEED, monkeypatch, expected=expected)


@pytest.mark.parametrize("name", also_long(["shutdown_held"], ["isr_flaps", "log_dir_fails"]))
def test_what_brokers_tell_cut_anywhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats and ISRs whose request is in one task, and the reply in another one."""
    raw = content(ROOT / "tests" / "data" / "incidents" / f"{name}.pcap.zst")
    expected = of_one_run(raw, tmp_path, Options())
    assert len(expected["broker_events"]) >= 10
    compare(raw, tmp_path / "cut", SEED, monkeypatch, expected=expected, apart=True)


@pytest.mark.parametrize(
    "name", also_long(["gssapi_handshake_v0", "broker_closed_idle"], ["other_protocols", "kafka_at_http"])
)
def test_threads_cut_anywhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens without answers, who closed, what is no Kafka: the start of a connection and its end lie in different tasks."""
    raw = content(ROOT / "tests" / "data" / "threads" / f"{name}.pcap.zst")
    for seed in range(SEEDS):
        compare(raw, tmp_path / str(seed), SEED + seed, monkeypatch)


@pytest.mark.parametrize("name", also_long(["throttle", "old_java"], ["versions", "groups_classic", "ipv6"]))
def test_samples_cut_anywhere(name: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = content(samples / f"{name}.pcap.zst")
    resolved = 0
    for seed in range(SEEDS):
        # Fetch sessions, throttled connections and errors: what must meet rows of other runs.
        told = compare(raw, tmp_path / str(seed), seed, monkeypatch, apart=LONG or name == "throttle")
        resolved += told.spans
        assert not told.refuted, "a capture without losses"
        print(
            f"{name}: {told.travelled / told.bytes:.0%} of the bytes travelled, {told.spans} spans, {told.wholes} wholes"
        )
    assert resolved > 5 * SEEDS


def test_names_of_topic_ids_are_found_in_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No message names the topics that are fetched: batches of one task do that are fetched in another."""
    whole = ROOT / "tests" / "data" / "incidents" / "assignors_differ.pcap.zst"
    late = content(days(whole, 2, tmp_path)[1])
    expected = of_one_run(late, tmp_path, Options())
    assert any("'topic': 'orders', 'topic_id': '" in row for row in expected["batches"])
    for seed in range(SEEDS):
        compare(late, tmp_path / str(seed), seed, monkeypatch, expected=expected)


@pytest.mark.parametrize("damage", also_long(["lost"], ["by_turns", "twice", "moved"]))
def test_damaged_captures_cut_anywhere(
    damage: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = content(samples / "ipv6.pcap.zst")
    for seed in range(SEEDS):
        compare(damaged(raw, damage, random.Random(seed)), tmp_path / str(seed), seed, monkeypatch)


def damaged(raw: bytes, damage: str, chance: random.Random) -> bytes:
    """Packets lost, captured twice, or in another order than they were sent."""
    starts = packets(raw)
    records = [raw[start:end] for start, end in pairwise(starts)]
    if damage == "lost":
        records = [record for record in records if chance.random() > 0.01]
    if damage == "twice":
        records = [record for record in records for _ in range(chance.randint(1, 2))]
    if damage == "moved":
        for at in range(len(records) - 1):
            if chance.random() < 0.05:
                records[at : at + 2] = records[at + 1], records[at]
    if damage == "by_turns":  # as two threads write what each of them has collected
        for at in range(0, len(records), 40):
            queues: tuple[list[bytes], list[bytes]] = ([], [])
            for record in records[at : at + 40]:
                queues[chance.randrange(2)].append(record)
            records[at : at + 40] = queues[1] + queues[0]
    return raw[:24] + b"".join(records)


# Logins by token, packets of all interfaces; then a router, cut packets, others of the same kinds, and an old broker.
LAB = also_long(
    ["sasl_token", "shape_any"], ["routed_client", "shape_snap128", "basics", "sasl_old", "shape_late", "broker_11"]
)


@pytest.mark.parametrize("name", LAB)
def test_lab_captures_cut_anywhere(name: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sorted((shared / "captures" / "lab").glob(f"{name}.pcap*"))
    compare(content(found[0]), tmp_path, len(name), monkeypatch)


@pytest.mark.parametrize("version", also_long(["tls13"], ["tls12"]))
def test_tls_is_decrypted_where_all_of_it_is(
    version: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = shared / "captures" / "lab"
    options = Options(tls_key_logs=(lab / f"{version}.keylog",))
    compare(content(lab / f"{version}.pcap"), tmp_path, 1, monkeypatch, options)


@pytest.mark.skipif(not LONG, reason="minutes and more: KANALYZE_LONG=1 (KANALYZE_CUTS, KANALYZE_SEED)")
def test_every_lab_capture_cut_anywhere(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captures = sorted(path for path in (shared / "captures" / "lab").iterdir() if ".pcap" in path.name)
    for path in captures:
        raw = content(path)
        if raw[:4] not in LITTLE_ENDIAN:
            continue  # pcapng: cut by the plan (test_pool.py)
        log = path.with_name(path.name.partition(".")[0] + ".keylog")
        options = Options(tls_key_logs=(log,)) if log.exists() else Options()
        expected = of_one_run(raw, tmp_path, options)
        shares, wholes = [], 0
        for seed in range(SEED, SEED + CUTS):
            told = compare(raw, tmp_path / f"{path.name}.{seed}", seed, monkeypatch, options, expected)
            shares.append(told.travelled / told.bytes)
            wholes += told.wholes
            shutil.rmtree(tmp_path / f"{path.name}.{seed}")
        print(
            f"{path.name}: {CUTS} cuts, {min(shares):.0%} to {max(shares):.0%} of the bytes travelled, {wholes} wholes"
        )


# ---- what a task believes and the stitching refutes ----


def cut_conversation(conversation: Conversation, at: int, folder: Path) -> tuple[bytes, list[Task]]:
    """The capture of a conversation, and two tasks: before and from packet `at` on."""
    raw = pcap(merged([conversation]))
    starts = packets(raw)
    tasks = []
    for number, (start, end) in enumerate(((24, starts[at]), (starts[at], len(raw)))):
        path = folder / f"{number}.pcap"
        path.write_bytes(raw[:24] + raw[start:end])
        tasks.append(Task((Piece(number, 0, Source(str(path), path)),)))
    return raw, tasks


@pytest.fixture
def look_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "FRESH_BYTES", 0)
    monkeypatch.setattr(resolver, "LOOK_ROWS", 1)


@pytest.mark.usefixtures("look_always")
def test_a_reply_that_comes_after_later_ones_refutes(tmp_path: Path) -> None:
    """The second task sees requests and replies that fit, and does not know that an earlier request still waits."""
    conversation = Conversation().shake()
    for number in range(5):
        conversation.exchange(request(number), reply(number))
    conversation.frame(0, request(100))
    at = len(conversation.packets)
    for number in range(101, 140):
        conversation.exchange(request(number), reply(number))
    conversation.frame(1, reply(100))
    raw, tasks = cut_conversation(conversation, at, tmp_path)
    told = same_rows(raw, tasks, tmp_path, 2, Options())
    assert {task for task, _ in told.refuted} == {1}
    assert told.spans == 1, "that of the first task"


@pytest.mark.usefixtures("look_always")
def test_a_hole_that_is_waited_for_refutes(tmp_path: Path) -> None:
    """The last segment before the cut was not captured: one run still holds back what comes behind it."""
    conversation = Conversation().shake()
    for number in range(5):
        conversation.exchange(request(number), reply(number))
    conversation.exchange(request(5), reply(5))
    del conversation.packets[-1]
    at = len(conversation.packets)
    for number in range(6, 40):
        conversation.exchange(request(number), reply(number))
    raw, tasks = cut_conversation(conversation, at, tmp_path)
    told = same_rows(raw, tasks, tmp_path, 1, Options())
    assert {task for task, _ in told.refuted} == {1}


@pytest.mark.usefixtures("look_always")
def test_requests_may_wait_at_both_ends_of_a_span(tmp_path: Path) -> None:
    """A client that always has three requests under way is never without one."""
    conversation = Conversation().shake()
    conversation.exchange(request(0), reply(0))
    for number in range(1, 4):
        conversation.frame(0, request(number))
    for number in range(4, 80):
        conversation.frame(0, request(number))
        conversation.frame(1, reply(number - 3))
    raw, tasks = cut_conversation(conversation, 70, tmp_path)
    told = same_rows(raw, tasks, tmp_path, 1, Options())
    assert told.spans == 2
    assert not told.refuted


def test_raw_flows_travel_whole(samples: Path, tmp_path: Path) -> None:
    capture = samples / "throttle.pcap.zst"
    task = Task((Piece(3, 0, Source(str(capture), capture)),))
    (tmp_path / "some").mkdir()
    (tmp_path / "all").mkdir()
    read_task(task, tmp_path / "some", Options())
    some = pq.read_table(tmp_path / "some" / "fragments.parquet")
    flows = frozenset(flow for flow, kind in zip(*columns(some), strict=True) if kind in (MARKER, COMPLETE))
    assert flows
    outcome = read_task(task, tmp_path / "all", Options(), raw_flows=flows)
    every = pq.read_table(tmp_path / "all" / "fragments.parquet")
    assert {kind for _, kind in zip(*columns(every), strict=True)} == {SEGMENT}
    assert every.num_rows == outcome.readings[0].outcomes[layout.SEEN_TCP]
    assert outcome.summary.rows["exchanges"] == 0


def columns(table: pa.Table) -> tuple[list[int], list[int]]:
    return table.column("flow").to_pylist(), table.column("kind").to_pylist()


def test_fragments_hold_all_of_a_segment(samples: Path) -> None:
    """Both directions of a connection have one flow; of what waited, all or a part, what leaves comes out as it went in."""
    seen = []

    def take(block: memoryview, segments: memoryview, rows: int) -> None:
        waiting = of_batch(of_segments(block, segments, rows, first=7).batch())
        all_leave = memoryview(bytes([FATE_LEAVES]) * rows)
        twice = picked([waiting, waiting], [all_leave, all_leave], FATE_LEAVES)
        for start in (0, rows // 3):
            left = twice.some(start, start + rows).leaving()
            numbers = list(range(7, 7 + rows))
            assert left.column("number").to_pylist() == numbers[start:] + numbers[:start]
            for part in pieces(left.slice(0, rows - start).combine_chunks().to_batches()):
                data, again = unpack(part)
                for row in range(part.num_rows):
                    seen.append(part.column("flow")[row].as_py())
                    for column in range(layout.SEGMENT_COLUMNS):
                        if column not in (layout.SEGMENT_OFFSET, layout.SEGMENT_PART):
                            assert again[column, row] == segments[column, start + row]
                    at, size = again[layout.SEGMENT_OFFSET, row], again[layout.SEGMENT_CAPTURED, row]
                    first = segments[layout.SEGMENT_OFFSET, start + row]
                    assert data[at : at + size] == block[first : first + size]

    source = expand([str(samples / "throttle.pcap.zst")]).sources[0]
    Engine(take).read(0, source)
    with local.open_dataset([str(samples / "throttle.pcap.zst")], Options()) as whole:
        assert len(set(seen)) == len(whole.query("SELECT 1 FROM connections"))
