"""Agreement of the ranks that are left on the sums of an exchange, after others have died."""

from mxcy.base import MXNetError

__all__ = ["shrink"]


def shrink(exchange, world):
    """Complete, or undo, the sessions in flight on all ranks; collective, blocks.

    It can be repeated if another rank dies meanwhile.

    Parameters
    ----------
    exchange : Exchange
    world : World
        Of the ranks that are left.

    Raises
    ------
    MXNetError
        When values or optimizer states are lost.
    """
    for bucket in exchange.buckets:
        bucket.abort(world.size)
    mine = [(bucket.completed, bucket.committed) for bucket in exchange.buckets]
    stages = world.allgather((mine, exchange.updating is not None))
    for i, bucket in enumerate(exchange.buckets):
        counts = [known[i] if i < len(known) else (0, 0) for known, _ in stages]
        _complete(bucket, world, *(list(column) for column in zip(*counts, strict=True)))
    if all(updating for _, updating in stages):
        exchange.state_source.spread(world)
    for bucket in exchange.buckets:
        bucket.pending_update = None


def _complete(bucket, world, completed, committed):
    """Complete a session that any rank has completed or, with sharded updates, begun to update."""
    most = max(committed)
    pending = bucket.pending_update
    if bucket.committed < most and pending is not None:
        pending.run()
    if min(completed) == most:
        return
    if max(completed) == most:
        first = completed.index(most)
        result = world.broadcast_from(first, bucket.kept[:3] if first == world.rank else None)
    else:
        pieces = world.allgather(pending.pieces())
        result = pending.result([piece for some in pieces for piece in some])
        if result is None:
            raise MXNetError(
                f"the values of key {bucket.slots[0].key!r} and others died with both ranks that "
                "updated them; start again from a checkpoint"
            )
    if bucket.completed < most:
        bucket.adopt(*result)
