-- severity: medium
-- rank: 13
-- when: connections having max(greatest(client_held_small, broker_held_small)) >= 10
-- says: {who} at {client_address} and {broker}: {sender} sends its messages in pieces, and {times|piece|pieces} waited 40 ms each for a delayed ACK (Nagle's algorithm)
-- do: Set TCP_NODELAY where these pieces are written, or write each message to the socket in one piece. Apache's brokers and Java clients set it by themselves: there a proxy or forwarder on the way does not.
-- look: kanalyze connections --client {client_address}
-- explains: slow_broker, far_broker, slow_requests
-- costs: time
SELECT * FROM held_pieces
