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
    """

    def __init__(self, has_kernel, query, measure, block, settings):
        self.has_kernel, self.query, self.measure = has_kernel, query, measure
        self.block, self.settings = block, settings
