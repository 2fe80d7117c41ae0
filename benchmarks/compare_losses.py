"""Compare the losses of many training steps with those of MXNet 1.9.1.

Each network of the training table, smaller (`benchmarks.train.rows.SMALL`), is trained in both
packages from the same weights on the same batches, in float32 and in float64. The table has the
largest relative difference of ten steps at a time. In float64, losses that differ by more than
rounding errors, which grow from step to step, mean that the packages compute something else.

``make peers; python -m benchmarks.compare_losses --network lenet,gru --dtype float64``
"""

import argparse
from pathlib import Path

import numpy as np

import mxcy as mx
from benchmarks.train import field
from benchmarks.train.material import Material
from benchmarks.train.rows import ROWS, SMALL

REFERENCE, CONTENDERS = "MXNet Gluon", ("MXNet Module", *field.OURS)


class SmallMaterial(Material):
    """Files of a smaller row."""

    rows = SMALL


def losses(name, peers, steps, threads):
    """Train a row in every contender.

    Parameters
    ----------
    name : str
        A smaller row.
    peers : Path
        The folder of environments.
    steps, threads : int

    Returns
    -------
    dict of str to numpy.ndarray
        Losses by contender.
    """
    material = SmallMaterial(name, peers / "material" / "losses")
    contenders = field.Field(material, peers, threads, (REFERENCE, *CONTENDERS))
    try:
        return contenders.losses(steps)
    finally:
        contenders.close()


def differences(losses, steps=10):
    """Largest relative differences from the reference, over so many steps at a time.

    Parameters
    ----------
    losses : dict of str to numpy.ndarray
    steps : int

    Returns
    -------
    dict of str to numpy.ndarray
    """
    expected = losses[REFERENCE]
    return {
        name: (np.abs(losses[name] - expected) / np.abs(expected)).reshape(-1, steps).max(1)
        for name in CONTENDERS
        if name in losses
    }


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--network", default=",".join(ROWS), help="rows, separated by commas")
    parser.add_argument("--dtype", default="float32,float64")
    parser.add_argument("--steps", type=int, default=100, help="a multiple of 10")
    parser.add_argument("--threads", type=int, default=mx.env.omp_threads())
    parser.add_argument("--peers", type=Path, default=Path(".peers"))
    given = parser.parse_args()
    for network in given.network.split(","):
        for dtype in given.dtype.split(","):
            name = f"{network}_{dtype}"
            found = losses(name, given.peers.absolute(), given.steps, given.threads)
            first, *_, last = found[REFERENCE]
            print(f"{name}: losses of {REFERENCE} from {first:.6g} to {last:.6g}")
            for contender, errors in differences(found).items():
                print(f"  {contender:13}", *(f"{error:8.1e}" for error in errors), flush=True)


if __name__ == "__main__":
    main()
