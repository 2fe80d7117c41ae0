"""Splitting batches over devices, and concatenating results."""

from mxcy import ndarray as nd
from mxcy.context import Context
from mxcy.io import DataDesc
from mxcy.ndarray import NDArray

__all__ = [
    "batch_axes",
    "columns",
    "copy_parts",
    "each_device",
    "joined",
    "part_shapes",
    "split_batch",
]


def batch_axes(shapes, batch_size):
    """The batch axis of each shape (-1 for none), and the common batch size.

    Parameters
    ----------
    shapes : list of DataDesc
    batch_size : int or None
        Batch size of earlier shapes, or None.
    """
    axes = [DataDesc.get_batch_axis(desc.layout) for desc in shapes]
    for desc, axis in zip(shapes, axes, strict=True):
        if axis == -1:
            continue
        size = desc.shape[axis]
        batch_size = size if batch_size is None else batch_size
        assert size == batch_size, (
            f"all data must have the same batch size: batch_size = {batch_size}, but "
            f"{desc.name} has shape {desc.shape}"
        )
    return axes, batch_size


def part_shapes(shapes, axes, size):
    """The shapes of one device's part of the batch, of `size` samples."""
    parts = []
    for desc, axis in zip(shapes, axes, strict=True):
        shape = list(desc.shape)
        if axis >= 0:
            shape[axis] = size
        parts.append(DataDesc(desc.name, tuple(shape), desc.dtype, desc.layout))
    return parts


def split_batch(batch_size, work_load_list):
    """Split a batch proportionally.

    Parameters
    ----------
    batch_size : int
        Size of the batch.
    work_load_list : list of number
        Relative sizes of the parts.

    Returns
    -------
    list of slice

    Raises
    ------
    ValueError
        If a part would be empty.
    """
    total = sum(work_load_list)
    sizes = [round(load * batch_size / total) for load in work_load_list]
    sizes[-1] += batch_size - sum(sizes)
    parts, end = [], 0
    for size in sizes:
        begin, end = int(min(end, batch_size)), int(min(end + size, batch_size))
        if begin >= end:
            raise ValueError(
                "Too many slices. Some splits are empty: "
                f"{batch_size} samples cannot be shared by {len(sizes)} contexts"
            )
        parts.append(slice(begin, end))
    return parts


def each_device(group2ctxs, count):
    """{group: context} for each of `count` devices; values may be lists, one item per device."""
    if isinstance(group2ctxs, dict):
        lists = {
            group: [ctxs] * count if isinstance(ctxs, Context) else list(ctxs)
            for group, ctxs in group2ctxs.items()
        }
        for group, ctxs in lists.items():
            assert len(ctxs) in (1, count), (
                f"group2ctxs: {group} has {len(ctxs)} contexts for {count} devices"
            )
        group2ctxs = [
            {group: ctxs[i % len(ctxs)] for group, ctxs in lists.items()} for i in range(count)
        ]
    elif group2ctxs is None:
        group2ctxs = [None] * count
    assert len(group2ctxs) == count, "group2ctxs must have an item for each context"
    return group2ctxs


def columns(executors, attribute, names):
    """The arrays of all executors for each name, from a dict attribute."""
    dicts = [getattr(executor, attribute) for executor in executors]
    return [[arrays[name] for arrays in dicts] for name in names]


def copy_parts(source, targets, axis):
    """Copy the parts of an array to the devices.

    Parameters
    ----------
    source : NDArray, or list of NDArray per device
        The whole array, or its parts.
    targets : list of (slice, NDArray)
        Part and destination for each device.
    axis : int
        Batch axis; if negative, copy all of `source` to every device.

    Raises
    ------
    ValueError
        If a part does not have its destination's shape.
    """
    for i, (part, target) in enumerate(targets):
        if not isinstance(source, NDArray):
            piece = source[i]
        elif axis < 0 or len(targets) == 1:
            piece = source
        elif axis == 0:
            piece = source[part.start : part.stop]
        else:
            piece = nd.slice_axis(source, axis=axis, begin=part.start, end=part.stop)
        if piece.shape != target.shape:
            raise ValueError(f"expected an array of shape {target.shape}, got {piece.shape}")
        piece.copyto(target)


def joined(arrays, axes):
    """Concatenate each list of the devices' arrays on the first device."""
    results = []
    for parts, axis in zip(arrays, axes, strict=True):
        if len(parts) == 1 or axis < 0:
            results.append(parts[0])
            continue
        ctx = parts[0].context
        results.append(nd.concat(*(part.as_in_context(ctx) for part in parts), dim=axis))
    return results
