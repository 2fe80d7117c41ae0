"""Collectors: statistics of layer outputs from which calibration derives ranges."""

import numpy as np

from mxcy.base import MXNetError
from mxcy.ndarray import NDArray
from mxcy.ops.quantization.threshold import best_threshold

__all__ = ["CalibrationCollector", "LayerHistogramCollector", "LayerOutputMinMaxCollector"]
__all__ += ["combine_histogram", "optimal_threshold", "optimal_thresholds", "smooth_distribution"]

_BINS = 8001
#: largest share of a layer's nonzero values that may be clipped
_CLIPPED = 1e-3


class CalibrationCollector:
    """Base class of objects that collect statistics of layers during calibration.

    For custom calibration (``calib_mode='custom'`` or ``'customize'``) override `collect` and fill
    `min_max_dict`.

    Attributes
    ----------
    include_layers : list of str or None
        The outputs whose ranges are needed; set by `quantize_graph`.
    min_max_dict : dict of str to (float, float)
        The ranges that quantization uses, by output name.
    """

    def __init__(self):
        self.include_layers = None
        self.min_max_dict = {}

    def collect(self, name, op_name, arr):
        """Process the output of a layer for one batch.

        Parameters
        ----------
        name : str
            Name of the output, such as ``conv0_output``.
        op_name : str
            Name of the operator.
        arr : NDArray
        """

    def post_collect(self):
        """Compute the ranges after the last batch.

        Returns
        -------
        dict of str to (float, float)
            `min_max_dict`.
        """
        return self.min_max_dict


class _Included(CalibrationCollector):
    """A collector of selected layers; `collect` may be called without the operator's name."""

    def __init__(self, include_layer=None, logger=None, *, include_layers=None):
        super().__init__()
        self.include_layers = include_layer if include_layers is None else include_layers
        self.logger = logger

    @property
    def include_layer(self):
        """list of str or None: `include_layers` under its MXNet 1.9 name."""
        return self.include_layers

    def collect(self, name, *of_output):
        """Process an output if it is selected.

        Parameters
        ----------
        name : str
        *of_output
            The operator's name (optional) and the array.
        """
        name = name.decode() if isinstance(name, bytes) else str(name)
        if self.include_layers is None or name in self.include_layers:
            array = of_output[-1]
            array = array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)
            if array.size:
                self._note(name, array)


class LayerOutputMinMaxCollector(_Included):
    """Collects the minimum and maximum of each layer.

    Parameters
    ----------
    quantized_dtype : str
        Ignored.
    include_layer, include_layers : list of str, optional
        Outputs to collect; all by default.
    logger : logging.Logger, optional
    """

    def __init__(
        self, quantized_dtype="int8", include_layer=None, logger=None, *, include_layers=None
    ):
        super().__init__(include_layer, logger, include_layers=include_layers)
        self.quantized_dtype = quantized_dtype

    def _note(self, name, array):
        low, high = float(array.min()), float(array.max())
        if name in self.min_max_dict:
            before = self.min_max_dict[name]
            low, high = min(before[0], low), max(before[1], high)
        self.min_max_dict[name] = (low, high)
        if self.logger:
            self.logger.debug("Collecting layer %s min_range=%f, max_range=%f", name, low, high)


class LayerHistogramCollector(_Included):
    """Collects a histogram of each layer, from which entropy calibration finds the threshold.

    Parameters
    ----------
    num_bins : int
        Number of bins; odd.
    include_layer, include_layers : list of str, optional
        Outputs to collect; all by default.
    logger : logging.Logger, optional
    quantized_dtype : str
        The dtype of quantized data.
    """

    def __init__(
        self,
        num_bins=_BINS,
        include_layer=None,
        logger=None,
        *,
        include_layers=None,
        quantized_dtype="int8",
    ):
        super().__init__(include_layer, logger, include_layers=include_layers)
        self.hist_dict = {}
        self.num_bins, self.quantized_dtype = num_bins, quantized_dtype

    def _note(self, name, array):
        low, high = float(array.min()), float(array.max())
        top = max(abs(low), abs(high))
        if not np.isfinite(top):
            raise MXNetError(f"calibration: {name} has values that are not finite")
        if name in self.hist_dict:
            histogram = combine_histogram(self.hist_dict[name], array, low, high, top)
        else:
            counts, edges = np.histogram(array, self.num_bins, (-top, top))
            histogram = counts, edges, low, high, top
        self.hist_dict[name] = histogram
        if self.logger:
            self.logger.debug("Collecting layer %s histogram of shape %s", name, array.shape)

    def post_collect(self):
        """Compute the thresholds.

        Returns
        -------
        dict of str to (float, float)
            `min_max_dict`.
        """
        self.min_max_dict = self.get_optimal_thresholds(
            self.hist_dict, self.quantized_dtype, logger=self.logger
        )
        return self.min_max_dict

    @staticmethod
    def combine_histogram(old_hist, arr, new_min, new_max, new_th):
        """Add values to a histogram; see the function `combine_histogram`."""
        return combine_histogram(old_hist, arr, new_min, new_max, new_th)

    @staticmethod
    def get_optimal_threshold(hist_data, quantized_dtype, num_quantized_bins=255):
        """Compute one threshold; see `optimal_threshold`."""
        return optimal_threshold(hist_data, quantized_dtype, num_quantized_bins)

    @staticmethod
    def get_optimal_thresholds(hist_dict, quantized_dtype, num_quantized_bins=255, logger=None):
        """Compute all thresholds; see `optimal_thresholds`."""
        return optimal_thresholds(hist_dict, quantized_dtype, num_quantized_bins, logger)


