"""Rules of optimizer updates by row_sparse gradients; see `mxcy.ops.sparse.updates`."""

from mxcy.ops.core.stypes import RowSparse, update

__all__ = ["by_rows"]


def _values(x):
    """Return the elements of a weight or a state, which has all rows stored."""
    return x.data if isinstance(x, RowSparse) else x


def by_rows(component, *patterns, when=None):
    """Return the rules of a row-wise update.

    Gradients that are sums of rows may be able to update only their rows themselves; see
    `mxcy.kvstore.summed_rows.SummedRows`.

    Parameters
    ----------
    component : str
        Operator of a weight, rows, their indices, and states.
    *patterns : str
        Storage types of weight, gradient and states: ``"default row_sparse default"``.
    when : callable, optional
        Condition ``when(a, *specs)``.
    """

    def run(a, F, weight, grad, *states):
        function = getattr(F, component)
        options = {name: getattr(a, name) for name in function.__mx_params__ if hasattr(a, name)}
        values, others = _values(weight), [_values(state) for state in states]
        if not isinstance(grad, RowSparse) and getattr(a, "lazy_update", True):
            if grad.update(component, options, values, others):
                return
        function(values, grad.data, grad.indices, *others, out=values, **options)

    return tuple(update(f"{each} -> {each.split()[0]}", run, when) for each in patterns)
