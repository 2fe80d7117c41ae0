/* Generated from mxcy/ops/params.py by `python mxcy/ops/params.py --write`. Do not edit. */
#ifndef MXCY_PARAMS_GEN_H_
#define MXCY_PARAMS_GEN_H_
#include <stdint.h>

/* an array and a number: elementwise with a scalar operand */
typedef struct {
  double scalar;
} mx_scalar_params;

/* elementwise with two numbers, such as clip */
typedef struct {
  double p;
  double q;
} mx_scalar2_params;

/* a binary operator over a collapsed shape; strides count elements, the last are 0 or 1 */
typedef struct {
  int32_t ndim;
  int64_t shape[32];
  int64_t lhs[32];
  int64_t rhs[32];
} mx_broadcast_params;

/* a reduction over a collapsed shape, whose dimensions are kept and reduced in turn */
typedef struct {
  int32_t ndim;
  int32_t first_reduced;
  int64_t shape[32];
} mx_reduce_params;

/* the position of an extreme element along a dimension */
typedef struct {
  int64_t outer;
  int64_t extent;
  int64_t inner;
} mx_arg_params;

/* an array (outer, channels, inner) with a slope for each channel */
typedef struct {
  int64_t outer;
  int64_t channels;
  int64_t inner;
} mx_prelu_params;

/* softmax of scale * data along a dimension, or its gradient times scale */
typedef struct {
  int64_t outer;
  int64_t extent;
  int64_t inner;
  double scale;
} mx_softmax_params;

/* margins before and after the dimensions of an array; the first has none */
typedef struct {
  int32_t ndim;
  int32_t reflect;
  int64_t shape[5];
  int64_t before[5];
  int64_t after[5];
} mx_pad_params;

/* elementwise steps that run tile by tile, see leaf/pointwise.cc: `code` tells the
 * instruction; dst, a and b are places, numbers come in pairs; an input that is repeated has
 * element (position / inner) % extent, others have extent 0 */
typedef struct {
  int32_t steps;
  int32_t registers;
  int32_t code[64];
  int32_t dst[64];
  int32_t a[64];
  int32_t b[64];
  double numbers[128];
  int64_t extent[16];
  int64_t inner[16];
} mx_program_params;

/* loops over two strided sides; source is an input's index, or -1 for the scalar */
typedef struct {
  int32_t ndim;
  int32_t before;
  int32_t source;
  int64_t shape[32];
  int64_t src[32];
  int64_t dst[32];
  int64_t src_offset;
  int64_t dst_offset;
  double scalar;
} mx_copy_params;

/* arrays side by side along a dimension: each is `rows` blocks, one after the other */
typedef struct {
  int64_t rows;
} mx_blocks_params;

/* one set of parameters for all uniform samples */
typedef struct {
  double low;
  double high;
} mx_random_uniform_params;

/* one set of parameters for all normal samples */
typedef struct {
  double loc;
  double scale;
} mx_random_normal_params;

/* one set of parameters for all exponential samples */
typedef struct {
  double lam;
} mx_random_exponential_params;

/* one set of parameters for all gamma samples */
typedef struct {
  double alpha;
  double beta;
} mx_random_gamma_params;

/* one set of parameters for all poisson samples */
typedef struct {
  double lam;
} mx_random_poisson_params;

/* one set of parameters for all binomial samples */
typedef struct {
  double n;
  double p;
} mx_random_binomial_params;

/* one set of parameters for all negative_binomial samples */
typedef struct {
  double k;
  double p;
} mx_random_negative_binomial_params;

/* one set of parameters for all generalized_negative_binomial samples */
typedef struct {
  double mu;
  double alpha;
} mx_random_generalized_negative_binomial_params;

/* the bounds of uniform integers */
typedef struct {
  int64_t low;
  int64_t high;
} mx_randint_params;

/* the bounds between which a change of colours is drawn */
typedef struct {
  double low;
  double high;
} mx_image_factor_params;

/* parts of the three main directions of colours; drawn where the deviation is not negative */
typedef struct {
  double alpha[3];
  double deviation;
} mx_image_lighting_params;

/* the greatest changes of brightness, contrast, saturation and hue; 0 leaves one out */
typedef struct {
  double most[4];
} mx_image_jitter_params;

/* the axis of an image that is reversed with a probability */
typedef struct {
  int32_t axis;
  double p;
} mx_image_flip_params;

