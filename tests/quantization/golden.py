"""Seven networks quantized by real MXNet: nodes, ranges, and a model in files with its output.

Run from the repository's root with a Python that has MXNet 1.9.1:
``python -m tests.quantization.golden``.
"""

import gzip
import itertools
import json
from pathlib import Path

import numpy as np

GRAPHS = Path(__file__).parents[1] / "data" / "quantized_graphs_19.json.gz"
MODEL = Path(__file__).parents[1] / "data" / "quantized_19"
BACKEND = "MKLDNN_QUANTIZE"


def nets(mx):
    S = mx.sym

    def plain():
        x = S.Convolution(S.var("data"), kernel=(3, 3), num_filter=8, name="c1")
        x = S.Activation(x, act_type="relu", name="r1")
        x = S.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="p1")
        return S.FullyConnected(S.Flatten(x, name="fl"), num_hidden=5, name="fc")

    def residual():
        d = S.var("data")
        x = S.Convolution(d, kernel=(3, 3), pad=(1, 1), num_filter=4, no_bias=True, name="c1")
        x = S.BatchNorm(x, fix_gamma=False, name="b1")
        x = S.Activation(x, act_type="relu", name="r1")
        x = S.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=4, name="c2")
        x = S.elemwise_add(x, d, name="add")
        return S.Activation(x, act_type="relu", name="r2")

    def concat():
        d = S.var("data")
        a = S.Convolution(d, kernel=(1, 1), num_filter=4, name="ca")
        b = S.Convolution(d, kernel=(1, 1), num_filter=4, name="cb")
        return S.Concat(a, b, dim=1, name="cat")

    def norm():
        x = S.BatchNorm(S.var("data"), fix_gamma=False, name="b1")
        return S.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg", name="gp")

    def tanh():
        x = S.FullyConnected(S.var("data"), num_hidden=6, name="f1")
        x = S.Activation(x, act_type="tanh", name="th")
        return S.FullyConnected(x, num_hidden=3, name="f2")

    def embedding():
        x = S.Embedding(S.var("data"), input_dim=20, output_dim=6, name="emb")
        return S.FullyConnected(x, num_hidden=3, name="fc")

    def product():
        d = S.var("data")
        a = S.FullyConnected(d, num_hidden=4, name="fa")
        b = S.FullyConnected(d, num_hidden=4, name="fb")
        return S.elemwise_mul(a, b, name="mul")

    image, flat, words = (2, 4, 8, 8), (4, 10), (3, 5)
    return {
        "plain": (plain(), image),
        "residual": (residual(), image),
        "concat": (concat(), image),
        "norm": (norm(), image),
        "tanh": (tanh(), flat),
        "embedding": (embedding(), words),
        "product": (product(), flat),
    }


def cases(backend):
    """What is requested, as arguments of `quantize_model`."""
    names = "quantize_mode", "quantized_dtype", "calib_mode", "quantize_granularity"
    wishes = itertools.product(
        ("smart", "full"),
        ("int8", "uint8", "auto"),
        ("none", "naive", "entropy"),
        ("tensor-wise", "channel-wise"),
    )
    for wish in wishes:
        mode, dtype, calibration, granularity = wish
        if calibration != "none" and dtype != "int8":
            continue
        if granularity == "channel-wise" and (calibration == "entropy" or not backend):
            continue
        if calibration == "entropy" and mode == "smart":
            continue
        yield "/".join(wish), dict(zip(names, wish, strict=True))


def inputs(mx, name, sym, shape):
    """(data, parameters, auxiliary states) drawn for a network."""
    rng = np.random.RandomState(0)
    data = rng.uniform(-1, 1, shape)
    if name == "embedding":
        data = rng.randint(0, 20, shape)
    shapes, _, states = sym.infer_shape(data=shape)
    args = {
        name: mx.nd.array(rng.uniform(-1, 1, size))
        for name, size in zip(sym.list_arguments(), shapes, strict=True)
        if name != "data"
    }
    auxs = {
        name: mx.nd.array(rng.uniform(0.5, 1, size))
        for name, size in zip(sym.list_auxiliary_states(), states, strict=True)
    }
    return mx.nd.array(data), args, auxs


def described(sym):
    """[operator, name, inputs, attributes] of all nodes that are no variables."""
    nodes = json.loads(sym.tojson())["nodes"]

    def entry(source, index, *_):
        return nodes[source]["name"] + (f".{index}" if index else "")

    return [
        [n["op"], n["name"], [entry(*e) for e in n["inputs"]], n.get("attrs", {})]
        for n in nodes
        if n["op"] != "null"
    ]


def quantized(mx, name, sym, shape, backend, **wish):
    """(symbol, parameters, auxiliary states, described before and after the second fusion)."""
    data, args, auxs = inputs(mx, name, sym, shape)
    fused = sym.get_backend_symbol(BACKEND) if backend else sym
    keywords = {}
    if wish["calib_mode"] != "none":
        keywords["calib_data"] = mx.io.NDArrayIter(data, batch_size=shape[0])
    qsym, qargs, auxs = mx.contrib.quantization.quantize_model(
        fused, args, auxs, label_names=None, **wish, **keywords
    )
    nodes = [described(qsym)]
    if backend:
        qsym = qsym.get_backend_symbol(BACKEND)
        nodes.append(described(qsym))
    return qsym, qargs, auxs, nodes


def _model(mx):
    """A residual network; MXNet is wrong if the other summand is negative."""
    S, same = mx.sym, {"kernel": (3, 3), "pad": (1, 1), "num_filter": 8}
    x = S.Convolution(S.var("data"), no_bias=True, name="c1", **same)
    x = S.Activation(S.BatchNorm(x, fix_gamma=False, name="b1"), act_type="relu", name="r1")
    y = S.BatchNorm(S.Convolution(x, name="c2", **same), fix_gamma=False, name="b2")
    x = S.Activation(x + y, act_type="relu", name="r2")
    x = S.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="p1")
    return S.FullyConnected(S.Flatten(x), num_hidden=6, name="fc")


def _write_model(mx):
    """Write the files of a network with oneDNN's nodes, and its output."""
    sym, shape = _model(mx), (2, 4, 8, 8)
    wish = {"quantize_mode": "full", "quantized_dtype": "auto", "calib_mode": "naive"}
    qsym, qargs, auxs, _ = quantized(mx, "", sym, shape, True, **wish)
    data = inputs(mx, "", sym, shape)[0]
    mx.model.save_checkpoint(str(MODEL), 0, qsym, qargs, auxs)
    executor = qsym.bind(mx.cpu(), dict(qargs, data=data), aux_states=auxs, grad_req="null")
    np.savez(f"{MODEL}.npz", data=data.asnumpy(), output=executor.forward()[0].asnumpy())


if __name__ == "__main__":
    import mxnet

    found = {}
    for net, (symbol, extents) in nets(mxnet).items():
        for with_backend in (False, True):
            for key, asked in cases(with_backend):
                key = f"{net}/{'fused' if with_backend else 'plain'}/{key}"
                try:
                    nodes = quantized(mxnet, net, symbol, extents, with_backend, **asked)[3]
                except mxnet.MXNetError as error:
                    print(key, error)
                    continue
                found[key] = nodes
    with gzip.GzipFile(GRAPHS, "wb", mtime=0) as file:
        file.write(json.dumps(found, separators=(",", ":")).encode())
    _write_model(mxnet)
