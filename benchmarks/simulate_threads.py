"""Predict how networks scale to 8 to 64 cores, on a machine with fewer.

The ranks of a parallel region run one after the other and are timed, in turn each on a core that
runs nothing else. (``simulate/team.c`` replaces the OpenMP runtime, for oneDNN's kernels as for
mxcy's.) A region then takes as long as its slowest rank plus a barrier, and an operator at least as
long as memory needs for its arrays. The output has each program's predicted time, its parallel
efficiency, and the operators that lose most.

``python -m benchmarks.simulate_threads --program resnet50:1 --threads 2 32``
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.simulate.machine import Machine, compiled, measured_barriers
from benchmarks.simulate.prediction import predict
from benchmarks.simulate.programs import PROGRAMS

ROOT = Path(__file__).parent.parent
DEFAULT = ["resnet50:1", "resnet50:16", "bert_base:8", "resnet50_training:32"]


def run(program, threads, rounds, library="", model=None, apart=1):
    """Run a program in a separate process: simulated if `library` is given, for real otherwise.

    `apart` ranks are measured on a core of their own, each in `rounds` runs.
    """
    name, batch = program.split(":")
    play = None
    if library:
        ranks = sorted({round(rank) for rank in np.linspace(0, threads - 1, min(apart, threads))})
        costs = {"fixed": model.fixed, "each": model.each, "inner": model.inner}
        play = {"team": threads, "ranks": ranks, **costs}
    home = ROOT / ".benchmarks" / ("simulated" if library else "measured")
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "MXNET_ENGINE_TYPE": "NaiveEngine",
        "MXNET_HOME": str(home),
        "PYTHONPATH": str(ROOT),
    }
    if library:
        environment["LD_PRELOAD"] = library
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result.json")
        what = {"program": name, "batch": int(batch), "rounds": rounds, "play": play}
        what["file"] = str(file)
        command = [sys.executable, "-m", "benchmarks.simulate.runner", json.dumps(what)]
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            told = f"exit status {done.returncode}: {done.stderr}"
            raise RuntimeError(f"{program} with {threads} threads: {told}")
        return json.loads(file.read_text())


def limits(alone, prediction, threads, rows):
    """Yield a table of the operators that lose most compared with perfect scaling."""
    work = {}
    for operator in alone.operators:
        work[operator.node] = work.get(operator.node, 0) + operator.time
    losses = []
    for operator in prediction.operators:
        own = work.get(operator.node, operator.work)
        losses.append((operator.time - own / threads, own, operator))
    losses.sort(key=lambda loss: -loss[0])
    yield "  us lost     alone     here  serial  busy regions  operator"
    for lost, own, operator in losses[:rows]:
        yield (
            f"{lost / 1e3:9.1f} {own / 1e3:9.1f} {operator.time / 1e3:8.1f} "
            f"{operator.serial / 1e3:7.1f} {operator.busy:5} {len(operator.regions):7}  "
            f"{operator.name} {operator.node}"
        )
    kinds = {}
    for lost, _, operator in losses:
        kinds[operator.name] = kinds.get(operator.name, 0) + lost
    parts = sorted(kinds.items(), key=lambda kind: -kind[1])
    yield "by kind, us: " + ", ".join(f"{name} {lost / 1e3:.0f}" for name, lost in parts[:8])


def program_of(text):
    """Return `text` if it names a program and a batch size."""
    name, _, batch = text.partition(":")
    if name not in PROGRAMS or not batch.isdecimal() or int(batch) < 1:
        choices = ", ".join(PROGRAMS)
        raise argparse.ArgumentTypeError(
            f"{text!r} is not NAME:BATCH, a batch size and one of {choices}"
        )
    return text


def main(arguments=None):
    """Print the predictions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--program",
        nargs="+",
        type=program_of,
        default=DEFAULT,
        metavar="NAME:BATCH",
        help="one of " + ", ".join(PROGRAMS),
    )
    parser.add_argument("--threads", nargs="+", type=int, default=[2, 8, 16, 32, 64])
    parser.add_argument("--rounds", type=int, default=3, help="runs for each rank of --apart")
    parser.add_argument("--rows", type=int, default=12, help="operators in the table of losses")
    parser.add_argument("--apart", type=int, default=8, help="ranks measured on their own core")
    parser.add_argument("--bandwidth", type=float, default=230, help="memory bandwidth in GB/s")
    parser.add_argument("--last-cache", type=float, default=60, help="shared cache in MB")
    parser.add_argument("--measure", action="store_true", help="also run on real threads")
    given = parser.parse_args(arguments)
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        caches = {"last_cache": given.last_cache * 1e6, "bandwidth": given.bandwidth}
        model = Machine(1, *measured_barriers(folder), **caches)
        print(
            f"regions {model.fixed:.0f} ns, barriers inside them {model.inner:.0f} ns, both and "
            f"{model.each:.0f} ns a thread"
        )
        for program in given.program:
            alone = _simulate(program, 1, library, model, given)
            print(f"\n{program}: {alone.time / 1e6:.3f} ms with one thread")
            for threads in given.threads:
                prediction = _simulate(program, threads, library, model, given)
                _report(program, threads, alone, prediction, given)


def _simulate(program, threads, library, model, given):
    recorded = run(program, threads, given.rounds, library, model, given.apart)
    return predict(recorded, replace(model, threads=threads))


def _report(program, threads, alone, prediction, given):
    parts = [sum(getattr(op, of) for op in prediction.operators) for of in ("barriers", "serial")]
    print(
        f"{threads:3} threads: {prediction.time / 1e6:8.3f} ms, "
        f"{alone.time / prediction.time / threads:.0%} of linear; barriers {parts[0] / 1e6:.3f}, "
        f"serial {parts[1] / 1e6:.3f}, between {prediction.between / 1e6:.3f} ms"
    )
    for line in limits(alone, prediction, threads, given.rows):
        print("   ", line)
    if given.measure and threads <= (os.cpu_count() or 1):
        real = min(run(program, threads, 10 * given.rounds)["times"])
        share = prediction.time / real
        print(f"    measured {real / 1e6:.3f} ms: predicted / measured {share:.2f}", flush=True)


if __name__ == "__main__":
    main()
