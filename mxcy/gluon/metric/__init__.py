"""Metrics of MXNet 2.x, some of which differ in results from `mx.metric`."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.gluon.metric.base import (
    PCC,
    Accuracy,
    CompositeEvalMetric,
    CustomMetric,
    EvalMetric,
    Loss,
    PearsonCorrelation,
    TopKAccuracy,
    Torch,
    alias,
    check_label_shapes,
    create,
    np,
    one_hot,
    predict_with_threshold,
    register,
)
from mxcy.gluon.metric.classification import F1, MCC, BinaryAccuracy, Fbeta
from mxcy.gluon.metric.numbers import (
    MAE,
    MSE,
    RMSE,
    CrossEntropy,
    MeanCosineSimilarity,
    MeanPairwiseDistance,
    Perplexity,
)

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "F1",
    "Fbeta",
    "Loss",
    "MAE",
    "MCC",
    "MSE",
    "MeanCosineSimilarity",
    "MeanPairwiseDistance",
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
    "one_hot",
    "predict_with_threshold",
    "register",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
