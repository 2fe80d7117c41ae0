"""Encoding of boxes as offsets from anchors, and decoding."""

from mxcy.ops.core.attrs import Float
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import BOX_CODE
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.detection.boxes import BOX_FORMAT, centers, corners, random_boxes


def _encode_params(a, ins, outs):
    batch, count = ins[2].shape[:2]
    return {
        "batch": batch,
        "boxes": count,
        "refs": ins[3].shape[1],
        "shared": 0,
        "center": 0,
        "clip": 0,
        "stds": (),
    }


def _not_encoded(a, ins, outs):
    samples, matches, anchors, refs = (spec.shape for spec in ins[:4])
    if len({spec.dtype for spec in ins}) > 1:
        return "the types differ"
    batched = len(refs) == 3 and anchors == (refs[0], *samples[1:], 4) and samples == matches
    return None if batched and len(anchors) == 3 else "no batch of boxes"


def _decode_params(a, ins, outs):
    batch, count, _ = ins[0].shape
    return {
        "batch": batch,
        "boxes": count,
        "refs": 0,
        "shared": ins[1].shape[0] == 1,
        "center": a.format == "center",
        "clip": a.clip,
        "stds": (a.std0, a.std1, a.std2, a.std3),
    }


def _not_decoded(a, ins, outs):
    data, anchors = ins[0].shape, ins[1].shape
    fits = len(data) == 3 and anchors in (data, (1, *data[1:]))
    return None if fits else "no batch of boxes"


@op(
    "_contrib_box_encode",
    aliases=("_npx_box_encode",),
    inputs="samples matches anchors refs means stds",
    outputs="output0 output1",
    amp="widest",
)
class BoxEncode:
    """Encode matched boxes as normalised offsets from anchors, as training targets.

    Shapes: samples (batch, n), positive for anchors to use; matches (batch, n), the index of an
    anchor's box; anchors (batch, n, 4) and refs (batch, m, 4) as corners; means and stds (4,) for
    normalisation. Returns targets and masks, both (batch, n, 4), zero for unused anchors. No
    gradient flows.
    """

    grad = stop
    kernels = (
        native(
            "box_encode",
            struct=BOX_CODE,
            params=_encode_params,
            when=_not_encoded,
            work=lambda a, ins, outs: 8 * outs[0].size,
        ),
    )
    samples = (
        sample(
            lambda rng: rng.choice([-1.0, 0.0, 1.0], (2, 4)),
            lambda rng: rng.integers(0, 3, (2, 4)) * 1.0,
            random_boxes(2, 4),
            random_boxes(2, 3),
            (4,),
            values(0.1, 1, (4,)),
            grad=False,
        ),
    )

    def infer(a, samples, matches, anchors, refs, means, stds):
        dtype = same_dtype((anchors, refs), ("anchors", "refs"))
        anchors.fill("anchors", (-1, -1, 4))
        refs.fill("refs", (anchors.shape[0], -1, 4))
        for spec, name in ((samples, "samples"), (matches, "matches")):
            spec.fill(name, anchors.shape[:2])
        means.fill("means", (4,))
        stds.fill("stds", (4,))
        return Spec(anchors.shape, dtype), Spec(anchors.shape, dtype)

    def ref(a, xp, samples, matches, anchors, refs, means, stds):
        counts = (samples > 0.5)[..., None]
        batch = xp.arange(len(refs))[:, None]
        boxes = centers(xp, refs[batch, matches.astype("int64")])
        base = centers(xp, anchors)
        offsets = (boxes[..., :2] - base[..., :2]) / base[..., 2:]
        sizes = xp.log(boxes[..., 2:] / base[..., 2:])
        targets = (xp.concatenate([offsets, sizes], axis=-1) - means) / stds
        mask = xp.broadcast_to(counts, targets.shape).astype(anchors.dtype)
        return xp.where(counts, targets, 0).astype(anchors.dtype), mask


@op("_contrib_box_decode", aliases=("_npx_box_decode",), inputs="data anchors", amp="widest")
class BoxDecode:
    """Decode predicted offsets from anchors to boxes: the inverse of box_encode.

    Shapes: data (batch, n, 4); anchors (1, n, 4) in `format`; out (batch, n, 4) as corners. The
    offsets are multiplied by `std0` ... `std3`; size offsets are limited to `clip` if that is
    positive. No gradient flows.
    """

    std0: Float = 1.0
    std1: Float = 1.0
    std2: Float = 1.0
    std3: Float = 1.0
    clip: Float = -1.0
    format: BOX_FORMAT = "center"

    grad = stop
    kernels = (
        native(
            "box_decode",
            struct=BOX_CODE,
            params=_decode_params,
            when=_not_decoded,
            work=lambda a, ins, outs: 8 * outs[0].size,
        ),
    )
    samples = (
        sample((2, 3, 4), values(0.1, 1, (1, 3, 4)), std0=0.1, std2=0.2, grad=False),
        sample((2, 3, 4), random_boxes(1, 3), clip=0.1, format="corner", grad=False),
    )

    def infer(a, data, anchors):
        dtype = same_dtype((data, anchors), ("data", "anchors"))
        data.fill("data", (-1, -1, 4))
        anchors.fill("anchors", (-1, data.shape[1], 4))
        shared = anchors.shape[0] in (-1, 1, data.shape[0]) or data.shape[0] == -1
        require(shared, f"anchors: expected those of 1 or {data.shape[0]} images, got {anchors}")
        return Spec(data.shape, dtype)

    def ref(a, xp, data, anchors):
        base = anchors if a.format == "center" else centers(xp, anchors)
        stds = xp.array([a.std0, a.std1, a.std2, a.std3], data.dtype)
        moved = data * stds
        places = moved[..., :2] * base[..., 2:] + base[..., :2]
        sizes = moved[..., 2:]
        if a.clip > 0:
            sizes = xp.minimum(sizes, xp.asarray(a.clip, data.dtype))
        return corners(xp, xp.concatenate([places, xp.exp(sizes) * base[..., 2:]], axis=-1))