/* the probability of a zero; 0 copies */
typedef struct {
  double p;
} mx_dropout_params;

/* out = alpha * op(lhs) op(rhs) + beta * in[2], `batch` times over contiguous matrices */
typedef struct {
  int64_t batch;
  int64_t m;
  int64_t n;
  int64_t k;
  int32_t transpose_a;
  int32_t transpose_b;
  double alpha;
  double beta;
} mx_gemm_params;

/* out = scale * op(lhs) op(rhs) for `outer` times `inner` matrices: matrix (i, j) of operand
 * o (lhs, rhs, out) starts at offset[o] + i outer_step[o] + j inner_step[o], its rows are
 * row[o] apart; `lhs`, `rhs`: numbers of the inputs; the rest of the output is in[2] if
 * `base`, zero if `clear` */
typedef struct {
  int64_t outer;
  int64_t inner;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t offset[3];
  int64_t outer_step[3];
  int64_t inner_step[3];
  int64_t row[3];
  double scale;
  int32_t lhs;
  int32_t rhs;
  int32_t transpose_lhs;
  int32_t transpose_rhs;
  int32_t base;
  int32_t clear;
} mx_strided_dot_params;

/* `batch` matrices of rows x columns */
typedef struct {
  int64_t batch;
  int64_t rows;
  int64_t columns;
} mx_matrices_params;

/* `batch` systems with triangular matrices of n x n, and m right sides; or the matrices
 * alone */
typedef struct {
  int64_t batch;
  int64_t n;
  int64_t m;
  int32_t transpose;
  int32_t rightside;
  int32_t lower;
  double alpha;
} mx_triangular_params;

/* out (rows x hidden) = data (rows x depth) weight^T (hidden x depth) + bias */
typedef struct {
  int64_t rows;
  int64_t hidden;
  int64_t depth;
} mx_fully_connected_params;

/* blocks of `inner` elements at positions along a dimension; data and index are input
 * numbers */
typedef struct {
  int64_t outer;
  int64_t extent;
  int64_t inner;
  int32_t mode;
  int32_t data;
  int32_t index;
} mx_take_params;

/* one position along a dimension for each element of the other dimensions */
typedef struct {
  int64_t outer;
  int64_t extent;
  int64_t inner;
  int64_t taken;
  int32_t mode;
} mx_along_params;

/* rows with one element switched on */
typedef struct {
  int64_t depth;
  double on;
  double off;
} mx_one_hot_params;

/* blocks of `inner` elements at positions in the first `ndim` dimensions of `shape` */
typedef struct {
  int32_t ndim;
  int32_t data;
  int32_t index;
  int64_t inner;
  int64_t shape[32];
} mx_gather_params;

/* a convolution over three spatial dimensions (missing ones are 1); channels are per group */
typedef struct {
  int64_t batch;
  int64_t groups;
  int64_t channels;
  int64_t filters;
  int64_t source[3];
  int64_t target[3];
  int64_t kernel[3];
  int64_t stride[3];
  int64_t dilate[3];
  int64_t pad[3];
} mx_conv_params;

/* a convolution with packed weights and what follows it: act(conv + bias + sum), see
 * ops/fused_layer.py. `in_block` and `out_block`: 0 for (N, C, spatial...), else that many
 * channels are innermost; `before`: 1, the data is scaled and shifted first, 2, and goes
 * through a ReLU; `tile` is an algorithm's own parameter */
typedef struct {
  int64_t batch;
  int64_t groups;
  int64_t channels;
  int64_t filters;
  int64_t source[3];
  int64_t target[3];
  int64_t kernel[3];
  int64_t stride[3];
  int64_t dilate[3];
  int64_t pad[3];
  int32_t in_block;
  int32_t out_block;
  int32_t before;
  int32_t bias;
  int32_t sum;
  int32_t act;
  int32_t tile;
  double alpha;
  double beta;
} mx_fused_conv_params;

/* a dense layer with packed weights and what follows it: act(out + bias + sum), as
 * FUSED_CONV */
typedef struct {
  int64_t rows;
  int64_t hidden;
  int64_t depth;
  int32_t bias;
  int32_t sum;
  int32_t act;
  int32_t tile;
  double alpha;
  double beta;
} mx_fused_dense_params;