def combine_histogram(old_hist, arr, new_min, new_max, new_th):
    """Add values to a histogram, with more bins on both sides if they exceed its threshold.

    Parameters
    ----------
    old_hist : tuple
        (counts, edges, minimum, maximum, threshold).
    arr : numpy.ndarray
        The values.
    new_min, new_max, new_th : float
        Minimum, maximum and largest magnitude of `arr`.

    Returns
    -------
    tuple
        Like `old_hist`.
    """
    counts, edges, low, high, top = old_hist
    low, high = min(low, new_min), max(high, new_max)
    if new_th <= top:
        more, _ = np.histogram(arr, len(counts), (-top, top))
        return counts + more, edges, low, high, top
    if top == 0:  # only zeros so far, all in the middle bin
        more, edges = np.histogram(arr, len(counts), (-new_th, new_th))
        more[len(counts) // 2] += counts.sum()
        return more, edges, low, high, new_th
    step = 2 * top / len(counts)
    added = int((new_th - top) // step + 1)
    top = added * step + top
    more, edges = np.histogram(arr, len(counts) + 2 * added, (-top, top))
    more[added : added + len(counts)] += counts
    return more, edges, low, high, top


def _is_unsigned(low, quantized_dtype):
    return low >= 0 and quantized_dtype in ("auto", "uint8")


def optimal_threshold(hist_data, quantized_dtype, num_quantized_bins=255):
    """Find the clipping threshold with the least divergence between float and quantized values.

    Parameters
    ----------
    hist_data : tuple
        A histogram as returned by `combine_histogram`.
    quantized_dtype : str
    num_quantized_bins : int
        Number of int8 levels; uint8 uses ``2 * num_quantized_bins + 1``.

    Returns
    -------
    (float, float, numpy.ndarray, numpy.ndarray)
        Minimum, maximum, threshold and divergence, the last two of shape (1,).
    """
    counts, edges, low, high, _ = hist_data
    if len(counts) % 2 == 0:
        raise MXNetError(f"calibration: expected an odd number of bins, got {len(counts)}")
    levels = (
        2 * num_quantized_bins + 1 if _is_unsigned(low, quantized_dtype) else num_quantized_bins
    )
    threshold = best_threshold(counts, edges, levels)
    return low, high, *(np.array([number], np.float32) for number in threshold)


def optimal_thresholds(hist_dict, quantized_dtype, num_quantized_bins=255, logger=None):
    """Find the ranges of all layers from their histograms, which are removed from `hist_dict`.

    Parameters
    ----------
    hist_dict : dict of str to tuple
    quantized_dtype : str
    num_quantized_bins : int
    logger : logging.Logger, optional

    Returns
    -------
    dict of str to (float, float)
    """
    ranges = {}
    for name in list(hist_dict):
        histogram = hist_dict.pop(name)
        least_top = _clipping_few(*histogram[:2])
        low, _, threshold, divergence = optimal_threshold(
            histogram, quantized_dtype, num_quantized_bins
        )
        top = max(threshold[0], least_top)
        ranges[name] = (0.0, top) if _is_unsigned(low, quantized_dtype) else (-top, top)
        if logger:
            logger.debug("layer=%s, th=%f, divergence=%f", name, top, divergence[0])
    return ranges


def _clipping_few(counts, edges):
    """Return the smallest threshold that clips at most `_CLIPPED` of the nonzero values.

    If most values are equal, such as an image's background, the threshold of least divergence
    resolves these finely and clips nearly everything else.
    """
    middle = len(counts) // 2
    outwards = counts[middle:][1:] + counts[:middle][::-1]  # by distance from the middle bin
    beyond = outwards.sum() - np.cumsum(outwards)
    width = int(np.argmax(beyond <= _CLIPPED * outwards.sum())) + 1 if len(outwards) else 0
    return np.float32(edges[middle + width + 1])


def smooth_distribution(p, eps=0.0001):
    """Replace the zeros of a distribution by `eps`, taken evenly from its other values.

    Parameters
    ----------
    p : numpy.ndarray
    eps : float

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If all values are zero.
    """
    empty = p == 0
    if empty.all():
        raise ValueError("The discrete probability distribution is malformed. All entries are 0.")
    price = eps * float(empty.sum()) / float((~empty).sum())
    if price >= 1.0:
        raise MXNetError(f"smoothing: too many zeros, {empty.sum()} of {p.size} values")
    return np.where(empty, eps, p - price).astype(np.float32)
