"""Run calibration data through the float network and pass layer outputs to a collector."""

import sys
import time

from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.graph.node import output_name, topological
from mxcy.quantization.collectors import CalibrationCollector
from mxcy.symbol import Symbol

__all__ = ["collect"]

_WIDTH = 30


def collect(sym, parameters, batches, collector, ctx, logger=None, total=None):
    """Pass the outputs of layers to a collector, batch by batch.

    Parameters
    ----------
    sym : Symbol
        The float network.
    parameters : dict of str to NDArray
        Parameters and auxiliary states.
    batches : iterable of dict of str to NDArray
        Inputs by name.
    collector : object
        A `CalibrationCollector`, or an object with ``collect(name, arr)``.
    ctx : Context
    logger : logging.Logger, optional
    total : int, optional
        Number of batches, for the progress bar.

    Returns
    -------
    int
        The number of batches.
    """
    bar, count, bound = _ProgressBar(total), 0, None
    for count, batch in enumerate(batches, 1):
        if bound is None or not bound.fits(batch):
            bound = _Bound(sym, parameters, batch, collector, ctx)
        bound.run(batch, collector)
        bar.step(count)
    bar.close()
    del bound  # and with it the outputs of all layers, which the pool would keep
    ctx.empty_cache()
    if logger is not None:
        logger.info("Collected statistics from %d batches", count)
    return count


class _Bound:
    """An executor for batches of fixed shapes whose outputs are those to collect."""

    def __init__(self, sym, parameters, batch, collector, ctx):
        self._shapes = {name: array.shape for name, array in batch.items()}
        self._inputs, self._names, self._operators, entries = [], [], [], []
        wanted = getattr(collector, "include_layers", None)
        for node in topological(sym._entries):
            if node.op is None:
                if node.name in batch and (wanted is None or node.name in wanted):
                    self._inputs.append(node.name)
                continue
            for index in range(node.op.visible(node.parsed)):
                name = output_name(node, index)
                if wanted is None or name in wanted:
                    self._names.append(name)
                    self._operators.append(node.op.name)
                    entries.append((node, index))
        self._executor = None
        if entries:
            outputs = Symbol(entries)
            shapes = {n: s for n, s in self._shapes.items() if n in outputs.list_inputs()}
            values = {n: a.as_nd_ndarray() for n, a in parameters.items()}
            missing = set(outputs.list_inputs()) - values.keys() - shapes.keys()
            missing -= {name for name in missing if name.endswith("label")}
            if missing:
                raise MXNetError(
                    f"calibration: no values for {', '.join(sorted(missing))}; expected them in "
                    f"the parameters or the data ({', '.join(batch)})"
                )
            self._executor = outputs.simple_bind(ctx, grad_req="null", **shapes)
            self._executor.copy_params_from(values, values, allow_extra_params=True)

    def fits(self, batch):
        """Return whether a batch has the bound shapes."""
        return self._shapes == {name: array.shape for name, array in batch.items()}

    def run(self, batch, collector):
        """Run a batch and collect the outputs."""
        for name in self._inputs:
            _collect(collector, name, "", batch[name])
        if self._executor is None:
            return
        known = self._executor.arg_dict
        arrays = {n: nd.array(a, dtype=known[n].dtype) for n, a in batch.items() if n in known}
        outputs = self._executor.forward(is_train=False, **arrays)
        for name, operator, array in zip(self._names, self._operators, outputs, strict=True):
            _collect(collector, name, operator, array)


def _collect(collector, name, operator, array):
    if isinstance(collector, CalibrationCollector):
        collector.collect(name, operator, array)
    else:
        collector.collect(name, array)


class _ProgressBar:
    """A progress line on stderr if that is a terminal."""

    def __init__(self, total):
        self._total, self._start = total, time.monotonic()
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def step(self, done):
        """Show the number of finished batches."""
        if not self._shown:
            return
        seconds = time.monotonic() - self._start
        text = f"{done} batches"
        if self._total:
            filled = min(_WIDTH, _WIDTH * done // self._total)
            text = f"[{'=' * filled}{' ' * (_WIDTH - filled)}] {done}/{self._total} batches"
        sys.stderr.write(f"\rcalibrating {text}, {seconds:.0f} s")
        sys.stderr.flush()

    def close(self):
        """End the line."""
        if self._shown:
            sys.stderr.write("\n")
