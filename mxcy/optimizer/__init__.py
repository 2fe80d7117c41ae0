"""Optimizers."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.optimizer import contrib, utils
from mxcy.optimizer.adabelief import AdaBelief
from mxcy.optimizer.adadelta import AdaDelta
from mxcy.optimizer.adagrad import AdaGrad
from mxcy.optimizer.adam import Adam
from mxcy.optimizer.adamax import Adamax
from mxcy.optimizer.adamW import AdamW
from mxcy.optimizer.dcasgd import DCASGD
from mxcy.optimizer.ftml import FTML
from mxcy.optimizer.ftrl import Ftrl
from mxcy.optimizer.lamb import LAMB
from mxcy.optimizer.lans import LANS
from mxcy.optimizer.lars import LARS
from mxcy.optimizer.lbsgd import LBSGD
from mxcy.optimizer.nadam import Nadam
from mxcy.optimizer.nag import NAG
from mxcy.optimizer.optimizer import Optimizer, Test, create, register
from mxcy.optimizer.rmsprop import RMSProp
from mxcy.optimizer.sgd import SGD, ccSGD
from mxcy.optimizer.sgld import SGLD
from mxcy.optimizer.signum import Signum
from mxcy.optimizer.updater import Updater, get_updater

__all__ = [
    "AdaBelief",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "AdamW",
    "Adamax",
    "DCASGD",
    "FTML",
    "Ftrl",
    "LAMB",
    "LANS",
    "LARS",
    "LBSGD",
    "NAG",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "SGD",
    "SGLD",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "contrib",
    "create",
    "get_updater",
    "register",
    "utils",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