/* a stack of recurrent layers, see ops/rnn_layers.py; mode: 0 and 1 plain ones with ReLU and
 * tanh, 2 LSTM, 3 GRU; drop: the part of what a layer puts out that is dropped; saves:
 * whether what the gradient needs is an output; lengths: whether an input says how many
 * steps count */
typedef struct {
  int64_t steps;
  int64_t batch;
  int64_t inputs;
  int64_t hidden;
  int64_t layers;
  int64_t directions;
  int32_t mode;
  int32_t gates;
  int32_t extra;
  int32_t saves;
  int32_t lengths;
  double drop;
} mx_rnn_params;

/* elements ordered along a dimension; values, indices and mask are output numbers or -1 */
typedef struct {
  int64_t outer;
  int64_t extent;
  int64_t inner;
  int64_t taken;
  int32_t ascending;
  int32_t values;
  int32_t indices;
  int32_t mask;
} mx_order_params;

/* a batch of sequences with their steps along the dimension `axis`, 0 or 1 */
typedef struct {
  int64_t steps;
  int64_t batch;
  int64_t inner;
  int32_t axis;
  double value;
} mx_sequence_params;

/* running sums along a dimension */
typedef struct {
  int64_t outer;
  int64_t extent;
  int64_t inner;
} mx_scan_params;

/* planes of `source` extents brought to `target` ones by lines, or back if `transposed`;
 * `aligned`: the first and the last points meet, not the areas */
typedef struct {
  int64_t planes;
  int64_t source[2];
  int64_t target[2];
  int32_t aligned;
  int32_t transposed;
} mx_resample_params;

/* images with their channels last, in another size */
typedef struct {
  int64_t batch;
  int64_t channels;
  int64_t source[2];
  int64_t target[2];
  int32_t nearest;
} mx_image_resize_params;

/* planes of `size` pixels, with the numbers of 1 or 3 channels in turn */
typedef struct {
  int64_t planes;
  int64_t channels;
  int64_t size;
  double mean[3];
  double std[3];
} mx_image_normalize_params;

/* images whose pixels become squares; `sum`: they are summed, not joined */
typedef struct {
  int32_t sum;
} mx_upsampling_params;

/* images read at places between pixels; `affine`: matrices take the place of grids */
typedef struct {
  int64_t batch;
  int64_t channels;
  int64_t source[2];
  int64_t target[2];
  int32_t affine;
} mx_sampler_params;

/* a convolution whose taps move: `groups` of channels that mix, `moved` ones that move
 * together */
typedef struct {
  int64_t batch;
  int64_t groups;
  int64_t moved;
  int64_t channels;
  int64_t filters;
  int64_t source[2];
  int64_t target[2];
  int64_t kernel[2];
  int64_t stride[2];
  int64_t dilate[2];
  int64_t pad[2];
  int32_t modulated;
} mx_deformable_params;

/* patches compared at displacements of up to `reach`, `radius` steps on each side; `row`:
 * the elements of a row with its margins, kept in `stride1` parts */
typedef struct {
  int64_t batch;
  int64_t channels;
  int64_t source[2];
  int64_t target[2];
  int64_t kernel;
  int64_t reach;
  int64_t stride1;
  int64_t stride2;
  int64_t pad;
  int64_t radius;
  int64_t row;
  int32_t multiply;
} mx_correlation_params;

/* regions of images pooled to one size; channels are those of the result, `sensitive`: each
 * part has its own; `samples`: points of a part in each direction, or 0 */
typedef struct {
  int64_t images;
  int64_t regions;
  int64_t channels;
  int64_t source[2];
  int64_t pooled[2];
  int64_t samples;
  double scale;
  int32_t sensitive;
  int32_t aligned;
} mx_roi_params;

/* regions in pooled x pooled parts, which read channels of their own; `channels` are those
 * of the result, `groups` x `groups` as many are the data's; if parts move: `classes` of
 * moves for part_size x part_size parts, and samples x samples points */
typedef struct {
  int64_t images;
  int64_t regions;
  int64_t channels;
  int64_t source[2];
  int64_t pooled;
  int64_t groups;
  int64_t classes;
  int64_t part_size;
  int64_t samples;
  double scale;
  double trans_std;
} mx_parts_params;

/* sequences whose steps see `w` steps before them, themselves, and more behind: `places` in
 * all */
typedef struct {
  int64_t batch;
  int64_t steps;
  int64_t heads;
  int64_t depth;
  int64_t w;
  int64_t places;
} mx_window_params;

