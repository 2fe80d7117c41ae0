"""NVRTC compiles all CUDA sources for all architectures, without register spills."""

import pytest

from mxcy.gpu.compile import compiler
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import REGISTRY
from tests.gpu.nvrtc import ARCHITECTURES, SPEC, compiles_without_spills, needs_nvrtc

# A test compiles dozens of sources.
pytestmark = [needs_nvrtc, pytest.mark.timeout(900)]


def test_copies():
    from mxcy.gpu.shape.copying import _strided

    for text in (_strided("unsigned", 3), _strided("Half", 2, constant=True)):
        image, _, _ = compiler().compile(text, 90)
        assert image.startswith(b"\x7fELF")


def test_refused_text():
    from mxcy.base import MXNetError

    with pytest.raises(MXNetError, match="unknown"):
        compiler().compile('extern "C" __global__ void f() { unknown; }', 90)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lines_of_elements(architecture):
    from mxcy.gpu.reduce.lines import reduce, softmax
    from mxcy.gpu.table import Request

    data = Spec((4, 300), 0)
    values = {"outer": 4, "extent": 300, "inner": 1, "scale": 1.0}
    launches = [
        *softmax(Request("softmax", 0, values, {}, None, [data], [data])),
        *softmax(Request("log_softmax_grad", 0, values, {}, None, [data, data], [data])),
    ]
    values = {"ndim": 2, "first_reduced": 0, "shape": [4, 300]}
    for name in ("mean", "max"):
        request = Request(name, 0, values, {}, None, [data], [Spec((4,), 0)])
        launches += reduce(request)
    for launch in launches:
        compiles_without_spills(launch.text, architecture)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_steps_of_optimizers(architecture, dtype):
    from mxcy.gpu.optimizer.optimizers import _STEPS, step, steps
    from mxcy.gpu.table import Request

    fields = "lr wd eta momentum beta beta1 beta2 gamma1 gamma2 epsilon lamda1 t wd_lh".split()
    fields += ["rescale_grad", "clip_gradient", "clip_grad", "clip_weights"]
    numbers, spec, launches = dict.fromkeys(fields, 0.5), SPEC[dtype], []
    for name, (states, _) in _STEPS.items():
        scaled = name in ("_adamw", "_adabelief")
        values = {k: v for k, v in numbers.items() if not (scaled and k == "rescale_grad")}
        ins = [spec] * (2 + states + scaled)
        launches += step(Request(f"{name}_update", dtype, values, {}, None, ins, [spec]))
    many = {"weights": 3, "per": 3, "preloaded": 0, "lrs": [0.1] * 3, "wds": [0.0] * 3}
    request = Request(
        "multi_sgd_mom_update", dtype, numbers | many, {}, None, [spec] * 9, [spec] * 3
    )
    launches += steps(request)
    for launch in launches:
        compiles_without_spills(launch.text, architecture)


def layerwise_steps(dtype):
    """Launches of LAMB and LANS, with and without master weights."""
    from mxcy.gpu.optimizer import layerwise
    from mxcy.gpu.table import Request

    fields = "beta1 beta2 epsilon t lr wd rescale_grad clip_gradient lower_bound upper_bound"
    numbers = dict.fromkeys(fields.split(), 0.5) | {"bias_correction": 1, "weights": 2}
    numbers |= dict.fromkeys(("learning_rates", "wds", "step_count"), [1, 2])
    spec = SPEC[dtype]
    for mixed in (False, True) if dtype != 1 else (False,):
        inputs, prefix = [spec, spec] + [SPEC[0 if mixed else dtype]] * (2 + mixed), "mp_" * mixed
        asked = [(layerwise.direction, f"{prefix}lamb_update_phase1", inputs, 1)]
        asked += [(layerwise.along, f"{prefix}lamb_update_phase2", [spec, *inputs[2:4] * 2], 1)]
        for name in ("lamb", "lans"):
            asked += [(layerwise.steps, f"_multi_{prefix}{name}_update", inputs * 2, 2)]
        for make, name, ins, count in asked:
            values = numbers | {"per": len(inputs)}
            yield from make(Request(name, dtype, values, {}, None, ins, [spec] * count))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1, 2])
