"""Write networks as real MXNet does: ``python make_gluon2.py FOLDER`` under MXNet 1.9.1 or 2.0.

Both create the same two networks and write their files and outputs to the folder.
"""

import sys
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet.gluon import nn, rnn

folder = Path(sys.argv[1])
release = "20" if mx.__version__.startswith("2") else "19"
array = mx.np.array if release == "20" else mx.nd.array
numbers = np.random.RandomState(7)

layers = nn.HybridSequential()
layers.add(nn.Conv2D(2, 3), nn.BatchNorm(), nn.Dense(3, activation="relu"), nn.Dense(2))
recurrent = nn.HybridSequential()
recurrent.add(rnn.LSTM(2, 2, bidirectional=True), nn.Dense(2))
for name, net, shape in (("layers", layers, (2, 1, 5, 5)), ("recurrent", recurrent, (3, 2, 4))):
    net.initialize(mx.init.Normal(0.5))
    net.hybridize()
    data = numbers.uniform(-1, 1, shape).astype("float32")
    out = net(array(data)).asnumpy()
    net.save_parameters(str(folder / f"{name}_{release}.params"))
    np.savez(folder / f"{name}_{release}.npz", data=data, out=out)
    if name == "layers":
        net.export(str(folder / f"{name}_{release}"))
