"""Rules of optimizers' updates by row_sparse gradients; see `mxcy.ops.sparse.updates`."""

from mxcy.ops.core.stypes import RowSparse, update

__all__ = ["by_rows"]


def _values(x):
    """All elements of a weight or a state, whose rows are all stored."""
    return x.data if isinstance(x, RowSparse) else x


def by_rows(component, *patterns, when=None):
    """The rules of an update by rows.

    Parameters
    ----------
    component : str
        The operator that does it, of a weight, rows, their indices, and states.
    *patterns : str
        Storage types of weight, gradient and states: ``"default row_sparse default"``.
    when : callable, optional
        A condition ``when(a, *specs)``.
    """

    def run(a, F, weight, grad, *states):
        function = getattr(F, component)
        options = {name: getattr(a, name) for name in function.__mx_params__ if hasattr(a, name)}
        values = _values(weight)
        function(values, grad.data, grad.indices, *map(_values, states), out=values, **options)

    return tuple(update(f"{each} -> {each.split()[0]}", run, when) for each in patterns)
