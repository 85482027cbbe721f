-- severity: info
-- rank: 97
-- when: connections having count(*) FILTER (WHERE seen_from = 'syn' AND syn_ack_ns IS NOT NULL AND close <> 'none' AND replies = 0 AND (client_stream_bytes > 0 OR closed_by = 'broker')) >= impact('refusals')
-- says: {times} of {connections|connection|connections} of {client_address}[ ({who})] to {broker} never had a Kafka reply[, although the client wrote on {written}][; the other side ended {by_broker}][; that a broker is there is only assumed, from its {guess}]
-- do: No rule tells the cause. See what the first packets say (`kanalyze extract`), whether both sides mean the same protocol (TLS, SASL, none), whether a proxy at this address has a broker behind it, and the log of the broker at that time.
-- look: kanalyze connections --client {client_address}
-- costs: connections, unanswered
SELECT * FROM vain_connections
