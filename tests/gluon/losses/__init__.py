"""Losses of a hundred steps of training, beside those of MXNet 1.9.1."""
