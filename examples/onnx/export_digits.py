"""Export a digit classifier to ONNX and run it with ONNX Runtime.

Run ``python examples/onnx/export_digits.py --path digits.onnx``. The data set is scikit-learn's
digits: 1,797 images of 8 x 8 pixels. The file accepts batches of any size.
"""

import argparse

import numpy as np
from tqdm import tqdm

import mxcy as mx
from mxcy import autograd, gluon
from mxcy.gluon import nn


def digits():
    """Load images (n, 1, 8, 8) from 0 to 1, and labels."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return (images / 16).reshape(-1, 1, 8, 8).astype(np.float32), labels.astype(np.float32)


def trained(images, labels, epochs):
    """Train a small convolutional network."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, 3, padding=1, activation="relu"),
        nn.BatchNorm(),
        nn.MaxPool2D(2),
        nn.Dropout(0.2),
        nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 3e-3})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    data = gluon.data.ArrayDataset(images, labels)
    for epoch in range(epochs):
        total = 0.0
        batches = gluon.data.DataLoader(data, 64, shuffle=True)
        for image, label in tqdm(batches, unit=" batches", disable=None, leave=False):
            with autograd.record():
                error = loss(net(image), label)
            error.backward()
            trainer.step(len(image))
            total += error.sum().asscalar()
        print(f"epoch {epoch}: loss {total / len(images):.3f}")
    return net


def main(arguments=None):
    """Train, export, and compare the results.

    Returns
    -------
    (float, float)
        Accuracy of ONNX Runtime, and maximum difference of the scores.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--path", default="digits.onnx")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args(arguments)
    mx.random.seed(1)
    images, labels = digits()
    held_out = np.arange(len(images)) % 5 == 0
    net = trained(images[~held_out], labels[~held_out], options.epochs)

    symbol = net(mx.sym.var("image"))
    params = {name: p.data() for name, p in net.collect_params().items()}
    mx.onnx.export_model(
        symbol,
        params,
        in_shapes=[(1, 1, 8, 8)],
        onnx_file_path=options.path,
        dynamic=True,
        dynamic_input_shapes=[("batch", 1, 8, 8)],
    )

    import onnxruntime

    session = onnxruntime.InferenceSession(options.path, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"image": images[held_out]})
    ours = net(mx.nd.array(images[held_out])).asnumpy()
    accuracy = float((scores.argmax(1) == labels[held_out]).mean())
    difference = float(np.abs(scores - ours).max())
    print(f"ONNX Runtime: accuracy {accuracy:.3f}, largest difference {difference:.1e}")
    return accuracy, difference


if __name__ == "__main__":
    main()
