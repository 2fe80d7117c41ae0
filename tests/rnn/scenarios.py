"""Scenarios for recurrent cells, for any package with MXNet 1.x's interface.

`tests/data/make_rnn_golden.py` stores real MXNet's results; `test_golden.py` runs mxcy.
"""

import random
import warnings
import zlib

import numpy as np

UNITS, WIDTH, STEPS, BATCH = 3, 3, 4, 2


def dense(mx):
    """The three simple cells, by name."""
    return {
        "rnn": mx.rnn.RNNCell(UNITS),
        "relu": mx.rnn.RNNCell(UNITS, activation="relu", prefix="relu_"),
        "lstm": mx.rnn.LSTMCell(UNITS, forget_bias=2.0),
        "gru": mx.rnn.GRUCell(UNITS),
    }


def fused(mx):
    """Fused cells, one of each kind."""
    return {
        "fused_tanh": mx.rnn.FusedRNNCell(UNITS, mode="rnn_tanh", get_next_state=True),
        "fused_relu": mx.rnn.FusedRNNCell(UNITS, num_layers=2, mode="rnn_relu", prefix="f_"),
        "fused_lstm": mx.rnn.FusedRNNCell(
            UNITS, num_layers=2, mode="lstm", bidirectional=True, dropout=0.3, get_next_state=True
        ),
        "fused_gru": mx.rnn.FusedRNNCell(UNITS, mode="gru", bidirectional=True),
    }


def stack(mx, *cells, params=None):
    """Cells on top of each other."""
    stacked = mx.rnn.SequentialRNNCell(params)
    for cell in cells:
        stacked.add(cell)
    return stacked


def composed(mx):
    """Cells made of cells."""
    rnn = mx.rnn
    shared = rnn.RNNParams("shared_")
    return {
        "stack": stack(mx, rnn.LSTMCell(UNITS), rnn.DropoutCell(0.5), rnn.GRUCell(UNITS)),
        "both_ways": rnn.BidirectionalCell(
            rnn.LSTMCell(UNITS, prefix="l_"), rnn.GRUCell(UNITS, prefix="r_"), output_prefix="b_"
        ),
        "residual": rnn.ResidualCell(rnn.GRUCell(WIDTH)),
        "residual_fused": rnn.ResidualCell(rnn.FusedRNNCell(WIDTH, mode="gru")),
        "zoneout": rnn.ZoneoutCell(rnn.LSTMCell(UNITS), 0.3, 0.4),
        "zoneout_states": rnn.ZoneoutCell(rnn.RNNCell(UNITS), zoneout_states=0.4),
        "unfused": rnn.FusedRNNCell(
            UNITS, num_layers=2, mode="lstm", bidirectional=True, dropout=0.2
        ).unfuse(),
        "unfused_gru": rnn.FusedRNNCell(UNITS, mode="gru").unfuse(),
        "sharing": stack(
            mx, rnn.RNNCell(UNITS, params=shared), rnn.RNNCell(UNITS, params=shared, prefix="two_")
        ),
    }


def convolving(mx):
    """Cells of images, with the shape of one step."""
    shape = (BATCH, 2, 5, 4)
    settings = {"i2h_weight_initializer": "ones"}
    return {
        "conv_rnn": (mx.rnn.ConvRNNCell(shape, 2, **settings), shape),
        "conv_lstm": (
            mx.rnn.ConvLSTMCell(shape, 2, h2h_kernel=(5, 3), h2h_dilate=(1, 2), activation="tanh"),
            shape,
        ),
        "conv_gru": (mx.rnn.ConvGRUCell(shape, 2, i2h_pad=(0, 0)), shape),
    }


def filled(mx, symbol, shapes):
    """Arrays for all arguments, with numbers that do not depend on the package."""
    known, _, _ = symbol.infer_shape(**shapes)
    draw = np.random.RandomState(7)
    return {
        name: mx.nd.array(draw.uniform(-0.7, 0.7, shape))
        for name, shape in zip(symbol.list_arguments(), known)  # noqa: B905  for any Python
    }


def run(mx, heads, shapes):
    """Values and gradients of a network, and a checksum of its file.

    Outputs that are also states appear once, as MXNet drops one of two gradients.
    """
    heads = {head.name: head for head in heads}
    symbol = mx.sym.Group(list(heads.values()))
    arrays = filled(mx, symbol, shapes)
    grads = {name: mx.nd.zeros(array.shape) for name, array in arrays.items()}
    executor = symbol.bind(mx.cpu(), arrays, grads)
    outputs = executor.forward(is_train=False)
    result = {
        "outputs": [output.asnumpy().tolist() for output in outputs],
        "json": zlib.crc32(symbol.tojson().encode()),
    }
    if '"Dropout"' not in symbol.tojson() and '"p": "0.3"' not in symbol.tojson():
        executor.forward(is_train=True)
        executor.backward([mx.nd.ones(output.shape) for output in outputs])
        result["gradients"] = {name: float(g.sum().asscalar()) for name, g in sorted(grads.items())}
    return result


