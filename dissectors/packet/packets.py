"""Finds the TCP segment in each packet: link layer, VLANs, tunnels, IPv4, IPv6, TCP.

One function per layer. Each looks at the bytes from `at` on, moves `at` behind its header, narrows `end` (captured)
and `wire` (sent) to what belongs to the next layer, and returns that layer's code: an ethertype as it is, an IP
protocol plus IP_PROTOCOL, a LINKTYPE_ plus LINK, or a final outcome as `-2 - SEEN_...` (-1 is left to exceptions).
"""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix
from dissectors.packet.ip_fragments import Fragments
from dissectors.packet.rare_links import RESOLVERS

# Codes of the next layer, as C values.
IP_PROTOCOL = cython.declare(cython.longlong, 0x10000)
LINK = cython.declare(cython.longlong, 0x20000)
LLC = cython.declare(cython.longlong, 0x40000)
ANY_IP = cython.declare(cython.longlong, 0x40001)  # IPv4 or IPv6, as the first four bits say
DEEPEST = cython.declare(cython.longlong, 32)  # layers in one packet: a loop of headers cannot hold us

# Kinds of scope: what may lie between equal addresses of different networks.
SCOPE_NAMES = ("vlan", "pppoe session", "ip in ip", "gre", "erspan session", "vxlan", "geneve")
VLAN = cython.declare(cython.longlong, 0)
PPPOE = cython.declare(cython.longlong, 1)
IP_IN_IP = cython.declare(cython.longlong, 2)
GRE = cython.declare(cython.longlong, 3)
ERSPAN = cython.declare(cython.longlong, 4)
VXLAN = cython.declare(cython.longlong, 5)
GENEVE = cython.declare(cython.longlong, 6)
RECENT_SCOPES = 64
# Places of connections, a power of two, to each of which a share is assigned.
OWNERS = cython.declare(cython.longlong, 8_192)
MOST_SCOPES = 65_536  # descriptions kept; further scopes still get their numbers

# Rows of the tally of 16-bit names.
TCP_PORTS = cython.declare(cython.longlong, 0)
UDP_PORTS = cython.declare(cython.longlong, 1)
ETHERTYPES = cython.declare(cython.longlong, 2)  # of packets without IP; 0 stands for 802.3 frames
PROTOCOLS = cython.declare(cython.longlong, 3)  # of IP packets without TCP
MOST_LINKS = 64

# Literals beyond 32 bits would be Python objects in compiled code.
MAPPED = cython.declare(cython.longlong, 0xFFFF00000000)  # ::ffff:0:0, where IPv4 addresses live
SIGN = cython.declare(cython.longlong, 0x80000000)
HIGH_HALF = cython.declare(cython.longlong, 0x100000000)
LARGEST_SEGMENT = cython.declare(
    cython.longlong, 16777216
)  # offload makes 512 KiB; what claims more would skip a stream
NO_BOUND = cython.declare(cython.longlong, 1 << 62)

# Constants of Steele's SplitMix64, as C values.
GAMMA = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
FIRST_MIX = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
SECOND_MIX = cython.declare(cython.ulonglong, 0x94D049BB133111EB)
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)  # plain Python numbers do not wrap


