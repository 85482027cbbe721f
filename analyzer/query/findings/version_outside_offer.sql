-- severity: medium
-- rank: 46
-- when: doubtful_versions having count(*) > 0
-- says: {who} sends {api_name} v{api_version}, although the broker supports v{min_version} to v{max_version}: {requests|request|requests}
-- do: Remove the protocol version from the client's configuration, so that it negotiates the version (ApiVersions); if none is set, the client has a bug.
-- look: kanalyze clients[ --client {who}] --api {api_name}
-- delays: nobody
SELECT * FROM versions_outside_offers
