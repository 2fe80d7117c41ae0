"""The contenders, their environments, and how they are compared."""

import statistics
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.score.process import ContenderError, Process

__all__ = ["CONTENDERS", "Cell", "Field", "OURS", "PRECISIONS", "missing"]

OURS = "mxcy"
#: column -> environment (None for this one), class of the worker
CONTENDERS = {
    OURS: (None, "with_mxcy:Contender"),
    "MXNet 1.9.1": ("mxnet", "with_mxnet:Contender"),
    "PyTorch script": ("torch", "with_torch:Scripted"),
    "PyTorch compile": ("torch", "with_torch:Compiled"),
    "ONNX Runtime": ("onnxruntime", "with_onnxruntime:Contender"),
    "OpenVINO": ("openvino", "with_openvino:Contender"),
}
#: the same in int8
QUANTIZED = {
    OURS: (None, "with_mxcy:Quantized"),
    "MXNet 1.9.1": ("mxnet", "with_mxnet:Quantized"),
    "ONNX Runtime": ("onnxruntime", "with_onnxruntime:Quantized"),
    "OpenVINO": ("openvino", "with_openvino:Quantized"),
}
#: the same in bfloat16, which ONNX Runtime does not have on CPUs: float32
NARROW = {
    OURS: (None, "with_mxcy:Narrow"),
    "ONNX Runtime": ("onnxruntime", "with_onnxruntime:Contender"),
    "OpenVINO": ("openvino", "with_openvino:Narrow"),
}
PRECISIONS = {"float32": CONTENDERS, "int8": QUANTIZED, "bf16": NARROW}
#: tolerance of outputs relative to their scale; contenders quantize a network differently, and
#: random weights amplify rounding: with MobileNetV2's, outputs of 32 images in bfloat16 differ from
#: float32's by up to .10 (mxcy) and .12 (OpenVINO), from each other by .16; those of networks
#: without depthwise layers by .02
TOLERANCES = {"float32": 1e-4, "int8": 0.5, "bf16": 0.2}
REST = 0.2  # seconds; libraries' threads keep spinning for a while after their work


def _python(environment, peers):
    if environment is None:
        return Path(sys.executable)
    return Path(peers, environment, "bin", "python")


def missing(peers, contenders=CONTENDERS):
    """List the contenders whose environments do not exist.

    Parameters
    ----------
    peers : str or Path
        The folder of environments.
    contenders : dict, optional
        As `CONTENDERS`.

    Returns
    -------
    list of str
    """
    return [
        name
        for name, (environment, _) in contenders.items()
        if not _python(environment, peers).exists()
    ]


@dataclass
class Result:
    """One contender in one cell: seconds of each run and of planning; maximum output error."""

    seconds: list = field(default_factory=list)
    plan: float = 0.0
    error: float = 0.0
    peak: int = 0

    def best(self):
        """Minimum seconds of a run: the run least disturbed by other programs."""
        return min(self.seconds)


@dataclass
class Cell:
    """One network at one batch size."""

    network: str
    batch: int
    results: dict = field(default_factory=dict)

    def speed(self, name):
        """Images per second in the best run of a contender."""
        return self.batch / self.results[name].best()

    def described(self):
        """The cell as a dict for JSON."""
        results = {
            name: {
                **asdict(result),
                "images_per_second": self.speed(name),
                "median_images_per_second": self.batch / statistics.median(result.seconds),
            }
            for name, result in self.results.items()
        }
        return {"network": self.network, "batch_size": self.batch, "contenders": results}


class Field:
    """All contenders with one network loaded, each in a separate process.

    Parameters
    ----------
    material : Material
        The network.
    peers : str or Path
        The folder of environments.
    threads : int
        Threads per contender.
    only : collection of str, optional
        Names of contenders; by default all whose environment exists.
    precision : {'float32', 'int8', 'bf16'}
    """

    worker = "benchmarks.score.worker"
    tables = PRECISIONS
    ours = (OURS,)

    def __init__(self, material, peers, threads, only=None, precision="float32"):
        self.material, self.tolerance = material, TOLERANCES[precision]
        self.about = {}
        self.failures = []
        self._output = material.folder / "output.npy"
        self._processes = {}
        absent = missing(peers, self.tables[precision])
        # ONNX Runtime's worker writes the file that OpenVINO's reads, so order matters here.
        for name, (environment, kind) in self.tables[precision].items():
            if name not in absent and (only is None or name in only):
                python = _python(environment, peers)
                log = material.folder / f"{kind.replace(':', '_')}.log"
                self._processes[name] = Process(str(python), kind, threads, log, self.worker)
                answer = self._ask(name, "load", folder=str(material.folder))
                if answer:
                    self.about[name] = answer["about"]

    def _ask(self, name, do, **arguments):
        """Send a contender a command; if it fails and is not ours, drop it and return None."""
        if name not in self._processes:
            return None
        try:
            return self._processes[name].ask(do, **arguments)
        except ContenderError as error:
            if name in self.ours:
                raise
            self.failures.append(f"{name}, {self.material.name}: {str(error).splitlines()[0]}")
            self._processes.pop(name).close()
            return None

    def race(self, batch, seconds, rounds):
        """Run one cell: contenders alternate, and each result is compared with ours.

        Parameters
        ----------
        batch : int
            Images per batch.
        seconds : float
            Approximate total time of each contender, if the rounds allow it.
        rounds : int
            Smallest number of rounds.

        Returns
        -------
        Cell

        Raises
        ------
        AssertionError
            When outputs differ by more than the precision's tolerance.
        """
        cell = Cell(self.material.name, batch)
        expected = None
        for name in list(self._processes):
            answer = self._ask(
                name, "bind", images=str(self.material.images), batch=batch, to=str(self._output)
            )
            if answer is None:
                continue
            outputs = np.load(self._output)
            expected = outputs if expected is None else expected
            error = float(np.abs(outputs - expected).max() / np.abs(expected).max())
            assert error <= self.tolerance, (
                f"{name}, {cell.network}, batch {batch}: off by {error:.1e}"
            )
            cell.results[name] = Result(plan=answer["seconds"], error=error)
        self._measure(cell, seconds, rounds)
        for result in cell.results.values():
            result.plan = max(0.0, result.plan - result.best())
        return cell

    def _measure(self, cell, seconds, rounds):
        """Fill in the times and peak memory of contenders whose outputs agree."""
        for name in list(cell.results):
            self._ask(name, "peak", forget=True)
        self._alternate(cell, seconds, rounds)
        for name in list(cell.results):
            answer = self._ask(name, "peak")
            if answer is None:
                del cell.results[name]
            else:
                cell.results[name].peak = answer["bytes"]

    def _alternate(self, cell, seconds, rounds):
        """Fill in the cell's results; a first round determines the number of runs in later ones."""
        self._round(cell, dict.fromkeys(cell.results, 1))
        once = {name: result.seconds[0] for name, result in cell.results.items()}
        more = max(1, rounds - 1, min(12, round(seconds / statistics.median(once.values()))))
        for _ in range(more):
            runs = {n: max(1, round(seconds / more / once[n])) for n in cell.results}
            self._round(cell, runs)

    def _round(self, cell, runs):
        for name, number in runs.items():
            time.sleep(REST)
            answer = self._ask(name, "time", runs=number)
            if answer is None:
                del cell.results[name]
            else:
                cell.results[name].seconds += answer["seconds"]

    def once(self):
        """Run mxcy once."""
        self._ask(self.ours[0], "time", runs=1)

    def close(self):
        """End all processes."""
        for process in self._processes.values():
            process.close()
        self._processes.clear()
