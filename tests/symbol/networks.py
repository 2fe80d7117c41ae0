"""Networks in the style of old programs; run under MXNet 1.9.1 to write golden results.

``PYTHON tests/symbol/networks.py`` writes `tests/data/network_golden.json`.
"""

import json
import zlib
from pathlib import Path

PATH = Path(__file__).resolve().parents[1] / "data" / "network_golden.json"


def recurrent(S):
    """An unrolled LSTM whose first states have an unknown batch size."""
    hidden, steps = 8, 4
    names = ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")
    i2h_weight, i2h_bias, h2h_weight, h2h_bias = (S.Variable(f"l0_{name}") for name in names)
    words = S.Embedding(data=S.Variable("data"), input_dim=20, output_dim=6, name="embed")
    words = S.SliceChannel(data=words, num_outputs=steps, squeeze_axis=1)
    cell, state, outs = S.zeros((0, hidden), name="c0"), S.zeros((0, hidden), name="h0"), []
    for t in range(steps):
        i2h = S.FullyConnected(
            data=words[t], weight=i2h_weight, bias=i2h_bias, num_hidden=4 * hidden, name=f"t{t}_i2h"
        )
        h2h = S.FullyConnected(
            data=state, weight=h2h_weight, bias=h2h_bias, num_hidden=4 * hidden, name=f"t{t}_h2h"
        )
        parts = S.SliceChannel(i2h + h2h, num_outputs=4, name=f"t{t}_slice")
        gates = [S.Activation(parts[i], act_type="tanh" if i == 1 else "sigmoid") for i in range(4)]
        cell = (gates[2] * cell) + (gates[0] * gates[1])
        state = gates[3] * S.Activation(cell, act_type="tanh")
        outs.append(state)
    pred = S.FullyConnected(data=S.Concat(*outs, dim=0), num_hidden=20, name="pred")
    label = S.Reshape(S.transpose(S.Variable("softmax_label")), shape=(-1,))
    return S.SoftmaxOutput(data=pred, label=label, name="softmax"), {
        "data": (3, steps),
        "softmax_label": (3, steps),
    }


def residual(S):
    data = S.identity(data=S.Variable("data"), name="id")
    data = S.BatchNorm(data=data, fix_gamma=True, eps=2e-5, momentum=0.9, name="bn_data")
    shared = {"num_filter": 16, "stride": (1, 1), "no_bias": True, "workspace": 256}
    body = S.Convolution(data=data, kernel=(3, 3), pad=(1, 1), name="conv0", **shared)
    for k in range(2):
        norm = S.BatchNorm(data=body, fix_gamma=False, eps=2e-5, momentum=0.9, name=f"u{k}_bn1")
        act = S.Activation(data=norm, act_type="relu")
        left = S.Convolution(data=act, kernel=(3, 3), pad=(1, 1), name=f"u{k}_conv1", **shared)
        right = S.Convolution(data=act, kernel=(1, 1), name=f"u{k}_sc", **shared)
        right._set_attr(mirror_stage="True")
        body = left + right
    pool = S.Pooling(data=body, global_pool=True, kernel=(7, 7), pool_type="avg", name="pool1")
    out = S.FullyConnected(data=S.Flatten(data=pool), num_hidden=10, name="fc1")
    return S.SoftmaxOutput(data=out, name="softmax"), {"data": (2, 3, 16, 16)}


def segmentation(S):
    data = S.Variable("data")
    conv = S.Convolution(data, kernel=(3, 3), num_filter=4, pad=(1, 1), name="c")
    pool = S.Pooling(conv, kernel=(2, 2), stride=(2, 2), pool_type="max")
    up = S.Deconvolution(pool, kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=4, no_bias=True)
    crop = S.Crop(*[up, data], name="crop", offset=(0, 0))
    settings = {"multi_output": True, "use_ignore": True, "ignore_label": 255}
    return S.SoftmaxOutput(crop, name="sm", **settings), {"data": (1, 3, 8, 8)}


def factorization(S):
    user = S.Embedding(data=S.Variable("user"), input_dim=30, output_dim=5)
    item = S.Embedding(data=S.Variable("item"), input_dim=30, output_dim=5)
    pred = S.Flatten(data=S.sum(user * item, axis=1))
    return S.LinearRegressionOutput(data=pred, label=S.Variable("score")), {
        "user": (4,),
        "item": (4,),
    }


