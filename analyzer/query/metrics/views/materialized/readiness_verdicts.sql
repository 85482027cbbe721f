-- Will these clients work with that release? One row per release, client, API and version; narrow `release` to the one you
-- mean. `verdict` is already_failing, breaks, undetermined, unknown, fine_as_far_as_seen or upgrade_note (traffic between
-- brokers); `reason` says why. `oldest`: what the release still takes, 32767: nothing; `offered_max`: newest version that a
-- broker of this client offered, null: no offer seen; `cure` is configure or upgrade, null: none needed or none known.
WITH offers AS (
    SELECT
        c.broker_address,
        c.broker_port,
        o.api_key,
        max_by(o.min_version, o.time_ns) AS offered_min,
        max_by(o.max_version, o.time_ns) AS offered_max
    FROM all_offered_versions AS o JOIN all_connections AS c ON c.connection = o.connection
    GROUP BY c.broker_address, c.broker_port, o.api_key
),
-- A 4.x broker offers Produce from version 0 and accepts it from version 3 on; it is recognised by the versions of Fetch.
taken AS (
    SELECT
        o.broker_address,
        o.broker_port,
        o.api_key,
        CASE WHEN o.api_key = api('Produce') AND f.offered_min >= 4
            THEN greatest(o.offered_min, 3) ELSE o.offered_min END AS taken_min,
        coalesce(o.api_key = api('Produce') AND f.offered_min >= 4, false) AS more_offered_than_taken,
        o.offered_max
    FROM offers AS o
        LEFT JOIN offers AS f
            ON f.broker_address = o.broker_address AND f.broker_port = o.broker_port AND f.api_key = api('Fetch')
),
asking AS (
    SELECT connection FROM all_exchanges WHERE api_key = api('ApiVersions') GROUP BY connection
),
-- The software of a client is known when one of its connections named it.
software AS (
    SELECT
        e.client_address,
        e.client_id,
        max(c.software_name) AS software_name,
        max_by(c.software_version, (c.software_name, c.software_version))
            FILTER (WHERE c.software_version IS NOT NULL) AS software_version
    FROM (SELECT connection, client_address, client_id FROM all_exchanges WHERE api_key = api('ApiVersions') GROUP BY ALL) AS e
        JOIN all_connections AS c ON c.connection = e.connection
    WHERE c.software_name IS NOT NULL
    GROUP BY e.client_address, e.client_id
),
used AS (
    SELECT
        c.cluster,
        e.connection,
        c.broker_address,
        c.broker_port,
        e.client_address,
        e.client_id,
        coalesce(e.principal, c.principal) AS principal,
        e.api_key,
        e.api_name,
        e.api_version,
        NOT is_client(c.role) OR e.api_key BETWEEN api('LeaderAndIsr') AND api('ControlledShutdown') AS between_brokers,
        c.seen_from = 'syn' AND coalesce(c.client_gaps, 0) = 0 AND a.connection IS NULL AS never_asks,
        a.connection IS NOT NULL AS asks,
        count(*) AS requests,
        count(*) FILTER (WHERE e.status IN ('closed', 'abandoned')) AS unanswered,
        count(*) FILTER (WHERE e.status = 'answered') AS answered,
        min(e.request_time_ns) AS first_time_ns,
        max(e.request_time_ns) AS last_time_ns,
        min(e.exchange) AS example_exchange
    FROM exchanges AS e
        JOIN connections AS c ON c.connection = e.connection
        LEFT JOIN asking AS a ON a.connection = e.connection
    WHERE e.api_key IS NOT NULL AND e.status <> 'orphan_reply' AND coalesce(e.kind <> 'forwarded', true)
    GROUP BY ALL
),
cells AS (
    SELECT
        u.cluster,
        u.client_address,
        u.client_id,
        u.principal,
        s.software_name,
        s.software_version,
        u.api_key,
        u.api_name,
        u.api_version,
        u.between_brokers,
        max(t.offered_max) AS offered_max,
        coalesce(bool_or(t.offered_max IS NULL), false) AS some_offer_unseen,
        coalesce(bool_or(u.never_asks), false) AS never_asks,
        coalesce(bool_or(u.asks), false) AS asks,
        -- Error 35 of ApiVersions is how client and broker agree on a version.
        coalesce(bool_or(
            u.api_key <> api('ApiVersions') AND (
                t.more_offered_than_taken AND u.api_version < t.taken_min AND u.answered = 0
                OR u.unanswered > 0 AND (u.api_version < t.taken_min OR u.api_version > t.offered_max)
            )
        ), false) AS refused_now,
        CAST(sum(u.requests) AS BIGINT) AS requests,
        CAST(sum(u.unanswered) AS BIGINT) AS unanswered,
        count(DISTINCT u.connection) AS connections,
        min(u.first_time_ns) AS first_time_ns,
        max(u.last_time_ns) AS last_time_ns,
        min_by(u.example_exchange, (u.first_time_ns, u.example_exchange)) AS example_exchange
    FROM used AS u
        LEFT JOIN taken AS t
            ON t.broker_address = u.broker_address AND t.broker_port = u.broker_port AND t.api_key = u.api_key
        LEFT JOIN software AS s
            ON s.client_address = u.client_address AND s.client_id IS NOT DISTINCT FROM u.client_id
    GROUP BY
        u.cluster, u.client_address, u.client_id, u.principal, s.software_name, s.software_version, u.api_key, u.api_name,
        u.api_version, u.between_brokers
),
newest AS (
    SELECT
        *,
        max(CASE WHEN asks THEN api_version END)
            OVER (PARTITION BY client_address, client_id, software_name, software_version, api_key) AS newest_used
    FROM cells
),
reasoned AS (
    SELECT
        r.release,
        n.*,
        f.oldest,
        f.source,
        CASE
            WHEN n.between_brokers THEN CASE WHEN n.api_version < f.oldest THEN 'between_brokers' END
            WHEN n.refused_now THEN 'refused'
            -- No broker said what it takes, and none ever answered: each connection ended at the first such request, three of them,
            -- or those of two APIs.
            WHEN n.is_silent AND n.api_version < f.oldest AND n.unanswered <= n.connections * 2 AND (
                n.connections >= 3
                OR min(n.api_key) FILTER (WHERE n.is_silent AND n.api_version < f.oldest) OVER of_client
                    < max(n.api_key) FILTER (WHERE n.is_silent AND n.api_version < f.oldest) OVER of_client
            ) THEN 'refused'
            WHEN f.oldest IS NULL THEN 'release_not_known'
            WHEN n.api_version < f.oldest THEN CASE
                WHEN n.newest_used >= f.oldest THEN 'speaks_newer'
                WHEN n.never_asks AND NOT n.asks THEN 'never_asks'
                WHEN n.offered_max >= f.oldest THEN 'newer_was_offered'
                WHEN n.software_name = 'apache-kafka-java' THEN 'java_speaks_newer'
                WHEN n.some_offer_unseen THEN 'offer_not_seen'
                ELSE 'nothing_newer_offered'
            END
            WHEN n.api_version <= f.accepted_to THEN 'accepted'
            WHEN n.asks THEN 'asks_before'
            ELSE 'release_not_known'
        END AS reason
    FROM (
        SELECT *, api_key <> api('ApiVersions') AND offered_max IS NULL AND unanswered = requests AS is_silent FROM newest
    ) AS n
        CROSS JOIN kafka_releases AS r
        LEFT JOIN release_support AS f ON f.release = r.release AND f.api_key = n.api_key
    WINDOW of_client AS (PARTITION BY r.release, n.cluster, n.client_address, n.client_id)
),
judged AS (
    SELECT
        *,
        CASE
            WHEN reason = 'refused' THEN 'already_failing'
            WHEN reason IN ('newer_was_offered', 'never_asks') THEN 'breaks'
            WHEN reason IN ('nothing_newer_offered', 'offer_not_seen') THEN 'undetermined'
            WHEN reason = 'release_not_known' THEN 'unknown'
            WHEN reason = 'between_brokers' THEN 'upgrade_note'
            ELSE 'fine_as_far_as_seen'
        END AS verdict
    FROM reasoned
    WHERE reason IS NOT NULL
),
-- The libraries of those who may have to change something: a pattern is tried on each piece of software once.
libraries AS (
    SELECT c.software_name, c.software_version, c.client_id, l.library, l.setting
    FROM (
        SELECT software_name, software_version, client_id
        FROM judged
        WHERE verdict IN ('already_failing', 'breaks', 'undetermined')
        GROUP BY software_name, software_version, client_id
    ) AS c
    JOIN client_libraries AS l
        ON lower(concat(coalesce(c.software_name, ''), ' ', coalesce(c.software_version, ''))) LIKE l.software
        OR (c.software_name IS NULL AND lower(c.client_id) LIKE l.client_id)
)
-- Software that sends its name (KIP-511) is newer than every removed version, so that it is configured to use an old protocol; but
-- librdkafka's settings count only where it does not ask brokers, and before 1.8.2 it knows no newer ListOffsets.
SELECT
    j.release,
    j.verdict,
    j.reason,
    j.cluster,
    j.client_address,
    j.client_id,
    j.principal,
    j.software_name,
    j.software_version,
    j.api_key,
    j.api_name,
    j.api_version,
    j.oldest,
    j.offered_max,
    j.requests,
    j.unanswered,
    j.connections,
    j.first_time_ns,
    j.last_time_ns,
    CASE
        WHEN j.verdict NOT IN ('already_failing', 'breaks') THEN NULL
        WHEN j.software_name IS NULL OR (l.library = 'librdkafka' AND j.asks) THEN 'upgrade'
        ELSE 'configure'
    END AS cure,
    l.library,
    CASE WHEN l.library = 'librdkafka' AND j.asks THEN NULL ELSE l.setting END AS setting,
    j.source,
    j.example_exchange
FROM judged AS j
LEFT JOIN libraries AS l
    ON j.verdict IN ('already_failing', 'breaks', 'undetermined') AND l.software_name IS NOT DISTINCT FROM j.software_name
    AND l.software_version IS NOT DISTINCT FROM j.software_version AND l.client_id IS NOT DISTINCT FROM j.client_id
