"""Finds the TCP segment in each packet: the head of this package's compiled stage.

A packet is read by one function for each layer (`link_layer`, `tunnels`, `ip`, `tcp_header`). Each looks at the bytes from
`at` on, moves `at` behind its header, narrows `end` (captured) and `wire` (sent) to what belongs to the next layer, and
returns the code of that layer (`layer_codes`). `layers` calls one after the other until one returns an outcome.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix
from dissectors.packet.datagrams import add_fragment, find_link_column
from dissectors.packet.ip_fragments import Fragments
from dissectors.packet.layer_codes import *
from dissectors.packet.layers import parse_packet
from dissectors.packet.packet_state import PacketState
from dissectors.packet.rare_links import RESOLVERS
from dissectors.packet.scopes import scope_number


@cython.final
@cython.cclass
class Packets(PacketState):
    """Turns rows of the packets matrix into rows of the segments matrix, and counts everything that is no segment.

    `scopes` says what each SEGMENT_SCOPE other than 0 stands for: outer layers first, separated by `, `. A scope's
    number is a hash of its layers, so that every split of a capture gives it the same one. `datagram` holds the bytes of
    the last row after WHY_DATAGRAM, `fragments` what waits for the rest of its datagram.
    """

    def __init__(self, resolvers=RESOLVERS, fragments=None, share=0, shares=1, weighed=False):
        """`resolvers` maps a link type that this stage does not read to a function(bytes) -> offset of IP, or None.

        `fragments` may be shared by the stages of inputs that are one capture. Of `shares` stages that read the same
        input, each hands on the segments of its own connections only: share `share`, from 0. With `weighed` the hash of a
        connection tells one of OWNERS places, and each place gets a share when it is first met, by how many segments the
        shares have had: all stages must be given the same packets then.
        """
        self.shard = share
        self.shards = shares
        self.weighed = weighed
        self.shards_of_buckets = new_matrix(1, OWNERS if weighed else 1)
        self.segments_of_shards = new_matrix(1, shares)
        self.buckets_of_shards = new_matrix(1, shares)
        self.buckets_taken = 0
        self.resolvers = resolvers
        self.fragments = Fragments() if fragments is None else fragments
        self.datagram = b""
        self.scopes = {}
        self.block = b""
        self.out = new_matrix(1, 1)
        self.recent = new_matrix(1, RECENT_SCOPES)
        self.tally = new_matrix(4, 65536)
        self.links = new_matrix(1 + SEEN_OUTCOMES, MOST_LINKS)
        self.links[0, 0] = -1  # no link type: the first packet makes itself a column
        self.link_count = 0
        self.link_column = 0
        self.is_ours = True
        self.begin(0)

    def begin(self, number_base, tap="", origin=0):
        """A new input: its segments are numbered `number_base` + packet number, and its time range starts anew.

        `tap` names where it was taken, if somebody said so: equal addresses of two taps are kept apart. `origin` is
        added to the number of each segment's interface.
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
        """(earliest, latest) time of the input's packets of every kind, ns; (None, None) when none has a time."""
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

        Returns (next_row, segments_written, why): WHY_OUTPUT_FULL wants a call with `start_row=next_row` and an empty
        `segments`, and so does WHY_DATAGRAM, after which the bytes of the last row are in `datagram`, not in `block`.
        Never raises for what is in a packet: each counts under exactly one SEEN_ outcome, fragments under that of their
        datagram once it is complete.
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
        self.block = b""  # or the caller could not resize its buffer
        return packet, self.row, why

    def outcomes(self):
        """How many packets ended in each SEEN_ outcome so far, a list indexed by it."""
        return [
            sum(self.links[1 + outcome, link] for link in range(self.link_count)) for outcome in range(SEEN_OUTCOMES)
        ]

    def by_link(self):
        """Link type -> its packets by SEEN_ outcome. The last of very many link types takes in all further ones."""
        return {
            self.links[0, link]: [self.links[1 + outcome, link] for outcome in range(SEEN_OUTCOMES)]
            for link in range(self.link_count)
        }

    def tcp_ports(self):
        """Port -> TCP segments from or to it."""
        return self._counts(TCP_PORTS)

    def udp_ports(self):
        """Port -> UDP packets from or to it, where no tunnel was recognised inside."""
        return self._counts(UDP_PORTS)

    def ethertypes(self):
        """Ethertype -> packets of it without IP; 0 counts 802.3 frames."""
        return self._counts(ETHERTYPES)

    def protocols(self):
        """IP protocol number -> IP packets that carry it instead of TCP (UDP included)."""
        return self._counts(PROTOCOLS)

    def _counts(self, row):
        return {name: self.tally[row, name] for name in range(65536) if self.tally[row, name]}
