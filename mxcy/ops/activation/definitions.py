"""Activation functions shared by several operators, for any array module."""

__all__ = ["sigmoid", "softrelu"]


def sigmoid(xp, x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + xp.exp(-x))


def softrelu(xp, x):
    """log(1 + exp(x)), without overflow."""
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))
