-- severity: high
-- rank: 24
-- when: errors having bool_or(code IN (error('INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED')))
-- says: producer {named}[ and {others|other client|other clients}][ (transactional id {transactional_id})] {was} fenced ({name}), {times|time|times}[: {taken_by}][ ({rival})][: its transaction was open for {open_ns}, longer than its transaction.timeout.ms ({timeout_ms}), so the broker ended it][: {unsure}]
-- do: {advice}
-- look: kanalyze transactions[ --client {who}]
-- explains: failing(INVALID_TXN_STATE|INVALID_PRODUCER_ID_MAPPING|UNKNOWN_PRODUCER_ID|CONCURRENT_TRANSACTIONS), resent_batches, unanswered
-- costs: refused
SELECT * FROM fenced_producers
