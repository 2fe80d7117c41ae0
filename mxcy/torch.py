"""`mx.th`: functions of Lua Torch, which MXNet offers when it was built with them.

The usual builds of MXNet have none here, and neither has mxcy. Arrays go to and from PyTorch by
DLPack: ``torch.from_dlpack(array)`` and ``mx.nd.from_dlpack(tensor)``.
"""

__all__: list[str] = []


def __getattr__(name):
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: mxcy was built without Lua Torch; "
        "mx.nd.from_dlpack takes over PyTorch's tensors"
    )
