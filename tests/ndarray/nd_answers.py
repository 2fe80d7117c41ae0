"""Run the cases of tests/data/nd_golden.json with real MXNet or mxcy.

A case is Python source; in it `x` is `mx.nd.arange` of some shape, reshaped and cast, and `nd`,
`np` and `mx` are the modules. The kinds of cases::

    read        "(3, 4): 0,1"                x[0,1], and whether it is a view
    write       "float32 (3, 4): x[0]=1"     x after the statement
    expression  "x+1"                        for x of shape (2, 3)
    np_shape    "nd.zeros(())"               under mx.util.np_shape()
    gradient    "x[0]"                       of the sum of its squares, for x of shape (2, 3, 4)
"""

import ast
import copy
import math
import pickle
import warnings

import numpy as np


def told(value, mx):
    """A value in JSON's types."""
    if isinstance(value, mx.nd.NDArray):
        values = [shown(v) for v in value.asnumpy().reshape(-1).tolist()]
        return ["array", np.dtype(value.dtype).name, list(value.shape), values]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(told(v, mx) for v in value)]
    if isinstance(value, dict):
        return {str(k): told(v, mx) for k, v in value.items()}
    if isinstance(value, np.generic):
        return [type(value).__name__, shown(value.item())]
    if isinstance(value, (bool, int, float, str, type(None))):
        return shown(value)
    return str(value)


def shown(value):
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def refused(error):
    """An exception as its type; with the text of an IndexError, which is MXNet's own."""
    lines = str(error).strip().splitlines() if isinstance(error, IndexError) else []
    return [
        "error",
        type(error).__name__,
        *(line.removeprefix("IndexError: ") for line in lines[-1:]),
    ]


def run(code, mx, scope, mode="eval"):
    """The value of an expression, or `x` after a statement."""
    scope = {"mx": mx, "nd": mx.nd, "np": np, "copy": copy, "pickle": pickle, **scope}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if mode == "eval":
                return told(eval(code, scope), mx)
            exec(code, scope)
        except Exception as error:
            return refused(error)
    return told(scope["x"], mx)


def array(mx, shape, dtype="float32"):
    return mx.nd.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def read(mx, case):
    shape, key = case.split(": ", 1)
    x = array(mx, ast.literal_eval(shape))
    answer = run(f"x[{key}]", mx, {"x": x})
    if answer[0] == "array" and answer[3]:
        run(f"x[{key}][:] = -9", mx, {"x": x}, "exec")
        answer.append("view" if -9 in x.asnumpy() else "copy")
    return answer


def write(mx, case):
    kind, code = case.split(": ", 1)
    dtype, shape = kind.split(" ", 1)
    return run(code, mx, {"x": array(mx, ast.literal_eval(shape), dtype)}, "exec")


def expression(mx, case):
    return run(case, mx, {"x": array(mx, (2, 3))})


def np_shape(mx, case):
    with mx.util.np_shape():
        return run(case, mx, {})


def gradient(mx, case):
    x = array(mx, (2, 3, 4))
    x.attach_grad()
    try:
        with mx.autograd.record():
            y = eval(case, {"mx": mx, "nd": mx.nd, "x": x})
            z = (y * y).sum()
        z.backward()
    except Exception as error:
        return refused(error)
    return [list(y.shape), told(x.grad, mx)]


KINDS = {f.__name__: f for f in (read, write, expression, np_shape, gradient)}


def answer(mx, kind, case):
    """The result of a case in `mx`."""
    return KINDS[kind](mx, case)
