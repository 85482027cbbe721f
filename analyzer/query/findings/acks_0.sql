-- severity: info
-- rank: 94
-- when: exchange_sorts having bool_or(kind = 'produce_acks_0')
-- says: {who} produces with acks=0 ({requests|request|requests}): lost records go unnoticed
-- do: Set acks=all on this producer if no record may get lost.
-- look: kanalyze clients[ --client {who}]
-- delays: nobody
SELECT
    who() AS who,
    count(*) AS requests,
    count(*) AS weight,
    min_by(exchange, (request_time_ns, exchange)) AS evidence_first,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM exchanges
WHERE kind = 'produce_acks_0'
GROUP BY who()
