-- Which library is a client that names none? One row per client (address and client id) of which it can be told: from a client id that
-- is a library's default (`library_ids`), unless it asks otherwise than that library does; else from the versions of what it asks,
-- which a library has in its source (`library_habits`: three APIs at least, and none in another version, of one library alone).
-- Apache's own clients before 2.4 are told so only where they are seen to ask for versions first, as they always do: Sarama, told to
-- speak to a broker of that time, asks for the very same versions of all else.
WITH silent AS (
    SELECT e.client_address, e.client_id, e.api_name, e.api_version
    FROM asked_versions AS e JOIN all_connections AS c ON c.connection = e.connection
    WHERE is_client(c.role) AND e.has_request AND e.api_version IS NOT NULL
    GROUP BY e.client_address, e.client_id, e.api_name, e.api_version
    HAVING max(c.software_name) IS NULL
),
clients AS (
    SELECT s.client_address, s.client_id
    FROM silent AS s
        LEFT JOIN (
            SELECT e.client_address, e.client_id
            FROM asked_versions AS e JOIN all_connections AS c ON c.connection = e.connection
            WHERE c.software_name IS NOT NULL
            GROUP BY e.client_address, e.client_id
        ) AS n ON n.client_address = s.client_address AND n.client_id IS NOT DISTINCT FROM s.client_id
    WHERE n.client_address IS NULL
    GROUP BY s.client_address, s.client_id
),
asked AS (
    SELECT s.*
    FROM silent AS s JOIN clients AS c ON c.client_address = s.client_address AND c.client_id IS NOT DISTINCT FROM s.client_id
),
compared AS (
    SELECT
        a.client_address,
        a.client_id,
        h.library,
        h.release,
        a.api_name,
        max(CASE WHEN h.api_version = a.api_version THEN 1 ELSE 0 END) AS agrees
    FROM asked AS a JOIN library_habits AS h ON h.api_name = a.api_name
    GROUP BY a.client_address, a.client_id, h.library, h.release, a.api_name, a.api_version
),
judged AS (
    SELECT
        client_address,
        client_id,
        library,
        release,
        min(agrees) AS agrees,
        count(DISTINCT api_name) AS apis,
        max(CASE WHEN api_name = 'ApiVersions' THEN 1 ELSE 0 END) AS asks_versions
    FROM compared
    GROUP BY client_address, client_id, library, release
),
by_habits AS (
    SELECT
        client_address,
        client_id,
        CASE WHEN min(library) <> 'apache-kafka-java' OR max(asks_versions) = 1 THEN min(library) END AS library
    FROM judged
    WHERE agrees = 1 AND apis >= 3
    GROUP BY client_address, client_id
    HAVING min(library) = max(library)
),
by_id AS (
    SELECT c.client_address, c.client_id, min(i.library) AS library
    FROM clients AS c JOIN library_ids AS i ON c.client_id LIKE i.client_id
    GROUP BY c.client_address, c.client_id
    HAVING min(i.library) = max(i.library)
),
-- Of a library whose habits are known, a client with its default id has one of its releases' habits.
refuted AS (
    SELECT client_address, client_id, library
    FROM judged
    GROUP BY client_address, client_id, library
    HAVING max(agrees) = 0
)
SELECT
    c.client_address,
    c.client_id,
    CASE WHEN r.library IS NULL AND i.library IS NOT NULL THEN i.library ELSE h.library END AS library
FROM clients AS c
    LEFT JOIN by_habits AS h ON h.client_address = c.client_address AND h.client_id IS NOT DISTINCT FROM c.client_id
    LEFT JOIN by_id AS i ON i.client_address = c.client_address AND i.client_id IS NOT DISTINCT FROM c.client_id
    LEFT JOIN refuted AS r
        ON r.client_address = i.client_address AND r.client_id IS NOT DISTINCT FROM i.client_id AND r.library = i.library
WHERE h.library IS NOT NULL OR (i.library IS NOT NULL AND r.library IS NULL)
