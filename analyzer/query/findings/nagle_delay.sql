-- severity: medium
-- rank: 13
-- when: connections having max(greatest(client_held_small, broker_held_small)) >= 10
-- says: {who} at {client_address} and {broker}: {sender} sends its messages in pieces, and {times|piece|pieces} waited 40 ms each for a delayed ACK (Nagle's algorithm)
-- do: Set TCP_NODELAY on the sockets of {sender}, or write each message to the socket in one piece.
-- look: kanalyze connections --client {client_address}
-- explains: slow_broker, far_broker, slow_requests
SELECT * FROM held_pieces
