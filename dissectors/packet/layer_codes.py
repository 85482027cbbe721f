"""Numbers of the packets stage: codes of layers, kinds of scopes, rows of its counters, limits.

A function that reads a layer returns the code of the layer behind it: an ethertype as it is, an IP protocol number plus
IP_PROTOCOL, a LINKTYPE_ number plus LINK, or the packet's outcome as `-2 - SEEN_...` (-1 is left to exceptions).
"""

from __future__ import annotations

# Codes of the next layer, as C values.
IP_PROTOCOL = 0x10000
LINK = 0x20000
LLC = 0x40000
ANY_IP = 0x40001  # IPv4 or IPv6, as the first four bits say
DEEPEST = 32  # layers in one packet: a loop of headers cannot hold us
VLAN = 0
PPPOE = 1
IP_IN_IP = 2
GRE = 3
ERSPAN = 4
VXLAN = 5
GENEVE = 6
RECENT_SCOPES = 64
MOST_SCOPES = 65_536  # descriptions kept; further scopes still get their numbers

# Places of connections, a power of two, to each of which a share is assigned.
OWNERS = 8_192

# Rows of the tally of 16-bit names.
TCP_PORTS = 0
UDP_PORTS = 1
ETHERTYPES = 2  # of packets without IP; 0 stands for 802.3 frames
PROTOCOLS = 3  # of IP packets without TCP
MOST_LINKS = 64

# Literals beyond 32 bits would be Python objects in compiled code.
MAPPED = 0xFFFF00000000  # ::ffff:0:0, where IPv4 addresses live
SIGN = 0x80000000
HIGH_HALF = 0x100000000
LARGEST_SEGMENT = 16777216  # offload makes 512 KiB; what claims more would skip a stream
NO_BOUND = 1 << 62

# Constants of Steele's SplitMix64, as C values.
GAMMA = 0x9E3779B97F4A7C15
FIRST_MIX = 0xBF58476D1CE4E5B9
SECOND_MIX = 0x94D049BB133111EB
MASK = 0xFFFFFFFFFFFFFFFF  # plain Python numbers do not wrap
