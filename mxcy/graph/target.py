"""What passes may know of the machine they plan for; filled in by the layer that has a front."""

__all__ = ["Target"]


class Target:
    """The native library and the settings that decide how graphs are planned.

    Attributes
    ----------
    has_kernel, query, measure : callable
        Those of the front (see `mxcy/_cy/native.pyx`).
    block : int
        Channels of the blocked layout: 16 with AVX-512, else 8; 0 switches blocked layouts off.
    settings : dict
        Values of environment variables that passes obey, by name.
    lower : callable, optional
        Of a device: what fills calls with its kernels; see `mxcy.ops.core.prepare`.
    memory : dict
        What trials found out, as JSON values under text keys.
    """

    def __init__(self, has_kernel, query, measure, block, settings, memory, lower=None):
        self.lower = lower
        self.has_kernel, self.query, self.measure = has_kernel, query, measure
        self.block, self.settings, self.memory = block, settings, memory
        self.choices: dict = {}  # of kernels, see algorithm.py

    @property
    def tries(self):
        """Whether algorithms are chosen by trials."""
        return (
            self.settings["MXNET_CUDNN_AUTOTUNE_DEFAULT"] > 0
            and not self.settings["MXNET_ENFORCE_DETERMINISM"]
        )

    def report(self, level, text):
        """Print about the choice of algorithms as MXNET_CUDNN_ALGO_VERBOSE_LEVEL says."""
        if self.settings["MXNET_CUDNN_ALGO_VERBOSE_LEVEL"] >= level:
            print(f"mxcy algorithm {text}", flush=True)
