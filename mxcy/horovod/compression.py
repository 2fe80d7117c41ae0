"""Types in which gradients travel."""

__all__ = ["Compression"]


class _AsTheyAre:
    """Tensors travel as they are."""

    @staticmethod
    def compress(tensor):
        """What travels, and what `decompress` needs to know."""
        return tensor, None

    @staticmethod
    def decompress(tensor, known):
        """The tensor after the journey."""
        return tensor


class _Halves:
    """Tensors of real numbers are rounded to float16."""

    @staticmethod
    def compress(tensor):
        """What travels, and what `decompress` needs to know."""
        if "float" not in str(tensor.dtype):
            return tensor, None
        return tensor.astype("float16"), tensor.dtype

    @staticmethod
    def decompress(tensor, known):
        """The tensor after the journey."""
        return tensor if known is None else tensor.astype(known)


class Compression:
    """The types to choose from: ``Compression.none`` and ``Compression.fp16``."""

    none = _AsTheyAre
    fp16 = _Halves
