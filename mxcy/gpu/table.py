"""Device kernels by the names of the CPU's, as records name them.

A maker gets a `Request` and returns the launches that replace the CPU's kernel of that name, or a
`NativeCall` for a call of one of NVIDIA's libraries, or a string with the reason of its refusal.
"""

from dataclasses import dataclass

from mxcy._base import dtypes

__all__ = ["TYPES", "NativeCall", "Request", "kernel", "maker_of"]

#: dtype -> its name in CUDA source (texts/elements.cuh)
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
    """A call that needs a kernel.

    Attributes
    ----------
    name : str
        The kernel's name.
    dtype : int
        The element type by which the CPU selects the kernel.
    values : dict
        The fields of its parameter struct.
    dynamic : dict
        Field -> (number of its first dynamic attribute, count).
    attrs : Attrs
    ins, outs : list of Spec
    inplace : bool
        Set by the maker if an output may share memory with an input of its shape.
    workspace : int
        Bytes of device memory that the launches need, set by the maker.
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
        """Return (value, number of the dynamic attribute or None) of a field."""
        attribute = self.dynamic[field][0] if field in self.dynamic else None
        return self.values[field], attribute

    def numbers(self, field):
        """Return the same for each element of a list."""
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
    """Register a maker of kernels by their names (decorator)."""

    def registered(make):
        for name in names:
            _makers[name] = make, inplace
        return make

    return registered


def maker_of(name):
    """Return (maker, whether outputs may be inputs) of a name, or None."""
    return _makers.get(name)
