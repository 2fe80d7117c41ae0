"""Measure time and bandwidth of summing a network's gradients in a key-value store.

    python tools/bandwidth/measure.py --network resnet --num-layers 18 --gpus 0,1 --kv-store device
    python tools/launch.py -n 2 python tools/bandwidth/measure.py --kv-store dist_sync --gpus ''

Each round pushes an array per device and parameter, pulls the sums, and compares them with the
expected values. Without GPUs, or with ``--cpu``, ``--gpus`` selects CPU devices.
"""

import argparse
import logging
import time
from pathlib import Path
from sys import path as folders

ROOT = Path(__file__).resolve().parents[2]
if (ROOT / "mxcy").is_dir():
    folders.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import mxcy as mx  # noqa: E402

__all__ = ["main", "run"]


def parse(arguments=None):
    """Parse a command line.

    Parameters
    ----------
    arguments : list of str, optional

    Returns
    -------
    argparse.Namespace
    """
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--network", default="resnet", help="network of the model zoo: resnet, vgg, alexnet, ...")
    add("--gpus", default="0,1", help="device ids; '' for one CPU")
    add("--num-layers", type=int, default=152, help="depth, for networks with several")
    add("--kv-store", default="device")
    add("--num-batches", type=int, default=5, help="timed rounds, after a warm-up")
    add("--disp-batches", type=int, default=1, help="rounds between log lines")
    add("--test-results", type=int, default=1, help="0 disables the comparison of sums")
    add("--image-shape", default="3,224,224")
    add("--num-classes", type=int, default=1000)
    add("--optimizer", default="None", help="optimizer of the store; 'None': only sum")
    add("--gc-type", default="none", help="compression: none, 2bit or 1bit")
    add("--cpu", action="store_true", help="use CPU devices even if there are GPUs")
    add("--raw", action="store_true", help="also time an MPI Allreduce of as many bytes")
    return parser.parse_args(arguments)


def shapes_of(network, num_layers, image_shape, num_classes):
    """Return the shapes of a network's parameters.

    Parameters
    ----------
    network : str
    num_layers : int
    image_shape : str
        Shape such as ``3,224,224``.
    num_classes : int

    Returns
    -------
    list of tuple of int
    """
    depth = str(num_layers)
    names = {"resnet": f"resnet{depth}_v1", "vgg": f"vgg{depth}", "inception-v3": "inceptionv3"}
    name = names.get(network, network)
    net = mx.gluon.model_zoo.vision.get_model(name, classes=num_classes)
    net.initialize()
    shape = tuple(int(length) for length in image_shape.split(","))
    net(mx.nd.zeros((1, *shape)))
    parameters = net.collect_params().values()
    return [parameter.shape for parameter in parameters if parameter.grad_req != "null"]


def devices_of(gpus, cpu):
    """Return the devices with the given ids."""
    numbers = [int(number) for number in gpus.split(",") if number.strip()]
    kind = mx.gpu if mx.context.num_gpus() and not cpu else mx.cpu
    return [kind(number) for number in numbers] or [mx.cpu()]


def _error(sums, expected):
    """Mean relative error of the pulled arrays."""
    distance = sum(
        float((array - want.as_in_context(array.context)).abs().sum().asscalar())
        for arrays, want in zip(sums, expected, strict=True)
        for array in arrays
    )
    whole = sum(
        float(want.abs().sum().asscalar()) * len(arrays)
        for arrays, want in zip(sums, expected, strict=True)
    )
    return distance / whole


class _Expected:
    """Expected values in the store after each round.

    Parameters
    ----------
    kv : KVStore
    optimizer : str
        A name, or 'None'.
    values : list of NDArray
        Sum of the workers' pushes per round.
    """

    def __init__(self, kv, optimizer, values):
        self._totals, self._updater = values, None
        self.values = values
        if optimizer != "None":
            self.values = [mx.nd.zeros(value.shape) for value in values]
            self._updater = mx.optimizer.get_updater(mx.optimizer.create(optimizer))

    def go_on(self):
        """Advance by one round."""
        if self._updater is not None:
            for key, (total, value) in enumerate(zip(self._totals, self.values, strict=True)):
                self._updater(key, total, value)


