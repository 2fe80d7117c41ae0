"""Pooling and padding layers."""

from mxcy.gluon.block import HybridBlock
from mxcy.gluon.nn._windows import as_tuple

__all__ = [
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "ReflectionPad2D",
]

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


class _Pooling(HybridBlock):
    """A Pooling operator as a layer."""

    def __init__(
        self,
        ndim,
        pool_type,
        layout,
        pool_size=1,
        strides=None,
        padding=0,
        ceil_mode=True,
        global_pool=False,
        count_include_pad=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        assert layout in _LAYOUTS[ndim], (
            f"Only {' and '.join(_LAYOUTS[ndim])} layouts are valid for {ndim}D Pooling"
        )
        pool_size = as_tuple(pool_size, ndim)
        assert len(pool_size) == ndim, f"pool_size must be a number or a list of {ndim} ints"
        self._kwargs = {
            "kernel": pool_size,
            "stride": pool_size if strides is None else as_tuple(strides, ndim),
            "pad": as_tuple(padding, ndim),
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self):
        return "pool"

    def hybrid_forward(self, F, x):
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self):
        parts = self._kwargs
        return (
            f"{type(self).__name__}(size={parts['kernel']}, stride={parts['stride']}, "
            f"padding={parts['pad']}, ceil_mode={parts['pooling_convention'] == 'full'}, "
            f"global_pool={parts['global_pool']}, pool_type={parts['pool_type']}, "
            f"layout={parts['layout']})"
        )


class MaxPool1D(_Pooling):
    """Maximum over windows of 1-D signals.

    Parameters
    ----------
    pool_size : int
        Size of the windows.
    strides : int, optional
        Step between windows; the window size by default.
    padding : int
        Padding on both sides.
    layout : {'NCW', 'NWC'}
        Order of the axes.
    ceil_mode : bool
        Round the output size up, so that the last window may exceed the input.
    **kwargs
        See `Block`.
    """

    def __init__(
        self, pool_size=2, strides=None, padding=0, layout="NCW", ceil_mode=False, **kwargs
    ):
        super().__init__(1, "max", layout, pool_size, strides, padding, ceil_mode, **kwargs)


class MaxPool2D(_Pooling):
    """Maximum over windows of images.

    Parameters
    ----------
    pool_size : int or tuple of int
        Size of the windows.
    strides : int or tuple of int, optional
        Step between windows; the window size by default.
    padding : int or tuple of int
        Padding on all sides.
    layout : {'NCHW', 'NHWC'}
        Order of the axes.
    ceil_mode : bool
        Round the output size up, so that the last window may exceed the input.
    **kwargs
        See `Block`.
    """

    def __init__(
        self, pool_size=(2, 2), strides=None, padding=0, layout="NCHW", ceil_mode=False, **kwargs
    ):
        super().__init__(2, "max", layout, pool_size, strides, padding, ceil_mode, **kwargs)


class MaxPool3D(_Pooling):
    """Maximum over windows of volumes.

    Parameters
    ----------
    pool_size : int or tuple of int
        Size of the windows.
    strides : int or tuple of int, optional
        Step between windows; the window size by default.
    padding : int or tuple of int
        Padding on all sides.
    ceil_mode : bool
        Round the output size up, so that the last window may exceed the input.
    layout : {'NCDHW', 'NDHWC'}
        Order of the axes.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        pool_size=(2, 2, 2),
        strides=None,
        padding=0,
        ceil_mode=False,
        layout="NCDHW",
        **kwargs,
    ):
        super().__init__(3, "max", layout, pool_size, strides, padding, ceil_mode, **kwargs)


class AvgPool1D(_Pooling):
    """Mean over windows of 1-D signals.

    Parameters
    ----------
    pool_size, strides, padding, layout, ceil_mode
        See `MaxPool1D`.
    count_include_pad : bool
        Include padding, as zeros, in the mean.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        pool_size=2,
        strides=None,
        padding=0,
        layout="NCW",
        ceil_mode=False,
        count_include_pad=True,
        **kwargs,
    ):
        super().__init__(
            1,
            "avg",
            layout,
            pool_size,
            strides,
            padding,
            ceil_mode,
            count_include_pad=count_include_pad,
            **kwargs,
        )


class AvgPool2D(_Pooling):
    """Mean over windows of images.

    Parameters
    ----------
    pool_size, strides, padding, ceil_mode, layout
        See `MaxPool2D`.
    count_include_pad : bool
        Include padding, as zeros, in the mean.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        pool_size=(2, 2),
        strides=None,
        padding=0,
        ceil_mode=False,
        layout="NCHW",
        count_include_pad=True,
        **kwargs,
    ):
        super().__init__(
            2,
            "avg",
            layout,
            pool_size,
            strides,
            padding,
            ceil_mode,
            count_include_pad=count_include_pad,
            **kwargs,
        )


class AvgPool3D(_Pooling):
    """Mean over windows of volumes.

    Parameters
    ----------
    pool_size, strides, padding, ceil_mode, layout
        See `MaxPool3D`.
    count_include_pad : bool
        Include padding, as zeros, in the mean.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        pool_size=(2, 2, 2),
        strides=None,
        padding=0,
        ceil_mode=False,
        layout="NCDHW",
        count_include_pad=True,
        **kwargs,
    ):
        super().__init__(
            3,
            "avg",
            layout,
            pool_size,
            strides,
            padding,
            ceil_mode,
            count_include_pad=count_include_pad,
            **kwargs,
        )


class GlobalMaxPool1D(_Pooling):
    """Maximum of each channel of 1-D signals.

    Parameters
    ----------
    layout : {'NCW', 'NWC'}
        Order of the axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, layout="NCW", **kwargs):
        super().__init__(1, "max", layout, global_pool=True, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """Maximum of each channel of images.

    Parameters
    ----------
    layout : {'NCHW', 'NHWC'}
        Order of the axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, layout="NCHW", **kwargs):
        super().__init__(2, "max", layout, global_pool=True, **kwargs)


class GlobalMaxPool3D(_Pooling):
    """Maximum of each channel of volumes.

    Parameters
    ----------
    layout : {'NCDHW', 'NDHWC'}
        Order of the axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, layout="NCDHW", **kwargs):
        super().__init__(3, "max", layout, global_pool=True, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """Mean of each channel of 1-D signals.

    Parameters
    ----------
    layout : {'NCW', 'NWC'}
        Order of the axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, layout="NCW", **kwargs):
        super().__init__(1, "avg", layout, global_pool=True, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """Mean of each channel of images.

    Parameters
    ----------
    layout : {'NCHW', 'NHWC'}
        Order of the axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, layout="NCHW", **kwargs):
        super().__init__(2, "avg", layout, global_pool=True, **kwargs)


class GlobalAvgPool3D(_Pooling):
    """Mean of each channel of volumes.

    Parameters
    ----------
    layout : {'NCDHW', 'NDHWC'}
        Order of the axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, layout="NCDHW", **kwargs):
        super().__init__(3, "avg", layout, global_pool=True, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Pad images (NCHW) by reflection at the edges.

    Parameters
    ----------
    padding : int or tuple of 8 int
        Width on all four sides, or before and after each of the four axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, padding=0, **kwargs):
        super().__init__(**kwargs)
        if isinstance(padding, int):
            padding = (0, 0, 0, 0, padding, padding, padding, padding)
        assert len(padding) == 8, f"padding must be a number or 8 numbers, got {padding}"
        self._padding = tuple(padding)

    def hybrid_forward(self, F, x):
        return F.pad(x, mode="reflect", pad_width=self._padding)
