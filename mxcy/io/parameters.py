"""Tables of the parameters of file iterators: types, defaults and documentation."""

import inspect
from types import SimpleNamespace

from mxcy._base import dtypes
from mxcy._base.docstrings import fill_docstring
from mxcy._base.suggestions import did_you_mean
from mxcy._base.warning import warn
from mxcy.base import MXNetError
from mxcy.ops.core.attrs import REQUIRED, AttrType, Bool, Enum, Int, Shape, Str, UInt, ULong

__all__ = ["BATCHES", "READING", "Parameter", "dtype_of", "iterator", "parsed"]


class Parameter:
    """One parameter.

    Parameters
    ----------
    name : str
    type : AttrType
    default : object
        Default value, or REQUIRED.
    text : str
        Documentation.
    """

    def __init__(self, name: str, type: AttrType, default, text: str):
        self.name, self.type, self.default, self.text = name, type, default, text

    def lines(self):
        """Return its entry in a numpydoc section."""
        kind = self.type.kind if self.default is REQUIRED else f"{self.type.kind}, optional"
        return f"{self.name} : {kind}\n    {self.text}"


def parsed(user, table, arguments):
    """Parse the values of all parameters in a table.

    Parameters
    ----------
    user : str
        Name of the iterator, for messages.
    table : sequence of Parameter
    arguments : dict
        Values in any accepted form. Unknown names give a warning.

    Returns
    -------
    types.SimpleNamespace

    Raises
    ------
    MXNetError
        If a parameter is missing or invalid.
    """
    unknown = sorted(arguments.keys() - {parameter.name for parameter in table})
    if unknown:
        names = [parameter.name for parameter in table]
        hints = ", ".join(f"{name}{did_you_mean(name, names)}" for name in unknown)
        warn(f"{user} ignores unknown parameters: {hints}")
    values = SimpleNamespace()
    for parameter in table:
        value = arguments.get(parameter.name, parameter.default)
        if value is REQUIRED:
            raise MXNetError(
                f"Required parameter {parameter.name} of {parameter.type.kind} is not presented, "
                f"in {user}{f' (got {hints})' if unknown else ''}"
            )
        if value is not parameter.default:
            try:
                value = parameter.type.parse(value)
            except (TypeError, ValueError, OverflowError) as error:
                raise MXNetError(
                    f"Invalid parameter {parameter.name}={value!r} in {user}: {error} "
                    f"({parameter.type.kind})"
                ) from None
        setattr(values, parameter.name, value)
    return values


def iterator(table):
    """Decorator that adds a table's parameters to the docstring of a function of ``**kwargs``.

    Parameters
    ----------
    table : sequence of Parameter
    """

    def decorate(function):
        fill_docstring(function, {"**kwargs": "\n".join(entry.lines() for entry in table)})
        function.__signature__ = inspect.Signature(
            [
                inspect.Parameter(
                    parameter.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty
                    if parameter.default is REQUIRED
                    else parameter.default,
                )
                for parameter in table
            ]
            + [inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)]
        )
        return function

    return decorate


_DTYPES = ("bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8")

#: parameters of all iterators
BATCHES = (
    Parameter("data_name", Str, "data", "Name of the inputs."),
    Parameter("label_name", Str, "softmax_label", "Name of the labels."),
    Parameter("batch_size", UInt, REQUIRED, "Samples per batch."),
    Parameter("round_batch", Bool, True, "Pad the last batch with the first samples."),
    Parameter("prefetch_buffer", ULong, 4, "Number of batches loaded ahead."),
    Parameter("ctx", Enum("cpu", "gpu", "cpu_pinned"), "gpu", "Ignored; batches are on the CPU."),
    Parameter("device_id", Int, -1, "Accepted."),
    Parameter("dtype", Enum(None, *_DTYPES), None, "Dtype of the inputs."),
)

#: parameters of the source of records
READING = (
    Parameter("path_imglist", Str, "", "List file whose labels replace those of the records."),
    Parameter("path_imgrec", Str, "", "The RecordIO file."),
    Parameter("path_imgidx", Str, "", "Its index, needed to shuffle all records together."),
    Parameter("data_shape", Shape, REQUIRED, "(channel, height, width) of an image."),
    Parameter("label_width", Int, 1, "Labels per image."),
    Parameter("preprocess_threads", Int, 4, "Number of threads that decode and augment."),
    Parameter("verbose", Bool, True, "Log what is read."),
    Parameter("num_parts", Int, 1, "Number of parts of the file."),
    Parameter("part_index", Int, 0, "Index of the part to read."),
    Parameter("shuffle_chunk_size", ULong, 0, "Size in MB of chunks that are shuffled, or 0."),
    Parameter("shuffle_chunk_seed", Int, 0, "Seed of the order of chunks."),
    Parameter("shuffle", Bool, False, "Visit records in random order, a new one each epoch."),
    Parameter("seed", Int, 0, "Seed of the order and, without seed_aug, of augmentation."),
)


def dtype_of(name, default):
    """The NumPy dtype named by a parameter `dtype`."""
    return dtypes.dtype_of(dtypes.code_of(default if name is None else name)).type
