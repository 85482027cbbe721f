-- severity: info
-- rank: 62
-- when: errors having count(*) FILTER (WHERE code = error('CONCURRENT_TRANSACTIONS')) >= 20
-- says: {who} waits for the end of its own transaction before ({transactional_id}): {api_name} was refused with CONCURRENT_TRANSACTIONS, {refused|time|times}, which held it up {held|time|times}, for {waited_ns} of {lasted_ns}
-- do: After EndTxn the coordinator writes a marker to each partition of the transaction, and until then no other one begins. Put more records into each transaction, and fewer partitions; where one wait is long, look at the brokers that write markers (`kanalyze latency --api WriteTxnMarkers`, beside a broker).
-- look: kanalyze transactions --client {who}
-- delays: nobody
SELECT * FROM held_transactions
