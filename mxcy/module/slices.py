"""Dividing batches between devices, and joining what comes back."""

from mxcy import ndarray as nd
from mxcy.ndarray import NDArray

__all__ = ["columns", "copy_parts", "joined", "split_batch"]


def split_batch(batch_size, work_load_list):
    """Divide a batch.

    Parameters
    ----------
    batch_size : int
        Entries in all.
    work_load_list : list of number
        What each part is proportional to.

    Returns
    -------
    list of slice

    Raises
    ------
    ValueError
        When a part would be empty.
    """
    whole = sum(work_load_list)
    sizes = [round(load * batch_size / whole) for load in work_load_list]
    sizes[-1] += batch_size - sum(sizes)
    parts, end = [], 0
    for size in sizes:
        begin, end = int(min(end, batch_size)), int(min(end + size, batch_size))
        if begin >= end:
            raise ValueError("Too many slices. Some splits are empty.")
        parts.append(slice(begin, end))
    return parts


def columns(executors, attribute, names):
    """For each name the arrays of all executors, from an attribute that is a dict."""
    dicts = [getattr(executor, attribute) for executor in executors]
    return [[arrays[name] for arrays in dicts] for name in names]


def copy_parts(source, targets, axis):
    """Copy the parts of an array to the devices.

    Parameters
    ----------
    source : NDArray, or list of NDArray for each device
        What to copy.
    targets : list of (slice, NDArray)
        Part and destination for each device.
    axis : int
        The batch axis; all of `source` goes to every device when it is negative.

    Raises
    ------
    ValueError
        When a part does not have its destination's shape.
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
    """Each list of the devices' arrays as one array, on the first device."""
    results = []
    for parts, axis in zip(arrays, axes, strict=True):
        if len(parts) == 1 or axis < 0:
            results.append(parts[0])
            continue
        ctx = parts[0].context
        results.append(nd.concat(*(part.as_in_context(ctx) for part in parts), dim=axis))
    return results
