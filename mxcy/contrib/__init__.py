"""Contributed tools."""

from mxcy.contrib import memonger, text

__all__ = ["memonger", "text"]
