"""Detection networks."""

from mxcy import gluon
from mxcy.gluon import nn
from tests.onnx.battery.images import conv

__all__ = ["CASES"]


class Ssd(gluon.HybridBlock):
    """Heads on several feature maps, default boxes, suppression."""

    def __init__(self, classes=4, scales=3):
        super().__init__()
        self.classes, self.stem = classes, conv(8, 3, 2)
        self.stages, self.scores, self.boxes = (nn.HybridSequential() for _ in range(3))
        for _ in range(scales):
            self.stages.add(conv(12, 3, 2))
            self.scores.add(nn.Conv2D(4 * (classes + 1), 3, padding=1))
            self.boxes.add(nn.Conv2D(4 * 4, 3, padding=1))

    def hybrid_forward(self, F, x):
        x = self.stem(x)
        anchors, scores, boxes = [], [], []
        for i, (stage, score, box) in enumerate(
            zip(self.stages, self.scores, self.boxes, strict=True)
        ):
            x = stage(x)
            size = 0.2 + 0.25 * i
            anchors.append(F.contrib.MultiBoxPrior(x, sizes=(size, size + 0.1), ratios=(1, 2, 0.5)))
            scores.append(F.flatten(F.transpose(score(x), axes=(0, 2, 3, 1))))
            boxes.append(F.flatten(F.transpose(box(x), axes=(0, 2, 3, 1))))
        scores = F.reshape(F.concat(*scores, dim=1), (0, -1, self.classes + 1))
        scores = F.softmax(F.transpose(scores, axes=(0, 2, 1)) * 6, axis=1)
        return F.contrib.MultiBoxDetection(
            scores,
            F.concat(*boxes, dim=1) * 0.2,
            F.concat(*anchors, dim=1),
            nms_threshold=0.45,
            threshold=0.05,
        )


class Yolo(gluon.HybridBlock):
    """YOLOv3's head on two feature maps: grid offsets, exponential sizes, suppression."""

    def __init__(self, classes=3):
        super().__init__()
        self.classes = classes
        self.deep, self.deeper, self.side = conv(8, 3, 2, "relu"), conv(12, 3, 2), conv(8, 1)
        self.low, self.high = (nn.Conv2D(2 * (5 + classes), 1) for _ in range(2))

    def decode(self, F, y, size, stride):
        y = F.transpose(F.reshape(y, (0, 2, 5 + self.classes, -1)), axes=(0, 3, 1, 2))
        centre = F.sigmoid(F.slice_axis(y, axis=-1, begin=0, end=2))
        extent = F.exp(F.slice_axis(y, axis=-1, begin=2, end=4))
        sure = F.sigmoid(F.slice_axis(y, axis=-1, begin=4, end=5))
        kinds = F.sigmoid(F.slice_axis(y, axis=-1, begin=5, end=None))
        columns = F.tile(F.arange(size), (size,))
        rows = F.repeat(F.arange(size), size)
        grid = F.reshape(F.stack(columns, rows, axis=-1), (1, -1, 1, 2))
        centre = F.broadcast_add(centre, grid) * stride
        half = extent * (stride / 2)
        boxes = F.concat(centre - half, centre + half, dim=-1)
        scores = F.broadcast_mul(sure, kinds)
        best = F.max(scores, axis=-1, keepdims=True)
        kind = F.argmax(scores, axis=-1, keepdims=True)
        return F.reshape(F.concat(kind, best, boxes, dim=-1), (0, -3, -1))

    def hybrid_forward(self, F, x):
        low = self.deep(x)
        high = self.deeper(low)
        up = F.UpSampling(self.side(high), scale=2, sample_type="nearest")
        joined = F.concat(up, low, dim=1)
        actual = F.concat(
            self.decode(F, self.high(high), 4, 4), self.decode(F, self.low(joined), 8, 2), dim=1
        )
        return F.contrib.box_nms(
            actual, overlap_thresh=0.4, valid_thresh=0.2, topk=20, id_index=0, force_suppress=True
        )


