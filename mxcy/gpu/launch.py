"""Kernel launches: their description, and their packed parameters for ``gpu_launch``."""

from dataclasses import dataclass

from mxcy.gpu import driver
from mxcy.gpu.compile import function
from mxcy.ops.core.params import LAUNCH

__all__ = [
    "Addresses",
    "Alarm",
    "F64",
    "I64",
    "Input",
    "Launch",
    "Numbers",
    "Output",
    "Random",
    "Results",
    "Sizes",
    "Workspace",
    "packed",
    "spread",
]

_BLOCK = 256
_MOST_BLOCKS = 1024  # of kernels with grid-stride loops
_INPUT, _OUTPUT, _WORKSPACE, _I64, _I32, _F64, _ADDRESSES, _SIZES, _NUMBERS, _RESULTS = range(10)
_RANDOM, _ALARM = 10, 11


def Input(number):  # noqa: N802  arguments look like types
    """The address of an input."""
    return _INPUT, number


def Output(number):  # noqa: N802
    """The address of an output."""
    return _OUTPUT, number


def Workspace(offset=0):  # noqa: N802
    """The address of a byte of the workspace."""
    return _WORKSPACE, offset


def Random(dropout=False):  # noqa: N802
    """The address of the device's random streams, or of Dropout's."""
    return _RANDOM, int(dropout)


def Alarm(text=None, kind=""):  # noqa: N802
    """An alarm, see texts/alarms.cuh.

    Parameters
    ----------
    text : str, optional
        The error, with ``{}`` in place of the numbers that the kernel reports; None: no alarm.
    kind : str
        A prefix that names the exception, such as ``"IndexError: "``.
    """
    return _ALARM, (kind, text)


def I64(value):  # noqa: N802
    """An integer."""
    return _I64, value


def F64(value, attribute=None):  # noqa: N802
    """A float64; `attribute`: the number of the dynamic attribute that replaces it."""
    return _F64, [(value, attribute)]


def Numbers(pairs):  # noqa: N802
    """A struct of float64 values: pairs as for `F64`."""
    return _NUMBERS, list(pairs)


def Addresses(first, step, count):  # noqa: N802
    """A struct of the addresses of inputs first, first + step..."""
    return _ADDRESSES, first | step << 16 | count << 32


def Results(first, count):  # noqa: N802
    """A struct of the addresses of outputs first, first + 1..."""
    return _RESULTS, first | 1 << 16 | count << 32


def Sizes(first, step, count):  # noqa: N802
    """A struct of the element counts of inputs first, first + step..."""
    return _SIZES, first | step << 16 | count << 32


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel on a device.

    Parameters
    ----------
    text, name : str
        The CUDA source, and the kernel in it.
    grid : tuple of int
    arguments : list
        Made by the functions above.
    wide : str, optional
        The kernel used if all addresses are multiples of 16.
    block : int
    shared : int
        Bytes of dynamic shared memory.
    """

    text: str
    name: str
    grid: tuple
    arguments: list
    wide: str | None = None
    block: int = _BLOCK
    shared: int = 0


def spread(count, each=1):
    """Return the grid of a grid-stride loop over `count` elements, `each` per thread and turn."""
    return (max(1, min(-(-count // (_BLOCK * each)), _MOST_BLOCKS)),)


def _bits(numbers):
    """Return a signed word with the given bits set; the last bit stands for all from 63 on."""
    word = sum(1 << number for number in {min(number, 63) for number in numbers})
    return word - (1 << 64) if word >> 63 else word


def _alarm_number(device, operator, kind, text):
    """Return the number of a device's alarm with a text, -1 for none."""
    if text is None:
        return -1
    return driver.alarm(device, f"{kind}Error in operator {operator}: {text}")


def packed(launches, device, mutated=(), name=""):
    """Pack the parameters of ``gpu_launch``.

    Parameters
    ----------
    launches : list of Launch
    device : int
    mutated : collection of int
        The inputs that are written.
    name : str
        The operator's, for errors.

    Returns
    -------
    (bytes, tuple)
        The struct, and the (number, offset) of dynamic attributes in it.
    """
    kinds, indices, values, patches = [], [], [], []
    lists = {name: [] for name in ("function", "wide", "grid", "block", "shared")}
    firsts = []
    for launch in launches:
        firsts.append(len(kinds))
        for kind, content in launch.arguments:
            kinds.append(kind)
            if kind == _ALARM:
                indices.append(_alarm_number(device, name, *content))
                continue
            if kind not in (_F64, _NUMBERS):
                indices.append(content)
                continue
            place = len(values)
            indices.append(place if kind == _F64 else place | len(content) << 16)
            for value, attribute in content:
                if attribute is not None:
                    patches.append((attribute, LAUNCH.offsets["value"] + 8 * len(values)))
                values.append(float(value))
        lists["function"].append(function(launch.text, launch.name, device))
        lists["wide"].append(function(launch.text, launch.wide, device) if launch.wide else 0)
        lists["grid"] += (*launch.grid, 1, 1)[:3]
        lists["block"].append(launch.block)
        lists["shared"].append(launch.shared)
    counts = [len(launch.arguments) for launch in launches]
    params = LAUNCH.pack(
        device=device,
        count=len(launches),
        mutated=_bits(mutated),
        first=firsts,
        arguments=counts,
        kind=kinds,
        index=indices,
        value=values,
        **lists,
    )
    return params, tuple(patches)
