"""Runs under a real MXNet in a folder of files: loads what mxcy wrote and writes its own.

``read``: load every ``*.json`` with its ``*.npz`` of arguments, print the names and the outputs.
``load``: load every symbol of ``symbols.txt`` (one JSON text per line), print names.
``write``: write networks with arguments and outputs.
"""

import json
import sys
from pathlib import Path

import mxnet as mx
import numpy as np


def names(symbol):
    return [symbol.list_arguments(), symbol.list_auxiliary_states(), symbol.list_outputs()]


def outputs(symbol, arrays):
    actual = symbol.eval(ctx=mx.cpu(), **{name: mx.nd.array(v) for name, v in arrays.items()})
    return [array.asnumpy() for array in actual]


def read():
    told = {}
    for path in sorted(Path().glob("*.json")):
        symbol = mx.sym.load(str(path))
        with np.load(path.with_suffix(".npz")) as arrays:
            actual = outputs(symbol, arrays)
        told[path.stem] = [names(symbol), [array.tolist() for array in actual]]
    return told


def load():
    return [
        names(mx.sym.fromjson(line) if hasattr(mx.sym, "fromjson") else mx.sym.load_json(line))
        for line in Path("symbols.txt").read_text().splitlines()
    ]


def networks():
    S = mx.sym
    data = S.var("data")
    conv = S.Convolution(data, kernel=(3, 3), num_filter=4, pad=(1, 1), name="conv")
    left, right = S.split(S.LeakyReLU(conv, act_type="leaky"), num_outputs=2)
    pool = S.Pooling(left * 2 + right, kernel=(2, 2), stride=(2, 2), pool_type="max")
    yield "conv", S.FullyConnected(pool, num_hidden=3, name="fc"), {"data": (2, 3, 6, 6)}
    words = S.Embedding(S.var("words"), input_dim=7, output_dim=4, name="embed")
    mean = S.mean(words, axis=1)
    yield "embedding", S.Group([S.softmax(mean), 1 - S.exp(-mean)]), {"words": (3, 5)}
    yield (
        "chain",
        S.concat(S.reshape(data, shape=(0, -1)), S.ones((2, 1)), dim=1),
        {"data": (2, 3, 2)},
    )

    def body(element, states):
        state = S.relu(S.FullyConnected(element + states[0], num_hidden=4, name="inside"))
        return S.max(state, axis=1), [state]

    outs, states = S.contrib.foreach(body, data, [S.var("state")])
    shapes = {"data": (3, 2, 4), "state": (2, 4), "inside_weight": (4, 4), "inside_bias": (4,)}
    yield "foreach", S.Group([outs, *states]), shapes


def write():
    rng = np.random.RandomState(0)
    written = []
    for name, symbol, shapes in networks():
        actual, _, _ = symbol.infer_shape(**shapes)
        arrays = {
            n: rng.uniform(-1, 1, shape).astype("float32")
            for n, shape in zip(symbol.list_arguments(), actual, strict=False)
        }
        if "words" in arrays:
            arrays["words"] = rng.randint(0, 7, shapes["words"]).astype("float32")
        symbol.save(f"{name}.json")
        np.savez(f"{name}.npz", **arrays)
        written.append([name, names(symbol), [a.tolist() for a in outputs(symbol, arrays)]])
    return written


print(json.dumps(globals()[sys.argv[1]]()))
