"""Numbers of the packets stage: registered numbers of protocols, codes of layers, kinds of scopes, limits.

A function that reads a layer returns the code of the layer behind it: an ethertype as it is, an IP protocol number plus
IP_PROTOCOL, a LINKTYPE_ number plus LINK, or the packet's outcome as `-2 - SEEN_...` (-1 is left to exceptions).

Sources: tcpdump.org "Link-layer header types"; IANA "IEEE 802 Numbers", "Protocol Numbers", "PPP DLL Protocol Numbers".
"""

from __future__ import annotations

# Codes of layers.
IP_PROTOCOL = 0x10000
LINK = 0x20000
LLC = 0x40000
ANY_IP = 0x40001  # IPv4 or IPv6, as the first four bits say
DEEPEST = 32  # layers in one packet: headers could follow each other without end

# Link types as capture files write them. `rare_links` has its own.
LINKTYPE_NULL = 0
LINKTYPE_ETHERNET = 1
LINKTYPE_DLT_RAW = 12  # raw IP, as some systems numbered it before LINKTYPE_RAW
LINKTYPE_DLT_RAW_OPENBSD = 14
LINKTYPE_RAW = 101
LINKTYPE_HDLC = 104
LINKTYPE_IEEE802_11 = 105
LINKTYPE_PRISM_HEADER = 119
LINKTYPE_IEEE802_11_AVS = 163
LINKTYPE_LOOP = 108
LINKTYPE_ENC = 109
LINKTYPE_LINUX_SLL = 113
LINKTYPE_PFLOG = 117
LINKTYPE_USER2 = 149  # what Apple's tools wrote for PKTAP before it had a number
LINKTYPE_ERF = 197
LINKTYPE_IPV4 = 228
LINKTYPE_IPV6 = 229
LINKTYPE_IPOIB = 242
LINKTYPE_PKTAP = 258
LINKTYPE_LINUX_SLL2 = 276
LINKTYPE_DSA_BRCM = 281
LINKTYPE_DSA_BRCM_PREPEND = 282
LINKTYPE_DSA = 284
LINKTYPE_EDSA = 285
ARPHRD_NETLINK = 824  # device type in Linux cooked captures

# Ethertypes; smaller numbers are lengths (IEEE 802.3).
LEAST_ETHERTYPE = 1536
MOST_LENGTH = 1500
ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_ARP = 0x0806
ETHERTYPE_ERSPAN_III = 0x22EB
ETHERTYPE_TRILL = 0x22F3
ETHERTYPE_BRIDGED_ETHERNET = 0x6558  # transparent Ethernet bridging: an Ethernet frame
ETHERTYPE_BATMAN = 0x4305  # B.A.T.M.A.N. Advanced
ETHERTYPE_VLAN = 0x8100
ETHERTYPE_IPV6 = 0x86DD
ETHERTYPE_WCCP = 0x883E  # in GRE: IPv4, with 4 bytes before it in version 2
ETHERTYPE_PPP = 0x880B
ETHERTYPE_MPLS = 0x8847
ETHERTYPE_MPLS_MULTICAST = 0x8848
ETHERTYPE_PPPOE_SESSION = 0x8864
ETHERTYPE_SERVICE_VLAN = 0x88A8  # IEEE 802.1ad; before it vendors used the three below
ETHERTYPE_ERSPAN = 0x88BE
ETHERTYPE_MACSEC = 0x88E5
ETHERTYPE_BACKBONE = 0x88E7  # IEEE 802.1ah, the service instance tag
ETHERTYPE_FABRICPATH = 0x8903
ETHERTYPE_CISCO_METADATA = 0x8909  # security group tags of TrustSec
ETHERTYPE_VNTAG = 0x8926
ETHERTYPE_HSR = 0x892F
ETHERTYPE_ETAG = 0x893F
ETHERTYPE_NSH = 0x894F
ETHERTYPE_QINQ_1 = 0x9100
ETHERTYPE_QINQ_2 = 0x9200
ETHERTYPE_QINQ_3 = 0x9300
ETHERTYPE_ARISTA = 0xD28B
ETHERTYPE_REDUNDANCY = 0xF1C1  # IEEE 802.1CB

PPP_IPV4 = 0x21
PPP_IPV6 = 0x57
PPP_MPLS = 0x281

# IP protocol numbers, and the IPv6 extension headers among them.
IPPROTO_HOPOPTS = 0
IPPROTO_ICMP = 1
IPPROTO_IPV4 = 4
IPPROTO_TCP = 6
IPPROTO_UDP = 17
IPPROTO_IPV6 = 41
IPPROTO_ROUTING = 43
IPPROTO_FRAGMENT = 44
IPPROTO_GRE = 47
IPPROTO_ESP = 50
IPPROTO_AH = 51
IPPROTO_ICMPV6 = 58
IPPROTO_DSTOPTS = 60
IPPROTO_ETHERIP = 97
IPPROTO_PIM = 103
IPPROTO_L2TP = 115
IPPROTO_MOBILITY = 135
IPPROTO_MPLS = 137
IPPROTO_HIP = 139
IPPROTO_SHIM6 = 140
IPPROTO_ETHERNET = 143
IPPROTO_NSH = 145

