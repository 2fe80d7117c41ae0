"""Write pickles.bin with real MXNet: objects that programs store in pickles.

Run it with a Python that has mxnet 1.9.1 and NumPy.
"""

import pickle
from pathlib import Path

import mxnet as mx
import numpy as np


def objects():
    """One object of each class, by name."""
    schedule = mx.lr_scheduler.FactorScheduler(10, 0.5, base_lr=0.2)
    optimizer = mx.optimizer.Adam(learning_rate=0.3, lr_scheduler=schedule)
    optimizer.update(
        0, mx.nd.ones((2,)), mx.nd.ones((2,)), optimizer.create_state(0, mx.nd.ones((2,)))
    )
    optimizer.param_dict = {}
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.array([1, 0])], [mx.nd.array([[0, 1], [0, 1]])])
    return {
        "array": mx.nd.array([[1, 2], [3, 4]], dtype="int32"),
        "half": mx.nd.array([0.5], dtype="float16"),
        "context": mx.cpu(2),
        "schedule": schedule,
        "optimizer": optimizer,
        "sgd": mx.optimizer.SGD(momentum=0.9),
        "metric": metric,
        "initializer": mx.init.Xavier(magnitude=2),
        "symbol": mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"),
        "desc": mx.io.DataDesc("data", (2, 3)),
        "updater": mx.optimizer.get_updater(mx.optimizer.RMSProp()).optimizer,
        "vocabulary": mx.contrib.text.vocab.Vocabulary(reserved_tokens=["<p>"]),
        "stepwise": mx.lr_scheduler.MultiFactorScheduler([3, 5]),
        "plain": np.arange(3),
    }


def main():
    """Write each object as a separate pickle."""
    kept = {name: pickle.dumps(value, 2) for name, value in objects().items()}
    (Path(__file__).resolve().parent / "pickles.bin").write_bytes(pickle.dumps(kept, 2))


if __name__ == "__main__":
    main()
