"""Normalization layers."""

from mxcy._base import dtypes
from mxcy._base.axis_error import InvalidAxisError
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.hybrid_block import calls_hybrid_forward
from mxcy.util import is_np_array

__all__ = ["BatchNorm", "BatchNormReLU", "GroupNorm", "InstanceNorm", "LayerNorm", "SyncBatchNorm"]


class _ScaleAndShift(HybridBlock):
    """Base of layers with parameters `gamma` (scale) and `beta` (shift), one each per channel."""

    def __init__(
        self, axis, size, scale, center, gamma_initializer, beta_initializer, prefix, params
    ):
        super().__init__(prefix=prefix, params=params)
        self._axis = axis
        with self.name_scope():
            self.gamma = self._get("gamma", size, scale, gamma_initializer)
            self.beta = self._get("beta", size, center, beta_initializer)

    def _get(self, name, size, trained, init, **kwargs):
        return self.params.get(
            name,
            grad_req="write" if trained else "null",
            shape=(size,),
            init=init,
            allow_deferred_init=True,
            **kwargs,
        )

    def infer_shape(self, x, *args):
        """Set the number of channels from an input."""
        if not -x.ndim <= self._axis < x.ndim:
            raise InvalidAxisError(
                f"{type(self).__name__}: axis {self._axis} is out of bounds for an input of shape "
                f"{x.shape}"
            )
        for parameter in self._reg_params.values():
            parameter.shape = (x.shape[self._axis],)

    def __repr__(self):
        content = ", ".join(f"{name}={value!r}" for name, value in self._description().items())
        return f"{type(self).__name__}({content})"


class BatchNorm(_ScaleAndShift):
    """Batch normalization (Ioffe & Szegedy, 2015): each channel gets mean 0 and variance 1.

    Uses the batch's mean and variance in training mode, otherwise their running averages.

    Parameters
    ----------
    axis : int
        Axis of the channels.
    momentum : float
        Weight of the old value in the running averages.
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether to learn a shift (`beta`) and a scale (`gamma`).
    use_global_stats : bool
        Use the running averages in training mode too.
    beta_initializer, gamma_initializer : str or Initializer
        Initializers of shift and scale.
    running_mean_initializer, running_variance_initializer : str or Initializer
        Initializers of the running averages.
    in_channels : int
        Number of channels; 0 infers it from the first batch.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        axis=1,
        momentum=0.9,
        epsilon=1e-5,
        center=True,
        scale=True,
        use_global_stats=False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        running_mean_initializer="zeros",
        running_variance_initializer="ones",
        in_channels=0,
        prefix=None,
        params=None,
    ):
        super().__init__(
            axis, in_channels, scale, center, gamma_initializer, beta_initializer, prefix, params
        )
        self._kwargs = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        self.gamma._differentiable = scale
        self.beta._differentiable = center
        with self.name_scope():
            self.running_mean = self._get(
                "running_mean", in_channels, False, running_mean_initializer, differentiable=False
            )
            self.running_var = self._get(
                "running_var",
                in_channels,
                False,
                running_variance_initializer,
                differentiable=False,
            )

    def cast(self, dtype):
        """Change the dtype; under float16, scale, shift and averages stay float32."""
        if dtypes.name_of(dtypes.code_of(dtype)) == "float16":
            dtype = "float32"
        super().cast(dtype)

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        return F.BatchNorm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)

    def _description(self):
        return {**self._kwargs, "in_channels": self.gamma.shape[0] or None}


class BatchNormReLU(BatchNorm):
    """Batch normalization followed by ReLU; see `BatchNorm` for the parameters."""

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        out = super().hybrid_forward(F, x, gamma, beta, running_mean, running_var)
        return F.Activation(out, act_type="relu")


class SyncBatchNorm(BatchNorm):
    """Batch normalization with statistics over the batches of all devices.

    CPU contexts count as one device, and each one's part of the batch is normalized separately.

    Parameters
    ----------
    in_channels : int
        Number of channels; 0 infers it from the first batch.
    num_devices : int, optional
        Number of devices.
    momentum, epsilon, center, scale, use_global_stats
        See `BatchNorm`.
    beta_initializer, gamma_initializer : str or Initializer
        Initializers of shift and scale.
    running_mean_initializer, running_variance_initializer : str or Initializer
        Initializers of the running averages.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        in_channels=0,
        num_devices=None,
        momentum=0.9,
        epsilon=1e-5,
        center=True,
        scale=True,
        use_global_stats=False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        running_mean_initializer="zeros",
        running_variance_initializer="ones",
        **kwargs,
    ):
        super().__init__(
            1,
            momentum,
            epsilon,
            center,
            scale,
            use_global_stats,
            beta_initializer,
            gamma_initializer,
            running_mean_initializer,
            running_variance_initializer,
            in_channels,
            **kwargs,
        )
        del self._kwargs["axis"]
        self._kwargs["ndev"] = 1 if num_devices is None else num_devices
        self._kwargs["key"] = self.prefix

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        return F.contrib.SyncBatchNorm(
            x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs
        )


