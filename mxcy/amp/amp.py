"""The switch of mixed precision, and the scaling of losses that goes with it."""

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

#: the types that eager calls cast at all, by device
float_types_cpu, float_types_gpu = (bfloat16, np.float32), (np.float16, np.float32)

_trainers: list[int] = []  # the first trainer shares the scaler of loss outputs


def init(
    target_dtype="float16",
    target_precision_ops=None,
    conditional_fp32_ops=None,
    fp32_ops=None,
    layout_optimization=False,
):
    """Switch mixed precision on: operators cast their inputs as their classes say.

    Call it before networks are hybridized. The first call counts, further ones do nothing.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype
        ``'float16'`` or ``'bfloat16'``.
    target_precision_ops : list of str, optional
        The operators that run in the target type, in place of `list_lp16_ops`.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Operators that run in float32 if an attribute has one of some values, in place of
        `list_conditional_fp32_ops`.
    fp32_ops : list of str, optional
        The operators that run in float32, in place of `list_fp32_ops`.
    layout_optimization : bool
        Layouts are chosen when graphs are planned in any case.

    Raises
    ------
    AssertionError
        When the type is another one.
    """
    if mixed.policy is not None:
        return
    target = name_of_target(target_dtype)
    assert target, "AMP currently supports only float16 or bfloat16 as a target_dtype"
    policy = Policy(target, target_precision_ops, fp32_ops, conditional_fp32_ops, record_of)
    logging.info("Using AMP")
    warn_once(target)
    warn_if_model_exists()
    forget_calls()
    mixed.scaler, mixed.policy = LossScaler(), policy


def reset() -> None:
    """Switch mixed precision off, as it was before `init`; for tests."""
    mixed.policy = mixed.scaler = None
    _trainers.clear()
    forget_calls()


def warn_if_model_exists():
    """Tell of networks that keep running graphs without casts."""
    blocks = [block for block in gc.get_objects() if isinstance(block, HybridBlock)]
    for block in blocks:
        if block._only_traced() is not None and not isinstance(block, SymbolBlock):
            logging.warning(
                "Block %s was hybridized and called before AMP init: its graph has no casts. "
                "Call hybridize() again.",
                block.name,
            )


def init_trainer(optimizer_or_trainer):
    """Let a trainer scale its loss, and skip steps whose gradients overflow.

    Parameters
    ----------
    optimizer_or_trainer : Trainer

    Raises
    ------
    AssertionError
        When `init` has not been called.
    TypeError
        When it is something else.
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
    """Scale a loss for the backward pass, and the gradients back in the trainer's next step.

    Parameters
    ----------
    loss : NDArray, or list or tuple of NDArray
    optimizer_or_trainer : Trainer
        One that `init_trainer` knows.

    Yields
    ------
    NDArray or list of NDArray

    Raises
    ------
    AssertionError
        When the trainer has no loss scaler.
    """
    scaler = getattr(optimizer_or_trainer, "_amp_loss_scaler", None)
    assert scaler is not None, (
        "Loss scaler is not initialized, did you forget to call amp.init_trainer()?"
    )
    factor = scaler.loss_scale
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / factor
    if isinstance(loss, (list, tuple)):
        yield [one * factor for one in loss]
    else:
        yield loss * factor


def unscale(optimizer_or_trainer):
    """Scale a trainer's gradients back now, before they are clipped for instance.

    Parameters
    ----------
    optimizer_or_trainer : Trainer

    Raises
    ------
    TypeError
        When it is something else.
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
    """The operators that run in the 16-bit type.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("lp16", _target(target_dtype))


def list_fp32_ops(target_dtype):
    """The operators that run in float32.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("fp32", _target(target_dtype))


def list_lp16_fp32_ops(target_dtype):
    """The operators that run in the type that arrives.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("either", _target(target_dtype))


def list_conditional_fp32_ops(target_dtype):
    """The operators that run in float32 if an attribute has one of some values.

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
    """The operators that run in the widest type among their inputs'.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("widest", _target(target_dtype))


def list_loss_output_functions(target_dtype):
    """The operators whose gradients the loss scale multiplies.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    list of str
    """
    return list_of("loss", _target(target_dtype))


def list_lp16_use_fp32_params(target_dtype):
    """The inputs that stay float32 beside others of the 16-bit type.

    Parameters
    ----------
    target_dtype : str, type or numpy.dtype

    Returns
    -------
    dict of str to list of str, or None
        By operator; None for float16.
    """
    return fp32_inputs() if _target(target_dtype) == "bfloat16" else None
