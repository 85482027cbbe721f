-- `topic_names` where each id of a topic has a name.
SELECT topic_id, topic FROM told_names