def unrolled(mx, cell, layout, merge, listed=False):
    """A network of one cell over a sequence."""
    cell.reset()
    with mx.name.NameManager(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if listed:
            inputs = [mx.sym.var(f"t{step}_data") for step in range(STEPS)]
            shapes = {f"t{step}_data": (BATCH, WIDTH) for step in range(STEPS)}
        else:
            inputs = mx.sym.var("data")
            shapes = {"data": (BATCH, STEPS, WIDTH) if layout == "NTC" else (STEPS, BATCH, WIDTH)}
        outputs, states = cell.unroll(STEPS, inputs, layout=layout, merge_outputs=merge)
        outputs = [outputs] if isinstance(outputs, mx.sym.Symbol) else list(outputs)
        flat = [state for each in states for state in (each if isinstance(each, list) else [each])]
        return run(mx, outputs + flat, shapes)


def sequences(mx):
    """Every cell in two layouts, its outputs merged or not."""
    result = {}
    for make in (dense, fused, composed):
        for name in make(mx):
            for layout, merge, listed in (
                ("NTC", None, False),
                ("TNC", True, False),
                ("NTC", False, True),
                ("NTC", True, True),
            ):
                case = f"{name} {layout} {merge} {listed}"
                result[case] = unrolled(mx, make(mx)[name], layout, merge, listed)
    for name, (cell, shape) in convolving(mx).items():
        with mx.name.NameManager():
            inputs = [mx.sym.var(f"t{step}_data") for step in range(2)]
            outputs, states = cell.unroll(2, inputs)
            shapes = {f"t{step}_data": shape for step in range(2)}
            result[name] = run(mx, outputs + states, shapes)
            result[name]["state_info"] = [list(info["shape"]) for info in cell.state_info]
    return result


def weights(mx):
    """Packed weights of fused and simple cells, divided and put together again."""
    result = {}
    for name, cell in {**dense(mx), **fused(mx)}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs, _ = cell.unroll(STEPS, mx.sym.var("data"), merge_outputs=True)
        arrays = filled(mx, outputs, {"data": (BATCH, STEPS, WIDTH + 2)})
        divided = cell.unpack_weights(arrays)
        packed = cell.pack_weights(divided)
        result[name] = {
            "divided": {key: float(divided[key].sum().asscalar()) for key in sorted(divided)},
            "shapes": {key: list(divided[key].shape) for key in sorted(divided)},
            "restored": all((packed[key] == arrays[key]).min().asscalar() == 1 for key in arrays),
        }
    return result


def initial(mx):
    """Initial weights of fused cells."""
    result = {}
    for name, cell in fused(mx).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs, _ = cell.unroll(STEPS, mx.sym.var("data"), merge_outputs=True)
        vectors = filled(mx, outputs, {"data": (BATCH, STEPS, WIDTH + 2)})
        vector = vectors[cell._parameter.name]
        attributes = outputs.attr_dict()[cell._parameter.name]
        for init in (mx.init.Xavier(), mx.init.One()):
            mx.random.seed(5)
            init(mx.init.InitDesc(cell._parameter.name, attributes, init), vector)
            parts = cell.unpack_weights({cell._parameter.name: vector})
            result[f"{name} {type(init).__name__}"] = {
                key: parts[key].asnumpy().ravel()[:2].tolist() for key in sorted(parts)
            }
    return result


def sentences(mx):
    """The batches of two epochs."""
    random.seed(4)
    np.random.seed(4)
    draw = np.random.RandomState(1)
    words = [[f"w{draw.randint(9)}" for _ in range(draw.randint(1, 9))] for _ in range(40)]
    encoded, vocab = mx.rnn.encode_sentences(words, invalid_label=0, start_label=0)
    result = {"encoded": encoded, "vocab": vocab}
    for layout in ("NT", "TN"):
        batches = mx.rnn.BucketSentenceIter(
            encoded, 3, buckets=[7, 3, 5], invalid_label=0, layout=layout
        )
        rows = []
        for _ in range(2):
            for batch in batches:
                shape = list(batch.provide_data[0].shape)
                data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
                rows.append([batch.bucket_key, shape, data.tolist(), label.tolist()])
            batches.reset()
        result[layout] = [batches.default_bucket_key, list(batches.buckets), rows]
    return result


def language_model(mx):
    """Losses of a bucketing language model of two LSTMs, over two epochs."""
    random.seed(2)
    np.random.seed(2)
    mx.random.seed(2)
    draw = np.random.RandomState(3)
    texts = []
    for _ in range(60):
        first, length = draw.randint(1, 7), draw.randint(3, 9)
        texts.append([(first + 2 * step) % 7 + 1 for step in range(length)])
    batches = mx.rnn.BucketSentenceIter(texts, 4, buckets=[5, 8], invalid_label=0)
    cell = stack(mx, mx.rnn.LSTMCell(8, prefix="a_"), mx.rnn.LSTMCell(8, prefix="b_"))

    def network(length):
        embedded = mx.sym.Embedding(mx.sym.var("data"), input_dim=9, output_dim=5, name="embed")
        cell.reset()
        outputs, _ = cell.unroll(length, embedded, merge_outputs=True)
        scores = mx.sym.FullyConnected(
            mx.sym.Reshape(outputs, shape=(-1, 8)), num_hidden=9, name="scores"
        )
        label = mx.sym.Reshape(mx.sym.var("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(scores, label, name="softmax"), ("data",), ("softmax_label",)

    mod = mx.mod.BucketingModule(network, default_bucket_key=batches.default_bucket_key)
    losses = []
    mod.fit(
        batches,
        eval_metric=mx.metric.Perplexity(0),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.02},
        initializer=mx.init.Xavier(),
        batch_end_callback=lambda param: losses.append(float(param.eval_metric.get()[1])),
        num_epoch=3,
    )
    return losses


SCENARIOS = {
    "sequences": sequences,
    "weights": weights,
    "initial": initial,
    "sentences": sentences,
    "language_model": language_model,
}
