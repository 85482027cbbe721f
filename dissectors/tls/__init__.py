"""TLS: which connections use it, and their content where secrets are given; nothing here knows Kafka.

- Decrypted content is a stream like others. Each byte has the packet number of the encrypted byte in its place; its
  "sequence number" counts content, so ids do not depend on how segments were cut.
- Without secrets, sizes and times still tell something: `detection` notes when a side was silent for 0.8 s and when
  the other side had sent something in between (`unread_silences`). Findings read this: a broker that stands still,
  connections that die while idle. Tasks leave these connections to the stitch, which sees them whole.
- After a gap a record boundary is proved by decrypting the record, which also tells how many bytes are missing.
- Where a pcapng has secrets behind the packets that need them, it is read a second time.

- `dissectors/tls/outcome.py` follows a TLS handshake to its end without secrets; `connections.tls_handshake` says how
  it ended.
"""
