-- What does each release say to each API? One row per release and API: below `oldest` refused (32767: the API is gone), up
-- to `accepted_to` accepted, from `refused_from` on refused, in between not known; null: not known. `source` says from where.
SELECT r.release, f.api_key, f.api_name, f.oldest, f.accepted_to, f.refused_from, f.source
FROM release_versions AS f
    JOIN kafka_releases AS a ON a.release = f.from_release
    JOIN kafka_releases AS b ON b.release = f.to_release
    JOIN kafka_releases AS r ON r.place BETWEEN a.place AND b.place