class LayerNorm(_ScaleAndShift):
    """Layer normalization (Ba et al., 2016): mean 0 and variance 1 along one axis.

    Parameters
    ----------
    axis : int
        The axis.
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether to learn a shift (`beta`) and a scale (`gamma`).
    beta_initializer, gamma_initializer : str or Initializer
        Initializers of shift and scale.
    in_channels : int
        Extent of the axis; 0 infers it from the first batch.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        axis=-1,
        epsilon=1e-5,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        in_channels=0,
        prefix=None,
        params=None,
    ):
        super().__init__(
            axis, in_channels, scale, center, gamma_initializer, beta_initializer, prefix, params
        )
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._epsilon = epsilon

    def infer_shape(self, data, *args):
        """Set the number of channels from an input."""
        super().infer_shape(data, *args)

    @calls_hybrid_forward
    def forward(self, data):
        """Normalize an array."""
        return super().forward(data)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.LayerNorm(data, gamma, beta, axis=self._axis, eps=self._epsilon)

    def _description(self):
        return {**self._kwargs, "in_channels": self.gamma.shape[0]}


class GroupNorm(_ScaleAndShift):
    """Group normalization (Wu & He, 2018): mean 0 and variance 1 in groups of channels (axis 1).

    Parameters
    ----------
    num_groups : int
        Number of groups.
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether to learn a shift (`beta`) and a scale (`gamma`): one per group as in MXNet 1.x, or
        one per channel with NumPy arrays switched on or if `in_channels` is given.
    beta_initializer, gamma_initializer : str or Initializer
        Initializers of shift and scale.
    in_channels : int
        Number of channels; if needed, 0 infers it from the first batch.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        num_groups=1,
        epsilon=1e-5,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        prefix=None,
        params=None,
        *,
        in_channels=0,
    ):
        self._per_channel = in_channels > 0 or is_np_array()
        size = in_channels if self._per_channel else num_groups
        super().__init__(
            1, size, scale, center, gamma_initializer, beta_initializer, prefix, params
        )
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        self._num_groups = num_groups
        self._epsilon = epsilon

    def infer_shape(self, data, *args):
        """Set the number of channels from an input."""
        super().infer_shape(data, *args)

    @calls_hybrid_forward
    def forward(self, data):
        """Normalize an array."""
        return super().forward(data)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.GroupNorm(data, gamma, beta, num_groups=self._num_groups, eps=self._epsilon)

    def _description(self):
        channels = {"in_channels": self.gamma.shape[0]} if self._per_channel else {}
        return {**self._kwargs, **channels}


class InstanceNorm(_ScaleAndShift):
    """Instance normalization (Ulyanov et al., 2016): mean 0 and variance 1 per image and channel.

    Parameters
    ----------
    axis : int
        Axis of the channels.
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether to learn a shift (`beta`) and a scale (`gamma`).
    beta_initializer, gamma_initializer : str or Initializer
        Initializers of shift and scale.
    in_channels : int
        Number of channels; 0 infers it from the first batch.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        axis=1,
        epsilon=1e-5,
        center=True,
        scale=False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        in_channels=0,
        prefix=None,
        params=None,
    ):
        super().__init__(
            axis, in_channels, scale, center, gamma_initializer, beta_initializer, prefix, params
        )
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._epsilon = epsilon

    def hybrid_forward(self, F, x, gamma, beta):
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, eps=self._epsilon, name="fwd")
        x = x.swapaxes(1, self._axis)
        return F.InstanceNorm(x, gamma, beta, eps=self._epsilon, name="fwd").swapaxes(1, self._axis)

    def _description(self):
        return {**self._kwargs, "in_channels": self.gamma.shape[0]}