def test_layerwise_steps(architecture, dtype):
    texts = {launch.text for launch in layerwise_steps(dtype)}
    assert len(texts) > 3
    for text in texts:
        compiles_without_spills(text, architecture)


def layers(dtype):
    """Launches of products, convolutions, norms, pooling and picks, as records ask for them."""
    from mxcy.gpu.indexing import indexing, ordering
    from mxcy.gpu.matrix import products
    from mxcy.gpu.norm import norms
    from mxcy.gpu.pooling import windows
    from mxcy.gpu.table import Request

    def launched(make, name, values, ins, outs):
        return make(Request(name, dtype, values, {}, None, ins, outs))

    ones, cube = [1, 1, 1], Spec((2, 3, 1, 8, 8), dtype)
    matrix, vector = Spec((64, 64), dtype), Spec((3,), dtype)
    gemm = dict.fromkeys(("batch", "alpha"), 1) | dict.fromkeys("mnk", 64) | {"beta": 0}
    window = dict.fromkeys(("source", "target", "kernel", "stride", "dilate"), ones)
    window |= {"pad": [0, 0, 0], "batch": 2, "groups": 1, "channels": 3, "filters": 4}
    norm = {"outer": 2, "channels": 3, "inner": 64, "eps": 1e-5, "momentum": 0.9}
    rows = {"rows": 6, "length": 64, "block": 64, "count": 3, "eps": 1e-5}
    pool = {"outer": 6, "inner": 1, "count_pad": 1} | window
    for a in (0, 1):
        for b in (0, 1):
            values = gemm | {"transpose_a": a, "transpose_b": b}
            yield from launched(products.gemm, "gemm", values, [matrix] * 2, [matrix])
    for make in (products.convolution, products.of_data, products.of_weight):
        yield from launched(make, make.__name__, window, [cube, cube], [cube])
    for batch_stats in (0, 1):
        values = norm | {"batch_stats": batch_stats, "fix_gamma": 0}
        ins, outs = [cube, *[vector] * 4], [cube, vector, vector]
        yield from launched(norms.batch_norm, "batch_norm_relu", values, ins, outs)
        ins = [cube, cube, *[vector] * 6]
        yield from launched(norms.batch_norm, "batch_norm_relu6_grad", values, ins, outs)
    yield from launched(norms.row_norm, "row_norm", rows, [cube] * 3, [cube] * 3)
    yield from launched(norms.row_norm, "row_norm_grad", rows, [cube] * 5, [cube] * 3)
    for kind in (0, 1):
        values = pool | {"kind": kind}
        yield from launched(windows.pool, "pool", values, [cube], [cube])
        yield from launched(windows.pool, "pool_grad", values, [cube] * 3, [cube])
    along = {"outer": 4, "extent": 16, "inner": 1, "taken": 1, "mode": 0}
    for name in ("along", "along_grad"):
        yield from launched(indexing.along, name, along, [matrix, matrix], [matrix])
    index, taken = Spec((16,), 4), Spec((16, 64), dtype)
    for mode in (0, 1):
        values = {"outer": 1, "extent": 64, "inner": 64, "mode": mode, "data": 0, "index": 1}
        yield from launched(indexing.take, "take", values, [matrix, index], [taken])
        yield from launched(indexing.take_grad, "take_grad", values, [taken, index], [matrix])
    values = {"depth": 64, "on": 1, "off": 0}
    yield from launched(indexing.one_hot, "one_hot", values, [index], [taken])
    values = {"outer": 4, "inner": 1, "taken": 9, "values": 0, "indices": 1, "mask": -1}
    for extent in (100, 5000):
        data = Spec((4, extent), dtype)
        for ascending in (0, 1):
            asked = values | {"extent": extent, "ascending": ascending}
            yield from launched(ordering.order, "order", asked, [data], [matrix, index])
    yield from launched(ordering.search, "searchsorted", {"right": 1}, [vector, vector], [index])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_layers(architecture, dtype, monkeypatch):
    """Our kernels, which run without cuBLAS and cuDNN."""
    from mxcy.gpu.convolution import cudnn
    from mxcy.gpu.matrix import blas

    for library in (blas, cudnn):
        monkeypatch.setattr(library, "is_open", lambda: False)
    texts = {launch.text for launch in layers(dtype)}
    assert len(texts) > 15
    for text in texts:
        compiles_without_spills(text, architecture)


