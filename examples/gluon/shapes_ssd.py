"""Detect shapes in noisy images with a small single-shot detector (Liu et al., 2016).

Images of 48 x 48 pixels show one to three squares, discs and triangles in random colours. Two
layers of a small network predict a class and a box for anchors of several sizes at each position.
Run ``python examples/gluon/shapes_ssd.py``; ``--help`` lists the options.

At the end it prints, for test images, the mean overlap (intersection over union) of the true boxes
with the detections, and the average precision of each class at an overlap of 0.5: 0.68, and 0.91 to
0.95, after 12 epochs on 2,000 images.
"""

import argparse

import numpy as np
from tqdm import tqdm

import mxcy as mx

SIZE = 48
KINDS = ("square", "disc", "triangle")
#: sizes and aspect ratios of the anchors of both layers
ANCHORS = (((0.22, 0.32), (1, 2, 0.5)), ((0.42, 0.55), (1, 2, 0.5)))
PER_PLACE = 4  # number of sizes and ratios, minus the one in common
nn = mx.gluon.nn


def draw(rng):
    """Draw a random image.

    Returns
    -------
    picture : numpy.ndarray
        float32, (3, SIZE, SIZE), about 0 to 1.
    labels : numpy.ndarray
        float32, (3, 5): rows of class and box (left, top, right, bottom, 0 to 1); unused are -1.
    """
    picture = np.broadcast_to(rng.uniform(0, 1, (3, 1, 1)), (3, SIZE, SIZE)).copy()
    background = picture[:, 0, 0].copy()
    labels = np.full((3, 5), -1, "float32")
    y, x = np.mgrid[:SIZE, :SIZE] + 0.5
    taken = np.zeros((SIZE, SIZE), bool)
    for row in range(rng.integers(1, 4)):
        side = rng.integers(10, 25)
        left, top = rng.integers(0, SIZE - side, 2)
        box = np.s_[top : top + side, left : left + side]
        if taken[box].any():
            continue
        taken[box] = True
        colour = rng.uniform(0, 1, 3)
        while np.abs(colour - background).max() < 0.4:
            colour = rng.uniform(0, 1, 3)
        kind = rng.integers(len(KINDS))
        u, v = (x - left) / side, (y - top) / side  # 0 to 1 within the box
        inside = (0 <= u) & (u <= 1) & (0 <= v) & (v <= 1)
        if kind == 1:
            inside &= (u - 0.5) ** 2 + (v - 0.5) ** 2 <= 0.25
        elif kind == 2:
            inside &= np.abs(u - 0.5) <= v / 2
        picture[:, inside] = colour[:, np.newaxis]
        labels[row] = kind, left / SIZE, top / SIZE, (left + side) / SIZE, (top + side) / SIZE
    labels = labels[np.argsort(labels[:, 0] < 0, kind="stable")]  # unused rows at the end
    picture += rng.normal(0, 0.05, picture.shape)
    return picture.astype("float32"), labels


def draw_many(count, seed):
    """Draw images (count, 3, SIZE, SIZE) and labels (count, 3, 5)."""
    rng = np.random.default_rng(seed)
    pictures, labels = zip(*(draw(rng) for _ in range(count)), strict=True)
    return np.stack(pictures), np.stack(labels)


def convolution(channels):
    """Create a convolution with normalization and ReLU."""
    block = nn.HybridSequential()
    block.add(
        nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu")
    )
    return block


class Detector(mx.gluon.HybridBlock):
    """Maps images to anchors (1, n, 4), class scores (batch, classes + 1, n) and offsets."""

    def __init__(self):
        super().__init__()
        classes = len(KINDS) + 1
        with self.name_scope():
            self.body = nn.HybridSequential()
            for channels in (16, 32, 64):
                self.body.add(convolution(channels), nn.MaxPool2D(2))
            self.body.add(convolution(64))
            self.deeper = nn.HybridSequential()
            self.deeper.add(nn.MaxPool2D(2), convolution(64), convolution(64))
            self.classes = nn.HybridSequential()
            self.boxes = nn.HybridSequential()
            for _ in ANCHORS:
                self.classes.add(nn.Conv2D(PER_PLACE * classes, 3, padding=1))
                self.boxes.add(nn.Conv2D(PER_PLACE * 4, 3, padding=1))

    def hybrid_forward(self, F, pictures):
        near = self.body(pictures)
        layers = near, self.deeper(near)
        anchors, scores, offsets = [], [], []
        for number, (layer, (sizes, ratios)) in enumerate(zip(layers, ANCHORS, strict=True)):
            anchors.append(F.contrib.MultiBoxPrior(layer, sizes=sizes, ratios=ratios))
            predicted = F.transpose(self.classes[number](layer), axes=(0, 2, 3, 1))
            scores.append(F.reshape(predicted, shape=(0, -1, len(KINDS) + 1)))
            offsets.append(F.flatten(F.transpose(self.boxes[number](layer), axes=(0, 2, 3, 1))))
        scores = F.transpose(F.concat(*scores, dim=1), axes=(0, 2, 1))
        return F.concat(*anchors, dim=1), scores, F.concat(*offsets, dim=1)


