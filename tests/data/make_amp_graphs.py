"""Write amp_graphs.txt: graphs that MXNet converts to mixed precision, or creates under it.

Run with MXNet 1.9.1; tests/amp compares mxcy's graphs of the same networks.
"""

import json
import re
from pathlib import Path


def networks(mx):
    """{name: (symbol, arguments of convert_symbol)}."""
    S = mx.sym
    x, y, d, e = (S.var(name) for name in ("x", "y", "data", "e"))
    f = S.FullyConnected(d, num_hidden=4, name="f")
    g = S.FullyConnected(d, num_hidden=4, name="g")
    ex = S.exp(d, name="ex")
    parts = S.split(f, num_outputs=2, axis=1, name="sp")
    conv = S.Convolution(d, kernel=(3, 3), num_filter=4, name="c1")
    norm = S.BatchNorm(conv, name="bn")
    dense = S.FullyConnected(S.relu(norm, name="r"), num_hidden=2, name="fc")
    plain = S.FullyConnected(x, y, num_hidden=10, no_bias=True, name="fc")
    tied = {"weight": y, "num_hidden": 4, "no_bias": True}
    inner = S.FullyConnected(d, name="f1", **tied)
    shared = S.elemwise_add(
        S.FullyConnected(inner, name="f2", **tied), S.exp(y, name="e1"), name="ad"
    )
    only = {"target_dtype_ops": []}
    return {
        "own lists": (
            S.elemwise_add(plain, S.sin(y, name="s"), name="ad"),
            {"target_dtype_ops": ["FullyConnected"], "fp32_ops": ["sin"]},
        ),
        "condition met": (
            plain,
            {**only, "conditional_fp32_ops": [("FullyConnected", "no_bias", ["True"])]},
        ),
        "softrelu of float32": (S.Activation(ex, act_type="softrelu", name="a"), {}),
        "softrelu of 16 bits": (S.Activation(f, act_type="softrelu", name="a"), {}),
        "concat": (S.concat(f, d, S.exp(f, name="e2"), name="cc"), {}),
        "sum of an input": (S.elemwise_add(f, d, name="ad"), {}),
        "sum of 16 bits": (S.exp(S.elemwise_add(f, g, name="ad"), name="z"), {}),
        "sum of both": (S.elemwise_add(ex, f, name="ad"), {}),
        "sum of an open input": (S.elemwise_add(e, f, name="ad"), {}),
        "several outputs": (S.elemwise_add(S.exp(parts[0], name="z"), parts[1], name="ad"), {}),
        "batch norm": (dense, {}),
        "parameters": (norm, {"data_names": ["data"], "cast_optional_params": True}),
        "loss": (S.SoftmaxOutput(f, name="sm"), {}),
        "loss with parameters": (
            S.SoftmaxOutput(f, name="sm"),
            {"data_names": ["data"], "cast_optional_params": True},
        ),
        "excluded": (
            S.SoftmaxOutput(S.FullyConnected(f, num_hidden=2, name="h"), name="sm"),
            {"excluded_sym_names": ["h"]},
        ),
        "shared weight": (shared, {}),
        "lstm": (
            S.RNN(data=d, state_size=4, num_layers=1, mode="lstm", state_outputs=True, name="rn"),
            {},
        ),
        "float32 between": (S.FullyConnected(S.softmax(f, name="s"), num_hidden=3, name="h"), {}),
    }


def under_init(mx):
    """A network created while mixed precision is on."""
    S = mx.sym
    with mx.name.NameManager():
        c1 = S.Convolution(S.var("data"), kernel=(3, 3), num_filter=4, name="c1")
        r = S.relu(S.BatchNorm(c1, name="bn"), name="r")
        c2 = S.Convolution(r, kernel=(3, 3), num_filter=4, pad=(1, 1), name="c2")
        p = S.Pooling(S.elemwise_add(r, c2, name="ad"), kernel=(2, 2), name="p")
        soft = S.Activation(p, act_type="softrelu", name="soft")
        joined = S.concat(S.Flatten(p, name="f1"), S.Flatten(soft, name="f2"), name="cc")
        return S.SoftmaxOutput(S.FullyConnected(joined, num_hidden=3, name="fc"), name="sm")


def described(symbol):
    """A symbol's nodes, one per line."""
    graph = json.loads(symbol.tojson(remove_amp_cast=False))
    names = [re.sub(r"_(\d+)_amp_", "_output_amp_", node["name"]) for node in graph["nodes"]]
    lines = []
    for name, node in zip(names, graph["nodes"]):  # noqa: B905  MXNet's Pythons are old ones
        inputs = ", ".join(f"{names[number]}:{index}" for number, index, _ in node["inputs"])
        attrs = node.get("attrs", {})
        told = "".join(f" {key}={attrs[key]}" for key in ("dtype", "__dtype__") if key in attrs)
        lines.append(f"  {node['op']} {name}({inputs}){told}")
    heads = ", ".join(f"{names[number]}:{index}" for number, index, _ in graph["heads"])
    return [*lines, f"  -> {heads}"]


def main():
    import mxnet as mx
    from mxnet.contrib import amp

    lines = []
    for name, (symbol, given) in networks(mx).items():
        lines += [name, *described(amp.convert_symbol(symbol, "float16", **given))]
    amp.init("float16")
    lines += ["init", *described(under_init(mx))]
    target = Path(__file__).with_name("amp_graphs.txt")
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
