"""Structs of ``params.gen.h``, which all kernels include, by family of kernels."""

from mxcy.ops.core.struct_layout import Params

SCALAR = Params("scalar", "an array and a number: elementwise with a scalar operand", scalar="f64")
SCALAR2 = Params("scalar2", "elementwise with two numbers, such as clip", p="f64", q="f64")
BROADCAST = Params(
    "broadcast",
    "a binary operator over a collapsed shape; strides count elements, the last are 0 or 1",
    ndim="i32", shape="i64[32]", lhs="i64[32]", rhs="i64[32]",
)
REDUCE = Params(
    "reduce", "a reduction over a collapsed shape, whose dimensions are kept and reduced in turn",
    ndim="i32", first_reduced="i32", shape="i64[32]",
)
ARG = Params(
    "arg", "the position of an extreme element along a dimension",
    outer="i64", extent="i64", inner="i64",
)
PRELU = Params(
    "prelu", "an array (outer, channels, inner) with a slope for each channel",
    outer="i64", channels="i64", inner="i64",
)
SOFTMAX = Params(
    "softmax", "softmax of scale * data along a dimension, or its gradient times scale",
    outer="i64", extent="i64", inner="i64", scale="f64",
)
PAD = Params(
    "pad",
    "margins before and after the dimensions of an array; reflect: 0 repeats the nearest element, 1"
    " mirrors at it, 2 behind it, 3 goes round to the other end, where `after` may be negative",
    ndim="i32", reflect="i32", shape="i64[5]", before="i64[5]", after="i64[5]",
)
PROGRAM = Params(
    "program",
    "elementwise steps that run tile by tile, see leaf/fused/pointwise.cc: `code` tells the "
    "instruction; dst, a and b are places, numbers come in pairs; an input that is repeated has "
    "element (position / inner) % extent, others have extent 0",
    steps="i32", registers="i32", code="i32[64]", dst="i32[64]", a="i32[64]", b="i32[64]",
    numbers="f64[128]", extent="i64[16]", inner="i64[16]",
)
COPY = Params(
    "copy", "loops over two strided sides; source is an input's index, or -1 for the scalar",
    ndim="i32", before="i32", source="i32", shape="i64[32]", src="i64[32]", dst="i64[32]",
    src_offset="i64", dst_offset="i64", scalar="f64",
)
BLOCKS = Params(
    "blocks", "arrays side by side along a dimension: each is `rows` blocks, one after the other",
    rows="i64",
)
# Random kernels read the doubles of these by position.
RANDOM = {
    name: Params(
        f"random_{name}",
        f"one set of parameters for all {name} samples",
        **dict.fromkeys(fields, "f64"),
    )
    for name, fields in {
        "uniform": ("low", "high"),
        "normal": ("loc", "scale"),
        "exponential": ("lam",),
        "gamma": ("alpha", "beta"),
        "poisson": ("lam",),
        "binomial": ("n", "p"),
        "negative_binomial": ("k", "p"),
        "generalized_negative_binomial": ("mu", "alpha"),
    }.items()
}
NUMPY_RANDOM = Params(
    "numpy_random",
    "the two parameters of samples of mx.np.random; bits of `arrays` tell which are inputs instead",
    first="f64", second="f64", arrays="i32",
)
NUMPY_CHOICE = Params(
    "numpy_choice",
    "how many numbers there are, whether one may come twice, and the words to pass over",
    n="i64", replace="i32", spare="i64",
)
RANDINT = Params("randint", "the bounds of uniform integers", low="i64", high="i64")

IMAGE_FACTOR = Params(
    "image_factor", "the bounds between which a change of colours is drawn",
    low="f64", high="f64",
)
IMAGE_LIGHTING = Params(
    "image_lighting",
    "parts of the three main directions of colours; drawn where the deviation is not negative",
    alpha="f64[3]", deviation="f64",
)
IMAGE_JITTER = Params(
    "image_jitter",
    "the greatest changes of brightness, contrast, saturation and hue; 0 leaves one out",
    most="f64[4]",
)
IMAGE_FLIP = Params(
    "image_flip", "the axis of an image that is reversed with a probability",
    axis="i32", p="f64",
)

