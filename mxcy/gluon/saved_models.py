"""Whole models in files: the block hierarchy, graphs and parameters."""

import json

from mxcy import symbol
from mxcy._base.files import replacing, text_lines
from mxcy.base import MXNetError
from mxcy.gluon.graph_calls import GraphCalls, Traced
from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.tracing import Trace, holds_values

__all__ = ["load", "save"]

#: raised while decoding JSON with unexpected content
_DAMAGE = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)


def save(self, prefix):
    """Write the block hierarchy, the graphs of hybridized blocks and the parameters.

    Parameters
    ----------
    prefix : str
        Path prefix of ``PREFIX-model.json`` and ``PREFIX-model.params``.
    """
    names = {id(p): name for name, p in self._collect_params_with_prefix().items()}
    with replacing(f"{prefix}-model.json") as file:
        file.write(json.dumps(_described(self, names), indent=2).encode())
    self.save_parameters(f"{prefix}-model.params")


def load(self, prefix):
    """Load files written by `save` from a block constructed in the same way.

    Blocks that were hybridized when saved are hybridized again, with their graphs.

    Parameters
    ----------
    prefix : str
        See `save`.

    Raises
    ------
    MXNetError
        If the file is missing, damaged or of another model.
    """
    path = f"{prefix}-model.json"
    try:
        content = json.loads("".join(text_lines(path)))
        _compare(self, content, path, type(self).__name__)
        restored = list(_restored(self, content, self._collect_params_with_prefix()))
    except OSError as error:
        raise MXNetError(f"{path} is not a saved model:  {error}") from error
    except _DAMAGE as error:
        raise MXNetError(f"{path} is not a saved model:  {error!r}") from error
    self.load_parameters(f"{prefix}-model.params")
    for block, flags, calls in restored:
        block._active = block._settles_first = True
        block._flags, block._calls = flags, calls


def _described(block, names):
    """Describe a block as nested dictionaries; `names`: id of parameter -> structural name."""
    content = {"block": type(block).__name__, "params": sorted(block._reg_params)}
    if isinstance(block, HybridBlock) and block._active:
        content["flags"] = {k: v for k, v in block._flags.items() if _is_plain(v)}
        content["graphs"] = [
            _graph(form, traced.trace, names)
            for form, traced in ([] if block._calls is None else block._calls.traced())
            if not holds_values(form) and not holds_values(traced.trace.form)
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
    """Check that the file describes this block."""
    actual = [type(block).__name__, sorted(block._reg_params), list(block._children)]
    try:
        saved = [content["block"], content["params"], list(content["children"])]
    except (KeyError, TypeError) as error:
        raise MXNetError(f"{path}: {where} is not described") from error
    if actual != saved:
        raise MXNetError(
            f"{path} is of another model: {where} is a {actual[0]} with parameters {actual[1]} and "
            f"children {actual[2]}, in the file a {saved[0]} with {saved[1]} and {saved[2]}"
        )
    for name, child in block._children.items():
        _compare(child, content["children"][name], path, f"{where}.{name}")


def _restored(block, content, parameters):
    """List the blocks that were hybridized, with their flags and graphs."""
    for name, child in block._children.items():
        yield from _restored(child, content["children"][name], parameters)
    if "graphs" not in content:
        return
    calls = GraphCalls(content["flags"])
    for graph in content["graphs"]:
        trace = Trace(
            symbol.load_json(json.dumps(graph["symbol"])),
            _as_form(graph["out_format"]),
            graph["inputs"],
            {name: parameters[path] for name, path in graph["params"].items()},
            _as_form(graph["in_format"]),
        )
        if _arrays(trace.form) != trace.symbol.num_outputs:
            raise ValueError(f"{trace.symbol.num_outputs} outputs in the format {trace.form}")
        calls.add(trace.in_form, Traced(trace, calls.flags))
    yield block, content["flags"], calls


def _arrays(form):
    """The number of arrays in a format."""
    return sum(map(_arrays, form)) if isinstance(form, list) else max(form or 1, 0)


def _is_plain(value):
    return value is None or isinstance(value, (bool, int, float, str))


def _as_form(form):
    """Decode a stored format; files of earlier versions have null for an array."""
    if isinstance(form, list):
        return [_as_form(item) for item in form]
    return 0 if form is None else form
