"""Run calls of mx.np and mx.npx with inputs of every type, in mxcy or MXNet.

`outcomes` returns a call's results for each type, and its gradients; real MXNet's are
kept in ``tests/data/np_samples.json.gz``.
"""

import gzip
import json
import math
from pathlib import Path

import numpy as onp

__all__ = ["DATA", "KINDS", "outcomes", "read"]

DATA = Path(__file__).parents[2] / "data" / "np_samples.json.gz"
KINDS = {
    "f4": "float32",
    "f8": "float64",
    "f2": "float16",
    "i8": "int64",
    "i4": "int32",
    "i1": "int8",
    "u1": "uint8",
    "b": "bool",
}
CODES = {name: code for code, name in KINDS.items()}
_SHAPES = {
    "x": (2, 3),
    "y": (2, 3),
    "v": (4,),
    "w": (4,),
    "s": (3, 3),
    "spd": (3, 3),
    "img": (1, 2, 4, 4),
    "ker": (2, 2, 3, 3),
    "g3": (3,),
    "v3": (3,),
    "z3": (3,),
}


def read():
    """Read real MXNet's results: call -> outcomes."""
    with gzip.open(DATA, "rt", encoding="utf-8") as source:
        return json.load(source)


def _values(name, shape, kind):
    """The elements of an input: between 0.1 and 0.9, or small integers above 0."""
    if name == "z3":
        return onp.zeros(3, kind)
    if name == "spd":
        return onp.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], kind)
    size, start = math.prod(shape), sum(map(ord, name))
    steps = [(start + 7 * i) % 17 for i in range(size)]
    if kind.startswith("float"):
        actual = [0.1 + 0.05 * step for step in steps]
    elif kind == "bool":
        actual = [step % 3 > 0 for step in steps]
    else:
        actual = [1 + step % 5 for step in steps]
    return onp.array(actual, kind).reshape(shape)


def _inputs(mx, kind):
    actual = {
        name: mx.np.array(_values(name, shape, kind), dtype=kind) for name, shape in _SHAPES.items()
    }
    actual["i"] = mx.np.array([[0, 1, 2], [1, 2, 0]], dtype="int64")
    return {**actual, "mx": mx, "np": mx.np, "npx": mx.npx}


def _listed(values):
    """JSON numbers, rounded to float32."""
    flat = values.ravel().tolist()
    if values.dtype.kind == "f":
        return [float(f"{x:.7g}") if math.isfinite(x) else str(x) for x in flat]
    return list(map(str, flat)) if values.dtype.kind == "c" else flat


def _told(actual):
    """Describe a call's result: type, shape and elements of arrays, as a list for lists."""
    if isinstance(actual, (list, tuple)) or type(actual).__name__ == "ADT":  # MXNet's own lists
        return [_told(part) for part in actual]
    if hasattr(actual, "asnumpy"):
        actual = actual.asnumpy()
    if isinstance(actual, onp.ndarray):
        if actual.ndim == 0 and actual.dtype.kind not in "biuf":
            return str(actual)
        return {
            "dtype": CODES.get(str(actual.dtype), str(actual.dtype)),
            "shape": list(actual.shape),
            "values": _listed(actual),
        }
    if isinstance(actual, onp.generic):
        return _told(onp.asarray(actual))
    if isinstance(actual, (bool, int, float, type(None))):
        return {"python": type(actual).__name__, "value": str(actual)}
    return str(actual)


def _run(mx, call, inputs):
    mx.np.random.seed(3)
    actual = _told(eval(call, inputs))
    if actual == {"python": "NoneType", "value": "None"}:  # it worked in place
        changed = next(name for name in _SHAPES if f"({name}" in call)
        return [actual, _told(inputs[changed])]
    return actual


def _gradients(mx, call, inputs):
    """The gradients of the sum of what a call returns, of the arrays it names."""
    wanted = {name: inputs[name] for name in _SHAPES if name in inputs}
    for array in wanted.values():
        array.attach_grad()
    mx.np.random.seed(3)
    with mx.autograd.record():
        actual = eval(call, inputs)
    heads = [actual] if hasattr(actual, "asnumpy") else list(actual)
    heads = [head for head in heads if hasattr(head, "asnumpy") and head.dtype == "float32"]
    mx.autograd.backward(heads)
    grads = {name: array.grad.asnumpy() for name, array in wanted.items()}
    return {name: _listed(grad) for name, grad in grads.items() if grad.any()}


def outcomes(mx, call):
    """Run a call for each type; ``'grad'`` has its gradients, ``'!'`` means that it raises.

    Parameters
    ----------
    mx : module
        MXNet or mxcy.
    call : str
        An expression of `mx`, `np`, `npx` and the inputs.

    Returns
    -------
    dict of str to object
    """
    actual = {
        code: _outcome(mx, lambda kind=kind: _run(mx, call, _inputs(mx, kind)))
        for code, kind in KINDS.items()
    }
    actual["grad"] = _outcome(mx, lambda: _gradients(mx, call, _inputs(mx, "float32")))
    return actual


def _outcome(mx, run):
    try:
        return run()
    except Exception:  # whatever it is
        return "!"