def sentences(S):
    words = S.Embedding(data=S.Variable("data"), input_dim=50, output_dim=6, name="vocab_embed")
    image = S.Reshape(data=words, shape=(-1, 1, 9, 6))
    pooled = []
    for size in (3, 4, 5):
        conv = S.Convolution(data=image, kernel=(size, 6), num_filter=7)
        act = S.Activation(data=conv, act_type="relu")
        window = {"kernel": (9 - size + 1, 1), "stride": (1, 1)}
        pooled.append(S.Pooling(data=act, pool_type="max", **window))
    flat = S.Dropout(data=S.Reshape(data=S.Concat(*pooled, dim=1), shape=(-1, 21)), p=0.5)
    weight = S.Variable("cls_weight", lr_mult=2.0, wd_mult=0)
    out = S.FullyConnected(data=flat, weight=weight, num_hidden=2)
    return S.SoftmaxOutput(data=out, label=S.Variable("softmax_label"), name="softmax"), {
        "data": (2, 9)
    }


def assorted(S):
    """Many operators once, unnamed."""
    a, b = S.var("a"), S.var("b")
    norm, wide = S.norm(a, axis=1, keepdims=True), S.reshape(a, shape=(1, 1, 3, 4))
    stack, thin = S.stack(a, b, axis=1), S.expand_dims(a, axis=1)
    border = {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 1, 1)}
    return S.Group(
        [
            S.MakeLoss(S.mean(S.square(a - b)), grad_scale=0.5, name="l1"),
            S.MakeLoss(S.smooth_l1(a - b, scalar=2.0)),
            S.BlockGrad(S.softmax(a)),
            S.where(a > b, a, b),
            S.elemwise_add(a, b),
            S.clip(a, a_min=0, a_max=1),
            S.topk(a, k=1, ret_typ="indices"),
            S.one_hot(S.argmax(a, axis=1), depth=4),
            S.broadcast_div(a, norm),
            S.zeros_like(a) + S.ones_like(b),
            S.dot(a, b, transpose_b=True),
            S.pick(a, S.argmax(b, axis=1)),
            S.L2Normalization(a),
            S.SwapAxis(stack, dim1=0, dim2=1),
            S.SequenceMask(stack, use_sequence_length=False),
            S.repeat(a, repeats=2),
            S.tile(a, reps=(2, 1)),
            S.slice_axis(a, axis=1, begin=0, end=2),
            S.log_softmax(a),
            S.random.normal(0, 1, shape=(2, 2)),
            S.random.uniform(low=0, high=2, shape=(3,)),
            S.LayerNorm(a),
            S.LeakyReLU(a, act_type="prelu"),
            S.max(a, axis=(0, 1)),
            S.min(a),
            S.prod(a),
            S.reverse(a, axis=1),
            S.cast(a, dtype="float16"),
            S.broadcast_axis(thin, axis=1, size=3),
            abs(a),
            a**2,
            S.sqrt(abs(a)),
            2 / S.floor(a),
            S.batch_dot(S.expand_dims(a, 0), S.expand_dims(S.transpose(b), 0)),
            S.take(a, S.argmax(b, axis=1)),
            S.gather_nd(a, S.var("idx")),
            S.UpSampling(wide, scale=2, sample_type="nearest"),
            S.Pad(wide, **border),
            S.InstanceNorm(S.reshape(a, shape=(1, 3, 4, 1))),
            S.SVMOutput(a, name="svm"),
            S.LogisticRegressionOutput(a, b),
            S.slice(a, begin=(0, 1), end=(2, 3)),
            S.slice_like(a, b),
            S.linalg.gemm2(a, b, transpose_b=True),
            S.contrib.div_sqrt_dim(a),
            S.sort(a),
            S.split(a, num_outputs=2, axis=1),
            S.shape_array(a),
            S.arange(0, 5),
            S.full((2, 2), 3),
        ]
    ), {"a": (3, 4), "b": (3, 4), "idx": (2, 5)}


NETWORKS = (recurrent, residual, segmentation, factorization, sentences, assorted)


def answer(mx, network):
    """The golden results of a network."""
    with mx.name.NameManager():
        symbol, shapes = network(mx.sym)
    actual = symbol.infer_shape(**shapes)
    return {
        "json": zlib.crc32(symbol.tojson().encode()),
        "debug": zlib.crc32(symbol.debug_str().encode()),
        "arguments": symbol.list_arguments(),
        "outputs": symbol.list_outputs(),
        "shapes": [[list(shape) for shape in part] for part in actual],
        "attributes": {name: dict(sorted(a.items())) for name, a in symbol.attr_dict().items()},
    }


if __name__ == "__main__":
    import mxnet

    rows = [f"{json.dumps(n.__name__)}: {json.dumps(answer(mxnet, n))}" for n in NETWORKS]
    PATH.write_text("{\n" + ",\n".join(rows) + "\n}\n")