DROPOUT = Params("dropout", "the probability of a zero; 0 copies", p="f64")

GEMM = Params(
    "gemm", "out = alpha * op(lhs) op(rhs) + beta * in[2], `batch` times over contiguous matrices",
    batch="i64", m="i64", n="i64", k="i64", transpose_a="i32", transpose_b="i32", alpha="f64",
    beta="f64",
)
STRIDED_DOT = Params(
    "strided_dot",
    "out = scale * op(lhs) op(rhs) for `outer` times `inner` matrices: matrix (i, j) of operand o "
    "(lhs, rhs, out) starts at offset[o] + i outer_step[o] + j inner_step[o], its rows are row[o] "
    "apart; `lhs`, `rhs`: numbers of the inputs; the rest of the output is in[2] if `base`, zero "
    "if `clear`",
    outer="i64", inner="i64", m="i64", n="i64", k="i64", offset="i64[3]", outer_step="i64[3]",
    inner_step="i64[3]", row="i64[3]", scale="f64", lhs="i32", rhs="i32", transpose_lhs="i32",
    transpose_rhs="i32", base="i32", clear="i32",
)
MATRICES = Params(
    "matrices", "`batch` matrices of rows x columns",
    batch="i64", rows="i64", columns="i64",
)
TRIANGULAR = Params(
    "triangular",
    "`batch` systems with triangular matrices of n x n, and m right sides; or the matrices alone",
    batch="i64", n="i64", m="i64", transpose="i32", rightside="i32", lower="i32", alpha="f64",
)
FULLY_CONNECTED = Params(
    "fully_connected", "out (rows x hidden) = data (rows x depth) weight^T (hidden x depth) + bias",
    rows="i64", hidden="i64", depth="i64",
)
TAKE = Params(
    "take",
    "blocks of `inner` elements at positions along a dimension; data and index are input numbers",
    outer="i64", extent="i64", inner="i64", mode="i32", data="i32", index="i32",
)
ALONG = Params(
    "along", "one position along a dimension for each element of the other dimensions",
    outer="i64", extent="i64", inner="i64", taken="i64", mode="i32",
)
ONE_HOT = Params("one_hot", "rows with one element switched on", depth="i64", on="f64", off="f64")
GATHER = Params(
    "gather", "blocks of `inner` elements at positions in the first `ndim` dimensions of `shape`",
    ndim="i32", data="i32", index="i32", inner="i64", shape="i64[32]",
)

_CONV = {
    "batch": "i64", "groups": "i64", "channels": "i64", "filters": "i64", "source": "i64[3]",
    "target": "i64[3]", "kernel": "i64[3]", "stride": "i64[3]", "dilate": "i64[3]", "pad": "i64[3]",
}
CONV = Params(
    "conv",
    "a convolution over three spatial dimensions (missing ones are 1); channels are per group",
    **_CONV,
)
FUSED_CONV = Params(
    "fused_conv",
    "a convolution with packed weights and what follows it: act(conv + bias + sum), see "
    "ops/fused/layer.py. `in_block` and `out_block`: 0 for (N, C, spatial...), else that many "
    "channels are innermost; `before`: 1, the data is scaled and shifted first, 2, and goes "
    "through a ReLU; `tile` is an algorithm's own parameter",
    **_CONV, in_block="i32", out_block="i32", before="i32", bias="i32", sum="i32", act="i32",
    tile="i32", alpha="f64", beta="f64",
)
FUSED_DENSE = Params(
    "fused_dense",
    "a dense layer with packed weights and what follows it: act(out + bias + sum), as FUSED_CONV",
    rows="i64", hidden="i64", depth="i64", bias="i32", sum="i32", act="i32", tile="i32",
    alpha="f64", beta="f64",
)
RNN = Params(
    "rnn",
    "a stack of recurrent layers, see ops/recurrent/layers.py; mode: 0 and 1 plain ones with ReLU "
    "and tanh, 2 LSTM, 3 GRU; drop: the part of what a layer puts out that is dropped; saves: "
    "whether what the gradient needs is an output; lengths: whether an input says how many steps "
    "count",
    steps="i64", batch="i64", inputs="i64", hidden="i64", layers="i64", directions="i64",
    mode="i32", gates="i32", extra="i32", saves="i32", lengths="i32", drop="f64",
)
ORDER = Params(
    "order",
    "elements ordered along a dimension; values, indices and mask are output numbers or -1",
    outer="i64", extent="i64", inner="i64", taken="i64", ascending="i32", values="i32",
    indices="i32", mask="i32",
)
SEQUENCE = Params(
    "sequence", "a batch of sequences with their steps along the dimension `axis`, 0 or 1",
    steps="i64", batch="i64", inner="i64", axis="i32", value="f64",
)
SCAN = Params("scan", "running sums along a dimension", outer="i64", extent="i64", inner="i64")