/* overlaps of `lhs` boxes with `rhs` ones */
typedef struct {
  int64_t lhs;
  int64_t rhs;
  int32_t center;
} mx_box_iou_params;

/* boxes as offsets from anchors, which are `shared` by the batch, or not; `refs` to choose
 * from */
typedef struct {
  int64_t batch;
  int64_t boxes;
  int64_t refs;
  int32_t shared;
  int32_t center;
  double clip;
  double stds[4];
} mx_box_code_params;

/* suppression in batches of rows of `width` numbers; negative places and kinds are none */
typedef struct {
  int64_t batch;
  int64_t rows;
  int64_t width;
  int64_t box;
  int64_t score;
  int64_t kind;
  int64_t top;
  int32_t force;
  int32_t center_in;
  int32_t center_out;
  double background;
  double overlap;
  double valid;
} mx_box_nms_params;

/* anchors of up to 64 shapes around positions; steps and offsets are (y, x), `halves` half
 * of the width and the height of each shape */
typedef struct {
  int64_t height;
  int64_t width;
  int64_t shapes;
  int32_t clip;
  double steps[2];
  double offsets[2];
  double halves[128];
} mx_prior_params;

/* what a single-shot detector is to learn from boxes, rows of `width` numbers */
typedef struct {
  int64_t batch;
  int64_t anchors;
  int64_t boxes;
  int64_t width;
  int64_t classes;
  double threshold;
  double ignore;
  double mining_ratio;
  double mining_threshold;
  double variances[4];
} mx_target_params;

/* boxes out of a single-shot detector's predictions */
typedef struct {
  int64_t batch;
  int64_t classes;
  int64_t anchors;
  int64_t background;
  int64_t top;
  int32_t clip;
  int32_t force;
  double threshold;
  double overlap;
  double variances[4];
} mx_detection_params;

/* regions out of a proposal network's predictions; `boxes` are up to 64 anchors of a place */
typedef struct {
  int64_t batch;
  int64_t anchors;
  int64_t height;
  int64_t width;
  int64_t stride;
  int64_t before;
  int64_t after;
  int64_t least;
  int32_t corners;
  double overlap;
  double boxes[256];
} mx_proposal_params;

/* the loss of alignments; lengths are input numbers or -1 */
typedef struct {
  int64_t steps;
  int64_t batch;
  int64_t classes;
  int64_t labels;
  int64_t blank;
  int64_t padding;
  int32_t data_lengths;
  int32_t label_lengths;
} mx_ctc_params;

/* windows over three spatial dimensions between `outer` planes and `inner` channels; kind: 0
 * max, 1 average, 2 sum, 3 and 4 the 2- and 3-norm */
typedef struct {
  int32_t kind;
  int32_t count_pad;
  int64_t outer;
  int64_t inner;
  int64_t source[3];
  int64_t target[3];
  int64_t kernel[3];
  int64_t stride[3];
  int64_t pad[3];
} mx_pool_params;

/* batch normalisation of (outer, channels, inner) arrays; momentum serves the gradient only */
typedef struct {
  int64_t outer;
  int64_t channels;
  int64_t inner;
  double eps;
  double momentum;
  int32_t fix_gamma;
  int32_t batch_stats;
} mx_batch_norm_params;

/* normalisation of rows; element i of the array has gamma number i / block % count */
typedef struct {
  int64_t rows;
  int64_t length;
  int64_t block;
  int64_t count;
  double eps;
} mx_row_norm_params;

/* division by the length of lines */
typedef struct {
  int64_t outer;
  int64_t extent;
  int64_t inner;
  double eps;
} mx_l2_normalize_params;

/* division by a power of the energy of `nsize` neighbouring channels */
typedef struct {
  int64_t outer;
  int64_t channels;
  int64_t inner;
  int64_t nsize;
  double alpha;
  double beta;
  double knorm;
} mx_lrn_params;

/* x * scale + shift over (outer, blocks, inner, block) with a pair for each of blocks x
 * block */
typedef struct {
  int64_t outer;
  int64_t blocks;
  int64_t inner;
  int64_t block;
  int32_t relu;
} mx_scale_shift_params;

/* the statistics of a batch normalisation, and weights (groups, outer, channels, inner) */
typedef struct {
  int64_t groups;
  int64_t outer;
  int64_t channels;
  int64_t inner;
  double eps;
  int32_t fix_gamma;
} mx_fold_params;

