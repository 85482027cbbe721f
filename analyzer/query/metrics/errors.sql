-- Which errors, in which API, about which topic, for which client (or by what `settings` asks for)? `count` is codes,
-- `exchanges` the messages that hold them; `expected` of the codes are normal operation, `unexpected` are not, `unjudged` of
-- those nobody judged;
-- `only_group` and `only_principal`: of all messages of the row, null where these are several or none; `error_message` is one of those that
-- came with its failures;
-- `lasted_ns` from the first unexpected one (where all are expected: the first) to the last; `burst` is the most within one second. `between_brokers` tells apart what no client asked. The example is a message with
-- its packet, as Wireshark numbers it. At most 1,000 rows of `total_rows`: in each slot the failures of clients first.
WITH told AS (
    SELECT
        NOT is_client(x.role) AS between_brokers,
        CASE WHEN s.every_ns > 0 THEN coalesce(x.response_time_ns, x.request_time_ns)
            - coalesce(x.response_time_ns, x.request_time_ns) % s.every_ns END AS slot_ns,
        e.code,
        e.name,
        e.retriable,
        CASE WHEN coalesce(s.by_api, true) THEN x.api_name END AS api_name,
        CASE WHEN coalesce(s.by_topic, true) OR s.by_partition THEN coalesce(e.topic, e.topic_id) END AS topic,
        CASE WHEN s.by_partition THEN e.partition END AS partition,
        CASE WHEN s.by_group THEN x.group_id END AS group_id,
        CASE WHEN coalesce(s.by_client, true) THEN x.client_id END AS client_id,
        CASE WHEN coalesce(s.by_client, true) THEN x.client_address END AS client_address,
        -- A client that is of no application is one by itself.
        CASE WHEN s.by_app THEN coalesce(a.application, x.client_id) END AS application,
        n.client_name,
        CASE WHEN s.by_principal THEN x.principal END AS principal,
        CASE WHEN s.by_broker THEN x.broker_id END AS broker_id,
        CASE WHEN s.by_broker THEN x.broker_address END AS broker_address,
        CASE WHEN s.by_broker THEN x.broker_port END AS broker_port,
        coalesce(x.response_time_ns, x.request_time_ns) AS time_ns,
        coalesce(x.response_time_ns, x.request_time_ns)
            - coalesce(x.response_time_ns, x.request_time_ns) % s(1) AS second_ns,
        e.exchange,
        e.expected,
        e.level,
        e.entity,
        e.error_message,
        x.group_id AS about_group,
        x.principal AS sent_by
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange CROSS JOIN settings AS s
        LEFT JOIN client_names AS n ON n.connection = x.connection
        LEFT JOIN applications AS a ON a.client_address = x.client_address AND a.client_id = x.client_id AND s.by_app
),
seconds AS (
    SELECT
        between_brokers, slot_ns, code, name, retriable, api_name, topic, partition, group_id, client_id, client_address,
        application, client_name, principal, broker_id, broker_address, broker_port, second_ns,
        count(*) AS count,
        count(DISTINCT exchange) AS exchanges,
        count(*) FILTER (WHERE expected) AS expected,
        count(*) FILTER (WHERE expected IS NULL) AS unjudged,
        max(entity) AS entity,
        max(error_message) FILTER (WHERE expected IS DISTINCT FROM true) AS error_message,
        max(level) AS level,
        min(about_group) AS first_group,
        max(about_group) AS last_group,
        min(sent_by) AS first_principal,
        max(sent_by) AS last_principal,
        min(time_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns,
        min(time_ns) FILTER (WHERE expected IS DISTINCT FROM true) AS first_failure_ns,
        max(time_ns) FILTER (WHERE expected IS DISTINCT FROM true) AS last_failure_ns,
        -- Of a row that is normal in part the example is one that is not.
        min(exchange) FILTER (WHERE expected IS DISTINCT FROM true) AS failed_exchange,
        min(exchange) AS any_exchange
    FROM told
    GROUP BY ALL
),
summed AS (
    SELECT
        between_brokers, slot_ns, code, name, retriable, api_name, topic, partition, group_id, client_id, client_address,
        application, client_name, principal, broker_id, broker_address, broker_port,
        CAST(sum(count) AS BIGINT) AS count,
        CAST(sum(exchanges) AS BIGINT) AS exchanges,
        CAST(sum(expected) AS BIGINT) AS expected,
        CAST(sum(unjudged) AS BIGINT) AS unjudged,
        max(count) AS burst,
        max(entity) AS entity,
        max(error_message) AS error_message,
        max(level) AS level,
        CASE WHEN min(first_group) = max(last_group) THEN min(first_group) END AS only_group,
        CASE WHEN min(first_principal) = max(last_principal) THEN min(first_principal) END AS only_principal,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns,
        coalesce(max(last_failure_ns) - min(first_failure_ns), max(last_time_ns) - min(first_time_ns)) AS lasted_ns,
        coalesce(min(failed_exchange), min(any_exchange)) AS example_exchange
    FROM seconds
    GROUP BY ALL
),
chosen AS (
    SELECT u.*, wish.sort, count(*) OVER () AS rows_in_all
    FROM summed AS u CROSS JOIN settings AS wish
    ORDER BY
        slot_ns, between_brokers, count = expected,
        CASE wish.sort WHEN 'count' THEN u.count WHEN 'lasted' THEN u.lasted_ns WHEN 'burst' THEN u.burst ELSE u.count - u.expected END
            DESC NULLS LAST,
        count DESC, code, api_name, topic, partition, group_id, client_id,
        client_address, application, client_name, principal, broker_id, broker_address, broker_port
    LIMIT 1000
)
SELECT
    u.between_brokers, u.slot_ns, u.code, u.name, u.retriable, u.api_name, u.topic, u.partition, u.group_id, u.client_id,
    u.client_address, u.application, u.client_name, u.principal, u.broker_id, u.broker_address, u.broker_port, u.count, u.exchanges, u.expected,
    u.unjudged, u.burst, u.entity, u.error_message, u.level, u.only_group, u.only_principal, u.first_time_ns, u.last_time_ns, u.lasted_ns,
    u.example_exchange,
    u.count - u.expected AS unexpected,
    coalesce(c.path, d.path) AS example_path,
    coalesce(x.response_packet, x.request_packet) AS example_packet,
    u.rows_in_all AS total_rows
FROM chosen AS u
    JOIN failed_exchanges AS x ON x.exchange = u.example_exchange
    LEFT JOIN captures AS c ON c.file = x.response_file
    LEFT JOIN captures AS d ON d.file = x.request_file
ORDER BY
    u.slot_ns,
    CASE u.sort WHEN 'count' THEN u.count WHEN 'lasted' THEN u.lasted_ns WHEN 'burst' THEN u.burst ELSE u.count - u.expected END
        DESC NULLS LAST,
    u.count DESC, u.code, u.api_name, u.topic, u.partition, u.group_id, u.client_id, u.client_address,
    u.application, u.client_name, u.principal, u.broker_id, u.broker_address, u.broker_port, u.between_brokers
