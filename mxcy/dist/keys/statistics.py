"""What `KVStore.stats` tells about buckets and keys, and how long sums are waited for."""

__all__ = ["longest_wait", "of_bucket", "of_key"]


def longest_wait(exchange, active):
    """The longest wait for a sum: (start time, exchange, slot), or None; `active`: buckets."""
    waits = [(slot.pulls[0][2], slot) for slot in exchange.slots if slot.pulls]
    waits += [
        (bucket.bucket_push.since, bucket.slots[0]) for bucket in active if bucket.bucket_push
    ]
    if not waits:
        return None
    since, slot = min(waits, key=lambda wait: wait[0])
    return since, exchange, slot


def of_bucket(bucket):
    """Statistics of a bucket."""
    timing = bucket.timing
    return {
        "keys": [slot.key for slot in bucket.slots],
        "length": bucket.length * bucket.dtype.itemsize,
        "sessions": bucket.sessions,
        "bytes": bucket.bytes,
        "seconds": timing.seconds,
        "held": timing.held,
        "last": timing.last,
        "hidden": timing.hidden_share,
    }


def of_key(slot):
    """Statistics of a key."""
    timing = slot.bucket.timing if slot.bucket else None
    return {
        "sums": slot.rounds,
        "bytes": slot.rounds * slot.bytes,
        "seconds": timing.seconds if timing else 0.0,
        "hidden": timing.hidden_share if timing else 1.0,
    }
