"""Write ``contrib.json.gz``: what layers of real MXNet 1.9.1 that ``cases.py`` lacks compute
(those of `gluon.contrib`, `CTCLoss` ...), and what the estimator does.

With a Python that has MXNet 1.9.1: ``python tests/gluon/golden/contrib.py``
"""

import gzip
import json
import logging
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "contrib.json.gz"


def draw(*shape, seed=0):
    """A float32 array drawn evenly from [-1, 1)."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def fill(mx, block):
    """Give every parameter its own reproducible values."""
    for number, parameter in enumerate(block.collect_params().values()):
        parameter.set_data(mx.nd.array(draw(*parameter.shape, seed=number + 1)))
    return block


def _concurrent(mx):
    nn = mx.gluon.nn
    block = mx.gluon.contrib.nn.HybridConcurrent(axis=1)
    with block.name_scope():
        block.add(mx.gluon.contrib.nn.Identity())
        block.add(nn.Dense(3, in_units=4))
        block.add(nn.Dense(2, in_units=4))
    return block, [draw(2, 4)]


def _sequential_concurrent(mx):
    block = mx.gluon.contrib.nn.Concurrent(axis=0)
    with block.name_scope():
        block.add(mx.gluon.nn.Dense(3, in_units=4))
        block.add(mx.gluon.nn.Dense(3, in_units=4))
    return block, [draw(2, 4)]


LAYERS = {
    "hybrid_concurrent": _concurrent,
    "concurrent": _sequential_concurrent,
    "pixel_shuffle_1d": lambda mx: (mx.gluon.contrib.nn.PixelShuffle1D(2), [draw(1, 4, 3)]),
    "pixel_shuffle_2d": lambda mx: (
        mx.gluon.contrib.nn.PixelShuffle2D((2, 3)),
        [draw(1, 12, 2, 2)],
    ),
    "pixel_shuffle_3d": lambda mx: (mx.gluon.contrib.nn.PixelShuffle3D(2), [draw(1, 8, 2, 1, 2)]),
    "sync_batch_norm": lambda mx: (
        mx.gluon.contrib.nn.SyncBatchNorm(in_channels=3, num_devices=1),
        [draw(4, 3, 2, 2)],
    ),
}


_SIGNAL, _PICTURE, _VOLUME = (2, 3, 7), (2, 3, 6, 5), (1, 2, 4, 5, 4)
#: name -> (class of `gluon.nn`, its arguments, shape of the input)
OTHERS = {
    **{
        f"activation_{kind}": ("Activation", [kind], {}, (3, 4))
        for kind in ("relu", "sigmoid", "tanh", "softrelu", "softsign")
    },
    "selu": ("SELU", [], {}, (3, 4)),
    "batch_norm_relu": ("BatchNormReLU", [], {"in_channels": 3}, _PICTURE),
    "conv1d_strided": ("Conv1D", [4, 3, 2, 1], {"in_channels": 3}, _SIGNAL),
    "conv2d_shapes": ("Conv2D", [2, (3, 2), (2, 1), (1, 0)], {"in_channels": 3}, _PICTURE),
    "deconv1d_dilated": ("Conv1DTranspose", [2, 3], {"dilation": 2, "in_channels": 3}, _SIGNAL),
    "deconv2d_shapes": (
        "Conv2DTranspose",
        [2, (3, 2), (2, 3), (1, 0), (1, 2)],
        {"in_channels": 3, "activation": "relu"},
        _PICTURE,
    ),
    "deconv3d_strided": ("Conv3DTranspose", [2, 3, 2, 1], {"in_channels": 2}, _VOLUME),
    "maxpool1d_padded": ("MaxPool1D", [3, 2, 1], {}, _SIGNAL),
    "maxpool2d_shapes": ("MaxPool2D", [(3, 2), (2, 1), (1, 0)], {"ceil_mode": True}, _PICTURE),
    "maxpool3d": ("MaxPool3D", [], {"ceil_mode": True}, _VOLUME),
    "avgpool1d": ("AvgPool1D", [3, 2, 1], {"count_include_pad": False}, _SIGNAL),
    "avgpool2d_ceil": ("AvgPool2D", [2, 2, 1], {"ceil_mode": True}, _PICTURE),
    "avgpool3d_padded": ("AvgPool3D", [2, 2, 1], {"count_include_pad": False}, _VOLUME),
    **{
        f"global_{kind.lower()}_pool_{dims}d": (f"Global{kind}Pool{dims}D", [], {}, shape)
        for dims, shape in ((1, _SIGNAL), (2, _PICTURE), (3, _VOLUME))
        for kind in ("Max", "Avg")
    },
    "reflection_pad": ("ReflectionPad2D", [2], {}, _PICTURE),
    "dense_no_bias": ("Dense", [3, "sigmoid", False], {"in_units": 21}, _SIGNAL),
    "layer_norm_middle": ("LayerNorm", [1], {"in_channels": 3}, _SIGNAL),
    "group_norm_each": ("GroupNorm", [3], {}, _PICTURE),
}


def _other(name):
    kind, arguments, options, shape = OTHERS[name]
    return lambda mx: (getattr(mx.gluon.nn, kind)(*arguments, **options), [draw(*shape)])


LAYERS.update({name: _other(name) for name in OTHERS})


def layer(mx, name):
    """Names and shapes of a layer's parameters, and its outputs in training and otherwise."""
    with mx.name.NameManager():
        block, inputs = LAYERS[name](mx)
    block.initialize()
    names = {p.name: list(p.shape) for p in block.collect_params().values()}
    arrays = [mx.nd.array(array) for array in inputs]
    block(*arrays)
    fill(mx, block)
    for array in arrays:
        array.attach_grad()
    with mx.autograd.record():
        trained = block(*arrays)
    trained.backward(mx.nd.array(draw(*trained.shape, seed=9)))
    actual = {
        "parameters": names,
        "training": trained,
        "inference": block(*arrays),
        "gradient": arrays[0].grad,
    }
    return {
        key: values if key == "parameters" else np.round(values.asnumpy().astype(float), 7).tolist()
        for key, values in actual.items()
    }


