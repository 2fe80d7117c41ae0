"""Post-training quantization of networks to 8-bit integers.

See ``docs/quantization.md``.
"""

from mxcy._base.listing import listing
from mxcy.quantization import batches, collectors, symbols
from mxcy.quantization.collectors import CalibrationCollector, combine_histogram
from mxcy.quantization.model import (
    calib_graph,
    quantize_graph,
    quantize_model,
    quantize_model_mkldnn,
    quantize_model_onednn,
)
from mxcy.quantization.net import quantize_net, quantize_net_v2

__all__ = [
    "CalibrationCollector",
    "calib_graph",
    "combine_histogram",
    "quantize_graph",
    "quantize_model",
    "quantize_model_mkldnn",
    "quantize_model_onednn",
    "quantize_net",
    "quantize_net_v2",
]

__dir__ = listing(__name__)

# Private names of MXNet that its tests and published programs use.
_DataIterWrapper, _as_data_iter = batches.DataIterWrapper, batches.as_data_iter
_LayerHistogramCollector = collectors.LayerHistogramCollector
_LayerOutputMinMaxCollector = collectors.LayerOutputMinMaxCollector
_get_optimal_threshold = collectors.optimal_threshold
_get_optimal_thresholds = collectors.optimal_thresholds
_smooth_distribution = collectors.smooth_distribution
_calibrate_quantized_sym = symbols.calibrate_symbol
_quantize_params, _quantize_symbol = symbols.quantize_parameters, symbols.quantize_symbol
