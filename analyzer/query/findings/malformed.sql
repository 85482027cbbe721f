-- severity: medium
-- rank: 28
-- when: exchange_sorts having bool_or(is_malformed)
-- says: {messages|message|messages} ({api_name} v{api_version}) of {sender} could not be decoded as the Kafka protocol defines[; the broker closed the connection after {ended} of them]
-- do: The sender writes this message in another way than Apache Kafka, or this is not Kafka at all: `kanalyze show` shows where decoding fails. If that is a field of its own, upgrade the sender.
-- look: kanalyze clients --api {api_name}
-- explains: unanswered, gives_up
-- costs: unanswered, connections
SELECT * FROM malformed_messages
