"""Memory layout of kernel parameter structs."""

import re
import struct as _struct
from typing import Any

__all__ = ["Params", "STRUCTS"]

STRUCTS: dict[str, "Params"] = {}
_CODES = {"i32": ("i", 4), "i64": ("q", 8), "f64": ("d", 8)}  # ctype -> (`struct` code, size)


class Params:
    """The layout of one kernel parameter struct, ``mx_<name>_params`` in C.

    It is declared in the header of its kernel family, ``params/<family>.gen.h``.
    """

    def __init__(self, family: str, name: str, doc: str, /, **fields: str) -> None:
        self.family, self.name, self.doc, self.fields = family, name, doc, []
        self.offsets, offset, codes = {}, 0, "="
        for field, ctype in fields.items():
            match = re.fullmatch(r"(i32|i64|f64)(?:\[(\d+)\])?", ctype)
            if match is None:
                raise ValueError(f"params struct {name}: unknown type {ctype!r} of {field}")
            base, length = match.groups()
            code, size = _CODES[base]
            pad = -offset % size
            codes += f"{pad}x" if pad else ""
            self.offsets[field] = offset + pad
            n = int(length) if length else 1
            codes += f"{n}{code}"
            offset += pad + n * size
            self.fields.append((field, base, int(length) if length else None))
        codes += f"{-offset % 8}x"  # the struct's size is a multiple of its alignment
        self._layout = _struct.Struct(codes)
        if name in STRUCTS:
            raise ValueError(f"params struct {name} is declared twice")
        STRUCTS[name] = self

    def pack(self, **values: Any) -> bytes:
        """The struct's bytes; array fields take a sequence, padded with zeros.

        Raises
        ------
        OverflowError
            If a value does not fit its field.
        """
        known, flat = dict(values), []
        for field, base, length in self.fields:
            value = values.pop(field)
            if length is None:
                flat.append(float(value) if base == "f64" else int(value))
                continue
            value = list(value)
            if len(value) > length:
                raise ValueError(f"{self.name}.{field} holds {length} values, got {len(value)}")
            flat += value + [0] * (length - len(value))
        if values:
            raise TypeError(f"{self.name} has no field {', '.join(values)}")
        try:
            return self._layout.pack(*flat)
        except _struct.error:
            raise OverflowError(f"the parameters {known} do not fit into {self.name}") from None
