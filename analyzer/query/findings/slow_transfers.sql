-- severity: info
-- rank: 98
-- when: exchange_sorts having max(receive_ns) >= ms(500) OR max(send_ns) >= ms(500)
-- says: messages between {who} and {broker} take long on their way: {slow} of {requests|request|requests} or their replies took up to {longest_ns} from their first to their last byte, {waited_ns} in all
-- do: No rule tells the cause. See how much was sent again and which windows were full (`kanalyze connections`), and what the link carried at that time.
-- look: kanalyze connections --client {who}
-- costs: time
SELECT * FROM slow_transfers
