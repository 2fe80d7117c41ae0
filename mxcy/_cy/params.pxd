# Generated from mxcy/ops/params.py by `python mxcy/ops/params.py --write`. Do not edit.
from libc.stdint cimport int32_t, int64_t

cdef extern from "params.gen.h" nogil:
    # an array and a number: elementwise with a scalar operand
    ctypedef struct mx_scalar_params:
        double scalar
    # elementwise with two numbers, such as clip
    ctypedef struct mx_scalar2_params:
        double p
        double q
    # a binary operator over a collapsed shape; strides count elements, the last are 0 or 1
    ctypedef struct mx_broadcast_params:
        int32_t ndim
        int64_t shape[32]
        int64_t lhs[32]
        int64_t rhs[32]
    # a reduction over a collapsed shape, whose dimensions are kept and reduced in turn
    ctypedef struct mx_reduce_params:
        int32_t ndim
        int32_t first_reduced
        int64_t shape[32]
    # the position of an extreme element along a dimension
    ctypedef struct mx_arg_params:
        int64_t outer
        int64_t extent
        int64_t inner
    # an array (outer, channels, inner) with a slope for each channel
    ctypedef struct mx_prelu_params:
        int64_t outer
        int64_t channels
        int64_t inner
    # softmax of scale * data along a dimension, or its gradient times scale
    ctypedef struct mx_softmax_params:
        int64_t outer
        int64_t extent
        int64_t inner
        double scale
    # margins before and after the dimensions of an array; the first has none
    ctypedef struct mx_pad_params:
        int32_t ndim
        int32_t reflect
        int64_t shape[5]
        int64_t before[5]
        int64_t after[5]
    # elementwise steps that run tile by tile, see leaf/pointwise.cc: `code` tells the
    # instruction; dst, a and b are places, numbers come in pairs; an input that is repeated has
    # element (position / inner) % extent, others have extent 0
    ctypedef struct mx_program_params:
        int32_t steps
        int32_t registers
        int32_t code[64]
        int32_t dst[64]
        int32_t a[64]
        int32_t b[64]
        double numbers[128]
        int64_t extent[16]
        int64_t inner[16]
    # loops over two strided sides; source is an input's index, or -1 for the scalar
    ctypedef struct mx_copy_params:
        int32_t ndim
        int32_t before
        int32_t source
        int64_t shape[32]
        int64_t src[32]
        int64_t dst[32]
        int64_t src_offset
        int64_t dst_offset
        double scalar
    # arrays side by side along a dimension: each is `rows` blocks, one after the other
    ctypedef struct mx_blocks_params:
        int64_t rows
    # one set of parameters for all uniform samples
    ctypedef struct mx_random_uniform_params:
        double low
        double high
    # one set of parameters for all normal samples
    ctypedef struct mx_random_normal_params:
        double loc
        double scale
    # one set of parameters for all exponential samples
    ctypedef struct mx_random_exponential_params:
        double lam
    # one set of parameters for all gamma samples
    ctypedef struct mx_random_gamma_params:
        double alpha
        double beta
    # one set of parameters for all poisson samples
    ctypedef struct mx_random_poisson_params:
        double lam
    # one set of parameters for all binomial samples
    ctypedef struct mx_random_binomial_params:
        double n
        double p
    # one set of parameters for all negative_binomial samples
    ctypedef struct mx_random_negative_binomial_params:
        double k
        double p
    # one set of parameters for all generalized_negative_binomial samples
    ctypedef struct mx_random_generalized_negative_binomial_params:
        double mu
        double alpha
    # the bounds of uniform integers
    ctypedef struct mx_randint_params:
        int64_t low
        int64_t high
    # the bounds between which a change of colours is drawn
    ctypedef struct mx_image_factor_params:
        double low
        double high
    # parts of the three main directions of colours; drawn where the deviation is not negative
    ctypedef struct mx_image_lighting_params:
        double alpha[3]
        double deviation
    # the greatest changes of brightness, contrast, saturation and hue; 0 leaves one out
    ctypedef struct mx_image_jitter_params:
        double most[4]
    # the axis of an image that is reversed with a probability
    ctypedef struct mx_image_flip_params:
        int32_t axis
        double p
    # the probability of a zero; 0 copies
    ctypedef struct mx_dropout_params:
        double p
    # out = alpha * op(lhs) op(rhs) + beta * in[2], `batch` times over contiguous matrices
    ctypedef struct mx_gemm_params:
        int64_t batch
        int64_t m
        int64_t n
        int64_t k
        int32_t transpose_a
        int32_t transpose_b
        double alpha
        double beta
    # out = scale * op(lhs) op(rhs) for `outer` times `inner` matrices: matrix (i, j) of operand
    # o (lhs, rhs, out) starts at offset[o] + i outer_step[o] + j inner_step[o], its rows are
    # row[o] apart; `lhs`, `rhs`: numbers of the inputs; the rest of the output is in[2] if
    # `base`, zero if `clear`
    ctypedef struct mx_strided_dot_params:
        int64_t outer
        int64_t inner
        int64_t m
        int64_t n
        int64_t k
        int64_t offset[3]
        int64_t outer_step[3]
        int64_t inner_step[3]
        int64_t row[3]
        double scale
        int32_t lhs
        int32_t rhs
        int32_t transpose_lhs
        int32_t transpose_rhs
        int32_t base
        int32_t clear
    # `batch` matrices of rows x columns
    ctypedef struct mx_matrices_params:
        int64_t batch
        int64_t rows
        int64_t columns
    # `batch` systems with triangular matrices of n x n, and m right sides; or the matrices
    # alone
    ctypedef struct mx_triangular_params:
        int64_t batch
        int64_t n
        int64_t m
        int32_t transpose
        int32_t rightside
        int32_t lower
        double alpha
    # out (rows x hidden) = data (rows x depth) weight^T (hidden x depth) + bias
    ctypedef struct mx_fully_connected_params:
        int64_t rows
        int64_t hidden
        int64_t depth
    # blocks of `inner` elements at positions along a dimension; data and index are input
    # numbers
    ctypedef struct mx_take_params:
        int64_t outer
        int64_t extent
        int64_t inner
        int32_t mode
        int32_t data
        int32_t index
    # one position along a dimension for each element of the other dimensions
    ctypedef struct mx_along_params:
        int64_t outer
        int64_t extent
        int64_t inner
        int64_t taken
        int32_t mode
    # rows with one element switched on
    ctypedef struct mx_one_hot_params:
        int64_t depth
        double on
        double off
    # blocks of `inner` elements at positions in the first `ndim` dimensions of `shape`
    ctypedef struct mx_gather_params:
        int32_t ndim
        int32_t data
        int32_t index
        int64_t inner
        int64_t shape[32]
    # a convolution over three spatial dimensions (missing ones are 1); channels are per group
    ctypedef struct mx_conv_params:
        int64_t batch
        int64_t groups
        int64_t channels
        int64_t filters
        int64_t source[3]
        int64_t target[3]
        int64_t kernel[3]
        int64_t stride[3]
        int64_t dilate[3]
        int64_t pad[3]
    # a convolution with packed weights and what follows it: act(conv + bias + sum), see
    # ops/fused_layer.py. `in_block` and `out_block`: 0 for (N, C, spatial...), else that many
    # channels are innermost; `before`: 1, the data is scaled and shifted first, 2, and goes
    # through a ReLU; `tile` is an algorithm's own parameter
    ctypedef struct mx_fused_conv_params:
        int64_t batch
        int64_t groups
        int64_t channels
        int64_t filters
        int64_t source[3]
        int64_t target[3]
        int64_t kernel[3]
        int64_t stride[3]
        int64_t dilate[3]
        int64_t pad[3]
        int32_t in_block
        int32_t out_block
        int32_t before
        int32_t bias
        int32_t sum
        int32_t act
        int32_t tile
        double alpha
        double beta
    # a dense layer with packed weights and what follows it: act(out + bias + sum), as
    # FUSED_CONV
    ctypedef struct mx_fused_dense_params:
        int64_t rows
        int64_t hidden
        int64_t depth
        int32_t bias
        int32_t sum
        int32_t act
        int32_t tile
        double alpha
        double beta
    # a stack of recurrent layers, see ops/rnn_layers.py; mode: 0 and 1 plain ones with ReLU and
    # tanh, 2 LSTM, 3 GRU; drop: the part of what a layer puts out that is dropped; saves:
    # whether what the gradient needs is an output; lengths: whether an input says how many
    # steps count
    ctypedef struct mx_rnn_params:
        int64_t steps
        int64_t batch
        int64_t inputs
        int64_t hidden
        int64_t layers
        int64_t directions
        int32_t mode
        int32_t gates
        int32_t extra
        int32_t saves
        int32_t lengths
        double drop
    # elements ordered along a dimension; values, indices and mask are output numbers or -1
    ctypedef struct mx_order_params:
        int64_t outer
        int64_t extent
        int64_t inner
        int64_t taken
        int32_t ascending
        int32_t values
        int32_t indices
        int32_t mask
    # a batch of sequences with their steps along the dimension `axis`, 0 or 1
    ctypedef struct mx_sequence_params:
        int64_t steps
        int64_t batch
        int64_t inner
        int32_t axis
        double value
    # running sums along a dimension
    ctypedef struct mx_scan_params:
        int64_t outer
        int64_t extent
        int64_t inner
    # planes of `source` extents brought to `target` ones by lines, or back if `transposed`;
    # `aligned`: the first and the last points meet, not the areas
    ctypedef struct mx_resample_params:
        int64_t planes
        int64_t source[2]
        int64_t target[2]
        int32_t aligned
        int32_t transposed
    # images with their channels last, in another size
    ctypedef struct mx_image_resize_params:
        int64_t batch
        int64_t channels
        int64_t source[2]
        int64_t target[2]
        int32_t nearest
    # planes of `size` pixels, with the numbers of 1 or 3 channels in turn
    ctypedef struct mx_image_normalize_params:
        int64_t planes
        int64_t channels
        int64_t size
        double mean[3]
        double std[3]
    # images whose pixels become squares; `sum`: they are summed, not joined
    ctypedef struct mx_upsampling_params:
        int32_t sum
    # images read at places between pixels; `affine`: matrices take the place of grids
    ctypedef struct mx_sampler_params:
        int64_t batch
        int64_t channels
        int64_t source[2]
        int64_t target[2]
        int32_t affine
    # a convolution whose taps move: `groups` of channels that mix, `moved` ones that move
    # together
    ctypedef struct mx_deformable_params:
        int64_t batch
        int64_t groups
        int64_t moved
        int64_t channels
        int64_t filters
        int64_t source[2]
        int64_t target[2]
        int64_t kernel[2]
        int64_t stride[2]
        int64_t dilate[2]
        int64_t pad[2]
        int32_t modulated
    # patches compared at displacements of up to `reach`, `radius` steps on each side; `row`:
    # the elements of a row with its margins, kept in `stride1` parts
    ctypedef struct mx_correlation_params:
        int64_t batch
        int64_t channels
        int64_t source[2]
        int64_t target[2]
        int64_t kernel
        int64_t reach
        int64_t stride1
        int64_t stride2
        int64_t pad
        int64_t radius
        int64_t row
        int32_t multiply
    # regions of images pooled to one size; channels are those of the result, `sensitive`: each
    # part has its own; `samples`: points of a part in each direction, or 0
    ctypedef struct mx_roi_params:
        int64_t images
        int64_t regions
        int64_t channels
        int64_t source[2]
        int64_t pooled[2]
        int64_t samples
        double scale
        int32_t sensitive
        int32_t aligned
    # regions in pooled x pooled parts, which read channels of their own; `channels` are those
    # of the result, `groups` x `groups` as many are the data's; if parts move: `classes` of
    # moves for part_size x part_size parts, and samples x samples points
    ctypedef struct mx_parts_params:
        int64_t images
        int64_t regions
        int64_t channels
        int64_t source[2]
        int64_t pooled
        int64_t groups
        int64_t classes
        int64_t part_size
        int64_t samples
        double scale
        double trans_std
    # sequences whose steps see `w` steps before them, themselves, and more behind: `places` in
    # all
    ctypedef struct mx_window_params:
        int64_t batch
        int64_t steps
        int64_t heads
        int64_t depth
        int64_t w
        int64_t places
    # overlaps of `lhs` boxes with `rhs` ones
    ctypedef struct mx_box_iou_params:
        int64_t lhs
        int64_t rhs
        int32_t center
    # boxes as offsets from anchors, which are `shared` by the batch, or not; `refs` to choose
    # from
    ctypedef struct mx_box_code_params:
        int64_t batch
        int64_t boxes
        int64_t refs
        int32_t shared
        int32_t center
        double clip
        double stds[4]
    # suppression in batches of rows of `width` numbers; negative places and kinds are none
    ctypedef struct mx_box_nms_params:
        int64_t batch
        int64_t rows
        int64_t width
        int64_t box
        int64_t score
        int64_t kind
        int64_t top
        int32_t force
        int32_t center_in
        int32_t center_out
        double background
        double overlap
        double valid
    # anchors of up to 64 shapes around positions; steps and offsets are (y, x), `halves` half
    # of the width and the height of each shape
    ctypedef struct mx_prior_params:
        int64_t height
        int64_t width
        int64_t shapes
        int32_t clip
        double steps[2]
        double offsets[2]
        double halves[128]
    # what a single-shot detector is to learn from boxes, rows of `width` numbers
    ctypedef struct mx_target_params:
        int64_t batch
        int64_t anchors
        int64_t boxes
        int64_t width
        int64_t classes
        double threshold
        double ignore
        double mining_ratio
        double mining_threshold
        double variances[4]
    # boxes out of a single-shot detector's predictions
    ctypedef struct mx_detection_params:
        int64_t batch
        int64_t classes
        int64_t anchors
        int64_t background
        int64_t top
        int32_t clip
        int32_t force
        double threshold
        double overlap
        double variances[4]
    # regions out of a proposal network's predictions; `boxes` are up to 64 anchors of a place
    ctypedef struct mx_proposal_params:
        int64_t batch
        int64_t anchors
        int64_t height
        int64_t width
        int64_t stride
        int64_t before
        int64_t after
        int64_t least
        int32_t corners
        double overlap
        double boxes[256]
    # the loss of alignments; lengths are input numbers or -1
    ctypedef struct mx_ctc_params:
        int64_t steps
        int64_t batch
        int64_t classes
        int64_t labels
        int64_t blank
        int64_t padding
        int32_t data_lengths
        int32_t label_lengths
    # windows over three spatial dimensions between `outer` planes and `inner` channels; kind: 0
    # max, 1 average, 2 sum, 3 and 4 the 2- and 3-norm
    ctypedef struct mx_pool_params:
        int32_t kind
        int32_t count_pad
        int64_t outer
        int64_t inner
        int64_t source[3]
        int64_t target[3]
        int64_t kernel[3]
        int64_t stride[3]
        int64_t pad[3]
    # batch normalisation of (outer, channels, inner) arrays; momentum serves the gradient only
    ctypedef struct mx_batch_norm_params:
        int64_t outer
        int64_t channels
        int64_t inner
        double eps
        double momentum
        int32_t fix_gamma
        int32_t batch_stats
    # normalisation of rows; element i of the array has gamma number i / block % count
    ctypedef struct mx_row_norm_params:
        int64_t rows
        int64_t length
        int64_t block
        int64_t count
        double eps
    # division by the length of lines
    ctypedef struct mx_l2_normalize_params:
        int64_t outer
        int64_t extent
        int64_t inner
        double eps
    # division by a power of the energy of `nsize` neighbouring channels
    ctypedef struct mx_lrn_params:
        int64_t outer
        int64_t channels
        int64_t inner
        int64_t nsize
        double alpha
        double beta
        double knorm
    # x * scale + shift over (outer, blocks, inner, block) with a pair for each of blocks x
    # block
    ctypedef struct mx_scale_shift_params:
        int64_t outer
        int64_t blocks
        int64_t inner
        int64_t block
        int32_t relu
    # the statistics of a batch normalisation, and weights (groups, outer, channels, inner)
    ctypedef struct mx_fold_params:
        int64_t groups
        int64_t outer
        int64_t channels
        int64_t inner
        double eps
        int32_t fix_gamma
    # one step of gradient descent
    ctypedef struct mx_sgd_params:
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step with momentum
    ctypedef struct mx_sgd_mom_params:
        double momentum
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step of Adam
    ctypedef struct mx_adam_params:
        double beta1
        double beta2
        double epsilon
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step of RMSProp
    ctypedef struct mx_rmsprop_params:
        double gamma1
        double epsilon
        double clip_weights
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step along signs
    ctypedef struct mx_signum_params:
        double momentum
        double wd_lh
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step of centred RMSProp
    ctypedef struct mx_rmspropalex_params:
        double gamma1
        double gamma2
        double epsilon
        double clip_weights
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step behind the regularised leader
    ctypedef struct mx_ftrl_params:
        double lamda1
        double beta
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step behind the moving leader
    ctypedef struct mx_ftml_params:
        double lr
        double beta1
        double beta2
        double epsilon
        double t
        double wd
        double rescale_grad
        double clip_grad
    # one step of AdaGrad
    ctypedef struct mx_adagrad_params:
        double epsilon
        double lr
        double wd
        double rescale_grad
        double clip_gradient
    # one step of AdamW or AdaBelief
    ctypedef struct mx_adamw_params:
        double lr
        double beta1
        double beta2
        double epsilon
        double wd
        double eta
        double clip_gradient
    # one step for weights whose inputs come in turns of `per`; the rates of up to 60 of them,
    # or, when preloaded, those in two arrays at the end
    ctypedef struct mx_multi_sgd_params:
        int32_t weights
        int32_t per
        int32_t preloaded
        double momentum
        double rescale_grad
        double clip_gradient
        double lrs[60]
        double wds[60]
    # one step of AdamW or AdaBelief for weights whose inputs come in turns of `per`, with the
    # rates of up to 60 of them
    ctypedef struct mx_multi_adamw_params:
        int32_t weights
        int32_t per
        double beta1
        double beta2
        double epsilon
        double clip_gradient
        double lrs[60]
        double wds[60]
        double etas[60]
    # the direction of a step of LAMB
    ctypedef struct mx_lamb_params:
        double beta1
        double beta2
        double epsilon
        double t
        int32_t bias_correction
        double wd
        double rescale_grad
        double clip_gradient
    # a step of LAMB along its direction; negative bounds are none
    ctypedef struct mx_lamb_step_params:
        double lr
        double lower_bound
        double upper_bound
    # one step of LAMB or LANS for weights whose inputs come in turns of `per`, with the rates
    # and counts of up to 60 of them; negative bounds are none
    ctypedef struct mx_multi_lamb_params:
        int32_t weights
        int32_t per
        int32_t bias_correction
        double beta1
        double beta2
        double epsilon
        double rescale_grad
        double lower_bound
        double upper_bound
        double clip_gradient
        double learning_rates[60]
        double wds[60]
        double step_count[60]
    # init starts afresh, else the output's value counts
    ctypedef struct mx_all_finite_params:
        int32_t init
    # the gradient of SoftmaxOutput over (rows, classes, inner) with one label per row and inner
    # position, or with probabilities; `valid` divides by the number of labels not ignored
    ctypedef struct mx_softmax_output_params:
        int64_t rows
        int64_t classes
        int64_t inner
        int64_t labels
        int32_t probabilities
        int32_t use_ignore
        int32_t valid
        double ignore_label
        double smooth_alpha
        double scale
    # the gradient of SVMOutput over rows of scores with a label each
    ctypedef struct mx_svm_output_params:
        int64_t rows
        int64_t classes
        double margin
        double weight
        int32_t linear
    # coordinates in an array of that shape; the first extent does not count
    ctypedef struct mx_unravel_params:
        int32_t ndim
        int64_t shape[32]
    # probability densities of `length` samples for each of some distributions
    ctypedef struct mx_density_params:
        int64_t distributions
        int64_t length
        int32_t is_log
    # sequences of up to `steps` events with marks
    ctypedef struct mx_hawkes_params:
        int64_t rows
        int64_t kinds
        int64_t steps
