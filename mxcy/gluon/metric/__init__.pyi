"""Metrics of MXNet 2.x, some of which differ in results from `mx.metric`."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.metric.base import (
    Accuracy as Accuracy, CompositeEvalMetric as CompositeEvalMetric, CustomMetric as CustomMetric,
    EvalMetric as EvalMetric, Loss as Loss, PCC as PCC, PearsonCorrelation as PearsonCorrelation,
    TopKAccuracy as TopKAccuracy, Torch as Torch, create as create, np as np, one_hot as one_hot,
    predict_with_threshold as predict_with_threshold,
)
from mxcy.gluon.metric.classification import (
    BinaryAccuracy as BinaryAccuracy, F1 as F1, Fbeta as Fbeta, MCC as MCC,
)
from mxcy.gluon.metric.numbers import (
    CrossEntropy as CrossEntropy, MAE as MAE, MSE as MSE,
    MeanCosineSimilarity as MeanCosineSimilarity, MeanPairwiseDistance as MeanPairwiseDistance,
    Perplexity as Perplexity, RMSE as RMSE,
)
from mxcy.metric.base import (
    check_label_shapes as check_label_shapes,
)

def alias(*names):
    """Register a metric class under all of `names`."""
def register(klass, name=None):
    """Register a metric class under its lower-case name (or `name`)."""
