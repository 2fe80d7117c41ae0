"""Metrics of predictions, accumulated over batches."""

from mxcy import ndarray  # noqa: F401  GluonTS imports it from here
from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.metric.base import (
    Caffe,
    CompositeEvalMetric,
    CustomMetric,
    EvalMetric,
    Loss,
    Torch,
    alias,
    check_label_shapes,
    create,
    np,
    register,
)
from mxcy.metric.classification import F1, MCC, PCC, Accuracy, TopKAccuracy
from mxcy.metric.likelihood import CrossEntropy, NegativeLogLikelihood, Perplexity
from mxcy.metric.regression import MAE, MSE, RMSE, PearsonCorrelation

__all__ = [
    "Accuracy",
    "Caffe",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "F1",
    "Loss",
    "MAE",
    "MCC",
    "MSE",
    "NegativeLogLikelihood",
    "PCC",
    "PearsonCorrelation",
    "Perplexity",
    "RMSE",
    "TopKAccuracy",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "register",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