class Centres(gluon.HybridBlock):
    """CenterNet: peaks of heat maps, and the other heads' values there."""

    def __init__(self):
        super().__init__()
        self.body, self.heat = conv(8, 3, 2), nn.Conv2D(3, 1, activation="sigmoid")
        self.shape, self.shift = nn.Conv2D(2, 1), nn.Conv2D(2, 1)

    def hybrid_forward(self, F, x):
        y = self.body(x)
        heat = self.heat(y)
        peak = F.Pooling(heat, kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type="max")
        heat = F.reshape(heat * F.broadcast_equal(peak, heat), (0, -1))
        scores, places = F.topk(heat, k=6, ret_typ="both", axis=-1)
        kinds = F.floor(places / 64)
        places = places - kinds * 64
        maps = F.reshape(F.concat(self.shape(y), self.shift(y), dim=1), (0, 4, -1))
        told = F.stack(
            *[
                F.pick(
                    F.broadcast_like(
                        F.slice_axis(maps, axis=1, begin=i, end=i + 1),
                        F.expand_dims(places, axis=-1), lhs_axes=(1,), rhs_axes=(1,)
                    ),
                    places, axis=2,
                )
                for i in range(4)
            ],
            axis=-1,
        )  # fmt: skip
        return scores, kinds, told


class Regions(gluon.HybridBlock):
    """Faster R-CNN: proposals, their features, classes and boxes."""

    def __init__(self):
        super().__init__()
        self.body, self.rpn = conv(8, 3, 2), nn.Conv2D(8, 3, padding=1, activation="relu")
        self.score, self.box = nn.Conv2D(2 * 4, 1), nn.Conv2D(4 * 4, 1)
        self.dense = nn.Dense(12, activation="relu")
        self.classes, self.boxes = nn.Dense(4), nn.Dense(16)

    def hybrid_forward(self, F, x, info):
        y = self.body(x)
        r = self.rpn(y)
        score = F.softmax(F.reshape(self.score(r), (0, 2, -1, 0)), axis=1)
        score = F.reshape(score, (0, 8, -1, 16))
        rois = F.contrib.Proposal(
            score,
            self.box(r) * 0.1,
            info,
            rpn_pre_nms_top_n=60,
            rpn_post_nms_top_n=12,
            threshold=0.7,
            rpn_min_size=2,
            scales=(2, 4),
            ratios=(0.5, 1),
            feature_stride=2,
        )
        rois = F.BlockGrad(rois)
        inside = F.contrib.ROIAlign(y, rois, (3, 3), 0.5, 2)
        inside = self.dense(inside)
        return rois, F.softmax(self.classes(inside)), self.boxes(inside)


class Deformed(gluon.HybridBlock):
    """A deformable convolution with offsets from another one."""

    def __init__(self):
        super().__init__()
        self.first = conv(6)
        self.layer = gluon.contrib.cnn.DeformableConvolution(
            8, (3, 3), padding=(1, 1), offset_weight_initializer="normal", activation="relu"
        )
        self.last = nn.Dense(3)

    def hybrid_forward(self, F, x):
        return self.last(F.mean(self.layer(self.first(x)), axis=(2, 3)))


#: name -> (factory, shapes of inputs, dynamic dimensions, other shapes)
CASES = {
    "ssd": (Ssd, [(1, 3, 64, 64)], [("N", 3, 64, 64)], [(2, 3, 64, 64)]),
    "yolo": (Yolo, [(1, 3, 16, 16)], [("N", 3, 16, 16)], [(2, 3, 16, 16)]),
    "centernet": (Centres, [(1, 3, 16, 16)], [("N", 3, 16, 16)], [(2, 3, 16, 16)]),
    "faster_rcnn": (Regions, [(1, 3, 32, 32), (1, 3)], None, None),
    "deformable": (Deformed, [(2, 3, 12, 12)], None, None),
}
