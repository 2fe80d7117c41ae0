"""``python -m mxcy.bench.opperf``: timing of individual operators, like MXNet's opperf.

Options and reports are those of ``benchmark/opperf/opperf.py``; operators and inputs come from the
records. From Python, `run_performance_test` times functions on custom inputs.
"""

import argparse
import inspect
import json
import logging
import os
import sys

import numpy as np

import mxcy as mx
from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy._base.files import replacing
from mxcy._base.suggestions import did_you_mean
from mxcy.bench import clock, operator_inputs, operator_times
from mxcy.bench.operator_inputs import Case, label_of
from mxcy.bench.output import writable
from mxcy.ops.core.record import stop

__all__ = ["main", "markdown", "run_benchmark_operator", "run_performance_test"]


def _context(text):
    """Parse a context: ``cpu``, ``gpu`` or ``gpu(1)``."""
    kind, _, number = text.lower().rstrip(")").partition("(")
    if kind not in ("cpu", "gpu") or (number and not number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text} is not a context such as cpu, gpu or gpu(1)")
    return mx.Context(kind, int(number or 0))


def _dtype(text):
    """Parse a dtype name."""
    try:
        return dtypes.name_of(dtypes.code_of(text))
    except (MXNetError, TypeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {number}")
    return number


def run_performance_test(
    ops, inputs, run_backward=True, dtype="float32", ctx=None, profiler="native", warmup=10, runs=50
):
    """Time functions of `mx.nd` or `mx.np` on given inputs.

    Parameters
    ----------
    ops : callable or list of callable
    inputs : list of dict
        Arguments by name of each measurement; for array arguments, tuples of numbers are shapes
        of random arrays.
    run_backward : bool
        Whether to time gradients too.
    dtype : str
    ctx : Context, optional
    profiler : {'native', 'python'}
        Time with `mx.profiler` or with Python's clock.
    warmup, runs : int
        Numbers of warm-up and measured calls.

    Returns
    -------
    list of dict
        For each function ``{name: [report per entry of inputs]}``.

    Raises
    ------
    ValueError
        If the profiler is unknown.
    """
    measure = operator_times.by(profiler)
    ctx = mx.cpu() if ctx is None else ctx
    results = []
    for function in ops if isinstance(ops, list) else [ops]:
        name, reports = function.__name__, []
        for entry in inputs:
            arrays, others = _separated(function, entry, dtype, ctx)
            case = Case(list(arrays.values()), others, list(arrays))

            def call(case, function=function, names=tuple(arrays)):
                return function(**dict(zip(names, case.arrays, strict=True)), **case.attrs)

            reports.append(
                {"inputs": entry, **measure(name, call, case, run_backward, warmup, runs)}
            )
        results.append({name: reports})
    return results


def _separated(function, entry, dtype, ctx):
    """Split arguments into arrays, created from shapes, and others."""
    of_numpy = function.__module__.startswith(("mxcy.numpy", "mxcy.np"))
    signature = inspect.signature(function).parameters
    arrays, others = {}, {}
    for name, value in entry.items():
        parameter = signature.get(name)
        needed = parameter is None or parameter.default in (parameter.empty, None)
        shape = isinstance(value, tuple) and all(type(n) is int for n in value)
        if shape and needed and name not in ("shape", "axes", "axis", "kernel"):
            value = mx.nd.random.uniform(shape=value, ctx=ctx).astype(dtype)
            value = value.as_np_ndarray() if of_numpy else value
        (arrays if isinstance(value, mx.nd.NDArray) else others)[name] = value
    return arrays, others


def run_benchmark_operator(
    name,
    size=(128, 128),
    additional_inputs=None,
    dtype="float32",
    run_backward=False,
    run_as_backward=None,
    ctx=None,
    warmup=10,
    runs=50,
    profiler="native",
):
    """Time the functions with a name in `mx.nd`, `mx.np` and `mx.npx`, as far as they exist.

    Parameters
    ----------
    name : str
    size : tuple of int
        Shape of required arguments that are not in `additional_inputs`.
    additional_inputs : dict, optional
        Other arguments.
    dtype : str
    run_backward : bool
    run_as_backward
        Not used.
    ctx : Context, optional
    warmup, runs : int
    profiler : {'native', 'python'}

    Returns
    -------
    dict
        Module name -> result of `run_performance_test`.
    """
    results = {}
    for module in ("nd", "np", "npx"):
        function = getattr(getattr(mx, module), name, None)
        if function is None:
            continue
        parameters = inspect.signature(function).parameters.values()
        needed = {
            p.name: size for p in parameters if p.default is p.empty and p.kind != p.VAR_KEYWORD
        }
        entry = {**needed, **(additional_inputs or {})}
        about = (run_backward, dtype, ctx, profiler, warmup, runs)
        results[module] = run_performance_test(function, [entry], *about)
        print(f"mx.{module}: {results[module]}")
    return results


def run_all(ctx, dtype="float32", profiler="native", warmup=25, runs=100, only=None):
    """Time all operators.

    Parameters
    ----------
    ctx : Context
    dtype : str
    profiler : {'native', 'python'}
    warmup, runs : int
    only : set of str, optional
        Names of the operators to time, as in the report.

    Returns
    -------
    (dict of str to list of dict, list of str)
        The report, and the operators that could not be run, each with the reason.
    """
    measure, report, left_out = operator_times.by(profiler), {}, []
    wanted = [(r, names) for r, names in operator_inputs.records()]
    if only is not None:
        wanted = [(r, n) for r, n in wanted if only & {label_of(n), r.name}]
    for record, names in clock.progress(wanted, "opperf"):
        label, function = label_of(names), operator_inputs.function_of(names)

        def call(case, function=function):
            return function(*case.arrays, **case.attrs)

        reports = []
        for case in operator_inputs.cases(record, call, dtype, ctx):
            logging.info("Begin Benchmark - %s", label)
            slope = record.differentiable and record.grad_rule is not stop
            times = measure(label, call, case, slope, warmup, runs)
            reports.append({"inputs": case.described(), **times})
            logging.info("Complete Benchmark - %s", label)
        if reports:
            report[label] = reports
        else:
            left_out.append(f"{label} ({_reason(record, dtype)})")
    return report, left_out


def _reason(record, dtype):
    """The reason why an operator was skipped."""
    types = operator_inputs.types_of(record)
    if dtype in types:
        return "none of its samples can be made of dense arrays"
    return f"for {', '.join(types)}"


# --- reports -------------------------------------------------------------------------------------

_COLUMNS = {
    "native": {
        "Avg Forward Time (ms)": "avg_time_forward_",
        "Avg. Backward Time (ms)": "avg_time_backward_",
        "Max Mem Usage (Storage) (Bytes)": "max_storage_mem_alloc_",
    },
    "python": {
        "Avg Time (ms)": "avg_time_",
        "P50 Time (ms)": "p50_time_",
        "P90 Time (ms)": "p90_time_",
        "P99 Time (ms)": "p99_time_",
    },
}


def markdown(report, profiler="native"):
    """Format a report as Markdown: runtime features, and a table with one row per measurement.

    Parameters
    ----------
    report : dict
    profiler : {'native', 'python'}

    Returns
    -------
    str
    """
    lines = ["# Runtime Features"]
    for position, (name, feature) in enumerate(mx.runtime.Features().items()):
        lines.append(f"{position}. {name} : {feature}")
    columns = _COLUMNS[profiler]
    lines += ["# Benchmark Results", f"| Operator | {' | '.join(columns)} | Inputs |"]
    lines.append("| :---: |" + " :---: |" * len(columns) + " :--- |")
    for name, reports in sorted(report.items()):
        for entry in reports:
            cells = [_starting(entry, start) for start in columns.values()]
            lines.append(f"| {name} | {' | '.join(cells)} | {entry['inputs']} |")
    return "\n".join(lines) + "\n"


def _starting(entry, start):
    return str(next((value for key, value in entry.items() if key.startswith(start)), "---"))


def _plain(value):
    """Convert a value that JSON cannot represent."""
    return value.item() if isinstance(value, np.generic) else str(value)


def _parser():
    parser = argparse.ArgumentParser(
        prog="opperf", description="Time every operator by itself and write a report."
    )
    parser.add_argument("--ctx", type=_context, default=mx.cpu(), help="cpu, gpu, gpu(1), ...")
    text = "float32, float64, int32, int64, ..."
    parser.add_argument("--dtype", type=_dtype, default="float32", help=text)
    parser.add_argument("-f", "--output-format", default="json", choices=("json", "md"))
    file = "./mxnet_operator_benchmarks.json"
    parser.add_argument(
        "-o", "--output-file", type=writable, default=file, help=f"a new file; {file}"
    )
    text = "times by mx.profiler, or by Python's clock with waiting"
    parser.add_argument(
        "-p", "--profiler", default="native", choices=("native", "python"), help=text
    )
    text = "accepted for older scripts; on exits, as arrays of 2^32 elements are not supported"
    parser.add_argument("--int64-tensor", default="off", choices=("off", "on"), help=text)
    text = "non-mkldnn disables oneDNN"
    parser.add_argument(
        "--mkldnn-option", default="mkldnn", choices=("mkldnn", "non-mkldnn"), help=text
    )
    parser.add_argument("-w", "--warmup", type=_count, default=25, help="warm-up calls; 25")
    parser.add_argument("-r", "--runs", type=_count, default=100, help="timed calls; 100")
    parser.add_argument("--operator", nargs="+", help="only these operators")
    return parser


def main(arguments=None):
    """Time operators, write the report, and list skipped operators.

    Parameters
    ----------
    arguments : list of str, optional
        The command line.

    Returns
    -------
    int
        The exit status.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.int64_tensor == "on":
        parser.error("--int64-tensor on: inputs come from the records, none has 2^32 elements")
    if os.path.isfile(options.output_file):
        parser.error(f"Output file {options.output_file} already exists.")
    if options.mkldnn_option == "non-mkldnn":
        mx.util.setenv("MXNET_ONEDNN_ENABLED", "0")
    only = set(options.operator) if options.operator else None
    known = {name for r, names in operator_inputs.records() for name in (label_of(names), r.name)}
    for name in sorted((only or set()) - known):
        parser.error(f"--operator {name}: unknown operator{did_you_mean(name, known)}")
    about = (options.ctx, options.dtype, options.profiler, options.warmup, options.runs)
    report, left_out = run_all(*about, only)
    text = json.dumps(report, indent=4, default=_plain)
    if options.output_format == "md":
        text = markdown(report, options.profiler)
    with replacing(options.output_file) as file:
        file.write(text.encode())
    for position, name in enumerate(left_out):
        print(f"{position}. {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
