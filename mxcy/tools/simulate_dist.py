"""Predict scaling: ``python -m mxcy.tools.simulate_dist --ranks 1000 --trace step.json``.

Runs the scheduler of `dist_sync` on simulated ranks, with a recorded step
(``benchmarks/dist/record_step.py``) and the parameters of a network
(``benchmarks/dist/alpha_beta.py``), and prints the time of a step for each all-reduce algorithm and
bucket size.
"""

import argparse
import json
import sys
from pathlib import Path

from mxcy.dist.simulated.links import WAYS, Links
from mxcy.dist.simulated.simulation import Step, simulate

__all__ = ["main"]

_MIB = 1 << 20


def _parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--ranks", type=int, default=1000)
    add("--per-host", type=int, default=1, help="ranks that share a host and its network card")
    add("--alpha", type=float, default=25e-6, help="latency between hosts in seconds")
    add("--beta", type=float, default=3.4e-10, help="seconds per byte between hosts")
    add("--host-alpha", type=float, default=1e-6, help="latency within a host in seconds")
    add("--host-beta", type=float, default=2.7e-10, help="seconds per byte within a host")
    add("--copy", type=float, default=1e-10, help="seconds per byte of copies to and from buffers")
    add("--trace", type=Path, required=True, help="a step recorded by record_step.py")
    add("--bucket-bytes", type=int, nargs="+", default=[4 * _MIB, 16 * _MIB])
    add("--way", choices=WAYS, nargs="+", default=[*WAYS], help="of adding up")
    add("--steps", type=int, default=1)
    add("--jitter", type=float, default=0.0, help="sigma of lognormal factors of computing times")
    add("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for name in ("ranks", "per_host", "steps"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if min(options.bucket_bytes) < 1:
        parser.error("--bucket-bytes must be at least 1")
    return parser, options


def _read(path):
    content = json.loads(path.read_text())
    names = ("sizes", "ready", "compute", "update")
    return Step(**{name: content[name] for name in names})


def main(arguments=None):
    """Run the program.

    Parameters
    ----------
    arguments : list of str, optional
        Command line; by default that of this process.

    Returns
    -------
    int
        0.
    """
    parser, options = _parse(arguments)
    costs = (options.alpha, options.beta, options.host_alpha, options.host_beta, options.copy)
    try:
        step = _read(options.trace)
        links = [Links(options.ranks, options.per_host, *costs, way) for way in options.way]
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{type(error).__name__}: {error}")
    hosts = links[0].hosts
    print(
        f"{options.ranks} ranks on {hosts} host{'s' * (hosts != 1)}, "
        f"{len(step.sizes)} gradients of {sum(step.sizes) / 1e6:.1f} MB, "
        f"{1e3 * (step.compute + step.update):.1f} ms of a step alone"
    )
    print(f"{'way':10} {'bucket MiB':>10} {'buckets':>8} {'sums ms':>9} {'step ms':>9} ", end="")
    print(f"{'hidden %':>8} {'efficiency %':>12}")
    results = []
    for one in links:
        for bound in options.bucket_bytes:
            result = simulate(step, one, bound, options.steps, options.jitter, options.seed)
            results.append((result["seconds"], one.way, bound, result["efficiency"]))
            print(
                f"{one.way:10} {bound / _MIB:10.2f} {result['buckets']:8} "
                f"{result['sums'] * 1e3:9.1f} "
                f"{result['seconds'] * 1e3:9.1f} {result['hidden'] * 100:8.1f} "
                f"{result['efficiency'] * 100:12.1f}",
                flush=True,
            )
    _, way, bound, efficiency = min(results)
    print(f"best: {way}, MXCY_DIST_BUCKET_BYTES={bound}, efficiency {efficiency * 100:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
