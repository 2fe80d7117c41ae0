"""Helpers of convolution and pooling layers."""

__all__ = ["as_tuple", "describe"]


def as_tuple(value, ndim):
    """Convert a number (repeated `ndim` times) or a sequence to a tuple."""
    return (value,) * ndim if isinstance(value, int) else tuple(value)


def describe(block, attrs, weight, bias, transposed=False):
    """Format the `repr` of a convolution layer from its operator's attributes and arrays."""
    outputs, inputs = weight.shape[:2]
    if transposed:
        outputs, inputs = inputs, outputs
    content = [f"{inputs or None} -> {outputs}"]
    content += [f"kernel_size={attrs['kernel']}", f"stride={attrs['stride']}"]
    ndim = len(attrs["kernel"])
    if attrs["pad"] != (0,) * ndim:
        content.append(f"padding={attrs['pad']}")
    if attrs["dilate"] != (1,) * ndim:
        content.append(f"dilation={attrs['dilate']}")
    if attrs["num_group"] != 1:
        content.append(f"groups={attrs['num_group']}")
    if bias is None:
        content.append("bias=False")
    if block.act:
        content.append(repr(block.act))
    return f"{type(block).__name__}({', '.join(content)})"
