"""Attribute types of operators: parsing, normalisation, text form and description of values.

A value has one normal form: ``"(3,3)"``, ``[3, 3]`` and ``(3, 3)`` become ``(3, 3)``. But ``1``,
``True`` and ``1.0`` are different values, and a type accepts only sensible ones.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy._base.suggestions import did_you_mean
from mxcy._base.warning import warn
from mxcy.base import _NullType
from mxcy.ops.core import parsers

__all__ = [
    "AttrType",
    "Int",
    "UInt",
    "Long",
    "ULong",
    "Float",
    "Single",
    "Double",
    "Offset",
    "Number",
    "Bool",
    "Str",
    "Shape",
    "ShapeOrNone",
    "Bounds",
    "IntOrNone",
    "FloatOrNone",
    "DoubleOrNone",
    "BoolOrNone",
    "FloatTuple",
    "SingleTuple",
    "DoubleTuple",
    "LongTuple",
    "ShapeTuple",
    "Enum",
    "DType",
    "Dynamic",
    "DynamicTuple",
    "Unstated",
    "Field",
    "REQUIRED",
    "Attrs",
    "Schema",
]

REQUIRED = object()


class AttrType:
    """The type of an attribute.

    Parameters
    ----------
    kind : str
        Type text in operator listings, such as ``"int (non-negative)"``.
    parse : callable
        Converts a value to its normal form; raises TypeError or ValueError if it is invalid.
    quoted : bool
        Whether listings quote the default.
    digits : int
        Significant digits of float defaults in listings.
    """

    dynamic = False
    single = False  # whether values are rounded to float32

    @property
    def generation_2(self) -> "AttrType":
        """The type shown in listings of MXNet 2."""
        return self

    def __init__(
        self,
        kind: str,
        parse: Callable[[Any], Any],
        quoted: bool = False,
        digits: int = 0,
        sep: str = ", ",
    ) -> None:
        self.kind, self.parse, self.quoted, self.digits, self.sep = kind, parse, quoted, digits, sep

    def default_text(self, value: Any) -> str:
        """Format a default as in operator listings."""
        if isinstance(value, bool):
            return "1" if value else "0"
        if isinstance(value, float):
            # Listings show nine digits of float32 values and seventeen of doubles.
            text = f"{np.float32(value) if self.digits == 9 else value:.{self.digits}g}"
        elif isinstance(value, tuple):
            text = "[" + ",".join(f"{v:g}" for v in value) + "]"
        else:
            text = str(value)
        return f"'{text}'" if self.quoted else text

    def text(self, default: Any) -> str:
        """The type text in listings, for instance ``"float, optional, default=0.5"``."""
        if default is REQUIRED:
            return f"{self.kind}, required"
        return f"{self.kind}{self.sep}optional, default={self.default_text(default)}"


Int = AttrType("int", parsers.int32, quoted=True)
UInt = AttrType("int (non-negative)", parsers.uint32)
Long = AttrType("long", parsers.int64)
ULong = AttrType("long (non-negative)", parsers.uint64)
Float = AttrType("float", parsers.real, digits=9)
# Numbers that MXNet uses in float32 even for float64 arrays.
Single = AttrType("float", parsers.single, digits=9)
Double = AttrType("double", parsers.real, digits=17)
Offset = AttrType("int", parsers.saturated, quoted=True)
Number = AttrType("int", parsers.number, quoted=True)  # MXNet only accepts integers
Bool = AttrType("boolean", parsers.boolean)
Str = AttrType("string", parsers.text, quoted=True)
Shape = AttrType("Shape(tuple)", parsers.or_none(parsers.shape))
# slice bounds, where None differs from -1
Bounds = AttrType("Shape(tuple)", parsers.tuple_of(parsers.or_none(parsers.int64)))
ShapeOrNone = AttrType("Shape or None", parsers.or_none(parsers.shape))
IntOrNone = AttrType("int or None", parsers.or_none(parsers.int32), quoted=True)
FloatOrNone = AttrType("float or None", parsers.or_none(parsers.real), digits=9)
DoubleOrNone = AttrType("double or None", parsers.or_none(parsers.real), digits=17)
BoolOrNone = AttrType("boolean or None", parsers.or_none(parsers.boolean))
FloatTuple = AttrType("tuple of <float>", parsers.tuple_of(parsers.real))
SingleTuple = AttrType("tuple of <float>", parsers.tuple_of(parsers.single))
DoubleTuple = AttrType("tuple of <double>", parsers.tuple_of(parsers.real))
LongTuple = AttrType("tuple of <long>", parsers.tuple_of(parsers.int64))
ShapeTuple = AttrType("tuple of <Shape(tuple)>", parsers.tuple_of(parsers.shape))


class Enum(AttrType):
    """One of several str values; None as a choice also accepts ``'None'``.

    `beyond` are choices unknown to MXNet 1.x; `generation_2` is the type that includes them.
    """

    def __init__(self, *choices: str | None, beyond: tuple[str, ...] = ()) -> None:
        self.choices = (*choices, *beyond)
        text = ", ".join("None" if c is None else f"'{c}'" for c in choices)
        super().__init__("{" + text + "}", self._parse, quoted=True, sep=",")
        self._whole = Enum(*sorted(self.choices, key=str)) if beyond else None

    @property
    def generation_2(self) -> AttrType:
        """The type with all choices."""
        return self._whole or self

    def _parse(self, value: Any) -> Any:
        if value in self.choices:
            return value
        if value in (None, "None"):
            for none in (None, "None"):
                if none in self.choices:
                    return none
        choices = ", ".join(map(repr, self.choices))
        near = did_you_mean(value, filter(None, self.choices))
        raise ValueError(f"expected one of {choices}{near}")


class DType(Enum):
    """A dtype name; accepts every dtype specifier.

    `beyond` are types unknown to MXNet, which listings omit.
    """

    def __init__(self, *choices: str | None, beyond: tuple[str, ...] = ()) -> None:
        super().__init__(*choices)
        self.choices = (*choices, *beyond)

    def _parse(self, value: Any) -> Any:
        if value not in (None, "None") and not (isinstance(value, str) and value in self.choices):
            try:
                value = dtypes.name_of(dtypes.code_of(value))
            except MXNetError as error:
                raise ValueError(str(error)) from None
        return super()._parse(value)


class Dynamic(AttrType):
    """A number that varies between calls, such as a learning rate or scalar operand.

    It is not part of the signature, so neither inference nor kernel selection may use it; kernels
    read it from the field of the same name in their parameter struct.
    """

    dynamic = True

    def __init__(self, of: AttrType) -> None:
        super().__init__(of.kind, of.parse, of.quoted, of.digits, of.sep)
        self.single = of is Single


class DynamicTuple(Dynamic):
    """A tuple of numbers that vary between calls, such as learning rates of several weights.

    Their count is part of the signature: until a call runs, the attribute is a tuple of zeros.
    Kernels read the values, rounded to float32, from the array of the same name in their parameter
    struct.
    """

    most = 60  # maximum number of values

    def __init__(self, of: AttrType) -> None:
        super().__init__(of)
        self.parse = self._parse_few

    def _parse_few(self, value: Any) -> tuple[float, ...]:
        numbers = SingleTuple.parse(value)
        if len(numbers) > self.most:
            raise ValueError(f"expected at most {self.most} values, got {len(numbers)}")
        return numbers


class Unstated(AttrType):
    """A type whose default is omitted in operator listings."""

    def __init__(self, of: AttrType) -> None:
        super().__init__(of.kind, of.parse, of.quoted, of.digits, of.sep)

    def text(self, default: Any) -> str:
        return self.kind


class Field:
    """An attribute of an operator: name, type and default (REQUIRED if there is none).

    Signatures show `default`; `value` is its normal form.
    """

    __slots__ = ("name", "type", "default", "text", "value")

    def __init__(self, name: str, type: AttrType, default: Any = REQUIRED) -> None:
        self.name, self.type, self.default = name, type, default
        self.text = type.text(default)
        self.value = default if default is REQUIRED or not type.single else type.parse(default)


class Attrs:
    """The normalised attributes of a call, accessed as ``a.kernel``; `key` identifies them."""

    if TYPE_CHECKING:  # attributes depend on the schema

        def __getattr__(self, name: str) -> Any: ...

    train = False  # set by fronts for operators that use them
    numpy_types = False
    exact = False  # whether mixed precision has been applied

    def __init__(self, values: Mapping[str, Any], key: Any) -> None:
        self.__dict__.update(values)
        self.__dict__["key"] = key

    def with_values(self, names: Iterable[str], values: Iterable[Any]) -> "Attrs":
        """Return a copy with the dynamic attributes filled in."""
        attrs = Attrs.__new__(Attrs)
        attrs.__dict__.update(self.__dict__)
        attrs.__dict__.update(zip(names, values, strict=True))
        return attrs

    def __repr__(self) -> str:
        shown = {k: v for k, v in self.__dict__.items() if k != "key"}
        return f"Attrs({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


class Schema:
    """The attributes of an operator, in order."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = tuple(fields)
        self.names = tuple(f.name for f in self.fields)
        self.by_name = {f.name: f for f in self.fields}
        self.static = tuple(f for f in self.fields if not f.type.dynamic)
        changing = tuple(f for f in self.fields if f.type.dynamic)
        self.dynamic = tuple(f for f in changing if not isinstance(f.type, DynamicTuple))
        self.tuples = tuple(f for f in changing if isinstance(f.type, DynamicTuple))
        self.dynamic_names = tuple(f.name for f in (*self.dynamic, *self.tuples))
        self._interned: dict[Any, Attrs] = {}

    def parse(self, op_name: str, field: Field, value: Any) -> Any:
        """Normalise a value, or raise an MXNetError naming operator and attribute."""
        if value is REQUIRED or isinstance(value, _NullType):
            if field.default is REQUIRED:
                raise MXNetError(
                    f"Required parameter {field.name} of {field.type.kind} is not presented, "
                    f"in operator {op_name}"
                )
            return field.value
        try:
            return field.type.parse(value)
        except (TypeError, ValueError, OverflowError) as error:
            about = "" if isinstance(field.type, Enum) else f" ({field.type.kind})"
            # an array in a parameter's place is shown by its last line: its type and shape
            shown = repr(value).strip().rsplit("\n", 1)[-1]
            raise MXNetError(
                f"Invalid parameter {field.name}={shown} in operator {op_name}: {error}{about}"
            ) from None

    def check_name(self, op_name: str, name: str) -> None:
        """Check that the operator has an attribute of this name.

        Operators without attributes only warn, because programs rely on that.

        Raises
        ------
        MXNetError
        """
        if name in self.by_name:
            return
        if not self.fields:
            text = f"operator {op_name} has no argument {name}: it is ignored, as in MXNet"
            warn(text)
            return
        raise MXNetError(
            f"Cannot find argument '{name}' in operator {op_name}, possible arguments: "
            f"{', '.join(self.names)}{did_you_mean(name, self.names)}"
        )

    def intern(self, op_name: str, attributes: Mapping[str, Any]) -> Attrs:
        """Return the unique Attrs object for static attributes.

        Parameters
        ----------
        attributes : dict
            Attribute values by name, in any accepted form. Of dynamic tuples only the length
            matters; other dynamic attributes are ignored.
        """
        for name in attributes:
            self.check_name(op_name, name)
        values = {
            f.name: self.parse(op_name, f, attributes.get(f.name, REQUIRED)) for f in self.static
        }
        for f in self.tuples:
            values[f.name] = (0.0,) * len(self.parse(op_name, f, attributes.get(f.name, REQUIRED)))
        key = tuple((type(v), v) for v in values.values())
        interned = self._interned.get(key)
        if interned is None:
            if len(self._interned) > 4096:  # bound memory for values that never repeat
                self._interned.clear()
            interned = self._interned[key] = Attrs(values, key)
        return interned

    def dynamic_values(self, op_name: str, attributes: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of all dynamic attributes, flattened: scalars in schema order, then tuples."""
        numbers = [self.parse(op_name, f, attributes.get(f.name, REQUIRED)) for f in self.dynamic]
        for f in self.tuples:
            numbers += self.parse(op_name, f, attributes.get(f.name, REQUIRED))
        return tuple(numbers)

    def count(self, attrs: Attrs) -> int:
        """The length of `dynamic_values` for these attributes."""
        return len(self.dynamic) + sum(len(getattr(attrs, f.name)) for f in self.tuples)

    def numbers_of(self, attrs: Attrs) -> tuple[Any, ...]:
        """The `dynamic_values` stored in attributes."""
        numbers = [getattr(attrs, f.name) for f in self.dynamic]
        for f in self.tuples:
            numbers += getattr(attrs, f.name)
        return tuple(numbers)

    def filled(self, attrs: Attrs, numbers: Sequence[Any]) -> Attrs:
        """Return a copy with dynamic attributes set from a flat sequence of values."""
        values, at = list(numbers[: len(self.dynamic)]), len(self.dynamic)
        for f in self.tuples:
            n = len(getattr(attrs, f.name))
            values.append(tuple(numbers[at : at + n]))
            at += n
        return attrs.with_values(self.dynamic_names, values)
