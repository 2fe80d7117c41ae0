"""Operator records: everything mxcy knows about one operator, in one place.

A record is created by the decorator `op` on a class (or by a family constructor such as `unary`)::

    @op("FullyConnected", aliases=("_npx_fully_connected",), inputs="data weight bias?")
    class FullyConnected:
        '''Docs (numpydoc), shown by mx.nd.FullyConnected and mx.sym.FullyConnected.'''
        num_hidden: Int
        no_bias: Bool = False

        def arguments(a): ...                     # input names for these attributes
        def infer(a, data, weight, bias=None): ... # Specs in, Spec (or a tuple of them) out
        def grad(a, F, g, data, weight): ...      # parameters name inputs, outputs, out, ...
        def ref(a, xp, data, weight, bias=None): ...  # the definition, for any array module
        kernels = (native("fully_connected", ...),)  # best first; ref is always last
        samples = (sample((2, 3), (4, 3), (4,), num_hidden=4),)
        stypes = (...)                       # rules for sparse arrays; see stypes.py

The functions in the class body are plain functions: `a` is the call's `Attrs`, never `self`.
"""

import inspect
from collections.abc import Callable
from typing import Any

from mxcy._base.errors import MXNetError
from mxcy._base.suggestions import did_you_mean
from mxcy.ops.core.attrs import REQUIRED, Attrs, Field
from mxcy.ops.core.kernel import Native, by_onednn, native
from mxcy.ops.core.op import Op
from mxcy.ops.core.public import Public
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.registry import Registry
from mxcy.ops.core.rules import no_rule
from mxcy.ops.core.samples import Sample, sample, values

__all__ = [
    "Op",
    "Native",
    "Public",
    "Quantized",
    "Sample",
    "by_onednn",
    "native",
    "op",
    "register",
    "sample",
    "values",
    "no_rule",
    "stop",
    "find",
    "MAKERS",
    "ONLY_SYMBOLS",
    "REGISTRY",
]

#: every registered name (aliases included) -> Op
REGISTRY: Registry[Op] = Registry()
#: name -> ``make(attrs)`` for operators whose records depend on attributes, a dict of str
MAKERS: dict[str, Callable[[dict[str, str]], Op]] = {}
#: name -> Op for operators with subgraphs, which exist only in symbols and their files
ONLY_SYMBOLS: dict[str, Op] = {}


def stop(a: Attrs, F: Any, g: Any) -> None:
    """The gradient rule of operators whose gradients are zero."""
    return None


def register(name: str, **parts: Any) -> Op:
    """Register an operator under its name and aliases; `parts` are the parameters of `Op`.

    Raises
    ------
    ValueError
        If a name is taken, or the record lacks `infer` or `ref`.
    """
    record = Op(name, **parts)
    if record._infer is None or record.ref is None:
        raise ValueError(f"operator {name} needs infer and ref")
    for known in (record.name, *record.aliases):
        if REGISTRY.known(known) is not None:
            raise ValueError(f"operator name {known} is taken")
        REGISTRY[known] = record
    return record


def _kinds(body: type) -> dict[str, Any]:
    """The annotated attributes of a class: its bases' in order, then its own."""
    kinds: dict[str, Any] = {}
    for base in body.__bases__:
        kinds.update(_kinds(base))
    kinds.update(vars(body).get("__annotations__", {}))
    return kinds


_PARTS = set(Op.__init__.__kwdefaults__ or ()) - {"fields", "doc"}


def op(name: str, **parts: Any) -> Callable[[type], Op]:
    """Class decorator that registers a record.

    Annotated attributes of the class, after those of its bases, become the schema, and its
    docstring becomes `doc`; every other parameter of `Op` may be in the class or in `parts`.
    """

    def decorate(body: type) -> Op:
        members = vars(body)
        kinds = _kinds(body)
        fields = [
            Field(field, kind, getattr(body, field, REQUIRED)) for field, kind in kinds.items()
        ]
        own = {part: members[part] for part in _PARTS & members.keys() - kinds.keys()}
        doc = inspect.cleandoc(body.__doc__ or "")
        return register(name, fields=fields, doc=doc, **parts, **own)

    return decorate


def find(name: str) -> Op:
    """Return the record of a name or alias.

    Raises
    ------
    MXNetError
        If no operator has that name.
    """
    try:
        return REGISTRY[name]
    except KeyError:
        hint = did_you_mean(name, REGISTRY)
        raise MXNetError(f"operator {name} is not registered{hint}") from None
