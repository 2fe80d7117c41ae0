"""What `KVStore.stats` tells about buckets and keys."""

__all__ = ["of_bucket", "of_key"]


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
