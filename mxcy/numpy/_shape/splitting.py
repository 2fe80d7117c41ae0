"""`mx.np` functions that split arrays."""

from mxcy._base.errors import InvalidValueError
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array, is_array
from mxcy.ops.core.infer import normal_axis

__all__ = ["array_split", "dsplit", "hsplit", "split", "unstack", "vsplit"]


def cuts_of(indices_or_sections):
    """Return the attributes of `_split_v2` for sections or indices; indices start with 0."""
    if is_array(indices_or_sections):
        indices_or_sections = indices_or_sections.asnumpy().astype("int64").tolist()
    if hasattr(indices_or_sections, "__index__"):
        sections = indices_or_sections.__index__()
        if sections <= 0:
            raise InvalidValueError("number sections must be larger than 0.")
        return {"sections": sections, "indices": ()}
    return {"sections": 0, "indices": (0, *(i.__index__() for i in indices_or_sections))}


def _inside(cuts, extent):
    """Resolve split positions: negative ones from the end, clipped to the axis."""
    places = [i + extent if i < 0 else i for i in cuts["indices"]]
    return {**cuts, "indices": tuple(min(max(i, 0), extent) for i in places)}


def _ascending(places):
    return all(first <= second for first, second in zip(places, places[1:], strict=False))


def _split(array, cuts, axis, operator="_split_v2"):
    extent = array.shape[axis]
    cuts = _inside(cuts, extent)
    places = cuts["indices"]
    if not _ascending(places):  # as with slices, a part whose end precedes its start is empty
        bounds = zip(places, (*places[1:], extent), strict=True)
        return [_slice(array, axis, begin, max(begin, end)) for begin, end in bounds]
    parts = operate(operator, array, axis=axis, squeeze_axis=False, **cuts)
    return parts if isinstance(parts, list) else [parts]


def _slice(array, axis, begin, end):
    axis = axis % array.ndim
    return array[(slice(None),) * axis + (slice(begin, end),)]


def _prepared(name, ary, least):
    array = as_np_array(ary)
    if array.ndim < least:
        raise InvalidValueError(f"{name} only works on arrays of {least} or more dimensions")
    return array


def _check_even(cuts, extent):
    if cuts["sections"] and extent % cuts["sections"]:
        raise InvalidValueError("array split does not result in an equal division")


def _axis(name, array, axis):
    return normal_axis(axis.__index__(), array.ndim, name)


def split(ary, indices_or_sections, axis=0):
    """Split an array into equal parts, or at indices.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        Number of parts, or the start indices of all parts but the first.
    axis : int
        Axis to split along.

    Returns
    -------
    list of ndarrays

    Raises
    ------
    ValueError
        If the array cannot be split into equal parts.
    """
    array, cuts = _prepared("split", ary, 1), cuts_of(indices_or_sections)
    axis = _axis("split", array, axis)
    _check_even(cuts, array.shape[axis])
    return _split(array, cuts, axis)


def array_split(ary, indices_or_sections, axis=0):
    """Split an array into parts of near-equal size, the first ones larger by one.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        Number of parts, or the start indices of all parts but the first.
    axis : int
        Axis to split along.

    Returns
    -------
    list of ndarrays
    """
    array = _prepared("array_split", ary, 1)
    return _split(array, cuts_of(indices_or_sections), _axis("array_split", array, axis))


def vsplit(ary, indices_or_sections):
    """Split an array along its first axis; see `split`."""
    return split(_prepared("vsplit", ary, 2), indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Split an array along its third axis; see `split`."""
    return split(_prepared("dsplit", ary, 3), indices_or_sections, 2)


def hsplit(ary, indices_or_sections):
    """Split an array along its second axis, a vector along its first; see `split`."""
    array, cuts = _prepared("hsplit", ary, 1), cuts_of(indices_or_sections)
    axis = min(array.ndim - 1, 1)
    _check_even(cuts, array.shape[axis])
    return _split(array, cuts, axis, "_npi_hsplit")


def unstack(x, /, *, axis=0):
    """Split an array into its slices along an axis, removing that axis.

    Parameters
    ----------
    x : array_like
    axis : int

    Returns
    -------
    tuple of ndarrays
    """
    array = _prepared("unstack", x, 1)
    axis = _axis("unstack", array, axis)
    count = array.shape[axis]
    if not count:
        return ()
    parts = operate("SliceChannel", array, num_outputs=count, axis=axis, squeeze_axis=True)
    return tuple(parts) if isinstance(parts, list) else (parts,)
