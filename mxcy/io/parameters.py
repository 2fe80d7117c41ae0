"""Parameters of iterators over files, in tables: what is accepted, the defaults, the help."""

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
        REQUIRED when it has none.
    text : str
        What it does.
    """

    def __init__(self, name: str, type: AttrType, default, text: str):
        self.name, self.type, self.default, self.text = name, type, default, text

    def lines(self):
        """Its entry in a numpydoc section."""
        kind = self.type.kind if self.default is REQUIRED else f"{self.type.kind}, optional"
        return f"{self.name} : {kind}\n    {self.text}"


def parsed(user, table, arguments):
    """The values of all parameters of a table.

    Parameters
    ----------
    user : str
        Whose they are, for messages.
    table : sequence of Parameter
    arguments : dict
        Values in any accepted form. A warning names those that the table does not know.

    Returns
    -------
    types.SimpleNamespace

    Raises
    ------
    MXNetError
        When one is missing, or is not what it should be.
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
    """A decorator: the function takes keyword arguments, and its help lists the table's.

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

#: what all iterators have in common
BATCHES = (
    Parameter("data_name", Str, "data", "The name of the inputs."),
    Parameter("label_name", Str, "softmax_label", "The name of the labels."),
    Parameter("batch_size", UInt, REQUIRED, "Entries per batch."),
    Parameter("round_batch", Bool, True, "Fill the last batch up with the first entries."),
    Parameter("prefetch_buffer", ULong, 4, "How many batches are loaded ahead."),
    Parameter("ctx", Enum("cpu", "gpu", "cpu_pinned"), "gpu", "Accepted; batches are on the CPU."),
    Parameter("device_id", Int, -1, "Accepted."),
    Parameter("dtype", Enum(None, *_DTYPES), None, "The element type of the inputs."),
)

#: where records come from
READING = (
    Parameter("path_imglist", Str, "", "A list file, whose labels replace those of the records."),
    Parameter("path_imgrec", Str, "", "The RecordIO file."),
    Parameter("path_imgidx", Str, "", "Its index; with it all records are shuffled together."),
    Parameter("data_shape", Shape, REQUIRED, "(channel, height, width) of an image."),
    Parameter("label_width", Int, 1, "Labels per image."),
    Parameter("preprocess_threads", Int, 4, "Threads that decode and augment."),
    Parameter("verbose", Bool, True, "Log what is read."),
    Parameter("num_parts", Int, 1, "Into how many parts the file is divided."),
    Parameter("part_index", Int, 0, "Which part to read."),
    Parameter("shuffle_chunk_size", ULong, 0, "Megabytes of chunks that are shuffled, or 0."),
    Parameter("shuffle_chunk_seed", Int, 0, "Decides on the order of the chunks."),
    Parameter("shuffle", Bool, False, "Visit records in random order, another one each epoch."),
    Parameter("seed", Int, 0, "Decides on the order, and without seed_aug on augmentation."),
)


def dtype_of(name, default):
    """The NumPy type that a parameter `dtype` names."""
    return dtypes.dtype_of(dtypes.code_of(default if name is None else name)).type
