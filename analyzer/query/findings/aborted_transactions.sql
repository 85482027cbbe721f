-- severity: info
-- rank: 96
-- when: exchange_sorts having sum(exchanges) FILTER (WHERE api_key = api('EndTxn')) >= impact('refusals')
-- and: transaction_events having count(*) FILTER (WHERE event = 'end' AND NOT committed) >= impact('refusals')
-- says: {who}[ (transactional id {transactional_id})] gives up {aborted} of its {ended|transaction|transactions}: readers with read_committed never see these records
-- do: No rule tells the cause. Look at the log of this producer for what made it abort: an error of a write, a failure of its own, a timeout.
-- look: kanalyze transactions
SELECT * FROM given_up_transactions
