"""Lists of operator names by mixed-precision class, derived from records."""

from collections.abc import Callable
from typing import Any

from mxcy._base import dtypes
from mxcy._base.suggestions import no_attribute
from mxcy.ops.core.precision import TARGETS
from mxcy.ops.core.record import MAKERS, ONLY_SYMBOLS, REGISTRY, Op, find

__all__ = ["fp32_inputs", "list_of", "name_of_target", "offer", "record_of"]


def name_of_target(target_dtype: Any) -> str | None:
    """Return the name of a target type.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    str or None
        None for types that are not targets.
    """
    try:
        name = dtypes.name_of(dtypes.code_of(target_dtype))
    except Exception:  # dtype conversion of a user's object may raise anything
        return None
    return name if name in TARGETS else None


def record_of(name: str) -> Op | None:
    """Return the record of an operator name; None for custom operators, which have several.

    Raises
    ------
    MXNetError
        If there is no such operator.
    """
    return None if name in MAKERS else ONLY_SYMBOLS.get(name) or find(name)


def _records(aliases: bool) -> list[tuple[str, Op]]:
    """(name, record) of all operators or all their names, except those of gradient rules."""
    everything = {**ONLY_SYMBOLS, **dict(REGISTRY.items())}
    return [
        (name, op)
        for name, op in sorted(everything.items(), key=lambda item: item[0])
        if (aliases or name == op.name) and not name.startswith("_backward_")
    ]


def list_of(kind: str, target: str, aliases: bool = False) -> list[Any]:
    """List the names of the operators of a class.

    Parameters
    ----------
    kind : str
        ``'lp16'``, ``'fp32'``, ``'either'``, ``'widest'``, ``'conditional'`` or ``'loss'``.
    target : str
        ``'float16'`` or ``'bfloat16'``.
    aliases : bool
        Whether to list all names of an operator.

    Returns
    -------
    list
        Names; (name, attribute, list of values) for ``'conditional'``.
    """
    records = _records(aliases)
    if kind == "conditional":
        rows = [(name, op.amp.fp32_when) for name, op in records if op.amp.fp32_when]
        return [(name, attribute, list(values)) for name, (attribute, values) in rows]
    if kind == "loss":
        return [name for name, op in records if op.amp.loss]
    names = [n for n, op in records if not op.amp.fp32_when and op.amp.of(target) == kind]
    return sorted([*names, *MAKERS]) if kind == "fp32" else names  # custom operators


def fp32_inputs(aliases: bool = False) -> dict[str, list[str]]:
    """The inputs that remain float32 with bfloat16 ones, by operator.

    Returns
    -------
    dict of str to list of str
        Input names, empty for inputs that do not.
    """
    return {
        name: [key if key in op.amp.fp32_inputs else "" for key in op.inputs]
        for name, op in _records(aliases)
        if op.amp.fp32_inputs
    }


def offer(
    module: str, target: str, aliases: bool
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the functions that compute a module's lists at access, and list their names.

    Parameters
    ----------
    module : str
    target : str
    aliases : bool
        Whether the lists contain all names of an operator.

    Returns
    -------
    (callable, callable)
        The module's ``__getattr__`` and ``__dir__``.
    """
    short = "FP16" if target == "float16" else "BF16"
    kinds = {
        f"{short}_FUNCS": "lp16",
        f"{short}_FP32_FUNCS": "either",
        "FP32_FUNCS": "fp32",
        "CONDITIONAL_FP32_FUNCS": "conditional",
        "WIDEST_TYPE_CASTS": "widest",
        "LOSS_OUTPUT_FUNCTIONS": "loss",
    }

    inputs = ["BF16_USE_FP32_PARAMS"] if short == "BF16" else []

    def lookup(name: str) -> Any:
        if name in kinds:
            return list_of(kinds[name], target, aliases)
        if name in inputs:
            return fp32_inputs(aliases)
        raise no_attribute(module, name)

    return lookup, lambda: sorted([*kinds, *inputs])
