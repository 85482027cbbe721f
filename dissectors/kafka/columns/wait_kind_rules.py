"""Numbers that `wait_kinds` judges by: API keys, error codes, and when a Fetch has waited for all of its time."""

from __future__ import annotations

# API keys.
PRODUCE = 0
FETCH = 1
JOIN_GROUP = 11
SYNC_GROUP = 14
CREATE_TOPICS = 19
DELETE_TOPICS = 20
DELETE_RECORDS = 21
ELECT_LEADERS = 43
ENVELOPE = 58
BROKER_HEARTBEAT = 63
SHARE_FETCH = 78

# Error codes.
FETCH_SESSION_ID_NOT_FOUND = 70
INVALID_FETCH_SESSION_EPOCH = 71
MEMBER_ID_REQUIRED = 79
FETCH_SESSION_TOPIC_ID_ERROR = 106
SHARE_SESSION_NOT_FOUND = 122
INVALID_SHARE_SESSION_EPOCH = 123

# A Fetch that waited nine tenths of max_wait_ms waited for all of it; in ns for each ms.
WHOLE_WAIT_NS = 900_000
# A broker that answers within this time has not waited for data.
AT_ONCE_NS = 5_000_000
