-- severity: medium
-- rank: 4
-- when: connections having bool_or(closed_by = 'client' AND replies >= 2 AND client_gaps + broker_gaps = 0)
-- says: {broker} answers {who} out of order, {times|reply|replies} on {connections|connection|connections}; the client closed {closed} of them
-- do: A broker answers each connection in the order of its requests (Kafka protocol guide), and clients that check this close the connection: a proxy in between, or the software of this broker, mixes replies up. Until that is mended, one request at a time helps (max.in.flight.requests.per.connection=1).
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, gives_up, connection_storm, metadata_storm, resent_batches, out_of_order
-- costs: unanswered, connections
SELECT * FROM mixed_replies
