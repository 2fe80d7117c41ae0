"""Whole models in files: how blocks lie in each other, their graphs and their parameters."""

import json

from mxcy import symbol
from mxcy.base import MXNetError
from mxcy.gluon.graph_calls import GraphCalls, Traced
from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.tracing import Trace

__all__ = ["load_model", "save_model"]


def save_model(block, prefix):
    """Write ``PREFIX-model.json`` and ``PREFIX-model.params``; see `Block.save`."""
    names = {id(p): name for name, p in block._collect_params_with_prefix().items()}
    with open(f"{prefix}-model.json", "w", encoding="utf-8") as file:
        json.dump(_described(block, names), file, indent=2)
    block.save_parameters(f"{prefix}-model.params")


def load_model(block, prefix):
    """Read what `save_model` wrote into a block of the same structure; see `Block.load`."""
    path = f"{prefix}-model.json"
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise MXNetError(f"{path} is no saved model: {error}") from error
    _compare(block, content, path, type(block).__name__)
    block.load_parameters(f"{prefix}-model.params")
    _restore(block, content, block._collect_params_with_prefix())


def _described(block, names):
    """A block as nested dictionaries; `names` has the structural names by parameters' ids."""
    content = {"block": type(block).__name__, "params": sorted(block._reg_params)}
    if isinstance(block, HybridBlock) and block._active:
        content["flags"] = {k: v for k, v in block._flags.items() if _is_plain(v)}
        content["graphs"] = [
            _graph(form, traced.trace, names)
            for form, traced in ([] if block._calls is None else block._calls.traced())
            if _is_lists(form) and _is_lists(traced.trace.form)
        ]
    content["children"] = {
        name: _described(child, names) for name, child in block._children.items()
    }
    return content


def _graph(form, trace, names):
    return {
        "symbol": json.loads(trace.symbol.tojson()),
        "inputs": trace.inputs,
        "in_format": form,
        "out_format": trace.form,
        "params": {name: names[id(p)] for name, p in trace.parameters.items()},
    }


def _compare(block, content, path, where):
    """Refuse a file of another model."""
    found = [type(block).__name__, sorted(block._reg_params), list(block._children)]
    try:
        saved = [content["block"], content["params"], list(content["children"])]
    except (KeyError, TypeError) as error:
        raise MXNetError(f"{path}: {where} is not described") from error
    if found != saved:
        raise MXNetError(
            f"{path} is of another model: {where} is a {found[0]} with parameters {found[1]} and "
            f"children {found[2]}, in the file a {saved[0]} with {saved[1]} and {saved[2]}"
        )
    for name, child in block._children.items():
        _compare(child, content["children"][name], path, f"{where}.{name}")


def _restore(block, content, parameters):
    """Make hybridized what was, with its graphs."""
    for name, child in block._children.items():
        _restore(child, content["children"][name], parameters)
    if "graphs" not in content:
        return
    block._active = block._settles_first = True
    block._flags = content["flags"]
    block._calls = GraphCalls(block, block._flags)
    for graph in content["graphs"]:
        trace = Trace(
            symbol.load_json(json.dumps(graph["symbol"])),
            _as_form(graph["out_format"]),
            graph["inputs"],
            {name: parameters[path] for name, path in graph["params"].items()},
        )
        block._calls.add(_as_form(graph["in_format"]), Traced(trace, block._calls.flags))


def _is_plain(value):
    return value is None or isinstance(value, (bool, int, float, str))


def _is_lists(form):
    """Whether a format (see `tracing.flatten`) has arrays and lists only."""
    return form is None or (form[:1] != ("=",) and all(_is_lists(item) for item in form))


def _as_form(form):
    return None if form is None else tuple(_as_form(item) for item in form)
