"""What symbols and their files need to know of an operator beyond how to call it."""

__all__ = ["InSymbols", "STATISTICS"]


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
    precision_cast : bool
        Whether files may leave the operator out because mixed precision put it in.
    flat_axis : bool
        Whether ``axis=-1`` meant all axes in files from before 0.9.5.
    subgraphs : tuple of str
        Attributes that hold the JSON text of graphs; files keep them apart from the others.
    """

    __slots__ = ("initial", "names", "listed", "named", "precision_cast", "flat_axis", "subgraphs")

    def __init__(
        self, initial=None, names=None, listed=None, named=False, precision_cast=False,
        flat_axis=False, subgraphs=(),
    ):  # fmt: skip
        self.initial, self.names, self.listed, self.named = initial or {}, names, listed, named
        self.precision_cast, self.flat_axis = precision_cast, flat_axis
        self.subgraphs = subgraphs


#: batch normalisations
STATISTICS = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}
