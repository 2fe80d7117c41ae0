"""The half of test_real_mxnet.py that runs under a real MXNet: ``python real_zoo.py NAME HEIGHT``.

Loads ``ours.params`` from the current folder into the model, prints what it computes of two
pictures, gives the parameters other values, writes them to ``theirs.params``, and prints what the
model computes then. ``recurrent`` is a network with an LSTM, which MXNet 2.0 cannot load from
``ours.params``; then it prints the latter only.
"""

import json
import sys
from pathlib import Path

import mxnet as mx

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))
from zoo import images, values  # noqa: E402

TWO = mx.__version__.startswith("2.")


def main(name, height):
    array = mx.np.array if TWO else mx.nd.array
    net = mx.gluon.model_zoo.vision.get_model(name, classes=10)
    net.load_parameters("ours.params")
    batch = array(images(height))
    actual = [net(batch).asnumpy().tolist()]
    for number, parameter in enumerate(net.collect_params().values()):
        parameter.set_data(array(values(parameter.name, 1000 + number, parameter.shape)))
    actual.append(net(batch).asnumpy().tolist())
    net.save_parameters("theirs.params")
    print(json.dumps(actual))


def recurrent():
    if TWO:
        mx.npx.set_np()
    batch = (mx.np.array if TWO else mx.nd.array)(images(4)[0])
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.rnn.LSTM(3, 2, bidirectional=True), mx.gluon.nn.Dense(2))
    collected = []
    if not TWO:
        net.load_parameters("ours.params")
        collected.append(net(batch).asnumpy().tolist())
    net.initialize(mx.init.Normal(0.5), force_reinit=True)
    collected.append(net(batch).asnumpy().tolist())
    net.save_parameters("theirs.params")
    print(json.dumps(collected))


if __name__ == "__main__":
    if sys.argv[1] == "recurrent":
        recurrent()
    else:
        main(sys.argv[1], int(sys.argv[2]))
