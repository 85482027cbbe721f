-- severity: medium
-- rank: 60
-- when: exchange_sorts having bool_or(is_malformed)
-- says: {messages|message|messages} ({api_name} v{api_version}) could not be decoded as the Kafka protocol defines
-- do: The sender is not an Apache Kafka client or broker, or this is not Kafka at all: `kanalyze show` shows where decoding fails.
-- look: kanalyze clients --api {api_name}
SELECT * FROM malformed_messages
