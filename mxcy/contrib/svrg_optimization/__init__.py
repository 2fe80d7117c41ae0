"""SVRG: stochastic variance-reduced gradients."""

from mxcy.contrib.svrg_optimization import svrg_module, svrg_optimizer
from mxcy.contrib.svrg_optimization.svrg_module import SVRGModule

__all__ = ["SVRGModule", "svrg_module", "svrg_optimizer"]