def train_epoch(net, trainer, batches, bar):
    """Train on each batch."""
    classes_loss = mx.gluon.loss.SoftmaxCrossEntropyLoss(axis=1)
    boxes_loss = mx.gluon.loss.HuberLoss()
    for pictures, labels in batches:
        with mx.autograd.record():
            anchors, scores, offsets = net(pictures)
            with mx.autograd.pause():
                true_offsets, mask, true_classes = mx.nd.contrib.MultiBoxTarget(
                    anchors, labels, scores, negative_mining_ratio=3
                )
            counted = (true_classes >= 0).expand_dims(2)  # others are ignored
            # Rescale both means, which include the ignored anchors.
            loss = classes_loss(scores, true_classes * counted[:, :, 0], counted) * 10
            loss = loss + boxes_loss(offsets * mask, true_offsets * mask) * 10
        loss.backward()
        trainer.step(len(pictures))
        bar.set_postfix_str(f"loss {float(loss.mean().asscalar()):.4f}", False)
        bar.update(len(pictures))


def detect(net, pictures):
    """Detect shapes: rows of (class or -1, score, box) per image, NumPy."""
    detections = []
    for first in range(0, len(pictures), 100):
        anchors, scores, offsets = net(mx.nd.array(pictures[first : first + 100]))
        detections.append(
            mx.nd.contrib.MultiBoxDetection(
                scores.softmax(axis=1), offsets, anchors, nms_threshold=0.4, threshold=0.1
            ).asnumpy()
        )
    return np.concatenate(detections)


def overlaps(box, boxes):
    """Intersection over union of a box with each of several."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return shared / (np.prod(box[2:] - box[:2]) + areas - shared)


def mean_overlap(detections, labels):
    """Mean overlap of true boxes with the best detection of their class, 0 if there is none."""
    best = []
    for rows, truth in zip(detections, labels, strict=True):
        for kind, *box in truth[truth[:, 0] >= 0]:
            boxes = rows[(rows[:, 0] == kind) & (rows[:, 1] > 0.5), 2:]
            best.append(overlaps(np.array(box), boxes).max(initial=0))
    return float(np.mean(best))


def average_precision(detections, labels, kind):
    """Area under the precision-recall curve of a class at an overlap of 0.5."""
    left = [list(truth[truth[:, 0] == kind, 1:]) for truth in labels]
    total = sum(map(len, left))
    ranked = [
        (score, picture, np.array(box))
        for picture, rows in enumerate(detections)
        for which, score, *box in rows
        if which == kind
    ]
    hits = []
    for _, picture, box in sorted(ranked, key=lambda row: -row[0]):
        shared = overlaps(box, np.array(left[picture]).reshape(-1, 4))
        hits.append(shared.max(initial=0) >= 0.5)
        if hits[-1]:
            del left[picture][shared.argmax()]
    right = np.cumsum(hits)
    precision = right / np.arange(1, len(hits) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float(precision[np.array(hits, bool)].sum() / total)


def parse(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--pictures", type=int, default=2000, help="training images")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments=None):
    """Train and evaluate; return mean overlap and mean average precision."""
    args = parse(arguments)
    mx.random.seed(args.seed)
    rng = np.random.default_rng(args.seed)
    pictures, labels = draw_many(args.pictures, args.seed)
    net = Detector()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": args.learning_rate})
    for epoch in range(args.epochs):
        if epoch == args.epochs * 3 // 4:
            trainer.set_learning_rate(args.learning_rate / 10)
        parts = np.array_split(rng.permutation(len(pictures)), len(pictures) // args.batch_size)
        batches = ((mx.nd.array(pictures[part]), mx.nd.array(labels[part])) for part in parts)
        with tqdm(total=len(pictures), unit=" pictures", disable=None) as bar:
            bar.set_description(f"epoch {epoch + 1}/{args.epochs}")
            train_epoch(net, trainer, batches, bar)
    pictures, labels = draw_many(300, args.seed + 1)
    detections = detect(net, pictures)
    overlap = mean_overlap(detections, labels)
    precisions = [average_precision(detections, labels, kind) for kind in range(len(KINDS))]
    print(f"mean overlap {overlap:.3f}")
    for name, precision in zip(KINDS, precisions, strict=True):
        print(f"average precision of {name}s {precision:.3f}")
    return overlap, float(np.mean(precisions))


if __name__ == "__main__":
    main()
