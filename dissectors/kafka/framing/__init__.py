"""Message boundaries in a stream, and which reply belongs to which request; nothing here reads bodies.

- Whether a connection is Kafka, and which side is the client, comes from content; `--ports` only overrides. A
  boundary is sure when a frame ended there or when the connection began there with a SYN; elsewhere it is guessed
  from a plausible header, and the guess is given up when no frame follows. Where it has to be guessed in chunks of a
  few bytes, `tails.py` joins them first, each byte with its packet, in at most an eighth of the arena.
- A frame ends when its last byte has been captured. A late packet that filled a hole counts, unless its time differs
  by less than a millisecond from that of the frame's final byte (clocks of two processors).
- Replies without requests are *provisional*: lengths and ids are kept, no bytes. They become orphans when they are
  proved to be replies: a reply that is waited for follows them, their ids are near those of requests, or there are
  enough of them with growing ids and nothing of the other direction. ZooKeeper has the same length field, and is
  recognised.
- A bare SASL token is a frame without a request header: after SaslHandshake v0 (whose reply may be lost), or the
  first frame of GSSAPI.
"""