UNROLLED = {
    "plain": {"layout": "TNC"},
    "batch_first": {"layout": "NTC"},
    "lengths": {"layout": "TNC", "valid_length": [2, 4]},
}


def unrolled(mx, name):
    """The result of `dynamic_unroll` for an LSTM with projection."""
    options = dict(UNROLLED[name])
    if "valid_length" in options:
        options["valid_length"] = mx.nd.array(options["valid_length"])
    cell = mx.gluon.contrib.rnn.LSTMPCell(4, 3, input_size=2)
    cell.initialize()
    fill(mx, cell)
    shape = (4, 2, 2) if options["layout"] == "TNC" else (2, 4, 2)
    inputs = mx.nd.array(draw(*shape))
    dynamic_unroll = mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll
    outputs, states = dynamic_unroll(cell, inputs, cell.begin_state(2), **options)
    return [array.asnumpy().tolist() for array in (outputs, *states)]


def _cells(mx):
    rnn, contrib = mx.gluon.rnn, mx.gluon.contrib.rnn
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(3))
    stack.add(rnn.ResidualCell(rnn.GRUCell(3)))
    stack.add(rnn.BidirectionalCell(rnn.RNNCell(2), rnn.ZoneoutCell(rnn.LSTMCell(2), 0.1)))
    stack.add(contrib.VariationalDropoutCell(contrib.LSTMPCell(3, 2), 0.1))
    return stack


def _blocks(mx):
    nn, rnn, contrib = mx.gluon.nn, mx.gluon.rnn, mx.gluon.contrib
    stack, branches = nn.HybridSequential(), contrib.nn.HybridConcurrent()
    branches.add(nn.Dense(2), contrib.nn.Identity())
    stack.add(
        nn.Conv2D(2, 3, activation="relu"),
        nn.BatchNorm(),
        nn.PReLU(),
        nn.LayerNorm(),
        nn.GroupNorm(),
        nn.InstanceNorm(),
        nn.Embedding(2, 2),
        nn.Dense(2, use_bias=False),
        nn.Conv2DTranspose(2, 2),
        contrib.nn.SyncBatchNorm(),
        contrib.cnn.DeformableConvolution(2),
        contrib.cnn.ModulatedDeformableConvolution(2),
        branches,
        rnn.LSTM(3, 2),
        contrib.rnn.Conv2DGRUCell((2, 4, 4), 3, 3, 3),
        rnn.GRU(2, bidirectional=True),
    )
    return stack


STACKS = {"cells": _cells, "blocks": _blocks}


def parameters(mx, name):
    """Names, structural names, shapes and so on of a stack's parameters, in order."""
    with mx.name.NameManager():
        stack = STACKS[name](mx)
    own = stack.collect_params()
    details = [[p.name, p.grad_req, list(p.shape), str(np.dtype(p.dtype))] for p in own.values()]
    return [list(stack._collect_params_with_prefix()), details]


CELLS = {
    "rnn": lambda mx: mx.gluon.rnn.RNNCell(3, prefix="c_"),
    "lstm": lambda mx: mx.gluon.rnn.LSTMCell(3, prefix="c_"),
    "gru": lambda mx: mx.gluon.rnn.GRUCell(3, prefix="c_"),
    "lstmp": lambda mx: mx.gluon.contrib.rnn.LSTMPCell(3, 2, prefix="c_"),
    "conv_lstm": lambda mx: mx.gluon.contrib.rnn.Conv1DLSTMCell((2, 4), 3, 3, 3, prefix="c_"),
    "dropout": lambda mx: mx.gluon.rnn.DropoutCell(0.3, prefix="c_"),
    "residual": lambda mx: mx.gluon.rnn.ResidualCell(mx.gluon.rnn.RNNCell(3, prefix="c_")),
    "zoneout": lambda mx: mx.gluon.rnn.ZoneoutCell(mx.gluon.rnn.RNNCell(3, prefix="c_"), 0.1, 0.1),
}


