"""What symbols and their files need to know of an operator beyond how to call it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["InSymbols", "STATISTICS", "TYPED", "monitored_inputs", "monitored_outputs"]


class InSymbols:
    """An operator's habits in symbols.

    Parameters
    ----------
    initial : dict of str to str
        Input names -> the initializer (``__init__``) of variables that are put there.
    names : callable, optional
        ``names(a, n)``: the names of `n` variadic inputs; ``arg0``, ``arg1``... by default.
    listed : callable or int, optional
        How many outputs files count, ``listed(a)``; those of the record by default.
    named : bool
        Whether outputs are named as in the record; otherwise ``output``, or ``output0``,
        ``output1``... where files count several.
    named_input : bool
        Whether monitors name an only input ``data``; they call it ``input0`` otherwise.
    precision_cast : bool
        Whether files may leave the operator out because mixed precision put it in.
    flat_axis : bool
        Whether ``axis=-1`` meant all axes in files from before 0.9.5.
    subgraphs : tuple of str
        Attributes that hold the JSON text of graphs; files keep them apart from the others.
    noted_as : (str, dict of str to str, dict of str to str), optional
        The operator as which traces note it down, one that MXNet has, the names of attributes
        there, and further attributes.
    tells : bool
        Whether traces tell all attributes, since MXNet needs them even where they are usual.
    typed : bool
        Whether these include attribute `dtype`, which the thread's policy may have chosen.
    file_name : str
        The operator's name in files, where that is another's.
    by_count : dict of int to str
        For numbers of inputs the operator that files mean by this one's name.
    under_np_shape : str
        The operator that files with NumPy's shapes mean by this one's name.
    spellings : dict of str to str
        Names of attributes in files of MXNet 2 that are not those of the record.
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


#: arrays made of nothing
TYPED = InSymbols(typed=True)

#: batch normalisations
STATISTICS = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}


def monitored_inputs(op: Any, a: Any, n: int) -> tuple[str, ...]:
    """The endings of the names by which monitors show `n` inputs of an operator.

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
    """The endings of the names by which monitors show an operator's outputs, hidden ones too.

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
