"""Switching mixed precision on, loss scaling, and lists of operators."""

import contextlib
import gc
import logging

import numpy as np

from mxcy import optimizer
from mxcy._base.dtypes import bfloat16
from mxcy.amp.convert import (
    convert_bucketing_module,
    convert_hybrid_block,
    convert_model,
    convert_symbol,
)
from mxcy.amp.loss_scaler import LossScaler
from mxcy.amp.speed import warn_once
from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.symbol_block import SymbolBlock
from mxcy.gluon.trainer import Trainer
from mxcy.ndarray.mixed_precision import forget_calls
from mxcy.ops.core.precision import Policy, mixed
from mxcy.ops.core.precision_lists import fp32_inputs, list_of, name_of_target, record_of

__all__ = [
    "convert_bucketing_module",
    "convert_hybrid_block",
    "convert_model",
    "convert_symbol",
    "init",
    "init_trainer",
    "list_conditional_fp32_ops",
    "list_fp32_ops",
    "list_loss_output_functions",
    "list_lp16_fp32_ops",
    "list_lp16_ops",
    "list_lp16_use_fp32_params",
    "list_widest_type_cast",
    "reset",
    "scale_loss",
    "unscale",
    "warn_if_model_exists",
]

#: dtypes that eager calls cast, by device
float_types_cpu, float_types_gpu = (bfloat16, np.float32), (np.float16, np.float32)

_trainers: list[int] = []  # the first trainer uses the scaler of loss outputs


def init(
    target_dtype="float16",
    target_precision_ops=None,
    conditional_fp32_ops=None,
    fp32_ops=None,
    layout_optimization=False,
):
    """Switch mixed precision on: operators cast their inputs according to their class.

    Call it before networks are hybridized. Only the first call has an effect.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype
        ``'float16'`` or ``'bfloat16'``.
    target_precision_ops : list of str, optional
        Operators that run in the target dtype, instead of `list_lp16_ops`.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Operators that run in float32 for certain values of an attribute, instead of
        `list_conditional_fp32_ops`.
    fp32_ops : list of str, optional
        Operators that run in float32, instead of `list_fp32_ops`.
    layout_optimization : bool
        Accepted for compatibility; plans of graphs always choose layouts.

    Raises
    ------
    AssertionError
        If `target_dtype` is neither.
    """
    target = name_of_target(target_dtype)
    if mixed.policy is not None:
        if target != mixed.policy.target:
            logging.warning(
                "AMP runs in %s since an earlier amp.init; amp.reset() ends that",
                mixed.policy.target,
            )
        return
    assert target, (
        "AMP currently supports only float16 or bfloat16 as a target_dtype, "
        f"received {target_dtype!r}"
    )
    policy = Policy(target, target_precision_ops, fp32_ops, conditional_fp32_ops, record_of)
    logging.info("Using AMP")
    warn_once(target)
    warn_if_model_exists()
    forget_calls()
    mixed.scaler, mixed.policy = LossScaler(), policy


def reset() -> None:
    """Restore the state before `init`; for tests."""
    mixed.policy = mixed.scaler = None
    _trainers.clear()
    forget_calls()


def warn_if_model_exists():
    """Warn of networks whose existing graphs have no casts."""
    blocks = [block for block in gc.get_objects() if isinstance(block, HybridBlock)]
    for block in blocks:
        if block._only_traced() is not None and not isinstance(block, SymbolBlock):
            logging.warning(
                "Block %s was hybridized and called before AMP init: its graph has no casts. "
                "Call hybridize() again.",
                block.name,
            )


def init_trainer(optimizer_or_trainer):
    """Enable loss scaling in a trainer, which then skips steps whose gradients overflow.

    Parameters
    ----------
    optimizer_or_trainer : Trainer

    Raises
    ------
    AssertionError
        If `init` has not been called.
    TypeError
        If it is not a Trainer.
    """
    assert mixed.policy is not None, "AMP not initialized, did you forget to call amp.init()?"
    _check_trainer(optimizer_or_trainer)
    scaler = LossScaler() if _trainers else mixed.scaler
    _trainers.append(id(optimizer_or_trainer))
    optimizer_or_trainer._amp_loss_scaler = scaler
    optimizer_or_trainer._amp_original_scale = optimizer_or_trainer._scale


def _check_trainer(trainer):
    if isinstance(trainer, optimizer.Optimizer):
        raise TypeError("AMP is currently only compatible with Gluon Trainer")
    if not isinstance(trainer, Trainer):
        raise TypeError(
            "optimizer_or_trainer should be a Gluon Trainer or an optimizer, "
            f"instead is {type(trainer)}"
        )


@contextlib.contextmanager
def scale_loss(loss, optimizer_or_trainer):
    """Scale a loss for the backward pass; the trainer's next step unscales the gradients.

    Parameters
    ----------
    loss : NDArray, or list or tuple of NDArray
    optimizer_or_trainer : Trainer
        Trainer passed to `init_trainer`.

    Yields
    ------
    NDArray or list of NDArray

    Raises
    ------
    AssertionError
        If the trainer has no loss scaler.
    """
    scaler = getattr(optimizer_or_trainer, "_amp_loss_scaler", None)
    assert scaler is not None, (
        "Loss scaler is not initialized, did you forget to call amp.init_trainer()?"
    )
    factor = scaler.loss_scale
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / factor
    if isinstance(loss, (list, tuple)):
        yield [part * factor for part in loss]
    else:
        yield loss * factor


def unscale(optimizer_or_trainer):
    """Unscale a trainer's gradients now, e.g. before clipping them.

    Parameters
    ----------
    optimizer_or_trainer : Trainer

    Raises
    ------
    TypeError
        If it is not a Trainer.
    """
    _check_trainer(optimizer_or_trainer)
    for parameter in optimizer_or_trainer._params:
        if parameter.grad_req != "null":
            for gradient in parameter.list_grad():
                gradient *= optimizer_or_trainer._scale
    optimizer_or_trainer._scale = 1.0


def _target(target_dtype):
    name = name_of_target(target_dtype)
    assert name, f"not supported type: {target_dtype}"
    return name


def list_lp16_ops(target_dtype):
    """Return the operators that run in the 16-bit dtype.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("lp16", _target(target_dtype))


def list_fp32_ops(target_dtype):
    """Return the operators that run in float32.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("fp32", _target(target_dtype))


def list_lp16_fp32_ops(target_dtype):
    """Return the operators that run in the dtype of their inputs.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("either", _target(target_dtype))


def list_conditional_fp32_ops(target_dtype):
    """Return the operators that run in float32 for certain values of an attribute.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of (str, str, list of str)
        Name, attribute, values.
    """
    return list_of("conditional", _target(target_dtype))


def list_widest_type_cast(target_dtype):
    """Return the operators that run in the widest dtype of their inputs.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("widest", _target(target_dtype))


def list_loss_output_functions(target_dtype):
    """Return the operators whose gradients are multiplied by the loss scale.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("loss", _target(target_dtype))


def list_lp16_use_fp32_params(target_dtype):
    """Return the inputs that stay float32 when others are cast to the 16-bit dtype.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    dict of str to list of str, or None
        By operator; None for float16.
    """
    return fp32_inputs() if _target(target_dtype) == "bfloat16" else None