def draws(dtype):
    """Launches of all kernels that draw random numbers."""
    from mxcy.gpu.random import random
    from mxcy.gpu.table import Request, maker_of

    spec, few = Spec((1000,), dtype), Spec((10,), dtype)
    for name in random._SAMPLES:
        numbers = {"first": 0.5, "second": 0.5, "arrays": 0}
        if maker_of(f"np_{name}"):
            make, _ = maker_of(f"np_{name}")
            yield from make(Request(f"np_{name}", dtype, numbers, {}, None, [], [spec]))
            arrays = numbers | {"arrays": 3}
            ins, outs = [few, few], [Spec((100, 10), dtype)] * 2
            yield from make(Request(f"np_{name}", dtype, arrays, {}, None, ins, outs))
        if maker_of(f"sample_{name}"):
            make, _ = maker_of(f"sample_{name}")
            yield from make(Request(f"sample_{name}", dtype, {}, {}, None, [few, few], [spec]))
            make, _ = maker_of(f"random_{name}")
            yield from make(Request(f"random_{name}", dtype, {"a": 0.5}, {}, None, [], [spec]))
    for rows in (1000, 10):
        ins, outs = (
            [Spec((10, 100), dtype)],
            [Spec((10, 100), dtype), Spec((10, rows // 10), dtype)],
        )
        yield from random.dropout(Request("dropout", dtype, {"p": 0.5}, {}, None, ins, outs))
    bounds = {"low": 0, "high": 9}
    yield from random.integers(Request("random_randint", 4, bounds, {}, None, [], [SPEC[6]]))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_random_numbers(architecture, dtype):
    texts = {launch.text for launch in draws(dtype)}
    assert len(texts) > 20
    for text in texts:
        compiles_without_spills(text, architecture)


def chance_texts(dtype):
    """Yield the sources of random choice and shuffling."""
    from mxcy.gpu.indexing import ordering
    from mxcy.gpu.random import choices

    yield choices.chance_text(choices._TABLE, dtype, 4)
    yield choices.chance_text(choices._ORDER + choices._MOVE, dtype)
    yield choices.chance_text(ordering.ordering_text() + choices._RANKS, dtype)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1, 2])
def test_choices(architecture, dtype):
    for text in chance_texts(dtype):
        compiles_without_spills(text, architecture)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_alignments(architecture, dtype):
    from mxcy.gpu.loss.alignments import alignment_text

    for label, lengths in ((dtype, dtype), (4, 6)):
        compiles_without_spills(alignment_text(dtype, label, lengths, lengths), architecture)


def recurrent_texts(dtype):
    """Yield the sources of all cells, their gradients and helpers."""
    from mxcy.gpu.matrix import products
    from mxcy.gpu.random import random
    from mxcy.gpu.recurrent import recurrent

    lengths = Spec((4,), 4).dtype
    for number, (step, back) in recurrent._CELLS.items():
        is_lstm = number == recurrent._LSTM
        for projection, clips in [(0, 0), (8, 0), (0, 1), (8, 2)] if is_lstm else [(0, 0)]:
            values = {"gates": (1, 1, 4, 3)[number], "projection": projection, "clips": clips}
            head = recurrent._head(dtype, values, lengths)
            yield head + recurrent._STEP.format(step=step)
            yield head + recurrent._BACK.format(back=back, raw=recurrent._RAW)
    values = {"gates": 1, "projection": 0, "clips": 0}
    yield recurrent._head(dtype, values, lengths) + recurrent._HELPERS
    yield products.strided_text(dtype)
    yield random.dropout_text(dtype)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_recurrent_layers(architecture, dtype):
    for text in recurrent_texts(dtype):
        compiles_without_spills(text, architecture)


def detection_texts(dtype):
    """Yield the sources of boxes and regions."""
    from mxcy.gpu.detection import boxes, multibox, regions
    from mxcy.gpu.table import Request

    for body in (boxes._IOU, boxes._NMS, boxes._MATCHING, boxes._CODES):
        yield boxes.boxes_text(dtype, body)
    for body in (multibox._DETECTION, multibox._TARGET):
        yield boxes.boxes_text(dtype, body)
    for body in (multibox._PRIOR, boxes._PROPOSAL):
        yield boxes.boxes_text(dtype, f"#define COUNT 24\n{body}")
    request = Request("", dtype, {}, {}, None, [], [])
    for body in (regions._MAXIMA, regions._POINTS, regions._SENSITIVE):
        yield regions._text(request, body)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_detection(architecture, dtype):
    for text in detection_texts(dtype):
        compiles_without_spills(text, architecture)


def other_launches(dtype):
    """Launches of losses, lines, images, margins and sequences."""
    import mxcy.gpu.kernels  # noqa: F401  it registers the launches
    from mxcy.gpu.table import Request, maker_of

    planes, vector, index = Spec((2, 3, 8, 8), dtype), Spec((3,), dtype), Spec((2,), 4)
    line = {"outer": 2, "extent": 192, "inner": 1, "scale": 1, "eps": 0.1, "ddof": 1}
    channel = {"outer": 2, "channels": 3, "inner": 64, "nsize": 3, "alpha": 1, "beta": 1}
    channel |= {"knorm": 1, "p": 0.1, "q": 1}
    loss = {"rows": 2, "classes": 3, "inner": 64, "labels": 128, "probabilities": 0}
    loss |= {"use_ignore": 1, "valid": 1, "ignore_label": 0, "smooth_alpha": 0, "scale": 1}
    loss |= {"margin": 1, "weight": 1, "linear": 0}
    size = {"source": [4, 4], "target": [8, 8], "aligned": 0, "sum": 0, "mean": [1] * 3}
    size |= {"std": [1] * 3, "channels": 3, "size": 64, "axis": 1, "p": 0.5}
    steps = {"steps": 8, "batch": 2, "inner": 24, "axis": 1, "value": 0}
    colour = {"low": 0.5, "high": 1.5, "most": [0.1] * 4, "alpha": (), "deviation": 0.1}
    image, gray = Spec((8, 8, 3), dtype), Spec((8, 8, 1), dtype)
    margin = {"ndim": 3, "reflect": 1, "shape": [2, 3, 4], "before": [1] * 3, "after": [1] * 3}
    margin |= {"extent": 3, "inner": 64, "shift": 1}
    asked = [
        (("argmax", "var", "std", "l2_normalize"), line, [planes]),
        (("softmax_length",), line, [planes, index]),
        (("prelu", "prelu_grad"), channel, [planes, planes, vector]),
        (("lrn", "lrn_grad"), channel, [planes] * 3),
        (("leaky_grad", "elu_grad"), channel, [planes] * 2),
        (("softmax_output_grad", "svm_output_grad"), loss, [planes, planes]),
        (("resample", "average_parts"), size | {"transposed": 0}, [planes]),
        (("resample", "average_parts"), size | {"transposed": 1}, [planes]),
        (("enlarge", "image_normalize", "shrink"), size, [planes]),
        (("image_to_tensor", "image_random_flip"), size, [planes]),
        (("image_random_color_jitter", "image_lighting"), colour, [image]),
        (("image_random_contrast", "image_lighting"), colour, [gray]),
        (("image_resize",), size | {"nearest": 1}, [planes]),
        (("image_resize",), size | {"nearest": 0}, [planes]),
        (("image_resize",), size | {"nearest": 0, "target": [2, 2]}, [planes]),
        (("sequence_mask", "sequence_last"), steps, [planes, index]),
        (("cumsum", "cumprod"), line | {"outer": 1, "extent": 384}, [planes]),
        (("pad", "roll"), margin, [planes]),
        (("all_finite", "multi_sum_sq"), {"init": 1}, [planes] * 3),
    ]
    for names, values, ins in asked:
        for name in names:
            outs = [planes] * (2 if name in ("l2_normalize", "lrn", "prelu_grad") else 1)
            yield from maker_of(name)[0](Request(name, dtype, values, {}, None, ins, outs))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1, 3])
