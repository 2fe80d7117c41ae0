"""The estimator: training and evaluation of a network, with event handlers."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.estimator import (
    batch_processor as batch_processor, estimator as estimator, event_handler as event_handler,
    utils as utils,
)
from mxcy.gluon.contrib.estimator.batch_processor import (
    BatchProcessor as BatchProcessor,
)
from mxcy.gluon.contrib.estimator.checkpoints import (
    CheckpointHandler as CheckpointHandler,
)
from mxcy.gluon.contrib.estimator.early_stopping import (
    EarlyStoppingHandler as EarlyStoppingHandler,
)
from mxcy.gluon.contrib.estimator.estimator import (
    Estimator as Estimator,
)
from mxcy.gluon.contrib.estimator.event_handler import (
    GradientUpdateHandler as GradientUpdateHandler, LoggingHandler as LoggingHandler,
    MetricHandler as MetricHandler, StoppingHandler as StoppingHandler,
    ValidationHandler as ValidationHandler,
)
from mxcy.gluon.contrib.estimator.events import (
    BatchBegin as BatchBegin, BatchEnd as BatchEnd, EpochBegin as EpochBegin, EpochEnd as EpochEnd,
    TrainBegin as TrainBegin, TrainEnd as TrainEnd,
)
