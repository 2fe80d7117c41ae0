"""The kernels of devices, by the names of the CPU's: records name these, and know of no device.

A maker gets a `Request` and returns the launches that do what the CPU's kernel of that name does,
or a `NativeCall` where a library of NVIDIA's does it, or a string: why it refuses.
"""

from dataclasses import dataclass

from mxcy._base import dtypes

__all__ = ["TYPES", "NativeCall", "Request", "kernel", "maker_of"]

#: element types as CUDA source writes them (texts/elements.cuh)
TYPES = {
    dtypes.CODES[name]: text
    for name, text in {
        "float32": "float",
        "float64": "double",
        "float16": "Half",
        "uint8": "unsigned char",
        "int32": "int",
        "int8": "signed char",
        "int64": "Long",
        "bool": "Bool",
        "int16": "short",
        "uint16": "unsigned short",
        "uint32": "unsigned",
        "uint64": "unsigned long long",
        "bfloat16": "Bf16",
    }.items()
}
_makers = {}


@dataclass(slots=True)
class Request:
    """A call that a kernel is wanted for.

    Attributes
    ----------
    name : str
        The kernel's name.
    dtype : int
        The element type under which the CPU finds it.
    values : dict
        The fields of its parameter struct.
    dynamic : dict
        Of fields that are dynamic attributes: the number of the first one, and how many.
    attrs : Attrs
    ins, outs : list of Spec
    inplace : bool
        To be set where an output may be the very memory of an input of its shape.
    workspace : int
        Bytes of device memory that the launches need besides.
    device : int
        Where the call runs.
    """

    name: str
    dtype: int
    values: dict
    dynamic: dict
    attrs: object
    ins: list
    outs: list
    inplace: bool = False
    workspace: int = 0
    device: int = 0

    def number(self, field):
        """(value, number of the dynamic attribute) of a field."""
        attribute = self.dynamic[field][0] if field in self.dynamic else None
        return self.values[field], attribute

    def numbers(self, field):
        """The same of each number of a field that is a list."""
        first = self.dynamic[field][0] if field in self.dynamic else None
        return [
            (value, None if first is None else first + i)
            for i, value in enumerate(self.values[field])
        ]


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A call of a kernel in ``kernels/cuda``.

    Parameters
    ----------
    kernel : str
    params : bytes
    workspace : int
        Bytes of device memory that it needs.
    """

    kernel: str
    params: bytes
    workspace: int = 0


def kernel(*names, inplace=False):
    """Decorator: register a maker of the kernels of some names."""

    def registered(make):
        for name in names:
            _makers[name] = make, inplace
        return make

    return registered


def maker_of(name):
    """(maker, whether outputs may be inputs) of a name, or None."""
    return _makers.get(name)
