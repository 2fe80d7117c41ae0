"""Whether other operations use gradients while a backward pass continues."""

__all__ = ["overlap"]


class Overlap:
    """A switch of this process.

    Attributes
    ----------
    in_use : bool
        Set for good by the first user. Only then are backward passes split into pieces that end
        with gradients (MXCY_DIST_OVERLAP), as each piece takes time to begin.
    """

    def __init__(self):
        self.in_use = False


overlap = Overlap()
