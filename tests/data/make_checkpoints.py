"""Write the checkpoints of tests/symbol/test_checkpoints.py, with real MXNet 1.9.1.

Run with a Python that has it: ``python tests/data/make_checkpoints.py``. Each network is a small
relative of one that people have checkpoints of. Beside the checkpoint goes an .npz file with inputs
and real MXNet's outputs: in prediction and training mode, at batch 1 and 8, with the gradients of
the first convolution or dense layer.
"""

import pathlib

import mxnet as mx
import numpy as np

FOLDER = pathlib.Path(__file__).parent / "checkpoints"


def conv(data, name, filters, kernel=3, stride=1, **attrs):
    pad = attrs.pop("pad", (kernel // 2, kernel // 2))
    return mx.sym.Convolution(
        data,
        num_filter=filters,
        kernel=(kernel, kernel),
        stride=(stride, stride),
        pad=pad,
        name=name,
        **attrs,
    )


def unit(data, name, filters, kernel=3, stride=1, act="relu"):
    data = conv(data, f"{name}_conv", filters, kernel, stride, no_bias=True)
    data = mx.sym.BatchNorm(data, fix_gamma=False, eps=2e-5, momentum=0.9, name=f"{name}_bn")
    return mx.sym.Activation(data, act_type=act, name=f"{name}_act") if act else data


def head(data, classes=7):
    data = mx.sym.Flatten(data)
    return mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(data, num_hidden=classes, name="fc"), name="softmax"
    )


def mlp():
    data = mx.sym.Flatten(mx.sym.var("data"))
    data = mx.sym.Activation(
        mx.sym.FullyConnected(data, num_hidden=16, name="fc1"), act_type="tanh"
    )
    return head(mx.sym.FullyConnected(data, num_hidden=8, no_bias=True, name="fc2"))


def alexnet():
    data = conv(mx.sym.var("data"), "conv1", 16, 5, 2, pad=(1, 1))
    data = mx.sym.LRN(mx.sym.Activation(data, act_type="relu"), alpha=1e-4, beta=0.75, nsize=5)
    data = mx.sym.Pooling(data, kernel=(3, 3), stride=(2, 2), pool_type="max")
    data = mx.sym.Activation(conv(data, "conv2", 32, num_group=2), act_type="relu")
    return head(mx.sym.Pooling(data, kernel=(2, 2), stride=(2, 2), pool_type="max"))


def vgg():
    data = mx.sym.var("data")
    for stage, filters in enumerate((16, 16)):
        for layer in range(2):
            name = f"conv{stage}_{layer}"
            data = mx.sym.Activation(conv(data, name, filters), act_type="relu")
        data = mx.sym.Pooling(data, kernel=(2, 2), stride=(2, 2), pool_type="max")
    return head(data)


def resnet():
    data = unit(mx.sym.var("data"), "stem", 16)
    short = unit(data, "short", 32, 1, 2, act=None)
    data = unit(unit(data, "a", 16, 1), "b", 16, 3, 2)
    data = mx.sym.Activation(unit(data, "c", 32, 1, act=None) + short, act_type="relu")
    data = mx.sym.Activation(unit(data, "d", 32, act=None) + data, act_type="relu")
    return head(mx.sym.Pooling(data, global_pool=True, kernel=(7, 7), pool_type="avg"))


def preact():
    data = mx.sym.BatchNorm(mx.sym.var("data"), fix_gamma=True, eps=2e-5, name="bn_data")
    data = conv(data, "conv0", 16, no_bias=True)
    for number in range(2):
        body = mx.sym.BatchNorm(data, fix_gamma=False, name=f"bn{number}")
        body = mx.sym.LeakyReLU(body, act_type="leaky", slope=0.1)
        data = conv(body, f"conv{number + 1}", 16, no_bias=True) + data
    return head(mx.sym.Pooling(data, kernel=(4, 4), stride=(4, 4), pool_type="avg"))


def inception():
    data = unit(mx.sym.var("data"), "stem", 16, 3, 2)
    pooled = mx.sym.Pooling(data, kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type="avg")
    branches = [
        unit(data, "one", 16, 1),
        unit(unit(data, "two_a", 16, 1), "two_b", 32),
        unit(pooled, "three", 16, 1, act="sigmoid"),
        mx.sym.Pooling(
            data,
            kernel=(3, 3),
            stride=(1, 1),
            pad=(1, 1),
            pool_type="max",
            pooling_convention="full",
        ),
    ]
    data = mx.sym.Concat(*branches, name="joined")
    data = mx.sym.Deconvolution(
        data, num_filter=8, kernel=(2, 2), stride=(2, 2), no_bias=True, name="up"
    )
    return head(mx.sym.Pooling(data, global_pool=True, kernel=(1, 1), pool_type="max"))


NETWORKS = {
    "mlp": (mlp, (1, 6, 6)),
    "alexnet": (alexnet, (3, 31, 31)),
    "vgg": (vgg, (3, 16, 16)),
    "resnet": (resnet, (3, 12, 12)),
    "preact": (preact, (3, 12, 12)),
    "inception": (inception, (3, 13, 13)),
}


def write(name, symbol, shape, rng):
    module = mx.mod.Module(symbol, context=mx.cpu())
    module.bind([("data", (8, *shape))], [("softmax_label", (8,))])
    module.init_params(mx.init.Xavier(magnitude=2))
    arguments, states = module.get_params()
    for array in states.values():
        array[:] = rng.uniform(0.5, 1.5, array.shape).astype(np.float32)
    mx.model.save_checkpoint(str(FOLDER / name), 3, symbol, arguments, states)
    saved = {}
    for batch in (1, 8):
        data = rng.uniform(-1, 1, (batch, *shape)).astype(np.float32)
        label = rng.integers(0, 7, batch).astype(np.float32)
        saved.update({f"data{batch}": data, f"label{batch}": label})
        values = {**arguments, "data": mx.nd.array(data), "softmax_label": mx.nd.array(label)}
        gradients = {key: mx.nd.zeros(value.shape) for key, value in values.items()}
        copies = {key: value.copy() for key, value in states.items()}
        executor = symbol.bind(mx.cpu(), values, gradients, "write", copies)
        saved[f"predicted{batch}"] = executor.forward(is_train=False)[0].asnumpy()
        saved[f"trained{batch}"] = executor.forward(is_train=True)[0].asnumpy()
        executor.backward()
        first = next(key for key in symbol.list_arguments() if key.endswith("weight"))
        saved[f"gradient{batch}"] = gradients[first].asnumpy()
        for key, value in copies.items():
            saved[f"{key}{batch}"] = value.asnumpy()
    np.savez_compressed(FOLDER / f"{name}.npz", **saved)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    mx.random.seed(5)
    generator = np.random.default_rng(5)
    for name, (make, shape) in NETWORKS.items():
        with mx.name.NameManager():
            write(name, make(), shape, generator)
