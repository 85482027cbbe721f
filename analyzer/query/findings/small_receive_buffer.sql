-- severity: medium
-- rank: 13
-- when: connections having max(client_full_windows) >= 10 OR max(broker_full_windows) >= 10
-- says: the receive buffer of {receiver} lets at most {window_bytes} be in flight on a path with a round trip time of {round_trip_ns}: {sender} waited[ {waited_ns}] for room in it
-- do: Raise it: receive.buffer.bytes of Java clients and socket.receive.buffer.bytes of brokers have fixed small defaults, -1 lets the system choose; net.ipv4.tcp_rmem bounds what it chooses.
-- look: kanalyze connections --client {client_address}
-- explains: rate_limited_link, far_broker, lag_growing, head_of_line, slow_requests
-- costs: time
SELECT * FROM small_windows
