"""The machine description that passes use, filled in by the layer above the front."""

__all__ = ["Target"]


class Target:
    """The native library and the settings that determine planning.

    Attributes
    ----------
    has_kernel, query, measure : callable
        Functions of the front (see `mxcy/_cy/native.pyx`).
    block : int
        Channels per block: 16 with AVX-512, else 8; 0 disables blocked layouts.
    settings : dict
        Environment variable -> value, for those that passes use.
    lower : callable, optional
        For devices: sets their kernels in calls; see `mxcy.ops.core.prepare`.
    memory : dict
        Results of trials, as JSON values under str keys.
    threads : int
        The size of the parallel team.
    """

    def __init__(self, has_kernel, query, measure, block, settings, memory, lower=None, threads=1):
        self.lower, self.threads = lower, threads
        self.has_kernel, self.query, self.measure = has_kernel, query, measure
        self.block, self.settings, self.memory = block, settings, memory
        self.choices: dict = {}  # selected kernels, see algorithm.py

    @property
    def tries(self):
        """Whether algorithms are selected by trials."""
        return (
            self.settings["MXNET_CUDNN_AUTOTUNE_DEFAULT"] > 0
            and not self.settings["MXNET_ENFORCE_DETERMINISM"]
        )

    def report(self, level, text):
        """Print a message on algorithm selection, subject to MXNET_CUDNN_ALGO_VERBOSE_LEVEL."""
        if self.settings["MXNET_CUDNN_ALGO_VERBOSE_LEVEL"] >= level:
            print(f"mxcy algorithm {text}", flush=True)
