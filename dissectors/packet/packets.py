"""Finds the TCP segment in each packet: the head of this package's compiled stage.

A packet is read by one function for each layer (`link_layer`, `tunnels`, `ip`, `tcp_header`). Each looks at the bytes from
`at` on, moves `at` behind its header, narrows `end` (captured) and `wire` (sent) to what belongs to the next layer, and
returns the code of that layer (`layer_codes`). `layers` calls one after the other until one returns an outcome.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix
from dissectors.packet.datagrams import add_fragment
from dissectors.packet.ip_fragments import Fragments
from dissectors.packet.layer_codes import *
from dissectors.packet.layers import parse_packet
from dissectors.packet.packet_state import PacketState, find_link_column
from dissectors.packet.rare_links import RESOLVERS
from dissectors.packet.scopes import scope_number
from dissectors.packet.udp_ports import tunnels_of_ports


@cython.final
@cython.cclass
class Packets(PacketState):
    """Turns rows of the packets matrix into rows of the segments matrix, and counts packets that are no TCP segments.

    `scopes` describes each SEGMENT_SCOPE other than 0: outer layers first, separated by `, `. `datagram` holds the bytes of
    the last row after WHY_DATAGRAM, `fragments` the IP fragments that wait for the rest of their datagram.
    """

    def __init__(self, resolvers=RESOLVERS, fragments=None, shard=0, shards=1, weighed=False, tunnels=()):
        """`resolvers` maps a link type that this stage does not read itself to a function(bytes) -> offset of IP, or None.

        `fragments` may be shared by the stages of several inputs that are one capture. Of `shards` stages that read the same
        input, each hands on the segments of its own connections only: number `shard`, from 0. `weighed`: see `shards`; all
        stages must then be fed the same packets. `tunnels`: pairs of a UDP port and the name of the tunnel there (`udp_ports`).
        """
        self.tunnels = tunnels_of_ports(tunnels)
        self.shard = shard
        self.shards = shards
        self.weighed = weighed
        self.shards_of_buckets = new_matrix(1, BUCKETS if weighed else 1)
        self.segments_of_shards = new_matrix(1, shards)
        self.buckets_of_shards = new_matrix(1, shards)
        self.buckets_taken = 0
        self.resolvers = resolvers
        self.fragments = Fragments() if fragments is None else fragments
        self.stt_hosts = set()
        self.datagram = b""
        self.scopes = {}
        self.block = b""
        self.out = new_matrix(1, 1)
        self.recent = new_matrix(1, RECENT_SCOPES)
        self.tally = new_matrix(TALLIES, 65536)
        self.links = new_matrix(1 + SEEN_OUTCOMES, MOST_LINKS)
        self.links[0, 0] = -1  # no link type, so that the first packet finds its column
        self.link_count = 0
        self.link_column = 0
        self.is_ours = True
        self.begin(0)

    def begin(self, number_base, tap="", origin=0):
        """A new input: its segments are numbered `number_base` + packet number, and its time range begins anew.

        `tap` names the capture point, empty when nobody named it: equal addresses at two taps are kept apart. `origin` is
        added to the interface number of each segment.
        """
        self.number_base = number_base
        self.origin = origin
        self.base_scope = 0
        for byte in tap.encode():
            self.base_scope = scope_number(self.base_scope, byte)
        if tap:
            self.scopes[self.base_scope] = f"tap {tap}"
        self.first_time = UNKNOWN
        self.last_time = UNKNOWN

    def time_range(self):
        """(earliest, latest) time of all packets of the input, in ns; (None, None) when none has a time."""
        return (None, None) if self.first_time == UNKNOWN else (self.first_time, self.last_time)

    @cython.boundscheck(False)
    def feed(
        self,
        block: cython.const[cython.uchar][::1],
        packets: cython.longlong[:, ::1],
        rows: cython.longlong,
        start_row: cython.longlong,
        segments: cython.longlong[:, ::1],
    ):
        """Reads `packets[:, start_row:rows]`, whose offsets point into `block`, and writes `segments[SEGMENT_, ...]`.

        Returns (next row, segments written, why). After WHY_OUTPUT_FULL and WHY_DATAGRAM call again with `start_row` the
        next row and with an empty `segments`; after WHY_DATAGRAM the payload of the last segment is in `datagram`, not in
        `block`. Never raises for what is in a packet: each packet counts under exactly one SEEN_ outcome, fragments under
        that of their datagram once it is complete.
        """
        capacity: cython.longlong = segments.shape[1]
        packet: cython.longlong = start_row
        outcome: cython.longlong
        time: cython.longlong
        why: cython.longlong = WHY_DONE
        check_room(packets, PACKET_COLUMNS, rows)
        check_room(segments, SEGMENT_COLUMNS, 0)
        self.block = block
        self.out = segments
        self.row = 0
        while packet < rows:
            if self.row == capacity:
                why = WHY_OUTPUT_FULL
                break
            self.at = packets[PACKET_OFFSET, packet]
            self.end = self.at + packets[PACKET_CAPTURED, packet]
            self.wire = self.at + packets[PACKET_LENGTH, packet]
            self.bound = NO_BOUND
            self.scope = self.base_scope
            outcome = parse_packet(self, packets[PACKET_LINK, packet])
            if outcome == SEEN_FRAGMENT:
                outcome = add_fragment(self, packets, packet)
                self.block = block
                if outcome == SEEN_TCP and self.is_ours:
                    why = WHY_DATAGRAM
            if outcome == SEEN_TCP and self.is_ours:
                segments[SEGMENT_NUMBER, self.row] = self.number_base + packets[PACKET_NUMBER, packet]
                segments[SEGMENT_TIME, self.row] = packets[PACKET_TIME, packet]
                segments[SEGMENT_INTERFACE, self.row] = self.origin + packets[PACKET_INTERFACE, packet]
                self.row += 1
            if packets[PACKET_LINK, packet] != self.links[0, self.link_column]:
                find_link_column(self, packets[PACKET_LINK, packet])
            self.links[1 + outcome, self.link_column] += 1
            time = packets[PACKET_TIME, packet]
            if time != UNKNOWN:
                if self.first_time == UNKNOWN or time < self.first_time:
                    self.first_time = time
                if self.last_time == UNKNOWN or time > self.last_time:
                    self.last_time = time
            packet += 1
            if why != WHY_DONE:
                break
        self.block = b""  # releases the buffer, so that the caller can resize it
        return packet, self.row, why

    def outcomes(self):
        """Packets by SEEN_ outcome so far, as a list."""
        return [
            sum(self.links[1 + outcome, link] for link in range(self.link_count)) for outcome in range(SEEN_OUTCOMES)
        ]

    def by_link(self):
        """Link type -> its packets by SEEN_ outcome. The last of MOST_LINKS link types includes all further ones."""
        return {
            self.links[0, link]: [self.links[1 + outcome, link] for outcome in range(SEEN_OUTCOMES)]
            for link in range(self.link_count)
        }

    def tcp_ports(self):
        """Port -> TCP segments from or to it."""
        return self._counts(TALLY_TCP_PORTS)

    def udp_ports(self):
        """Port of the service -> UDP packets that are no tunnel, or none that is read."""
        return self._counts(TALLY_UDP_PORTS)

    def ethertypes(self):
        """Ethertype -> packets without IP; 0 counts 802.3 frames."""
        return self._counts(TALLY_ETHERTYPES)

    def protocols(self):
        """IP protocol number -> IP packets that carry it instead of TCP (UDP included)."""
        return self._counts(TALLY_PROTOCOLS)

    def _counts(self, row):
        return {name: self.tally[row, name] for name in range(65536) if self.tally[row, name]}
