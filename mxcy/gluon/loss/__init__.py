"""Losses: blocks that compute training objectives."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.gluon.loss.base import Loss, _apply_weighting, _reshape_like  # noqa: F401
from mxcy.gluon.loss.classification import (
    HingeLoss,
    KLDivLoss,
    LogisticLoss,
    PoissonNLLLoss,
    SigmoidBCELoss,
    SigmoidBinaryCrossEntropyLoss,
    SoftmaxCELoss,
    SoftmaxCrossEntropyLoss,
    SquaredHingeLoss,
)
from mxcy.gluon.loss.regression import HuberLoss, L1Loss, L2Loss
from mxcy.gluon.loss.sequence import CTCLoss
from mxcy.gluon.loss.similarity import CosineEmbeddingLoss, SDMLLoss, TripletLoss

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
