"""Compression of gradients for communication."""

__all__ = ["Compression"]


class _NoCompression:
    """No compression."""

    @staticmethod
    def compress(tensor):
        """Return the tensor to send, and the context for `decompress`."""
        return tensor, None

    @staticmethod
    def decompress(tensor, known):
        """Restore a received tensor."""
        return tensor


class _Float16:
    """Floating-point tensors are sent as float16."""

    @staticmethod
    def compress(tensor):
        """Return the tensor to send, and the context for `decompress`."""
        if "float" not in str(tensor.dtype):
            return tensor, None
        return tensor.astype("float16"), tensor.dtype

    @staticmethod
    def decompress(tensor, known):
        """Restore a received tensor."""
        return tensor if known is None else tensor.astype(known)


class Compression:
    """The available methods: ``Compression.none`` and ``Compression.fp16``."""

    none = _NoCompression
    fp16 = _Float16
