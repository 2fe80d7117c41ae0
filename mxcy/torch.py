"""`mx.th`: Lua Torch functions, which MXNet has if built with them.

Common builds of MXNet have none, nor does mxcy. Exchange arrays with PyTorch by DLPack:
``torch.from_dlpack(array)`` and ``mx.nd.from_dlpack(tensor)``.
"""

__all__: list[str] = []


def __getattr__(name):
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: mxcy was built without Lua Torch; "
        "mx.nd.from_dlpack imports PyTorch's tensors"
    )