def unrolled_names(mx, name):
    """The names of the outputs of two steps of a cell, and of all operators in them."""
    with mx.name.NameManager():
        outputs, states = CELLS[name](mx).unroll(2, mx.sym.var("x"), merge_outputs=False)
    group = mx.sym.Group([*outputs, *states])
    return [group.list_outputs(), group.get_internals().list_outputs()]


def estimated(mx, resumed=False):
    """An estimator's log, results and files."""
    estimators = mx.gluon.contrib.estimator
    loader, dataset = mx.gluon.data.DataLoader, mx.gluon.data.ArrayDataset
    labels = (np.arange(20) % 3).astype("float32")
    train = loader(dataset(draw(20, 4), labels), 6)
    val = loader(dataset(draw(9, 4, seed=5), labels[:9]), 4)
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(3, in_units=4))
    net.initialize()
    net.hybridize()
    fill(mx, net)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5, "momentum": 0.9})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    estimator = estimators.Estimator(net, loss, trainer=trainer, context=mx.cpu())
    lines, handler = [], logging.StreamHandler()
    handler.emit = lambda record: lines.append(record.getMessage())
    estimator.logger.handlers = [handler]
    with tempfile.TemporaryDirectory() as folder:
        handlers = [
            estimators.CheckpointHandler(
                folder,
                "tiny",
                monitor=estimator.val_metrics[0],
                save_best=True,
                mode="max",
                max_checkpoints=2,
            ),
            estimators.LoggingHandler(log_interval=2, metrics=estimator.train_metrics),
            estimators.EarlyStoppingHandler(estimator.val_metrics[1], patience=2, mode="min"),
        ]
        estimator.fit(train, val, epochs=4, event_handlers=handlers)
        files = sorted(path.name for path in Path(folder).iterdir())
        if resumed:
            again = estimators.CheckpointHandler(folder, "tiny", resume_from_checkpoint=True)
            estimator.fit(train, epochs=6, event_handlers=[again])
            files = sorted(path.name for path in Path(folder).iterdir())
    lines = [re.sub(r"\d+\.\d{3}s|total \d+s", "T", line).strip(" ,") for line in lines]
    lines = [line.replace("Hanlder", "Handler") for line in lines]  # as MXNet spells it
    return {
        "names": [m.name for m in (*estimator.train_metrics, *estimator.val_metrics)],
        "values": [m.get()[1] for m in (*estimator.train_metrics, *estimator.val_metrics)],
        "weight": net[0].weight.data().asnumpy().tolist(),
        "files": files,
        "lines": lines,
    }


def hooked(mx, monitor_all):
    """The names that hooks of operators are called with."""
    calls = []
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(2, activation="relu"), mx.gluon.nn.BatchNorm())
        net.add(mx.gluon.nn.Dense(2))
    net.initialize()
    net.hybridize()
    net.register_op_hook(lambda *args: calls.append(args), monitor_all)
    net(mx.nd.ones((2, 3)))
    return [
        [text.decode() if isinstance(text, bytes) else text for text in call[:2]] for call in calls
    ]


_LABELS = [[1, 0, -1], [2, 2, 3]]
CTC = {
    "padded": ({}, False, {}),
    "time_first": ({"layout": "TNC", "label_layout": "TN", "weight": 0.5}, True, {}),
    "lengths": ({}, False, {"pred_lengths": [6, 7], "label_lengths": [1, 2]}),
    "label_lengths": ({}, False, {"label_lengths": [2, 2], "sample_weight": [3, 0.5]}),
}


def ctc(mx, name, hybridize=False):
    """A loss of sequences and its gradient."""
    options, time_first, given = CTC[name]
    pred, label = draw(2, 7, 5), np.array(_LABELS, "float32")
    if time_first:
        pred, label = pred.swapaxes(0, 1), label.T
    pred, label = mx.nd.array(pred), mx.nd.array(label)
    names = ("pred_lengths", "label_lengths", "sample_weight")
    others = [mx.nd.array(given[name]) if name in given else None for name in names]
    while others and others[-1] is None:
        others.pop()
    loss = mx.gluon.loss.CTCLoss(**options)
    if hybridize:
        loss.hybridize()
    pred.attach_grad()
    with mx.autograd.record():
        out = loss(pred, label, *others)
    out.backward()
    return [out.asnumpy().tolist(), pred.grad.asnumpy().tolist()]


def everything(mx):
    """All of it, for JSON."""
    return {
        "layers": {name: layer(mx, name) for name in LAYERS},
        "unrolled": {name: unrolled(mx, name) for name in UNROLLED},
        "parameters": {name: parameters(mx, name) for name in STACKS},
        "names": {name: unrolled_names(mx, name) for name in CELLS},
        "ctc": {name: ctc(mx, name) for name in CTC},
        "estimated": estimated(mx),
        "resumed": estimated(mx, True),
        "hooked": {str(both): hooked(mx, both) for both in (False, True)},
    }


if __name__ == "__main__":
    import mxnet

    assert mxnet.__version__ == "1.9.1"
    warnings.simplefilter("ignore")
    text = json.dumps(everything(mxnet), separators=(",", ":"))
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
