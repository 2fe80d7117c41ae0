"""Base class of metrics, and metrics defined by functions or other metrics."""

from collections import OrderedDict

import numpy

from mxcy import registry
from mxcy.ndarray import NDArray

__all__ = [
    "EvalMetric",
    "CompositeEvalMetric",
    "CustomMetric",
    "Loss",
    "Torch",
    "Caffe",
    "check_label_shapes",
    "create",
    "np",
]


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Check that there are as many labels as predictions.

    Parameters
    ----------
    labels, preds : NDArray, numpy.ndarray or list of NDArray
        Labels and predictions.
    wrap : bool
        Put single arrays into lists.
    shape : bool
        Compare the shapes of two arrays instead of the lengths.

    Returns
    -------
    tuple
        ``(labels, preds)``, in lists if `wrap`.

    Raises
    ------
    ValueError
        If they differ.
    """
    labels_have = labels.shape if shape else len(labels)
    preds_have = preds.shape if shape else len(preds)
    if labels_have != preds_have:
        raise ValueError(
            f"Shape of labels {labels_have} does not match shape of predictions {preds_have}"
        )
    if wrap:
        labels = [labels] if isinstance(labels, NDArray | numpy.ndarray) else labels
        preds = [preds] if isinstance(preds, NDArray | numpy.ndarray) else preds
    return labels, preds


def as_numpy(array):
    """Convert an NDArray (or anything array-like) to a NumPy array."""
    return array.asnumpy() if hasattr(array, "asnumpy") else numpy.asarray(array)


class EvalMetric:
    """Base class of metrics, which keep a sum over samples and their number.

    Both exist twice: local ones, reset by `reset_local` (e.g. after each log message), and global
    ones since `reset`.

    Parameters
    ----------
    name : str
        Name in results.
    output_names, label_names : list of str, optional
        Outputs and labels used by `update_dict`; all by default.
    **kwargs
        Further entries of `get_config`; `has_global_stats` tells whether the metric keeps global
        sums.
    """

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self):
        """Return the arguments with which `create` recreates the metric.

        Returns
        -------
        dict
            Arguments, and the class name under the key ``'metric'``.
        """
        return {
            **self._kwargs,
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label, pred):
        """Update the metric with a batch, selecting arrays by name.

        Parameters
        ----------
        label, pred : dict of str to NDArray
            Labels and predictions.
        """
        preds = [pred[n] for n in self.output_names] if self.output_names else list(pred.values())
        labels = [label[n] for n in self.label_names] if self.label_names else list(label.values())
        self.update(labels, preds)

    def update(self, labels, preds):
        """Update the metric with a batch.

        Parameters
        ----------
        labels, preds : list of NDArray
            Labels and predictions.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define update")

    def reset(self):
        """Reset all sums."""
        self.global_num_inst = 0
        self.global_sum_metric = 0.0
        self._reset_local_sums()

    def reset_local(self):
        """Reset the local sums."""
        self._reset_local_sums()

    def _reset_local_sums(self):
        self.num_inst = 0
        self.sum_metric = 0.0

    def _add(self, total, instances):
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += instances
        self.global_num_inst += instances

    def get(self):
        """Return the local result.

        Returns
        -------
        tuple
            ``(name, value)``; nan before the first batch.
        """
        return (self.name, self._value(self.sum_metric, self.num_inst))

    def get_global(self):
        """Return the global result (the local one if no global sums are kept).

        Returns
        -------
        tuple
            ``(name, value)``; nan before the first batch.
        """
        if not self._has_global_stats:
            return self.get()
        return (self.name, self._value(self.global_sum_metric, self.global_num_inst))

    def _value(self, total, instances):
        return total / instances if instances else float("nan")

    def get_name_value(self):
        """Return the local results as a list of ``(name, value)`` pairs."""
        return _pairs(*self.get())

    def get_global_name_value(self):
        """Return the global results as a list of ``(name, value)`` pairs."""
        return _pairs(*self.get_global())


