"""Losses: blocks that compute training objectives."""

# Written by `python -m tools.stubs --write`.

from typing import Any
from mxcy.gluon.loss.base import (
    Loss as Loss,
)
from mxcy.gluon.loss.classification import (
    HingeLoss as HingeLoss, KLDivLoss as KLDivLoss, LogisticLoss as LogisticLoss,
    PoissonNLLLoss as PoissonNLLLoss,
    SigmoidBinaryCrossEntropyLoss as SigmoidBinaryCrossEntropyLoss,
    SoftmaxCrossEntropyLoss as SoftmaxCrossEntropyLoss, SquaredHingeLoss as SquaredHingeLoss,
)
from mxcy.gluon.loss.regression import (
    HuberLoss as HuberLoss, L1Loss as L1Loss, L2Loss as L2Loss,
)
from mxcy.gluon.loss.sequence import (
    CTCLoss as CTCLoss,
)
from mxcy.gluon.loss.similarity import (
    CosineEmbeddingLoss as CosineEmbeddingLoss, SDMLLoss as SDMLLoss, TripletLoss as TripletLoss,
)

SigmoidBCELoss: Any
SoftmaxCELoss: Any