# Tunnels in UDP; `udp_ports` has their names and ports.
TUNNEL_VXLAN = 1
TUNNEL_VXLAN_GPE = 2
TUNNEL_GENEVE = 3
TUNNEL_GRE = 4
TUNNEL_MPLS = 5
# From here on a packet from such a port may be one as well as a packet to it.
TUNNEL_GTP = 6
TUNNEL_L2TP = 7
TUNNEL_TZSP = 8
TUNNEL_LISP = 9
TUNNEL_IP = 10  # an IP packet and nothing before it: FOU, Teredo
TUNNEL_GUE = 11
TUNNEL_ESP = 12
TUNNEL_ETHERNET = 13
TUNNEL_CAPWAP = 14
TUNNEL_UNREAD = 15  # encrypted, or not written yet

# Nicira's stateless transport tunnel: packets of TCP's number that are none.
STT_PORT = 7471
STT_HEADER = 18
MOST_STT_HOSTS = 4_096  # pairs
# What a fragment is one of: the IP version, or STT.
STT_FAMILY = 7
FRAGMENT_UNIT = 8  # bytes: offsets of IP fragments count these

MOST_UNKNOWN_HEADER = 96  # bytes: a header of the wire, of 802.11 and of LLC, and some more
MOST_UNKNOWN_LINK_HEADER = 160  # bytes, where the link type itself is not read: of USB, RNDIS and Ethernet
MOST_TRAILER = 16  # bytes: padding of short frames and frame check, or the check value of MACsec

# What NSH and VXLAN-GPE name as the next protocol.
NEXT_IPV4 = 1
NEXT_IPV6 = 2
NEXT_ETHERNET = 3
NEXT_NSH = 4
NEXT_MPLS = 5

# Kinds of scopes: what may lie between equal addresses of different networks. `scopes.SCOPE_NAMES` has their names.
SCOPE_VLAN = 0
SCOPE_PPPOE = 1
SCOPE_IP_IN_IP = 2
SCOPE_GRE = 3
SCOPE_ERSPAN = 4
SCOPE_VXLAN = 5
SCOPE_GENEVE = 6
SCOPE_BACKBONE = 7
SCOPE_ETHERNET_IN_IP = 8
SCOPE_GTP = 9
SCOPE_L2TP = 10
SCOPE_TZSP = 11
SCOPE_LISP = 12
SCOPE_PIM = 13
SCOPE_CAPWAP = 14
SCOPE_STT = 15
SCOPE_UNKNOWN = 16  # a tunnel without a name
RECENT_SCOPES = 64  # slots of a cache of scopes that have a description already, a power of two
MOST_SCOPES = 65_536  # descriptions kept; further scopes still get their numbers

# Buckets of connections, a power of two; each is assigned to a shard.
BUCKETS = 8_192

# Rows of the tally of 16-bit numbers.
TALLY_TCP_PORTS = 0
TALLY_UDP_PORTS = 1
TALLY_ETHERTYPES = 2  # of packets without IP; 0 means 802.3 frames
TALLY_PROTOCOLS = 3  # of IP packets without TCP
TALLIES = 4
MOST_LINKS = 64  # link types that are counted apart

MAPPED = 0xFFFF00000000  # ::ffff:0:0, where IPv4 addresses are among IPv6 addresses
SIGN = 1 << 31
HIGH_HALF = 1 << 32
LOW_HALF = HIGH_HALF - 1
ONES = 0xFFFF  # what checksums are sums modulo
LARGEST_SEGMENT = 16_777_216  # offload makes 512 KiB; a larger claim is damage and would skip a stream
NO_BOUND = 1 << 62

# Constants of Steele's SplitMix64.
GAMMA = 0x9E3779B97F4A7C15
FIRST_MIX = 0xBF58476D1CE4E5B9
SECOND_MIX = 0x94D049BB133111EB
MASK = 0xFFFFFFFFFFFFFFFF  # plain Python numbers do not wrap

# Options of TCP.
OPTION_END = 0
OPTION_NOTHING = 1
OPTION_MSS = 2
OPTION_SCALE = 3
OPTION_BLOCKS = 5
OPTION_TIMESTAMP = 8
# Two bytes of nothing, then a timestamp: what nearly all segments have, and nothing else (RFC 7323, appendix A).
ONLY_TIMESTAMP = 0x0101080A
MOST_SCALE = 14  # RFC 7323
