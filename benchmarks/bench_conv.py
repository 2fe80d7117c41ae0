"""Fused convolutions of the scored networks: our kernels, oneDNN's and PyTorch's (float32).

Weights are packed and activations blocked in advance for all of them, as in inference plans. Column
"mxcy" is our kernel for the layer.
"""

import pytest

from mxcy._library import onednn

#: name -> (our kernel, images, channels, filters, extent, kernel, stride, pad)
LAYERS = {
    "VGG 64-64, 224": ("winograd", 1, 64, 64, 224, (3, 3), 1, (1, 1)),
    "VGG 128-256, 56": ("winograd", 1, 128, 256, 56, (3, 3), 1, (1, 1)),
    "VGG 512-512, 28": ("winograd", 1, 512, 512, 28, (3, 3), 1, (1, 1)),
    "VGG 512-512, 14": ("winograd", 1, 512, 512, 14, (3, 3), 1, (1, 1)),
    "ResNet 64-64, 56": ("winograd", 1, 64, 64, 56, (3, 3), 1, (1, 1)),
    "ResNet 128-128, 28": ("winograd", 1, 128, 128, 28, (3, 3), 1, (1, 1)),
    "ResNet 256-256, 14": ("winograd", 1, 256, 256, 14, (3, 3), 1, (1, 1)),
    "ResNet 512-512, 7": ("winograd", 1, 512, 512, 7, (3, 3), 1, (1, 1)),
    "ResNet 512-512, 7, batch 8": ("winograd", 8, 512, 512, 7, (3, 3), 1, (1, 1)),
    "Inception 192-192, 17, 1x7": ("winograd", 1, 192, 192, 17, (1, 7), 1, (0, 3)),
    "Inception 192-192, 17, 7x1": ("winograd", 1, 192, 192, 17, (7, 1), 1, (3, 0)),
    "Inception 384-384, 8, 1x3": ("winograd", 1, 384, 384, 8, (1, 3), 1, (0, 1)),
    "Inception 48-64, 35, 5x5": ("winograd", 1, 48, 64, 35, (5, 5), 1, (2, 2)),
    "AlexNet 64-192, 27, 5x5": ("winograd", 1, 64, 192, 27, (5, 5), 1, (2, 2)),
    "ResNet 64-256, 56, 1x1": ("blocked", 1, 64, 256, 56, (1, 1), 1, (0, 0)),
    "ResNet 1024-256, 14, 1x1": ("blocked", 1, 1024, 256, 14, (1, 1), 1, (0, 0)),
    "ResNet 512-2048, 7, 1x1": ("blocked", 1, 512, 2048, 7, (1, 1), 1, (0, 0)),
    "ResNet 128-128, 56, stride 2": ("blocked", 1, 128, 128, 56, (3, 3), 2, (1, 1)),
    "ResNet 3-64, 224, 7x7, stride 2": ("blocked", 1, 3, 64, 224, (7, 7), 2, (3, 3)),
}

OURS = """
import numpy as np, mxcy as mx
from mxcy._library import front
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find

images, channels, filters, extent, kernel, stride, pad = {layer}
conv, pack = mx.nd._internal._sg_onednn_conv, mx.nd._internal._pack_conv_weight
r, block = np.random.RandomState(0), front.block()
in_block = 0 if channels % block else block
data = r.rand(images, channels, extent, extent).astype("f")
if in_block:
    data = data.reshape(images, -1, block, extent, extent).transpose(0, 1, 3, 4, 2)
data = mx.nd.array(data)
weight = mx.nd.array(r.rand(filters, channels, *kernel).astype("f"))
bias = mx.nd.array(r.rand(filters).astype("f"))
attrs = dict(kernel=kernel, stride=(stride, stride), pad=pad, num_filter=filters, act="relu",
             channels=channels, in_block=in_block, out_block=block, algo="conv_{algo}")
op = find("_sg_onednn_conv")
a = op.schema.intern(op.name, dict(attrs, packed=1))
ins = [Spec(data.shape, 0), Spec((1,), 3), Spec(bias.shape, 0)]
outs = op.infer(a, ins)
chosen = op.kernels[0]
params = chosen.struct.pack(**chosen.params(a, ins, outs))
attrs["packed"] = front.query(a.algo, params, ins, outs, "packed")
blob = pack(weight, batch=images, source=(extent, extent), **attrs)
"""
TORCH = """
import torch
from torch.utils import mkldnn
images, channels, filters, extent, kernel, stride, pad = {layer}
torch.set_num_threads({threads})
torch.set_grad_enabled(False)
conv = torch.nn.Conv2d(channels, filters, kernel, stride, pad).eval()
conv = mkldnn.to_mkldnn(conv)
data = torch.rand(images, channels, extent, extent).to_mkldnn()
"""


@pytest.fixture(params=[1, 2])
def threads(request):
    """Teams of one and two threads."""
    import mxcy as mx

    before = mx.util.set_num_threads(request.param)
    yield request.param
    mx.util.set_num_threads(before)


@pytest.mark.parametrize("name", LAYERS)
def test_layers(compare, name, threads):
    own, *layer = LAYERS[name]
    setups = {"torch": TORCH.format(layer=tuple(layer), threads=threads)}
    algorithms = {"mxcy": own}
    if onednn.version():
        algorithms["onednn"] = "onednn"
    for contender, algo in algorithms.items():
        setups[contender] = OURS.format(layer=tuple(layer), algo=algo)
    statements = dict.fromkeys(algorithms, "conv(data, blob, bias, **attrs).wait_to_read()")
    statements["torch"] = "conv(data)"
    compare(f"{name}, {threads} threads", setups, statements, seconds=0.02)
