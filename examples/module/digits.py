"""The 5,000 MNIST digits in the package, for the scripts in this folder."""

from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parents[2] / "mxcy" / "examples" / "data" / "mnist_5k.npz"


def load(file=FILE):
    """Return ``(images, labels)`` for training, and the same for validation.

    Images are float32 (n, 1, 28, 28) between 0 and 1; every fifth of each digit is for validation.
    """
    with np.load(file) as content:
        images = content["images"].reshape(-1, 1, 28, 28).astype(np.float32) / 255
        labels = content["digits"].astype(np.float32)
    held_out = np.zeros(len(labels), bool)
    for digit in range(10):
        held_out[np.flatnonzero(labels == digit)[4::5]] = True
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])
