"""Forward and backward times of an operator, by mx.profiler or Python's clock."""

import json
import os
import time

import numpy as np

import mxcy as mx

__all__ = ["by", "native", "python"]


def by(profiler):
    """Return the timing function with a name.

    Parameters
    ----------
    profiler : {'native', 'python'}

    Raises
    ------
    ValueError
        For other names.
    """
    if profiler not in ("native", "python"):
        raise ValueError(f"profiler {profiler!r}: expected 'native' or 'python'")
    return native if profiler == "native" else python


def _backward(case):
    """Attach gradients to floating-point arrays; return whether there are any."""
    real = [array for array in case.arrays if np.dtype(array.dtype).kind == "f"]
    for array in real:
        array.attach_grad()
    return bool(real)


def _forward(call, case, recorded):
    if recorded:
        with mx.autograd.record():
            result = call(case)
    elif case.train:
        with mx.autograd.train_mode():
            result = call(case)
    else:
        result = call(case)
    return result if isinstance(result, list | tuple) else [result]


def _rows():
    """Milliseconds of all operators since the last call, and peak memory per device in kB."""
    mx.nd.waitall()
    report = json.loads(mx.profiler.dumps(reset=True, format="json"))
    rows = report["Time"].get("operator", {})
    total = sum(row["Total"] for row in rows.values())
    memory = report.get("Memory", {}).get("Device Storage", {})
    return total, {name.split()[-1]: row["Max"] for name, row in memory.items()}


def native(name, call, case, backward, warmup, runs):
    """Measure mean times of the operators in a call with `mx.profiler`.

    Parameters
    ----------
    name : str
        Name of the operator in the report.
    call : callable
        ``call(case)`` runs it.
    case : Case
    backward : bool
        Whether to time gradients too.
    warmup, runs : int

    Returns
    -------
    dict
    """
    backward = backward and _backward(case)
    backward = _warm(call, case, backward, warmup)
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=os.devnull)
    mx.profiler.set_state("run")
    try:
        mx.profiler.dumps(reset=True)
        for _ in range(runs):
            _forward(call, case, False)
            mx.nd.waitall()
        total, memory = _rows()
        report = {
            f"max_storage_mem_alloc_{device}": round(size, 4) for device, size in memory.items()
        }
        report[f"avg_time_forward_{name}"] = round(total / runs, 4)
        if backward:
            for _ in range(runs):
                mx.profiler.pause()
                outs = _forward(call, case, True)
                mx.nd.waitall()
                mx.profiler.resume()
                mx.autograd.backward(outs)
                mx.nd.waitall()
            report[f"avg_time_backward_{name}"] = round(_rows()[0] / runs, 4)
    finally:
        mx.profiler.set_state("stop")
    return report


def _warm(call, case, backward, warmup):
    """Run warm-up calls; return whether gradients can be computed."""
    for _ in range(warmup):
        outs = _forward(call, case, backward)
        if backward:
            try:
                mx.autograd.backward(outs)
            except mx.MXNetError:  # not differentiable with these attributes
                backward = False
    mx.nd.waitall()
    return backward


def python(name, call, case, backward, warmup, runs):
    """Measure mean and percentiles of synchronous calls, including gradients.

    Parameters
    ----------
    name, call, case, backward, warmup, runs
        See `native`.

    Returns
    -------
    dict
    """
    backward = _warm(call, case, backward and _backward(case), warmup)
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        outs = _forward(call, case, backward)
        if backward:
            mx.autograd.backward(outs)
        mx.nd.waitall()
        taken.append((time.perf_counter() - began) * 1e3)
    report = {f"avg_time_{name}": round(float(np.mean(taken)), 4)}
    for part in (50, 90, 99):
        report[f"p{part}_time_{name}"] = round(float(np.percentile(taken, part)), 4)
    return report
