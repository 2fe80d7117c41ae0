"""Contributed tools."""

from mxcy.contrib import memonger

__all__ = ["memonger"]
