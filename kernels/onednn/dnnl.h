// The part of oneDNN's C interface (version 3) used here. The library is opened at run time; names
// and constants are those of its headers.
#pragma once
#include <cstddef>
#include <cstdint>

struct dnnl_engine;
struct dnnl_stream;
struct dnnl_memory;
struct dnnl_memory_desc;
struct dnnl_primitive;
struct dnnl_primitive_desc;
struct dnnl_primitive_attr;
struct dnnl_post_ops;

namespace mx {
namespace onednn {

typedef const dnnl_memory_desc* Md;
typedef const dnnl_primitive_attr* AttrOf;
typedef const int64_t* Dims;

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};

struct Argument {
  int index;
  dnnl_memory* memory;
};

constexpr int kMaxDims = 12;
constexpr unsigned kOpenMp = 2;  // Version::cpu_runtime
constexpr int kCpu = 1, kInOrder = 1, kUserScratchpad = 1, kTagAny = 1;
enum DataType { kF16 = 1, kBf16 = 2, kF32 = 3, kS32 = 4, kS8 = 5, kU8 = 6 };
enum Propagation { kTraining = 64, kInference = 96, kBackward = 128, kBackwardData = 160 };
enum NormFlags { kGlobalStatistics = 1, kUseScale = 2, kUseShift = 4 };
enum Direction { kForwards = 1, kBothConcatenated = 3 };
enum Query {
  kQueryInputs = 3,
  kQueryImplementation = 8,
  kQueryScratchpad = 136,
  kQueryArgument = 255
};

enum Algorithm {
  kConvolutionDirect = 0x1,
  kDeconvolutionDirect = 0xa,
  kRelu = 0x20,
  kTanh,
  kElu,
  kSquare,
  kAbs,
  kSqrt,
  kLinear,
  kSoftRelu,
  kHardSigmoid,
  kLogistic,
  kExp,
  kGeluTanh,
  kSwish,
  kLog,
  kClip,
  kClip2,
  kPow,
  kGeluErf,
  kRound,
  kMish,
  kHardSwish,
  kReluFromResult = 0x100,
  kTanhFromResult,
  kLogisticFromResult = 0x104,
  kPoolMax = 0x1ff,
  kPoolAverageWithPadding = 0x2ff,
  kPoolAverage = 0x3ff,
  kLrnAcrossChannels = 0xaff,
  kSoftmax = 0x30000,
  kLogSoftmax = 0x30001
};

enum ArgumentIndex {
  kSrc = 1,
  kSrc1 = 2,
  kSrc2 = 3,
  kDst = 17,
  kDst1 = 18,
  kDst2 = 19,
  kWeights = 33,
  kWeights1 = 34,
  kBias = 41,
  kMean = 49,
  kVariance = 50,
  kScale = 51,
  kShift = 52,
  kWorkspace = 64,
  kScratchpad = 80,
  kDiffSrc = 129,
  kDiffDst = 145,
  kDiffWeights = 161,
  kDiffBias = 169,
  kDiffScale = 255,
  kDiffShift = 256,
  kMultipleSrc = 1024,
  kScalesOf = 4096
};

// F(name without dnnl_, parameters): functions that return a status, 0 for success.
#define MX_DNNL_STATUS_FUNCTIONS(F)                                                               \
  F(engine_create, (dnnl_engine**, int kind, size_t index))                                       \
  F(stream_create, (dnnl_stream**, dnnl_engine*, unsigned flags))                                 \
  F(set_primitive_cache_capacity, (int))                                                          \
  F(memory_desc_create_with_strides,                                                              \
    (dnnl_memory_desc**, int ndims, Dims, int type, Dims strides))                                \
  F(memory_desc_create_with_tag, (dnnl_memory_desc**, int ndims, Dims, int type, int tag))        \
  F(memory_desc_clone, (dnnl_memory_desc**, Md))                                                  \
  F(memory_desc_destroy, (dnnl_memory_desc*))                                                     \
  F(memory_create, (dnnl_memory**, Md, dnnl_engine*, void*))                                      \
  F(memory_set_data_handle, (dnnl_memory*, void*))                                                \
  F(memory_destroy, (dnnl_memory*))                                                               \
  F(primitive_attr_create, (dnnl_primitive_attr**))                                               \
  F(primitive_attr_set_scratchpad_mode, (dnnl_primitive_attr*, int))                              \
  F(primitive_attr_set_post_ops, (dnnl_primitive_attr*, const dnnl_post_ops*))                    \
  F(primitive_attr_set_scales_mask, (dnnl_primitive_attr*, int argument, int mask))               \
  F(primitive_attr_destroy, (dnnl_primitive_attr*))                                               \
  F(post_ops_create, (dnnl_post_ops**))                                                           \
  F(post_ops_append_sum, (dnnl_post_ops*, float scale, int32_t zero_point, int type))             \
  F(post_ops_append_eltwise, (dnnl_post_ops*, int algorithm, float alpha, float beta))            \
  F(post_ops_destroy, (dnnl_post_ops*))                                                           \
  F(primitive_desc_destroy, (dnnl_primitive_desc*))                                               \
  F(primitive_desc_query, (const dnnl_primitive_desc*, int what, int index, void*))               \
  F(primitive_create, (dnnl_primitive**, const dnnl_primitive_desc*))                             \
  F(primitive_execute, (const dnnl_primitive*, dnnl_stream*, int count, const Argument*))         \
  F(primitive_destroy, (dnnl_primitive*))                                                         \
  F(reorder_primitive_desc_create,                                                                \
    (dnnl_primitive_desc**, Md src, dnnl_engine*, Md dst, dnnl_engine*, AttrOf))                  \
  F(convolution_forward_primitive_desc_create,                                                    \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int algorithm, Md src, Md weights,     \
     Md bias, Md dst, Dims strides, Dims dilates, Dims before, Dims after, AttrOf))               \
  F(inner_product_forward_primitive_desc_create,                                                  \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, Md src, Md weights, Md bias, Md dst,   \
     AttrOf))                                                                                     \
  F(convolution_backward_weights_primitive_desc_create,                                           \
    (dnnl_primitive_desc**, dnnl_engine*, int algorithm, Md src, Md diff_weights, Md diff_bias,   \
     Md diff_dst, Dims strides, Dims dilates, Dims before, Dims after,                            \
     const dnnl_primitive_desc* forward, AttrOf))                                                 \
  F(deconvolution_forward_primitive_desc_create,                                                  \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int algorithm, Md src, Md weights,     \
     Md bias, Md dst, Dims strides, Dims dilates, Dims before, Dims after, AttrOf))               \
  F(pooling_forward_primitive_desc_create,                                                        \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int algorithm, Md src, Md dst,         \
     Dims strides, Dims kernel, Dims dilates, Dims before, Dims after, AttrOf))                   \
  F(pooling_backward_primitive_desc_create,                                                       \
    (dnnl_primitive_desc**, dnnl_engine*, int algorithm, Md diff_src, Md diff_dst, Dims strides,  \
     Dims kernel, Dims dilates, Dims before, Dims after, const dnnl_primitive_desc* forward,      \
     AttrOf))                                                                                     \
  F(softmax_forward_primitive_desc_create, (dnnl_primitive_desc**, dnnl_engine*, int propagation, \
                                            int algorithm, Md src, Md dst, int axis, AttrOf))     \
  F(softmax_backward_primitive_desc_create,                                                       \
    (dnnl_primitive_desc**, dnnl_engine*, int algorithm, Md diff_src, Md diff_dst, Md dst,        \
     int axis, const dnnl_primitive_desc* forward, AttrOf))                                       \
  F(batch_normalization_forward_primitive_desc_create,                                            \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, Md src, Md dst, float epsilon,         \
     unsigned flags, AttrOf))                                                                     \
  F(batch_normalization_backward_primitive_desc_create,                                           \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, Md diff_src, Md diff_dst, Md src,      \
     float epsilon, unsigned flags, const dnnl_primitive_desc* forward, AttrOf))                  \
  F(layer_normalization_forward_primitive_desc_create,                                            \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, Md src, Md dst, Md statistics,         \
     float epsilon, unsigned flags, AttrOf))                                                      \
  F(layer_normalization_backward_primitive_desc_create,                                           \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, Md diff_src, Md diff_dst, Md src,      \
     Md statistics, float epsilon, unsigned flags, const dnnl_primitive_desc* forward, AttrOf))   \
  F(lrn_forward_primitive_desc_create,                                                            \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int algorithm, Md src, Md dst,         \
     int64_t size, float alpha, float beta, float k, AttrOf))                                     \
  F(matmul_primitive_desc_create,                                                                 \
    (dnnl_primitive_desc**, dnnl_engine*, Md src, Md weights, Md bias, Md dst, AttrOf))           \
  F(concat_primitive_desc_create,                                                                 \
    (dnnl_primitive_desc**, dnnl_engine*, Md dst, int count, int axis, const Md* src, AttrOf))    \
  F(sum_primitive_desc_create, (dnnl_primitive_desc**, dnnl_engine*, Md dst, int count,           \
                                const float* scales, const Md* src, AttrOf))                      \
  F(vanilla_rnn_forward_primitive_desc_create,                                                    \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int activation, int direction, Md src, \
     Md state, Md weights, Md own_weights, Md bias, Md dst, Md last_state, unsigned flags,        \
     float alpha, float beta, AttrOf))                                                            \
  F(lstm_forward_primitive_desc_create,                                                           \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int direction, Md src, Md state,       \
     Md cell, Md weights, Md own_weights, Md peepholes, Md projection, Md bias, Md dst,           \
     Md last_state, Md last_cell, unsigned flags, AttrOf))                                        \
  F(lbr_gru_forward_primitive_desc_create,                                                        \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int direction, Md src, Md state,       \
     Md weights, Md own_weights, Md bias, Md dst, Md last_state, unsigned flags, AttrOf))         \
  F(eltwise_forward_primitive_desc_create,                                                        \
    (dnnl_primitive_desc**, dnnl_engine*, int propagation, int algorithm, Md src, Md dst,         \
     float alpha, float beta, AttrOf))                                                            \
  F(eltwise_backward_primitive_desc_create,                                                       \
    (dnnl_primitive_desc**, dnnl_engine*, int algorithm, Md diff_src, Md diff_dst, Md data,       \
     float alpha, float beta, const dnnl_primitive_desc* forward, AttrOf))

// F(name, result, parameters): functions with other results.
#define MX_DNNL_FUNCTIONS(F)            \
  F(version, const Version*, ())        \
  F(status2str, const char*, (int))     \
  F(fmt_tag2str, const char*, (int))    \
  F(memory_desc_get_size, size_t, (Md)) \
  F(memory_desc_equal, int, (Md, Md))   \
  F(primitive_desc_query_md, Md, (const dnnl_primitive_desc*, int what, int index))

struct Api {
#define MX_DECLARE(name, parameters) int(*name) parameters;
  MX_DNNL_STATUS_FUNCTIONS(MX_DECLARE)
#undef MX_DECLARE
#define MX_DECLARE(name, result, parameters) result(*name) parameters;
  MX_DNNL_FUNCTIONS(MX_DECLARE)
#undef MX_DECLARE
};

}  // namespace onednn
}  // namespace mx
