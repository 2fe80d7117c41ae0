"""Images per second of networks with random weights."""

import mxcy as mx
from mxcy.bench import clock

__all__ = ["cells", "network"]

PRECISIONS = ("float32", "bfloat16", "int8")


def network(name, shape, precision):
    """Return a hybridized network of the model zoo and a batch of random images.

    Parameters
    ----------
    name : str
        Name in `mx.gluon.model_zoo.vision.get_model`.
    shape : tuple of int
        Shape of a batch.
    precision : {'float32', 'bfloat16', 'int8'}

    Returns
    -------
    (Block, NDArray)
    """
    net = mx.gluon.model_zoo.vision.get_model(name)
    net.initialize(mx.init.Xavier(magnitude=2))
    images = mx.nd.random.uniform(-1, 1, shape)
    net.hybridize(static_alloc=True, static_shape=True)
    net(images)
    if precision == "bfloat16":
        net = mx.amp.convert_hybrid_block(net, target_dtype="bfloat16", data_example=[images])
    elif precision == "int8":
        batches = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(images), shape[0])
        net = mx.contrib.quantization.quantize_net(net, calib_data=batches, calib_mode="naive")
    net.hybridize(static_alloc=True, static_shape=True)
    return net, images


def cells(options):
    """Time the networks in `options`.

    Parameters
    ----------
    options : argparse.Namespace
        Options `network` and `batch_size` (lists), `size`, `precision` and `seconds`.

    Returns
    -------
    list of dict
    """
    cases = [(name, batch) for name in options.network for batch in options.batch_size]
    results = []
    for name, batch in clock.progress(cases, "score"):
        size = options.size or (299 if name.startswith("inception") else 224)
        net, images = network(name, (batch, 3, size, size), options.precision)
        taken = clock.seconds_of(lambda net=net, images=images: net(images), options.seconds)
        cell = {"network": name, "batch_size": batch, "precision": options.precision, "size": size}
        speed = batch / taken["seconds"]
        results.append({**cell, **taken, "images_per_second": speed})
    return results


def lines(results):
    """Format the table."""
    yield f"{'images per second':<28}{'batch':>6}{'best':>12}{'median':>12}"
    for cell in results:
        title = f"{cell['network']} {cell['precision']}"
        median = cell["batch_size"] / cell["median"]
        speed = cell["images_per_second"]
        yield f"{title:<28}{cell['batch_size']:>6}{speed:>12.1f}{median:>12.1f}"
