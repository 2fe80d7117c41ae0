"""Operators selected by name for a backend, which become subgraphs.

The backends ``default`` and ``default_v2`` enclose connected operators of the selected names in
subgraphs, see `regions`. A selection lasts until it is removed.
"""

from mxcy._base.errors import MXNetError
from mxcy.graph.node import clone
from mxcy.graph.regions import enclose

__all__ = ["BACKENDS", "deselect", "partition", "select"]

BACKENDS = ("default", "default_v2")
_selected: dict[str, frozenset[str]] = {}


def select(backend, names):
    """Select operators for a backend, in place of an earlier selection.

    Parameters
    ----------
    backend : str
        One of `BACKENDS`.
    names : iterable of str
        Names of operators, as in a symbol's JSON; unknown ones select nothing.
    """
    _check(backend)
    _selected[backend] = frozenset(names)


def deselect(backend):
    """Remove the selection of a backend, if there is one."""
    _check(backend)
    _selected.pop(backend, None)


def partition(entries, backend, names=None):
    """Enclose the selected operators of a symbol in subgraphs.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    backend : str
        One of `BACKENDS`.
    names : iterable of str, optional
        The operators' names, by default those selected for the backend.

    Returns
    -------
    list of (SymbolNode, int)
        Entries of new nodes.

    Raises
    ------
    MXNetError
        If there is no such backend, or no selection for it.
    """
    _check(backend)
    chosen = _selected.get(backend) if names is None else frozenset(names)
    if chosen is None:
        raise MXNetError(
            f"backend {backend} has no selected operators; "
            "select them with _LIB.MXSetSubgraphPropertyOpNamesV2"
        )
    return enclose(clone(entries), lambda node: node.op.name in chosen)


def _check(backend):
    if backend not in BACKENDS:
        raise MXNetError(
            f"operators cannot be selected for backend {backend}, only for {', '.join(BACKENDS)}"
        )