@cython.cclass
class Packets:
    """Turns rows of the packets matrix into rows of the segments matrix, and counts everything that is no segment.

    `scopes` says what each SEGMENT_SCOPE other than 0 stands for: outer layers first, separated by `, `. A scope's
    number is a hash of its layers, so that every split of a capture gives it the same one. `datagram` holds the bytes of
    the last row after WHY_DATAGRAM, `fragments` what waits for the rest of its datagram.
    """

    scopes = cython.declare(dict, visibility="readonly")
    datagram = cython.declare(bytes, visibility="readonly")
    fragments = cython.declare(object, visibility="readonly")
    resolvers: object
    block: cython.const[cython.uchar][::1]
    out: cython.longlong[:, ::1]
    recent: cython.longlong[:, ::1]
    tally: cython.longlong[:, ::1]
    links: cython.longlong[:, ::1]  # row 0: link type, then one row per outcome
    link_count: cython.longlong
    link_column: cython.longlong
    number_base: cython.longlong
    share: cython.longlong
    shares: cython.longlong
    owners: cython.longlong[:, ::1]  # of connections, by their hash: share + 1, 0 for nobody yet
    loads: cython.longlong[:, ::1]  # segments of each share
    places: cython.longlong[:, ::1]  # places of each share
    placed: cython.longlong  # and of all
    weighed: cython.bint
    base_scope: cython.longlong
    origin: cython.longlong
    first_time: cython.longlong
    last_time: cython.longlong
    at: cython.longlong
    end: cython.longlong
    wire: cython.longlong
    bound: cython.longlong  # the least end that a header's length field gave
    scope: cython.longlong
    row: cython.longlong
    source_high: cython.longlong
    source_low: cython.longlong
    target_high: cython.longlong
    target_low: cython.longlong
    ttl: cython.longlong
    ip_id: cython.longlong
    is_mine: cython.bint  # the segment belongs to a connection of this share
    # The fragment that was met: its payload is [at, end), of `wire` - `at` bytes.
    piece_id: cython.longlong
    piece_offset: cython.longlong
    piece_more: cython.bint
    piece_protocol: cython.longlong
    piece_family: cython.longlong

    def __init__(self, resolvers=RESOLVERS, fragments=None, share=0, shares=1, weighed=False):
        """`resolvers` maps a link type that this stage does not read to a function(bytes) -> offset of IP, or None.

        `fragments` may be shared by the stages of inputs that are one capture. Of `shares` stages that read the same
        input, each hands on the segments of its own connections only: share `share`, from 0. With `weighed` the hash of a
        connection tells one of OWNERS places, and each place gets a share when it is first met, by how many segments the
        shares have had: all stages must be given the same packets then.
        """
        self.share = share
        self.shares = shares
        self.weighed = weighed
        self.owners = new_matrix(1, OWNERS if weighed else 1)
        self.loads = new_matrix(1, shares)
        self.places = new_matrix(1, shares)
        self.placed = 0
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
        self.is_mine = True
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
            self.base_scope = _mixed(self.base_scope, byte)
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
            outcome = self._walk(packets[PACKET_LINK, packet])
            if outcome == SEEN_FRAGMENT:
                outcome = self._put_together(packets, packet)
                self.block = block
                if outcome == SEEN_TCP and self.is_mine:
                    why = WHY_DATAGRAM
            if outcome == SEEN_TCP and self.is_mine:
                segments[SEGMENT_NUMBER, self.row] = self.number_base + packets[PACKET_NUMBER, packet]
                segments[SEGMENT_TIME, self.row] = packets[PACKET_TIME, packet]
                segments[SEGMENT_INTERFACE, self.row] = self.origin + packets[PACKET_INTERFACE, packet]
                self.row += 1
            if packets[PACKET_LINK, packet] != self.links[0, self.link_column]:
                self._find_link(packets[PACKET_LINK, packet])
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

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    @cython.boundscheck(False)
    def _belongs(self, ports: cython.longlong) -> cython.bint:
        """Is the segment, whose two ports have this sum, of a connection of this share? The same for both directions."""
        place: cython.longlong
        if self.shares == 1:
            return True
        # A sum: of addresses in one network, which differ little, nothing but that difference would be left otherwise.
        place = self.source_low + self.target_low
        place = ((place & 0x7FFFFFFF) + ports * 40503) & 0x7FFFFFFF
        # Mixed twice: addresses and ports often differ by a fixed step.
        place = ((place ^ (place >> 16)) * 73244475) & 0x7FFFFFFF
        place = ((place ^ (place >> 15)) * 73244475) & 0x7FFFFFFF
        place ^= place >> 16
        return (self._owner(place & (OWNERS - 1)) if self.weighed else place % self.shares) == self.share

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _owner(self, place: cython.longlong) -> cython.longlong:
        """The share whose connections of this place are, once and for all. Connections differ much in size, so a new place goes
        to the share that has had the fewest segments, among those that have not a quarter more places than all on average:
        what one connection did early must not decide where all later ones go."""
        share: cython.longlong
        owner: cython.longlong = self.owners[0, place] - 1
        if owner < 0:
            for share in range(self.shares):
                if 4 * self.shares * self.places[0, share] > 5 * self.placed + 32 * self.shares:
                    continue
                if owner < 0 or self.loads[0, share] < self.loads[0, owner]:
                    owner = share
            self.owners[0, place] = owner + 1
            self.places[0, owner] += 1
            self.placed += 1
        self.loads[0, owner] += 1
        return owner

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

    def _find_link(self, link):
        for column in range(self.link_count):
            if self.links[0, column] == link:
                self.link_column = column
                return
        self.link_column = min(self.link_count, MOST_LINKS - 1)
        if self.link_count < MOST_LINKS:
            self.links[0, self.link_count] = link
            self.link_count += 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _walk(self, link: cython.longlong) -> cython.longlong:
        """The packet's outcome; a segment (SEEN_TCP) that `is_mine` is in row `row`, but for number, time and interface."""
        if link < 0 or link > 0xFFFF:
            return SEEN_UNKNOWN_LINK
        return self._layers(LINK + link)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _layers(self, layer: cython.longlong) -> cython.longlong:
        depth: cython.longlong = 0
        while layer >= 0:
            depth += 1
            if depth > DEEPEST:
                return SEEN_MALFORMED
            if layer == 0x0800:
                layer = self._ipv4()
            elif layer == IP_PROTOCOL + 6:
                layer = self._tcp()
            elif layer == 0x86DD:
                layer = self._ipv6()
            elif layer >= LINK:
                layer = self._link(layer)
            elif layer >= IP_PROTOCOL:
                layer = self._ip_protocol(layer - IP_PROTOCOL)
            else:
                layer = self._ethertype(layer)
        return -2 - layer

    # Dispatch: where a new layer gets its line.

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _link(self, layer: cython.longlong) -> cython.longlong:
        link: cython.longlong = layer - LINK
        if link == 1:
            return self._ethernet()
        if link == 113:
            return self._cooked()
        if link == 276:
            return self._cooked_2()
        if link in (101, 12, 14, 228, 229) or layer == ANY_IP:
            return self._any_ip()
        if link in (0, 108):
            return self._null()
        if layer == LLC:
            return self._llc()
        return self._rare(link)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ethertype(self, kind: cython.longlong) -> cython.longlong:
        if kind in (0x8100, 0x88A8, 0x9100, 0x9200, 0x9300):
            return self._vlan()
        if kind in (0x8847, 0x8848):
            return self._mpls()
        if kind == 0x8864:
            return self._pppoe()
        if kind == 0x6558:
            return LINK + 1
        self.tally[ETHERTYPES, kind] += 1
        return -2 - SEEN_NOT_IP

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ip_protocol(self, kind: cython.longlong) -> cython.longlong:
        layer: cython.longlong = -2 - SEEN_NOT_TCP
        if kind == 17:
            layer = self._udp()
        elif kind in (4, 41):
            self._enter(IP_IN_IP, 0)
            return 0x0800 if kind == 4 else 0x86DD
        elif kind == 47:
            layer = self._gre()
        elif kind == 137:
            return self._mpls()
        if layer < 0:
            self.tally[PROTOCOLS, kind] += 1
        return layer

    # Link layers.

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ethernet(self) -> cython.longlong:
        if self.at + 14 > self.end:
            return self._short()
        kind: cython.longlong = self._u16(self.at + 12)
        self.at += 14
        return kind if kind >= 1536 else self._length_field(kind)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _length_field(self, length: cython.longlong) -> cython.longlong:
        """802.3: where other frames have an ethertype stands the length, and an LLC header follows."""
        if length > 1500:
            self.tally[ETHERTYPES, length] += 1
            return -2 - SEEN_NOT_IP
        self._narrow(self.at + length)
        return LLC

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _llc(self) -> cython.longlong:
        """IEEE 802.2; IP is there behind a SNAP header (RFC 1042, or its 802.1H variant), rarely under a SAP of its own."""
        if self.at + 3 > self.end:
            return self._short()
        if self.block[self.at] == 6 and self.block[self.at + 1] == 6:
            self.at += 3
            return 0x0800
        if self.block[self.at] == 0xAA and self.block[self.at + 1] == 0xAA:
            if self.at + 8 > self.end:
                return self._short()
            if self.block[self.at + 3] == 0 and self.block[self.at + 4] == 0 and self.block[self.at + 5] in (0, 0xF8):
                self.at += 8
                return self._u16(self.at - 2)
        self.tally[ETHERTYPES, 0] += 1
        return -2 - SEEN_NOT_IP

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _cooked(self) -> cython.longlong:
        """Linux cooked v1: protocol 1 to 4 are no ethertypes (4 is LLC), nor is that of a netlink device (824)."""
        if self.at + 16 > self.end:
            return self._short()
        kind: cython.longlong = self._u16(self.at + 14)
        device: cython.longlong = self._u16(self.at + 2)
        self.at += 16
        return self._cooked_protocol(kind, device)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _cooked_2(self) -> cython.longlong:
        if self.at + 20 > self.end:
            return self._short()
        kind: cython.longlong = self._u16(self.at)
        device: cython.longlong = self._u16(self.at + 8)
        self.at += 20
        return self._cooked_protocol(kind, device)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _cooked_protocol(self, kind: cython.longlong, device: cython.longlong) -> cython.longlong:
        if device == 824 or (kind < 1536 and kind != 4):
            self.tally[ETHERTYPES, kind] += 1
            return -2 - SEEN_NOT_IP
        return LLC if kind == 4 else kind

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _null(self) -> cython.longlong:
        """BSD loopback: the address family in the byte order of the machine that captured, so both are tried."""
        if self.at + 4 > self.end:
            return self._short()
        family: cython.longlong = self._u16(self.at + 2)
        if family == 0:
            family = self.block[self.at]
        elif self._u16(self.at) != 0:
            family = 0
        self.at += 4
        if family == 2:
            return 0x0800
        if family in (10, 23, 24, 28, 30):  # Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin
            return 0x86DD
        return -2 - SEEN_NOT_IP

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _any_ip(self) -> cython.longlong:
        if self.at >= self.end:
            return self._short()
        version: cython.longlong = self.block[self.at] >> 4
        if version == 4:
            return 0x0800
        return 0x86DD if version == 6 else -2 - SEEN_MALFORMED

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rare(self, link: cython.longlong) -> cython.longlong:
        """Link types of `rare_links`: Python objects for every packet, which is fine as they are rare."""
        resolve = self.resolvers.get(link)
        if resolve is None:
            return -2 - SEEN_UNKNOWN_LINK
        found = resolve(bytes(self.block[self.at : self.end]))
        if found is None:
            return -2 - SEEN_NOT_IP
        self.at += found
        return ANY_IP

    # Between link and IP, and tunnels.

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _vlan(self) -> cython.longlong:
        if self.at + 4 > self.end:
            return self._short()
        number: cython.longlong = self._u16(self.at) & 0xFFF
        kind: cython.longlong = self._u16(self.at + 2)
        self.at += 4
        if number != 0:  # 0 only carries a priority: the frame belongs to no VLAN
            self._enter(VLAN, number)
        return kind if kind >= 1536 else self._length_field(kind)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _mpls(self) -> cython.longlong:
        """RFC 3032. Labels differ between the two directions, so they make no scope; the payload has no type field."""
        labels: cython.longlong = 0
        bottom: cython.longlong = 0
        while bottom == 0:
            labels += 1
            if labels > DEEPEST:
                return -2 - SEEN_MALFORMED
            if self.at + 5 > self.end:
                return self._short()
            bottom = self.block[self.at + 2] & 1
            self.at += 4
        version: cython.longlong = self.block[self.at] >> 4
        if version == 0:  # a pseudowire's control word, and an Ethernet frame behind it (RFC 4448)
            self.at += 4
            return LINK + 1
        if version == 4:
            return 0x0800
        return 0x86DD if version == 6 else -2 - SEEN_NOT_IP

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _pppoe(self) -> cython.longlong:
        if self.at + 8 > self.end:
            return self._short()
        kind: cython.longlong = self._u16(self.at + 6)
        self._enter(PPPOE, self._u16(self.at + 2))
        self._narrow(self.at + 6 + self._u16(self.at + 4))
        self.at += 8
        if kind == 0x21:
            return 0x0800
        return 0x86DD if kind == 0x57 else -2 - SEEN_NOT_IP

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _gre(self) -> cython.longlong:
        """RFC 2784, 2890, and Cisco's ERSPAN. A key makes no scope: VMware's mirrors write the direction into it."""
        if self.at + 4 > self.end:
            return self._short()
        flags: cython.longlong = self._u16(self.at)
        kind: cython.longlong = self._u16(self.at + 2)
        if flags & 0x4007:  # source routing, or another version (PPTP)
            return -2 - SEEN_NOT_TCP
        self.at += 8 if flags & 0x8000 else 4
        self.at += 4 if flags & 0x2000 else 0
        self.at += 4 if flags & 0x1000 else 0
        if kind in (0x88BE, 0x22EB):
            return self._erspan(kind, flags & 0x1000)
        self._enter(GRE, 0)
        return kind

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _erspan(self, kind: cython.longlong, numbered: cython.longlong) -> cython.longlong:
        """A mirrored Ethernet frame: type I has no header, type II 8 bytes, type III 12 and maybe 8 more."""
        if kind == 0x88BE and numbered == 0:
            self._enter(ERSPAN, 0)
            return LINK + 1
        if self.at + 12 > self.end:
            return self._short()
        self._enter(ERSPAN, self._u16(self.at + 2) & 0x3FF)
        if kind == 0x88BE:
            self.at += 8
        else:
            self.at += 20 if self.block[self.at + 11] & 1 else 12
        return LINK + 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _udp(self) -> cython.longlong:
        """VXLAN (RFC 7348; 8472 is Linux's old port) and Geneve (RFC 8926), if the header agrees with the port."""
        if self.at + 8 > self.end:
            return self._short()
        source: cython.longlong = self._u16(self.at)
        target: cython.longlong = self._u16(self.at + 2)
        if target in (4789, 8472) and self.at + 16 <= self.end and self._u32(self.at + 8) == 0x08000000:
            self._enter(VXLAN, self._u32(self.at + 12) >> 8)
            self.at += 16
            return LINK + 1
        if target == 6081 and self.at + 16 <= self.end and self.block[self.at + 8] < 0x40:
            options: cython.longlong = self.block[self.at + 8]
            kind: cython.longlong = self._u16(self.at + 10)
            if kind in (0x6558, 0x0800, 0x86DD):
                self._enter(GENEVE, self._u32(self.at + 12) >> 8)
                self.at += 16 + 4 * options
                return kind
        self.tally[UDP_PORTS, source] += 1
        if source != target:
            self.tally[UDP_PORTS, target] += 1
        return -2 - SEEN_NOT_TCP

    # IP.

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ipv4(self) -> cython.longlong:
        """RFC 791. Total length 0 is what a sender with TSO shows before the card cuts the packet up."""
        at: cython.longlong = self.at
        if at + 20 > self.end:
            return self._short()
        first: cython.longlong = self.block[at]
        header: cython.longlong = (first & 15) * 4
        total: cython.longlong = self._u16(at + 2)
        if first >> 4 != 4 or header < 20:
            return -2 - SEEN_MALFORMED
        if total != 0:
            if total < header:
                return -2 - SEEN_MALFORMED
            self._narrow(at + total)
        self.source_high = 0
        self.target_high = 0
        self.source_low = MAPPED | self._u32(at + 12)
        self.target_low = MAPPED | self._u32(at + 16)
        self.ttl = self.block[at + 8]
        self.ip_id = self._u16(at + 4)
        self.at = at + header
        if self._u16(at + 6) & 0x3FFF:
            return self._piece(4, self.ip_id, self._u16(at + 6) << 3, self._u16(at + 6) & 0x2000, self.block[at + 9])
        return IP_PROTOCOL + self.block[at + 9]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _ipv6(self) -> cython.longlong:
        """RFC 8200. Payload length 0 means a jumbogram (RFC 2675), or TSO as in IPv4."""
        at: cython.longlong = self.at
        if at + 40 > self.end:
            return self._short()
        if self.block[at] >> 4 != 6:
            return -2 - SEEN_MALFORMED
        payload: cython.longlong = self._u16(at + 4)
        kind: cython.longlong = self.block[at + 6]
        if payload != 0:
            self._narrow(at + 40 + payload)
        self.source_high = self._i64(at + 8)
        self.source_low = self._i64(at + 16)
        self.target_high = self._i64(at + 24)
        self.target_low = self._i64(at + 32)
        self.ttl = self.block[at + 7]
        self.ip_id = UNKNOWN
        self.at = at + 40
        if kind == 6:
            return IP_PROTOCOL + 6
        if kind == 0 and payload == 0:
            self._jumbo()
        return self._extensions(kind)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _extensions(self, kind: cython.longlong) -> cython.longlong:
        """The chain of extension headers: every one takes 8 bytes or more, so the packet's end is the loop's."""
        size: cython.longlong
        while kind in (0, 43, 44, 51, 60, 135, 139, 140):
            if self.at + 8 > self.end:
                return self._short()
            size = self.block[self.at + 1]
            size = 8 if kind == 44 else size * 4 + 8 if kind == 51 else size * 8 + 8
            if kind == 44 and self._u16(self.at + 2) & 0xFFF9:
                self.at += 8
                size = self._u16(self.at - 6)
                return self._piece(6, self._u32(self.at - 4), size & 0xFFF8, size & 1, self.block[self.at - 8])
            kind = self.block[self.at]
            self.at += size
        return IP_PROTOCOL + kind

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _piece(
        self,
        family: cython.longlong,
        number: cython.longlong,
        offset: cython.longlong,
        more: cython.longlong,
        protocol: cython.longlong,
    ) -> cython.longlong:
        """Notes a fragment, whose payload begins at `at`: what it belongs to is looked up when the packet is left."""
        self.piece_family = family
        self.piece_id = number
        self.piece_offset = offset & 0xFFFF
        self.piece_more = more != 0
        self.piece_protocol = protocol
        return -2 - SEEN_FRAGMENT

    @cython.cfunc
    def _put_together(self, packets: cython.longlong[:, ::1], packet: cython.longlong) -> cython.longlong:
        """The outcome of a fragment: that of its datagram when it is the last one missing, which the others then share.

        Fragments of different interfaces are never mixed: a copy of a datagram must not fill the holes of another. For
        IPv6 the key has no protocol (RFC 8200, 4.5), and TTL and id are those of the fragment that came last.
        """
        outcome: cython.longlong = SEEN_FRAGMENT
        while outcome == SEEN_FRAGMENT and self.at <= self.end:
            key = (
                self.scope, self.origin + packets[PACKET_INTERFACE, packet], self.piece_family, self.piece_id,
                self.source_high, self.source_low, self.target_high, self.target_low,
                self.piece_protocol if self.piece_family == 4 else 0,
            )  # fmt: skip
            place = (self.piece_offset, self.wire - self.at, self.piece_more)
            data = bytes(self.block[self.at : self.end])
            whole = self.fragments.add(
                key, self.number_base, packets[PACKET_TIME, packet], place, data, self.piece_protocol
            )
            if whole is None or whole.protocol is None:
                break
            self.datagram = whole.payload()
            self.block = self.datagram
            self.at = 0
            self.end = len(self.datagram)
            self.wire = whole.total
            self.bound = whole.total
            if self.piece_family == 4:
                outcome = self._layers(IP_PROTOCOL + cython.cast(cython.longlong, whole.protocol))
            else:
                outcome = self._layers_of_6(whole.protocol)
            if packets[PACKET_LINK, packet] != self.links[0, self.link_column]:
                self._find_link(packets[PACKET_LINK, packet])
            self.links[1 + SEEN_FRAGMENT, self.link_column] -= whole.packets - 1
            self.links[1 + outcome, self.link_column] += whole.packets - 1
        return outcome

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _layers_of_6(self, kind: cython.longlong) -> cython.longlong:
        """What follows the fragment header of a whole datagram, further extension headers first."""
        layer: cython.longlong = self._extensions(kind)
        return self._layers(layer) if layer >= 0 else -2 - layer

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _jumbo(self) -> cython.longlong:
        """Takes the length from the jumbo payload option of the hop-by-hop header at `at`, from where it counts."""
        if self.at + 8 > self.end:
            return 0
        size: cython.longlong = self.block[self.at + 1]
        stop: cython.longlong = min(self.at + size * 8 + 8, self.end)
        option: cython.longlong = self.at + 2
        while option + 6 <= stop:
            if self.block[option] == 0xC2 and self.block[option + 1] == 4:
                self._narrow(self.at + self._u32(option + 2))
                return 0
            option += 1 if self.block[option] == 0 else 2 + self.block[option + 1]
        return 0

    # TCP.

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    @cython.boundscheck(False)
    def _tcp(self) -> cython.longlong:
        """RFC 9293. A header cut by snaplen still counts if its flags are there: the stream moves on by the length."""
        at: cython.longlong = self.at
        row: cython.longlong = self.row
        if at + 20 > self.wire:
            return -2 - SEEN_MALFORMED
        if at + 14 > self.end:
            return -2 - SEEN_CUT
        header: cython.longlong = (self._u8(at + 12) >> 4) * 4
        if header < 20 or at + header > self.wire or self.wire - at > LARGEST_SEGMENT:
            return -2 - SEEN_MALFORMED
        source: cython.longlong = self._u16(at)
        target: cython.longlong = self._u16(at + 2)
        payload: cython.longlong = at + header
        self.tally[TCP_PORTS, source] += 1
        if source != target:
            self.tally[TCP_PORTS, target] += 1
        self.is_mine = self._belongs(source + target)
        if not self.is_mine:
            return -2 - SEEN_TCP
        self.out[SEGMENT_SRC_HIGH, row] = self.source_high
        self.out[SEGMENT_SRC_LOW, row] = self.source_low
        self.out[SEGMENT_DST_HIGH, row] = self.target_high
        self.out[SEGMENT_DST_LOW, row] = self.target_low
        self.out[SEGMENT_SRC_PORT, row] = source
        self.out[SEGMENT_DST_PORT, row] = target
        self.out[SEGMENT_SEQ, row] = self._u32(at + 4)
        self.out[SEGMENT_ACK, row] = self._u32(at + 8)
        self.out[SEGMENT_FLAGS, row] = self._u8(at + 13)
        self.out[SEGMENT_WINDOW, row] = self._u16(at + 14) if at + 16 <= self.end else UNKNOWN
        self.out[SEGMENT_OFFSET, row] = payload if payload < self.end else self.end
        self.out[SEGMENT_CAPTURED, row] = self.end - payload if payload < self.end else 0
        self.out[SEGMENT_LENGTH, row] = self.wire - payload
        self.out[SEGMENT_TTL, row] = self.ttl
        self.out[SEGMENT_IP_ID, row] = self.ip_id
        if self.ip_id <= 0:
            self.out[SEGMENT_IP_ID, row] = -1 - self._u16(at + 16) if at + 18 <= self.end else UNKNOWN
        self.out[SEGMENT_SCOPE, row] = self.scope
        return -2 - SEEN_TCP

    # Tools.

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _narrow(self, stop: cython.longlong) -> cython.void:
        """The layer ends at `stop`: padding behind it is none of ours, and bytes up to it that are missing were cut.

        A header's length field counts more than the capture's length of the packet: a mirror that truncates packets
        forgets how long they were. But no layer is longer than the one around it says.
        """
        if self.bound > stop:
            self.bound = stop
        self.wire = self.bound
        if self.end > self.bound:
            self.end = self.bound

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _short(self) -> cython.longlong:
        """The outcome of a packet whose next header is not there."""
        return -2 - SEEN_CUT if self.end < self.wire else -2 - SEEN_MALFORMED

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _u8(self, at: cython.longlong) -> cython.longlong:
        return self.block[at]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    @cython.boundscheck(False)
    def _u16(self, at: cython.longlong) -> cython.longlong:
        if at < 0 or at + 2 > len(self.block):
            raise IndexError("a packet points outside its block")
        high: cython.longlong = self.block[at]
        low: cython.longlong = self.block[at + 1]
        return high << 8 | low

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    @cython.boundscheck(False)
    def _u32(self, at: cython.longlong) -> cython.longlong:
        if at < 0 or at + 4 > len(self.block):
            raise IndexError("a packet points outside its block")
        a: cython.longlong = self.block[at]
        b: cython.longlong = self.block[at + 1]
        c: cython.longlong = self.block[at + 2]
        d: cython.longlong = self.block[at + 3]
        return a << 24 | b << 16 | c << 8 | d

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _i64(self, at: cython.longlong) -> cython.longlong:
        """Eight bytes as one signed number, by arithmetic that compiled and plain code do alike."""
        high: cython.longlong = self._u32(at)
        return ((high ^ SIGN) - SIGN) * HIGH_HALF + self._u32(at + 4)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter(self, kind: cython.longlong, number: cython.longlong) -> cython.longlong:
        """Goes down into a network whose addresses are its own."""
        outer: cython.longlong = self.scope
        self.scope = _mixed(outer, kind << 32 | number)
        if self.recent[0, self.scope >> 1 & 63] != self.scope:
            self.recent[0, self.scope >> 1 & 63] = self.scope
            self._describe(outer, kind, number)
        return 0

    def _describe(self, outer, kind, number):
        if self.scope not in self.scopes and len(self.scopes) < MOST_SCOPES:
            name = SCOPE_NAMES[kind] if kind in (IP_IN_IP, GRE) else f"{SCOPE_NAMES[kind]} {number}"
            self.scopes[self.scope] = f"{self.scopes[outer]}, {name}" if outer in self.scopes else name


@cython.cfunc
@cython.exceptval(check=False)
def _mixed(outer: cython.ulonglong, layer: cython.ulonglong) -> cython.longlong:
    """A positive 63-bit number for a layer inside a scope."""
    z: cython.ulonglong = (outer + layer + GAMMA) & MASK
    z = ((z ^ (z >> 30)) * FIRST_MIX) & MASK
    z = ((z ^ (z >> 27)) * SECOND_MIX) & MASK
    return (z ^ (z >> 31)) >> 1 | 1