RESAMPLE = Params(
    "resample",
    "planes of `source` extents brought to `target` ones by lines, or back if `transposed`; "
    "`aligned`: the first and the last points meet, not the areas",
    planes="i64", source="i64[2]", target="i64[2]", aligned="i32", transposed="i32",
)
IMAGE_RESIZE = Params(
    "image_resize", "images with their channels last, in another size",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", nearest="i32",
)
IMAGE_NORMALIZE = Params(
    "image_normalize", "planes of `size` pixels, with the numbers of 1 or 3 channels in turn",
    planes="i64", channels="i64", size="i64", mean="f64[3]", std="f64[3]",
)
UPSAMPLING = Params(
    "upsampling", "images whose pixels become squares; `sum`: they are summed, not joined",
    sum="i32",
)
SAMPLER = Params(
    "sampler", "images read at places between pixels; `affine`: matrices take the place of grids",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", affine="i32",
)
DEFORMABLE = Params(
    "deformable",
    "a convolution whose taps move: `groups` of channels that mix, `moved` ones that move together",
    batch="i64", groups="i64", moved="i64", channels="i64", filters="i64", source="i64[2]",
    target="i64[2]", kernel="i64[2]", stride="i64[2]", dilate="i64[2]", pad="i64[2]",
    modulated="i32",
)
CORRELATION = Params(
    "correlation",
    "patches compared at displacements of up to `reach`, `radius` steps on each side; `row`: the "
    "elements of a row with its margins, kept in `stride1` parts",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", kernel="i64", reach="i64",
    stride1="i64", stride2="i64", pad="i64", radius="i64", row="i64", multiply="i32",
)
ROI = Params(
    "roi",
    "regions of images pooled to one size; channels are those of the result, `sensitive`: each "
    "part has its own; `samples`: points of a part in each direction, or 0",
    images="i64", regions="i64", channels="i64", source="i64[2]", pooled="i64[2]", samples="i64",
    scale="f64", sensitive="i32", aligned="i32",
)
PARTS = Params(
    "parts",
    "regions in pooled x pooled parts, which read channels of their own; `channels` are those of "
    "the result, `groups` x `groups` as many are the data's; if parts move: `classes` of moves for "
    "part_size x part_size parts, and samples x samples points",
    images="i64", regions="i64", channels="i64", source="i64[2]", pooled="i64", groups="i64",
    classes="i64", part_size="i64", samples="i64", scale="f64", trans_std="f64",
)
WINDOW = Params(
    "window",
    "sequences whose steps see `w` steps before them, themselves, and more behind: `places` in all",
    batch="i64", steps="i64", heads="i64", depth="i64", w="i64", places="i64",
)
BOX_IOU = Params(
    "box_iou", "overlaps of `lhs` boxes with `rhs` ones",
    lhs="i64", rhs="i64", center="i32",
)
BOX_CODE = Params(
    "box_code",
    "boxes as offsets from anchors, which are `shared` by the batch, or not; `refs` to choose from",
    batch="i64", boxes="i64", refs="i64", shared="i32", center="i32", clip="f64", stds="f64[4]",
)
BOX_NMS = Params(
    "box_nms",
    "suppression in batches of rows of `width` numbers; negative places and kinds are none",
    batch="i64", rows="i64", width="i64", box="i64", score="i64", kind="i64", top="i64",
    force="i32", center_in="i32", center_out="i32", background="f64", overlap="f64", valid="f64",
)
PRIOR = Params(
    "prior",
    "anchors of up to 64 shapes around positions; steps and offsets are (y, x), `halves` half of "
    "the width and the height of each shape",
    height="i64", width="i64", shapes="i64", clip="i32", steps="f64[2]", offsets="f64[2]",
    halves="f64[128]",
)
TARGET = Params(
    "target", "what a single-shot detector is to learn from boxes, rows of `width` numbers",
    batch="i64", anchors="i64", boxes="i64", width="i64", classes="i64", threshold="f64",
    ignore="f64", mining_ratio="f64", mining_threshold="f64", variances="f64[4]",
)
DETECTION = Params(
    "detection", "boxes out of a single-shot detector's predictions",
    batch="i64", classes="i64", anchors="i64", background="i64", top="i64", clip="i32", force="i32",
    threshold="f64", overlap="f64", variances="f64[4]",
)
PROPOSAL = Params(
    "proposal",
    "regions out of a proposal network's predictions; `boxes` are up to 64 anchors of a place",
    batch="i64", anchors="i64", height="i64", width="i64", stride="i64", before="i64", after="i64",
    least="i64", corners="i32", overlap="f64", boxes="f64[256]",
)
CTC = Params(
    "ctc", "the loss of alignments; lengths are input numbers or -1",
    steps="i64", batch="i64", classes="i64", labels="i64", blank="i64", padding="i64",
    data_lengths="i32", label_lengths="i32",
)

