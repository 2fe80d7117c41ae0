"""Sequence losses."""

from mxcy.gluon.loss.base import Loss

__all__ = ["CTCLoss"]


class CTCLoss(Loss):
    """Connectionist temporal classification (Graves et al., 2006): labels without alignment.

    The last channel of `pred` is the blank label. Shorter label rows are padded with -1.

    Parameters
    ----------
    layout : {'NTC', 'TNC'}
        Layout of the predictions, which are logits.
    label_layout : {'NT', 'TN'}
        Layout of the labels.
    weight : float, optional
        Factor of the loss.
    **kwargs
        See `Block`.
    """

    def __init__(self, layout="NTC", label_layout="NT", weight=None, **kwargs):
        assert layout in ("NTC", "TNC"), (
            f"Only 'NTC' and 'TNC' layouts for pred are supported. Got: {layout}"
        )
        assert label_layout in ("NT", "TN"), (
            f"Only 'NT' and 'TN' layouts for label are supported. Got: {label_layout}"
        )
        super().__init__(weight, label_layout.index("N"), **kwargs)
        self._layout, self._label_layout = layout, label_layout

    def hybrid_forward(
        self, F, pred, label, pred_lengths=None, label_lengths=None, sample_weight=None
    ):
        if self._layout == "NTC":
            pred = F.swapaxes(pred, dim1=0, dim2=1)
        if self._batch_axis == 1:
            label = F.swapaxes(label, dim1=0, dim2=1)
        lengths = {"data_lengths": pred_lengths, "label_lengths": label_lengths}
        known_lengths = {name: array for name, array in lengths.items() if array is not None}
        options = {f"use_{name}": True for name in known_lengths}
        loss = F.CTCLoss(pred, label, **known_lengths, **options, blank_label="last")
        return self._weighted(F, loss, sample_weight)