@pytest.mark.parametrize("name", ["random_crop", "random_resized_crop"])
def test_crops(name, dtype, architecture):
    import mxcy.gpu.kernels  # noqa: F401  it registers the launches
    from mxcy.gpu.table import Request, maker_of

    image, crop = Spec((8, 8, 3), dtype), Spec((4, 4, 3), dtype)
    attrs = REGISTRY[f"_image_{name}"].schema.intern(name, {"width": 4, "height": 4})
    request = Request(f"image_{name}", dtype, {}, {}, attrs, [image], [crop])
    (text,) = {launch.text for launch in maker_of(f"image_{name}")[0](request)}
    compiles_without_spills(text, architecture)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_others(architecture, dtype):
    texts = {launch.text for launch in other_launches(dtype)}
    assert len(texts) > 12
    for text in texts:
        compiles_without_spills(text, architecture)


def attention_texts(dtype):
    """Yield the sources of attention and its gradients for each kind of mask."""
    from mxcy.gpu.attention import attention

    yield attention.attention_text(dtype, dtype, 0, attention._BEFORE)
    for masking, mask in enumerate((dtype, dtype, 7, 6)):
        yield attention.attention_text(dtype, mask, masking, attention._FORWARD)
        for by in range(3):
            yield attention.attention_text(dtype, mask, masking, attention._BACK, by)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_attention(architecture, dtype):
    for text in attention_texts(dtype):
        compiles_without_spills(text, architecture)


