#!/usr/bin/env bash
# The Rust crate pcap-file 2.0.0 reads every pcapng time as nanoseconds, so ordinary microsecond files lie in January 1970.
#
# Expected: EnhancedPacketBlock::timestamp is a Duration, not a number of units, so the reader has applied if_tsresol, whose
#   default is microseconds.
# Seen: the 64-bit number is taken as nanoseconds whatever the interface says. A packet of November 2023 has the Duration
#   1,700,000.00025 s (20 January 1970), a thousand times too short; if_tsoffset is ignored as well. The same crate's reader
#   of classic pcap is right for both magic numbers, so a test with a pcap file passes.
# Why it matters: differences shrink a thousandfold too: a request of 40 ms takes 40 us, which looks like a very fast broker,
#   not like a mistake.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v cargo >/dev/null || { echo "needs Rust (cargo)"; exit 1; }
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "finding"
version = "0.1.0"
edition = "2021"

[dependencies]
pcap-file = "=2.0.0"
TOML
cat > src/main.rs <<'RUST'
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn block(kind: u32, body: &[u32]) -> Vec<u8> {
    let length = 4 * body.len() as u32 + 12;
    [words(&[kind, length]), words(body), words(&[length])].concat()
}

fn main() {
    let section = block(0x0A0D_0D0A, &[0x1A2B_3C4D, 1, u32::MAX, u32::MAX]);
    let time = 1_700_000_000_250_000u64;
    let packet = |time: u64| block(6, &[0, (time >> 32) as u32, time as u32, 4, 4, 0]);
    let cases = [
        ("no if_tsresol (microseconds)", block(1, &[1, 0]), packet(time)),
        ("if_tsresol 6", block(1, &[1, 0, 9 | 1 << 16, 6, 0]), packet(time)),
        ("if_tsresol 9", block(1, &[1, 0, 9 | 1 << 16, 9, 0]), packet(time * 1000)),
        ("if_tsresol 6, if_tsoffset", block(1, &[1, 0, 9 | 1 << 16, 6, 14 | 8 << 16, 1_700_000_000, 0, 0]), packet(250_000)),
    ];
    for (name, interface, packet) in cases {
        let file = [section.clone(), interface, packet].concat();
        let mut reader = PcapNgReader::new(&file[..]).unwrap();
        while let Some(Ok(block)) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block {
                println!("pcapng, {name}: {:?}", packet.timestamp);
            }
        }
    }
    for (name, magic, part) in [("micro", 0xA1B2_C3D4u32, 250_000u32), ("nano", 0xA1B2_3C4D, 250_000_000)] {
        let file = words(&[magic, 2 | 4 << 16, 0, 0, 65535, 1, 1_700_000_000, part, 4, 4, 0]);
        let packet = PcapReader::new(&file[..]).unwrap().next_packet().unwrap().unwrap().timestamp;
        println!("pcap, {name}: {packet:?}");
    }
}
RUST
cargo run -q > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what pcap-file 2.0.0 did when this was written"; exit 1; }
pcapng, no if_tsresol (microseconds): 1700000.00025s
pcapng, if_tsresol 6: 1700000.00025s
pcapng, if_tsresol 9: 1700000000.25s
pcapng, if_tsresol 6, if_tsoffset: 250µs
pcap, micro: 1700000000.25s
pcap, nano: 1700000000.25s
EXPECTED
echo "as described: pcap-file takes microseconds for nanoseconds"