POOL = Params(
    "pool",
    "windows over three spatial dimensions between `outer` planes and `inner` channels; kind: 0 "
    "max, 1 average, 2 sum, 3 and 4 the 2- and 3-norm",
    kind="i32", count_pad="i32", outer="i64", inner="i64", source="i64[3]", target="i64[3]",
    kernel="i64[3]", stride="i64[3]", pad="i64[3]",
)

BATCH_NORM = Params(
    "batch_norm",
    "batch normalisation of (outer, channels, inner) arrays; momentum serves the gradient only",
    outer="i64", channels="i64", inner="i64", eps="f64", momentum="f64", fix_gamma="i32",
    batch_stats="i32",
)
ROW_NORM = Params(
    "row_norm", "normalisation of rows; element i of the array has gamma number i / block % count",
    rows="i64", length="i64", block="i64", count="i64", eps="f64",
)

L2_NORMALIZE = Params(
    "l2_normalize", "division by the length of lines",
    outer="i64", extent="i64", inner="i64", eps="f64",
)
LRN = Params(
    "lrn", "division by a power of the energy of `nsize` neighbouring channels",
    outer="i64", channels="i64", inner="i64", nsize="i64", alpha="f64", beta="f64", knorm="f64",
)

SCALE_SHIFT = Params(
    "scale_shift",
    "x * scale + shift over (outer, blocks, inner, block) with a pair for each of blocks x block",
    outer="i64", blocks="i64", inner="i64", block="i64", relu="i32",
)
FOLD = Params(
    "fold", "the statistics of a batch normalisation, and weights (groups, outer, channels, inner)",
    groups="i64", outer="i64", channels="i64", inner="i64", eps="f64", fix_gamma="i32",
)

