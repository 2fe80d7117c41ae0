"""Validation of user-provided names and shapes of inputs and labels."""

from mxcy._base.warning import warn
from mxcy.io import DataDesc
from mxcy.ndarray import NDArray

__all__ = [
    "as_list",
    "check_names_in_symbol",
    "describe",
    "describe_batch",
    "reshaped",
    "shapes_for_batch_size",
    "shapes_of_batch",
]

# Suffixes of parameter names; other arguments are suggested as inputs.
_PARAMETER_ENDINGS = ("_weight", "_bias", "_gamma", "_beta")


def as_list(value):
    """Return a list or tuple unchanged, anything else as a list of one item."""
    return value if isinstance(value, list | tuple) else [value]


def check_names_in_symbol(symbol, names, kind, strict):
    """Check that a symbol has arguments with these names.

    Parameters
    ----------
    symbol : Symbol
        The network.
    names : list of str
        The names.
    kind : str
        'data', 'label', 'state' or 'fixed_param', for the message.
    strict : bool
        Whether to raise ValueError instead of warning.
    """
    if not hasattr(symbol, "list_arguments"):
        hint = "; mx.sym.load reads one from a file" if isinstance(symbol, str) else ""
        raise TypeError(f"Module: symbol: expected a Symbol, got {type(symbol).__name__}{hint}")
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        candidates = [a for a in arguments if not a.endswith(_PARAMETER_ENDINGS)]
        _complain(
            f"You created Module with Module(..., {kind}_names={names}) but input with name "
            f"'{name}' is not found in symbol.list_arguments(). Did you mean one of:\n\t"
            + "\n\t".join(candidates),
            strict,
        )


def describe(names, shapes, kind, strict):
    """Return descriptions of inputs or labels, checked against the module's names.

    Parameters
    ----------
    names : list of str
        The names.
    shapes : list of DataDesc or of (str, tuple of int)
        The user's argument.
    kind : str
        'data' or 'label', for the message.
    strict : bool
        Whether other names raise ValueError instead of a warning.

    Returns
    -------
    list of DataDesc
    """
    if not all(isinstance(desc, (tuple, list)) for desc in shapes):
        raise TypeError(f"{kind}_shapes: expected [(name, shape), ...], got {shapes!r}")
    descriptions = [desc if isinstance(desc, DataDesc) else DataDesc(*desc) for desc in shapes]
    described = [desc.name for desc in descriptions]
    if sorted(names) != sorted(described):
        _complain(
            f"Data provided by {kind}_shapes don't match names specified by {kind}_names "
            f"({descriptions} vs. {names})",
            strict,
        )
    return descriptions


def _complain(message, strict):
    if strict:
        raise ValueError(message)
    warn(message)


def shapes_of_batch(batch, kind, descriptions):
    """The shapes of a batch's arrays, summed over the parts of several devices.

    Parameters
    ----------
    batch : DataBatch, or list of one per device
        The batch.
    kind : str
        'data' or 'label'.
    descriptions : list of DataDesc
        Descriptions the module is bound to, with the batch axes.

    Returns
    -------
    list of tuple of int
    """
    if not isinstance(batch, list):
        if not hasattr(batch, kind):
            raise TypeError(
                f"batch: expected a DataBatch, such as mx.io.DataBatch([array]), got "
                f"{type(batch).__name__}"
            )
        arrays = getattr(batch, kind)
        assert all(isinstance(array, NDArray) for array in arrays), (
            f"a batch's {kind} must be a list of NDArray"
        )
        return [array.shape for array in arrays]
    shapes = []
    devices = [getattr(desc, kind) for desc in batch]
    for desc, parts in zip(descriptions, zip(*devices, strict=True), strict=True):
        shape = list(parts[0].shape)
        axis = DataDesc.get_batch_axis(desc.layout)
        if axis >= 0:
            shape[axis] = sum(part.shape[axis] for part in parts)
        shapes.append(tuple(shape))
    return shapes


def shapes_for_batch_size(descriptions, others):
    """The described shapes with the batch size of other descriptions."""
    axes = [DataDesc.get_batch_axis(desc.layout) for desc in others]
    sizes = [desc.shape[axis] for desc, axis in zip(others, axes, strict=True) if axis >= 0]
    shapes = []
    for desc in descriptions:
        shape, axis = list(desc.shape), DataDesc.get_batch_axis(desc.layout)
        if axis >= 0 and sizes:
            shape[axis] = sizes[0]
        shapes.append(tuple(shape))
    return shapes


def describe_batch(data_names, label_names, data_shapes, label_shapes):
    """Describe a batch's inputs, and its labels or None; see `describe`."""
    labels = describe(label_names, label_shapes or [], "label", False)
    return describe(data_names, data_shapes, "data", True), labels or None


def reshaped(descriptions, shapes):
    """Descriptions with other shapes.

    Raises
    ------
    ValueError
        If the number of shapes differs.
    """
    if len(shapes) != len(descriptions):
        names = ", ".join(desc.name for desc in descriptions)
        raise ValueError(f"batch: expected {len(descriptions)} arrays ({names}), got {len(shapes)}")
    return [
        DataDesc(desc.name, shape, desc.dtype, desc.layout)
        for desc, shape in zip(descriptions, shapes, strict=True)
    ]


def shapes_for(batch, data_shapes, label_shapes):
    """Descriptions of data and labels for the shapes of a batch.

    Parameters
    ----------
    batch : DataBatch, or list of DataBatch per device
    data_shapes, label_shapes : list of DataDesc
        Descriptions the module is bound to.

    Returns
    -------
    (list of DataDesc, list of DataDesc or None) or None
        None if the batch has the bound shapes.
    """
    first = batch
    if isinstance(batch, list):
        assert batch, "an empty list of batches"
        first = batch[0]
    data = shapes_of_batch(batch, "data", data_shapes)
    if data == [tuple(one.shape) for one in data_shapes]:
        return None
    new_data = getattr(first, "provide_data", None) or reshaped(data_shapes, data)
    new_labels = getattr(first, "provide_label", None)
    if not new_labels and label_shapes:
        if getattr(first, "label", None):
            label = shapes_of_batch(batch, "label", label_shapes)
        else:
            label = shapes_for_batch_size(label_shapes, new_data)
        new_labels = reshaped(label_shapes, label)
    return new_data, new_labels or None
