"""Losses of a hundred training steps, compared with MXNet 1.9.1."""
