-- severity: medium
-- rank: 4
-- when: exchange_sorts having coalesce(sum(exchanges) FILTER (WHERE status = 'orphan_reply'), 0) >= 3
-- says: {broker} sends {who} a reply whose correlation id belongs to none of its open requests, and the client closes the connection: {times|time|times}
-- do: A reply carries the number of its request. A proxy in between that shares connections among clients, or the software of this broker, mixes replies up; or the client uses one connection from several threads. Connect past the proxy to see which.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, gives_up, connection_storm, metadata_storm, unexplained, resent_batches
-- costs: unanswered, connections
SELECT * FROM unasked_replies
