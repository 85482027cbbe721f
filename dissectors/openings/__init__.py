"""What comes before Kafka in a stream: PROXY protocol, SOCKS, HTTP CONNECT; read, told, and taken out of the stream.

- Only a connection that began with a SYN is looked at, until its first byte. If that may begin an opening, its rows
  leave the batch and wait until the bytes of both sides tell; all others cost one read per chunk.
- An opening leaves as a row CHUNK_OPENING: framing counts its bytes as foreign and keeps who is named. No stage
  behind sees its bytes, so TLS and Kafka begin there as behind a SYN. At a checkpoint it is over.
- Other first bytes are passed over by framing (`behind_other_bytes.py`): a request found behind them is a guess.
"""