/* one step of gradient descent */
typedef struct {
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_sgd_params;

/* one step with momentum */
typedef struct {
  double momentum;
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_sgd_mom_params;

/* one step of Adam */
typedef struct {
  double beta1;
  double beta2;
  double epsilon;
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_adam_params;

/* one step of RMSProp */
typedef struct {
  double gamma1;
  double epsilon;
  double clip_weights;
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_rmsprop_params;

/* one step along signs */
typedef struct {
  double momentum;
  double wd_lh;
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_signum_params;

/* one step of centred RMSProp */
typedef struct {
  double gamma1;
  double gamma2;
  double epsilon;
  double clip_weights;
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_rmspropalex_params;

/* one step behind the regularised leader */
typedef struct {
  double lamda1;
  double beta;
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_ftrl_params;

/* one step behind the moving leader */
typedef struct {
  double lr;
  double beta1;
  double beta2;
  double epsilon;
  double t;
  double wd;
  double rescale_grad;
  double clip_grad;
} mx_ftml_params;

/* one step of AdaGrad */
typedef struct {
  double epsilon;
  double lr;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_adagrad_params;

/* one step of AdamW or AdaBelief */
typedef struct {
  double lr;
  double beta1;
  double beta2;
  double epsilon;
  double wd;
  double eta;
  double clip_gradient;
} mx_adamw_params;

/* one step for weights whose inputs come in turns of `per`; the rates of up to 60 of them,
 * or, when preloaded, those in two arrays at the end */
typedef struct {
  int32_t weights;
  int32_t per;
  int32_t preloaded;
  double momentum;
  double rescale_grad;
  double clip_gradient;
  double lrs[60];
  double wds[60];
} mx_multi_sgd_params;

/* one step of AdamW or AdaBelief for weights whose inputs come in turns of `per`, with the
 * rates of up to 60 of them */
typedef struct {
  int32_t weights;
  int32_t per;
  double beta1;
  double beta2;
  double epsilon;
  double clip_gradient;
  double lrs[60];
  double wds[60];
  double etas[60];
} mx_multi_adamw_params;

/* the direction of a step of LAMB */
typedef struct {
  double beta1;
  double beta2;
  double epsilon;
  double t;
  int32_t bias_correction;
  double wd;
  double rescale_grad;
  double clip_gradient;
} mx_lamb_params;

/* a step of LAMB along its direction; negative bounds are none */
typedef struct {
  double lr;
  double lower_bound;
  double upper_bound;
} mx_lamb_step_params;

/* one step of LAMB or LANS for weights whose inputs come in turns of `per`, with the rates
 * and counts of up to 60 of them; negative bounds are none */
typedef struct {
  int32_t weights;
  int32_t per;
  int32_t bias_correction;
  double beta1;
  double beta2;
  double epsilon;
  double rescale_grad;
  double lower_bound;
  double upper_bound;
  double clip_gradient;
  double learning_rates[60];
  double wds[60];
  double step_count[60];
} mx_multi_lamb_params;

/* init starts afresh, else the output's value counts */
typedef struct {
  int32_t init;
} mx_all_finite_params;

/* the gradient of SoftmaxOutput over (rows, classes, inner) with one label per row and inner
 * position, or with probabilities; `valid` divides by the number of labels not ignored */
typedef struct {
  int64_t rows;
  int64_t classes;
  int64_t inner;
  int64_t labels;
  int32_t probabilities;
  int32_t use_ignore;
  int32_t valid;
  double ignore_label;
  double smooth_alpha;
  double scale;
} mx_softmax_output_params;

/* the gradient of SVMOutput over rows of scores with a label each */
typedef struct {
  int64_t rows;
  int64_t classes;
  double margin;
  double weight;
  int32_t linear;
} mx_svm_output_params;

/* coordinates in an array of that shape; the first extent does not count */
typedef struct {
  int32_t ndim;
  int64_t shape[32];
} mx_unravel_params;

/* probability densities of `length` samples for each of some distributions */
typedef struct {
  int64_t distributions;
  int64_t length;
  int32_t is_log;
} mx_density_params;

/* sequences of up to `steps` events with marks */
typedef struct {
  int64_t rows;
  int64_t kinds;
  int64_t steps;
} mx_hawkes_params;

#endif