def _raw(size):
    """Time an MPI Allreduce of this many bytes, in seconds."""
    from mpi4py import MPI  # noqa: PLC0415

    source = np.ones(size // 4, "float32")
    target = np.empty_like(source)
    MPI.COMM_WORLD.Barrier()
    began = time.perf_counter()
    MPI.COMM_WORLD.Allreduce(source, target)
    return time.perf_counter() - began


def _gradients(kv, shapes, devices):
    """Create (arrays of a worker per device, sum over all workers)."""
    numbers = [
        np.random.default_rng(rank).uniform(0.5, 1.5, len(devices))
        for rank in range(kv.num_workers)
    ]
    own = [
        (float(number), device) for number, device in zip(numbers[kv.rank], devices, strict=True)
    ]
    arrays = [[mx.nd.full(shape, number, device) for number, device in own] for shape in shapes]
    return arrays, sum(map(sum, numbers))


def _store(options):
    """Create the key-value store to measure, with its compression and optimizer."""
    kv = mx.kv.create(options.kv_store)
    if options.gc_type != "none":
        kv.set_gradient_compression({"type": options.gc_type})
    if options.optimizer != "None":
        kv.set_optimizer(mx.optimizer.create(options.optimizer))
    return kv


def _push_and_pull(kv, gradients, pulled):
    """Time the push and pull of all keys, in seconds."""
    mx.nd.waitall()
    began = time.perf_counter()
    for key, arrays in enumerate(gradients):
        kv.push(key, arrays, priority=-key)
    for key, arrays in enumerate(pulled):
        kv.pull(key, arrays, priority=-key)
    mx.nd.waitall()
    return time.perf_counter() - began


def _bandwidth(size, devices, seconds):
    """GB/s per device, each of which sends and receives (n - 1) / n of the data if n > 1."""
    share = 1 if devices == 1 else (devices - 1) / devices
    return size * 2 * share / seconds / 1e9


def _log(round_, seconds, result):
    """Log a round, with the mean seconds since the last log line."""
    logging.info(
        "iter %d, %f sec, %f GB/sec per gpu, error %f%s",
        round_,
        seconds,
        result["bandwidth"] * result["time"] / seconds,
        result["error"],
        f", MPI alone {result['raw']:f} sec" if "raw" in result else "",
    )


def run(options):
    """Measure.

    Parameters
    ----------
    options : argparse.Namespace
        See `parse`.

    Returns
    -------
    list of dict
        For each timed round: ``time`` in seconds, ``bandwidth`` in GB/s per device, ``error``,
        and ``raw`` if requested.
    """
    kv = _store(options)
    devices = devices_of(options.gpus, options.cpu)
    shapes = shapes_of(
        options.network, options.num_layers, options.image_shape, options.num_classes
    )
    size = 4 * sum(int(np.prod(shape)) for shape in shapes)
    logging.info("%d arrays of %.1f MB, %d devices", len(shapes), size / 1e6, len(devices))
    for key, shape in enumerate(shapes):
        kv.init(key, mx.nd.zeros(shape))
    gradients, total = _gradients(kv, shapes, devices)
    pulled = [[mx.nd.zeros(shape, device) for device in devices] for shape in shapes]
    expected = _Expected(kv, options.optimizer, [mx.nd.full(shape, total) for shape in shapes])
    compare = options.test_results and options.gc_type == "none" and "async" not in kv.type
    results, since = [], []
    for round_ in range(options.num_batches + 1):
        seconds = _push_and_pull(kv, gradients, pulled)
        expected.go_on()
        result = {"time": seconds, "bandwidth": _bandwidth(size, len(devices), seconds)}
        result["error"] = _error(pulled, expected.values) if compare else 0.0
        if options.raw and kv.num_workers > 1:
            result["raw"] = _raw(size)
        if round_ == 0:  # warm-up
            continue
        results.append(result)
        since.append(seconds)
        if round_ % options.disp_batches == 0:
            _log(round_, sum(since) / len(since), result)
            since = []
    return results


def main():
    """Run the program."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    options = parse()
    logging.info("%s", options)
    run(options)


if __name__ == "__main__":
    main()
