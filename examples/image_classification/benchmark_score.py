"""Measure the inference speed of classifiers with random weights and inputs.

``python benchmark_score.py --network resnet-50 --batch-size 1``
"""

import argparse
import json
import logging
import platform
import time

from symbols import NETWORKS, get_network, image_shape

import mxcy as mx

BATCH_SIZES = (1, 2, 4, 8, 16, 32)
WARM_UPS = 5


def bound(network, batch_size):
    """Return a module with random weights and a batch of random images."""
    shape = (batch_size, *image_shape(network))
    module = mx.mod.Module(get_network(network))
    module.bind([("data", shape)], [("softmax_label", (batch_size,))], for_training=False)
    module.init_params(mx.init.Xavier(magnitude=2))
    return module, mx.io.DataBatch([mx.nd.random.uniform(-1, 1, shape)], [])


def score(network, batch_size, num_batches):
    """Time a network.

    Parameters
    ----------
    network : str
        See `symbols.get_network`.
    batch_size : int
        Batch size.
    num_batches : int
        Number of timed batches, after a warm-up.

    Returns
    -------
    dict
        "images_per_second" and "seconds" over all timed batches.
    """
    module, batch = bound(network, batch_size)
    for number in range(WARM_UPS + num_batches):
        if number == WARM_UPS:
            start = time.perf_counter()
        module.forward(batch, is_train=False)
        for output in module.get_outputs():
            output.wait_to_read()
    seconds = time.perf_counter() - start
    return {"images_per_second": num_batches * batch_size / seconds, "seconds": seconds}


def parsed(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--network",
        default="all",
        help=f"all, {', '.join(NETWORKS)}, or a model of Gluon's zoo such as resnet50_v1",
    )
    parser.add_argument(
        "--batch-size", type=int, default=0, help="images in a batch; 0 for 1, 2, 4, 8, 16 and 32"
    )
    parser.add_argument("--num-batches", type=int, default=10, help="timed batches")
    parser.add_argument("--json", help="file to write the figures to")
    options = parser.parse_args(arguments)
    if options.network not in ("all", *NETWORKS, *mx.gluon.model_zoo.vision.model_names()):
        parser.error(f"--network: there is no {options.network!r}")
    return options


def main(arguments=None):
    """Run the benchmark and print one line per network and batch size."""
    logging.basicConfig(level=logging.INFO)
    options = parsed(arguments)
    start, cells = time.perf_counter(), []
    for network in NETWORKS if options.network == "all" else [options.network]:
        logging.info("network: %s", network)
        for batch_size in [options.batch_size] if options.batch_size else BATCH_SIZES:
            result = score(network, batch_size, options.num_batches)
            speed = result["images_per_second"]
            logging.info("batch size %2d, dtype float32, images/sec: %f", batch_size, speed)
            cells.append({"network": network, "batch_size": batch_size, **result})
    if options.json:
        report = {
            "mxcy": mx.__version__,
            "machine": platform.processor() or platform.machine(),
            "threads": mx.env.omp_threads(),
            "wall_seconds": time.perf_counter() - start,
            "cells": cells,
        }
        with open(options.json, "w") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
