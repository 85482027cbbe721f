"""What an administrator does, as functions for `Host.start` and `Host.call`."""

from __future__ import annotations


def commit_offset(bootstrap: str, group: str, topic: str, offset: int) -> None:
    """The group has read partition 0 up to here."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "client.id": "setup"})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def delete_records(bootstrap: str, topic: str, before: int) -> None:
    """Takes away the records of partition 0 before this offset, as retention does."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": bootstrap, "client.id": "setup"})
    for future in admin.delete_records([TopicPartition(topic, 0, before)]).values():
        future.result(20)