_STEP = {"lr": "f64", "wd": "f64", "rescale_grad": "f64", "clip_gradient": "f64"}
SGD = Params("sgd", "one step of gradient descent", **_STEP)
SGD_MOM = Params("sgd_mom", "one step with momentum", momentum="f64", **_STEP)
ADAM = Params("adam", "one step of Adam", beta1="f64", beta2="f64", epsilon="f64", **_STEP)
RMSPROP = Params(
    "rmsprop", "one step of RMSProp",
    gamma1="f64", epsilon="f64", clip_weights="f64", **_STEP,
)
SIGNUM = Params("signum", "one step along signs", momentum="f64", wd_lh="f64", **_STEP)
RMSPROPALEX = Params(
    "rmspropalex", "one step of centred RMSProp",
    gamma1="f64", gamma2="f64", epsilon="f64", clip_weights="f64", **_STEP,
)
FTRL = Params("ftrl", "one step behind the regularised leader", lamda1="f64", beta="f64", **_STEP)
FTML = Params(
    "ftml", "one step behind the moving leader",
    lr="f64", beta1="f64", beta2="f64", epsilon="f64", t="f64", wd="f64", rescale_grad="f64",
    clip_grad="f64",
)
ADAGRAD = Params("adagrad", "one step of AdaGrad", epsilon="f64", **_STEP)
ADAMW = Params(
    "adamw", "one step of AdamW or AdaBelief",
    lr="f64", beta1="f64", beta2="f64", epsilon="f64", wd="f64", eta="f64", clip_gradient="f64",
)
MULTI_SGD = Params(
    "multi_sgd",
    "one step for weights whose inputs come in turns of `per`; the rates of up to 60 of them, or, "
    "when preloaded, those in two arrays at the end",
    weights="i32", per="i32", preloaded="i32", momentum="f64", rescale_grad="f64",
    clip_gradient="f64", lrs="f64[60]", wds="f64[60]",
)

MULTI_ADAMW = Params(
    "multi_adamw",
    "one step of AdamW or AdaBelief for weights whose inputs come in turns of `per`, with the "
    "rates of up to 60 of them",
    weights="i32", per="i32", beta1="f64", beta2="f64", epsilon="f64", clip_gradient="f64",
    lrs="f64[60]", wds="f64[60]", etas="f64[60]",
)

LAMB = Params(
    "lamb", "the direction of a step of LAMB",
    beta1="f64", beta2="f64", epsilon="f64", t="f64", bias_correction="i32", wd="f64",
    rescale_grad="f64", clip_gradient="f64",
)
LAMB_STEP = Params(
    "lamb_step", "a step of LAMB along its direction; negative bounds are none",
    lr="f64", lower_bound="f64", upper_bound="f64",
)
MULTI_LAMB = Params(
    "multi_lamb",
    "one step of LAMB or LANS for weights whose inputs come in turns of `per`, with the rates and "
    "counts of up to 60 of them; negative bounds are none",
    weights="i32", per="i32", bias_correction="i32", beta1="f64", beta2="f64", epsilon="f64",
    rescale_grad="f64", lower_bound="f64", upper_bound="f64", clip_gradient="f64",
    learning_rates="f64[60]", wds="f64[60]", step_count="f64[60]",
)

ALL_FINITE = Params("all_finite", "init starts afresh, else the output's value counts", init="i32")

SOFTMAX_OUTPUT = Params(
    "softmax_output",
    "the gradient of SoftmaxOutput over (rows, classes, inner) with one label per row and inner "
    "position, or with probabilities; `valid` divides by the number of labels not ignored",
    rows="i64", classes="i64", inner="i64", labels="i64", probabilities="i32", use_ignore="i32",
    valid="i32", ignore_label="f64", smooth_alpha="f64", scale="f64",
)
SVM_OUTPUT = Params(
    "svm_output", "the gradient of SVMOutput over rows of scores with a label each",
    rows="i64", classes="i64", margin="f64", weight="f64", linear="i32",
)
UNRAVEL = Params(
    "unravel", "coordinates in an array of that shape; the first extent does not count",
    ndim="i32", shape="i64[32]",
)
DENSITY = Params(
    "density", "probability densities of `length` samples for each of some distributions",
    distributions="i64", length="i64", is_log="i32",
)
HAWKES = Params(
    "hawkes", "sequences of up to `steps` events with marks",
    rows="i64", kinds="i64", steps="i64",
)

CSR = Params(
    "csr", "a csr array of so many columns, or its transpose",
    columns="i64", transposed="i32",
)
CSR_MERGE = Params("csr_merge", "an operation, numbered as in merge.cc", operation="i32")
IDS = Params(
    "ids", "ids from 0 to extent - 1; others are clipped or refused",
    extent="i64", clips="i32",
)
