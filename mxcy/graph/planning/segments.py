"""Bulk segments: consecutive steps of a plan that form one engine operation."""

__all__ = ["segments", "limits"]

_MANY_BYTES = 1 << 19


def segments(plan, settings, training=False):
    """Group the steps of a plan, except those that run once.

    A segment ends at the size limit, and before and after a step without a native kernel, which is
    alone; in the backward pass also after many bytes of gradients, so that they can be used while
    the pass continues.

    Parameters
    ----------
    plan : mxcy.graph.planning.plan.Plan
    settings : dict
        See `limits`; also MXCY_DIST_OVERLAP, whether gradients are used during the pass.
    training : bool
        Whether the plan runs in training mode.

    Returns
    -------
    forward, backward : list of (int, int)
        First and last step of each segment.
    """
    forward, backward = limits(settings, training)
    begin = len(plan.once)
    ends = _ends(plan) if settings.get("MXCY_DIST_OVERLAP", False) else ()
    return (
        _group(plan.steps, begin, plan.forward, forward),
        _group(plan.steps, plan.forward, len(plan.steps), backward, ends),
    )


def _ends(plan):
    """The steps of the backward pass after which many bytes of gradients have been written."""
    first_output = 1 + len(plan.kept) + len(plan.variables)
    ends, ready = set(), 0
    for number in range(plan.forward, len(plan.steps)):
        for place in plan.steps[number].outs:
            base, _, spec = plan.places[place]
            ready += spec.nbytes if base >= first_output else 0
        if ready >= _MANY_BYTES:
            ends.add(number)
            ready = 0
    return ends


def limits(settings, training):
    """The maximum segment length in the forward and the backward pass; None for no limit.

    Parameters
    ----------
    settings : dict
        Values of MXNET_EXEC_BULK_EXEC_INFERENCE, MXNET_EXEC_BULK_EXEC_TRAIN and
        MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN (also with _FWD and _BWD, which take precedence).
    """
    if not training:
        most = None if settings.get("MXNET_EXEC_BULK_EXEC_INFERENCE", True) else 1
        return most, most
    if not settings.get("MXNET_EXEC_BULK_EXEC_TRAIN", True):
        return 1, 1
    common = settings.get("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", 15)
    forward = settings.get("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD")
    backward = settings.get("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD")
    return tuple(max(1, common if own is None else own) for own in (forward, backward))


def _group(steps, begin, end, limit, ends=()):
    """Segments of the steps from `begin` to `end`, exclusive."""
    pieces, first = [], begin
    for number in range(begin, end):
        alone = steps[number].call.kernel is None
        if alone and number > first:
            pieces.append((first, number - 1))
            first = number
        if alone or number in ends or (limit is not None and number - first + 1 == limit):
            pieces.append((first, number))
            first = number + 1
    if first < end:
        pieces.append((first, end - 1))
    return pieces
