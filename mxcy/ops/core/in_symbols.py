"""Properties of operators that only symbols and their files need."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["InSymbols", "STATISTICS", "TYPED", "monitored_inputs", "monitored_outputs"]


class InSymbols:
    """Properties of an operator in symbols.

    Parameters
    ----------
    initial : dict of str to str
        Input name -> initializer (``__init__``) of automatically created variables.
    names : callable, optional
        ``names(a, n)``: names of `n` variadic inputs, by default ``arg0``, ``arg1``...
    listed : callable or int, optional
        ``listed(a)``: number of outputs in files, by default the record's.
    named : bool
        Whether outputs are named as in the record; otherwise ``output``, or ``output0``,
        ``output1``... if files list several.
    named_input : bool
        Whether monitors name a single input ``data`` rather than ``input0``.
    precision_cast : bool
        Whether files may omit the operator, as it was inserted by mixed precision.
    flat_axis : bool
        Whether ``axis=-1`` meant all axes in files older than 0.9.5.
    subgraphs : tuple of str
        Attributes with the JSON text of graphs, stored separately in files.
    noted_as : (str, dict of str to str, dict of str to str), optional
        The MXNet operator by which traces represent it, renamed attributes, and additional
        attributes.
    tells : bool
        Whether traces store all attributes, because MXNet requires even default ones.
    typed : bool
        Whether these include `dtype`, which may result from the thread's type rules.
    file_name : str
        Name in files, if it is another operator's.
    by_count : dict of int to str
        Number of inputs -> operator that files mean by this name.
    under_np_shape : str
        Operator that files with NumPy shape semantics mean by this name.
    spellings : dict of str to str
        Attribute names in MXNet 2 files that differ from the record's.
    """

    __slots__ = (
        "initial",
        "names",
        "listed",
        "named",
        "named_input",
        "precision_cast",
        "flat_axis",
        "subgraphs",
        "noted_as",
        "tells",
        "typed",
        "spellings",
        "file_name",
        "by_count",
        "under_np_shape",
    )

    def __init__(
        self,
        initial: dict[str, str] | None = None,
        names: Callable[..., Iterable[str]] | None = None,
        listed: Callable[..., int] | int | None = None,
        named: bool = False,
        named_input: bool = False,
        precision_cast: bool = False,
        flat_axis: bool = False,
        subgraphs: Sequence[str] = (),
        noted_as: tuple[str, dict[str, str], dict[str, str]] | None = None,
        tells: bool = False,
        typed: bool = False,
        spellings: dict[str, str] | None = None,
        file_name: str = "",
        by_count: dict[int, str] | None = None,
        under_np_shape: str = "",
    ) -> None:
        self.initial, self.names, self.listed, self.named = initial or {}, names, listed, named
        self.named_input = named_input
        self.precision_cast, self.flat_axis = precision_cast, flat_axis
        self.subgraphs, self.noted_as = subgraphs, noted_as
        self.tells, self.typed = tells or typed, typed
        self.spellings = spellings or {}
        self.file_name, self.by_count = file_name, by_count or {}
        self.under_np_shape = under_np_shape


#: array creation operators
TYPED = InSymbols(typed=True)

#: batch normalisation operators
STATISTICS = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}


def monitored_inputs(op: Any, a: Any, n: int) -> tuple[str, ...]:
    """The name suffixes by which monitors show `n` inputs of an operator.

    Parameters
    ----------
    op : Op
    a : Attrs
    n : int
    """
    if tuple(op.inputs) == ("data",) and not (op.variadic or op.in_symbols.named_input):
        return ("input0",)
    return op.symbol_inputs(a, n)


def monitored_outputs(op: Any, a: Any) -> tuple[str, ...]:
    """The name suffixes by which monitors show an operator's outputs, including hidden ones.

    Parameters
    ----------
    op : Op
    a : Attrs
    """
    names, count = op.outputs(a), op.listed(a)
    if op.in_symbols.named:
        return names[:count]
    if count == 1:
        return ("output",)
    return tuple(f"output{i}" for i in range(min(count, len(names))))
