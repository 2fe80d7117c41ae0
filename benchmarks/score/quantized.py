"""Quantize a network with MXNet's calls, in MXNet or in mxcy."""

from pathlib import Path

import numpy as np

__all__ = ["CALIBRATING", "quantize"]

#: number of calibration images
CALIBRATING = 8


def quantize(mx, folder, symbol, arguments, auxiliary):
    """Quantize every layer that allows it, with ranges from a few images.

    Parameters
    ----------
    mx : module
        MXNet 1.9.1 or mxcy.
    folder : str or Path
        Holds ``images.npy``.
    symbol : Symbol
    arguments, auxiliary : dict of str to NDArray

    Returns
    -------
    (Symbol, dict, dict)
    """
    images = mx.nd.array(np.load(Path(folder, "images.npy"))[:CALIBRATING])
    labels = {"softmax_label": mx.nd.zeros(CALIBRATING)}  # MXNet wants the loss layer's, unused
    data = mx.io.NDArrayIter({"data": images}, labels, batch_size=CALIBRATING)
    return mx.contrib.quantization.quantize_model_mkldnn(
        symbol,
        arguments,
        auxiliary,
        data_names=("data",),
        label_names=("softmax_label",),
        calib_mode="naive",
        calib_data=data,
        num_calib_examples=CALIBRATING,
        quantized_dtype="auto",
        quantize_mode="smart",
    )