def _pairs(name, value):
    names = name if isinstance(name, list) else [name]
    values = value if isinstance(value, list) else [value]
    return list(zip(names, values, strict=True))


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create_one = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """Create a metric.

    Parameters
    ----------
    metric : str, callable, EvalMetric or list
        A registered name, a function ``(label, pred) -> value``, a metric (returned unchanged),
        or a list of these.
    *args, **kwargs
        Arguments of the metric's class.

    Returns
    -------
    EvalMetric
    """
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for name in metric:
            composite.add(create(name, *args, **kwargs))
        return composite
    if callable(metric) and not isinstance(metric, EvalMetric):
        return CustomMetric(metric, *args, **kwargs)
    return _create_one(metric, *args, **kwargs)


@alias("composite")
@register
class CompositeEvalMetric(EvalMetric):
    """Several metrics over the same batches.

    Parameters
    ----------
    metrics : list, optional
        Metrics, in any form that `create` accepts.
    name, output_names, label_names
        See `EvalMetric`.
    """

    _create = staticmethod(create)

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        self.metrics = [self._create(metric) for metric in metrics or []]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric):
        """Add a metric, in any form that `create` accepts."""
        self.metrics.append(self._create(metric))

    def get_metric(self, index):
        """Return one of the metrics.

        Parameters
        ----------
        index : int
            Its position.

        Returns
        -------
        EvalMetric or ValueError
            As in MXNet, an index out of range returns an error instead of raising it.
        """
        try:
            return self.metrics[index]
        except IndexError:
            return ValueError(f"Metric index {index} is out of range 0 and {len(self.metrics)}")

    def update_dict(self, labels, preds):
        """Update all metrics with a batch by name; arrays that no metric names are dropped.

        Parameters
        ----------
        labels, preds : dict of str to NDArray
            Labels and predictions.
        """
        if self.label_names is not None:
            labels = OrderedDict((n, a) for n, a in labels.items() if n in self.label_names)
        if self.output_names is not None:
            preds = OrderedDict((n, a) for n, a in preds.items() if n in self.output_names)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels, preds):
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self):
        for metric in self.metrics:
            metric.reset()

    def reset_local(self):
        for metric in self.metrics:
            metric.reset_local()

    def get(self):
        return _columns([metric.get() for metric in self.metrics])

    def get_global(self):
        return _columns([metric.get_global() for metric in self.metrics])

    def get_config(self):
        return {**super().get_config(), "metrics": [m.get_config() for m in self.metrics]}


def _columns(results):
    names, values = [], []
    for name, value in results:
        names.extend(name if isinstance(name, list) else [name])
        values.extend(value if isinstance(value, list) else [value])
    return names, values


@register
class CustomMetric(EvalMetric):
    """A metric computed by a function of NumPy arrays.

    Parameters
    ----------
    feval : callable
        ``feval(label, pred)`` returns a value, or ``(sum, number of samples)``.
    name : str, optional
        Name in results; the function's name by default.
    allow_extra_outputs : bool
        Allow more predictions than labels, ignoring the surplus.
    output_names, label_names
        See `EvalMetric`.
    """

    def __init__(
        self, feval, name=None, allow_extra_outputs=False, output_names=None, label_names=None
    ):
        if name is None:
            name = feval.__name__
            name = f"custom({name})" if "<" in name else name
        super().__init__(
            name,
            output_names,
            label_names,
            feval=feval,
            allow_extra_outputs=allow_extra_outputs,
            has_global_stats=True,
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels, preds):
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=False):
            result = self._feval(as_numpy(label), as_numpy(pred))
            self._add(*(result if isinstance(result, tuple) else (result, 1)))

    def get_config(self):
        """Raise an error: a function cannot be serialized."""
        raise NotImplementedError("CustomMetric cannot be serialized")


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """Create a metric from a function of NumPy arrays.

    Parameters
    ----------
    numpy_feval : callable
        ``numpy_feval(label, pred)`` returns a value, or ``(sum, number of samples)``.
    name : str, optional
        Name in results; the function's name by default.
    allow_extra_outputs : bool
        Allow more predictions than labels.

    Returns
    -------
    CustomMetric
    """

    def feval(label, pred):
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)


@register
class Loss(EvalMetric):
    """The mean of the predictions, for networks that return their loss.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _, preds):
        for pred in [preds] if isinstance(preds, NDArray) else preds:
            self._add(as_numpy(pred.sum()).item(), pred.size)


@register
class Torch(Loss):
    """`Loss` under another name."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """`Loss` under another name."""

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)