def launches_of_coordinates(dtype):
    """Launches of gather, scatter and strided products; packing them needs a device."""
    from mxcy.gpu.indexing import coordinates
    from mxcy.gpu.matrix import products
    from mxcy.gpu.table import Request

    data, index, out = Spec((16, 4), dtype), Spec((2, 16), 4), Spec((8, 8, 4), dtype)
    places = {"ndim": 2, "data": 0, "index": 1, "inner": 4, "shape": [8, 8]}
    ins = [out, index]
    yield from coordinates.gather(
        Request("gather_nd", dtype, places, {}, None, ins, [Spec((16, 4), dtype)])
    )
    for name in ("scatter_nd", "scatter_add_nd"):
        request = Request(name, dtype, places, {}, None, [data, index], [out])
        yield from coordinates.scatter(request)
    values = dict.fromkeys(("offset", "outer_step", "inner_step"), [0] * 3) | {"row": [64] * 3}
    values |= dict.fromkeys(("outer", "inner", "m", "n", "k", "scale"), 8) | {"lhs": 0, "rhs": 1}
    for left in (0, 1):
        for right in (0, 1):
            values |= {"transpose_lhs": left, "transpose_rhs": right, "base": 0, "clear": 1}
            request = Request("strided_dot", dtype, values, {}, None, [data, data], [out])
            yield from products.strided(request)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [0, 1])
def test_coordinates(architecture, dtype, monkeypatch):
    from mxcy.gpu.matrix import blas

    monkeypatch.setattr(blas, "is_open", lambda: False)
    texts = {launch.text for launch in launches_of_coordinates(dtype)}
    assert len(texts) > 6
    for text in texts:
        compiles_without_spills(text, architecture)
