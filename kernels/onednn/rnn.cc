// "rnn_onednn": recurrent layers in inference. Each layer is a job, made from a call on parts of
// the operator's arrays; ops/recurrent/layers.py specifies where parameters are.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/tensor.h"
#include "core/threads.h"
#include "onednn/cache.h"
#include "onednn/kernels.h"
#include "params/recurrent.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_rnn_params P;

enum Mode { kRnnRelu, kRnnTanh, kLstm, kGru };
// Tensors of a layer's call; the cell state, last, exists only for LSTM.
enum LayerInput { kData, kState, kLayerWeights, kOwnWeights, kLayerBias, kCell };

int64_t aligned(int64_t count) { return round_up(count, 16); }

// Extents of one layer: P with one layer, whose `inputs` are the layer's own.
struct LayerShape {
  // Per direction: rows of weights (gates), and biases, with one more gate for GRU.
  int64_t rows, biases;

  explicit LayerShape(const P& p)
      : rows(p.gates * p.hidden), biases((p.gates + (p.mode == kGru)) * p.hidden) {}
  // Elements between the weights of two directions.
  int64_t step(const P& p) const { return rows * (p.inputs + p.hidden); }
};

// Input or recurrent weights are stored as (direction, gate, unit, input); in a bidirectional layer
// they are contiguous for each direction, unless they were copied.
Layout weights_of(const P& p, int64_t inputs) {
  const bool together = p.directions > 1 && p.mode != kGru;
  const int64_t step = together ? LayerShape(p).step(p) : LayerShape(p).rows * inputs;
  return Layout::strided({1, p.directions, inputs, p.gates, p.hidden},
                         {p.directions * step, step, 1, p.hidden * inputs, inputs});
}

bool build_layer(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const Extents states = {1, p.directions, p.batch, p.hidden};
  const Extents wide = {p.steps, p.batch, p.directions * p.hidden};
  const int64_t gates = LayerShape(p).biases / p.hidden;
  Layout source = Layout::rows({p.steps, p.batch, p.inputs}), target = Layout::rows(wide);
  Layout state = Layout::rows(states), last = Layout::rows(states);
  Layout bias = Layout::rows({1, p.directions, gates, p.hidden});
  const Layout weights = Layout::any({1, p.directions, p.inputs, p.gates, p.hidden});
  const Layout own = Layout::any({1, p.directions, p.hidden, p.gates, p.hidden});
  const int direction = p.directions == 2 ? kBothConcatenated : kForwards;
  Attributes attributes;
  dnnl_primitive_desc* description = nullptr;
  dnnl_engine* engine = opened().engine;
  int status = 0;
  if (p.mode == kLstm) {
    status = api().lstm_forward_primitive_desc_create(
        &description, engine, kInference, direction, source, state, state, weights, own, nullptr,
        nullptr, bias, target, last, last, 0, attributes.get());
  } else if (p.mode == kGru) {
    status = api().lbr_gru_forward_primitive_desc_create(&description, engine, kInference,
                                                         direction, source, state, weights, own,
                                                         bias, target, last, 0, attributes.get());
  } else {
    status = api().vanilla_rnn_forward_primitive_desc_create(
        &description, engine, kInference, p.mode == kRnnRelu ? kRelu : kTanh, direction, source,
        state, weights, own, bias, target, last, 0, 0, 0, attributes.get());
  }
  if (!job->primitive().take(status, description, "rnn")) return false;
  job->input(kSrc, kData, std::move(source));
  job->input(kSrc1, kState, std::move(state));
  job->input(kWeights, kLayerWeights, weights_of(p, p.inputs));
  job->input(kWeights1, kOwnWeights, weights_of(p, p.hidden));
  job->input(kBias, kLayerBias, std::move(bias));
  job->output(kDst, 0, std::move(target));
  job->output(kDst1, 1, std::move(last));
  if (p.mode == kLstm) {
    job->input(kSrc2, kCell, Layout::rows(states));
    job->output(kDst2, 2, Layout::rows(states));
  }
  return true;
}

// Splits the workspace; without memory it only counts bytes.
class BumpAllocator {
 public:
  explicit BumpAllocator(void* data) : data_(static_cast<float*>(data)) {}
  float* take(int64_t count) {
    float* taken = data_ ? data_ + used_ : nullptr;
    used_ += aligned(count);
    return taken;
  }
  int64_t bytes() const { return used_ * (int64_t)sizeof(float); }

 private:
  float* data_;
  int64_t used_ = 0;
};

// One layer's call.
class LayerCall {
 public:
  LayerCall(const mx_call* call, const P& p) : params_(p), call_(*call) {
    tensor(&in_[kData], {p.steps, p.batch, p.inputs});
    for (mx_tensor* state : {&in_[kState], &in_[kCell], &out_[1], &out_[2]})
      tensor(state, {p.directions, p.batch, p.hidden});
    const LayerShape shape(p);
    for (mx_tensor* weights : {&in_[kLayerWeights], &in_[kOwnWeights]})
      tensor(weights, {p.directions * shape.step(p)});
    tensor(&in_[kLayerBias], {p.directions * shape.biases});
    tensor(&out_[0], {p.steps, p.batch, p.directions * p.hidden});
    call_.nin = p.mode == kLstm ? 6 : 5;
    call_.nout = p.mode == kLstm ? 3 : 2;
    call_.in = in_;
    call_.out = out_;
    call_.params = &params_;
    call_.state = nullptr;
  }
  LayerCall(const LayerCall&) = delete;

  const P& params() const { return params_; }
  mx_tensor* in() { return in_; }
  mx_tensor* out() { return out_; }
  std::shared_ptr<Job> job() const { return job_for(&call_, build_layer, sizeof(P)); }
  bool run(void* workspace, int64_t bytes) {
    call_.workspace = workspace;
    call_.workspace_size = (size_t)bytes;
    return run_job(&call_, build_layer, sizeof(P)) == 0;
  }

 private:
  void tensor(mx_tensor* tensor, std::initializer_list<int64_t> extents) {
    int64_t* shape = shapes_[used_++];
    std::copy(extents.begin(), extents.end(), shape);
    *tensor = {nullptr, shape, nullptr, (int32_t)extents.size(), MX_F32};
  }

  P params_;
  mx_call call_;
  mx_tensor in_[6], out_[3];
  int64_t shapes_[9][3];
  int used_ = 0;
};

P params_of(const P& p, int64_t layer) {
  P one = p;
  one.inputs = layer ? p.directions * p.hidden : p.inputs;
  one.layers = 1;
  return one;
}

struct Space {
  float *between[2], *weights, *bias;
  int64_t left;  // bytes left for jobs

  // `p` is the whole stack's; false if oneDNN rejects one of the layers.
  bool settle(const mx_call* call, const P& p, BumpAllocator* allocator) {
    const int64_t points = p.steps * p.batch * p.directions * p.hidden;
    for (float*& buffer : between) buffer = allocator->take(p.layers > 1 ? points : 0);
    int64_t weight_count = 0;
    left = 0;
    for (int64_t layer = 0; layer < std::min<int64_t>(p.layers, 2); ++layer) {
      const LayerCall one(call, params_of(p, layer));
      const std::shared_ptr<Job> job = one.job();
      if (!job) return false;
      left = std::max(left, job->workspace_bytes());
      weight_count =
          std::max(weight_count, p.directions * LayerShape(one.params()).step(one.params()));
    }
    weights = allocator->take(p.mode == kGru ? weight_count : 0);
    bias = allocator->take(p.directions * LayerShape(p).biases);
    return true;
  }
};

// Combine the biases of both products, where oneDNN has only one; GRU gates in oneDNN's order:
// update, reset, new, and the part of new that the reset gate multiplies.
void join_biases(const P& p, const float* plain, float* packed) {
  const int64_t h = p.hidden, rows = LayerShape(p).rows;
  for (int64_t d = 0; d < p.directions; ++d, plain += 2 * rows, packed += LayerShape(p).biases) {
    const float* own = plain + rows;
    for (int64_t j = 0; j < rows; ++j) {
      const int64_t gate = j / h;
      const int64_t place = p.mode == kGru && gate < 2 ? (1 - gate) * h + j % h : j;
      packed[place] = plain[j] + (p.mode == kGru && gate == 2 ? 0 : own[j]);
    }
    if (p.mode == kGru) memcpy(packed + 3 * h, own + 2 * h, h * sizeof(float));
  }
}

// A GRU's weights with its first two gates swapped, as in oneDNN: all input weights, then all
// recurrent ones.
void swap_gates(const P& p, int threads, const float* plain, float* packed) {
  const LayerShape shape(p);
  parallel_for(threads, p.directions * 6, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t direction = i / 6, own = i / 3 % 2, gate = i % 3;
      const int64_t inputs = own ? p.hidden : p.inputs, size = p.hidden * inputs;
      const float* from = plain + direction * shape.step(p) + own * shape.rows * p.inputs;
      float* to = packed + own * p.directions * shape.rows * p.inputs + direction * 3 * size;
      memcpy(to + (gate < 2 ? 1 - gate : gate) * size, from + gate * size, size * sizeof(float));
    }
  });
}

int run(const mx_call* call) {
  const P& p = *static_cast<const P*>(call->params);
  BumpAllocator allocator(call->workspace);
  Space space;
  if (!space.settle(call, p, &allocator)) return -1;
  const bool lstm = p.mode == kLstm;
  const float* weights = static_cast<const float*>(call->in[1].data);
  const float* biases =
      weights + count(call->in[1]) - p.layers * p.directions * 2 * LayerShape(p).rows;
  const int64_t state_size = p.directions * p.batch * p.hidden;
  auto part = [&](const mx_tensor& states, int64_t layer) {
    return static_cast<float*>(states.data) + layer * state_size;
  };
  void* below = call->in[0].data;
  for (int64_t layer = 0; layer < p.layers; ++layer) {
    LayerCall one(call, params_of(p, layer));
    const P& own = one.params();
    const LayerShape shape(own);
    const float *layer_weights = weights, *own_weights = weights + shape.rows * own.inputs;
    if (p.mode == kGru) {
      swap_gates(own, call->threads, weights, space.weights);
      layer_weights = space.weights;
      own_weights = space.weights + p.directions * shape.rows * own.inputs;
    }
    join_biases(own, biases, space.bias);
    one.in()[kData].data = below;
    one.in()[kState].data = part(call->in[2], layer);
    one.in()[kLayerWeights].data = const_cast<float*>(layer_weights);
    one.in()[kOwnWeights].data = const_cast<float*>(own_weights);
    one.in()[kLayerBias].data = space.bias;
    one.in()[kCell].data = lstm ? part(call->in[3], layer) : nullptr;
    void* out = layer == p.layers - 1 ? call->out[0].data : space.between[layer % 2];
    one.out()[0].data = out;
    one.out()[1].data = part(call->out[1], layer);
    one.out()[2].data = lstm ? part(call->out[2], layer) : nullptr;
    char* rest = static_cast<char*>(call->workspace) + allocator.bytes();
    if (!one.run(rest, (int64_t)call->workspace_size - allocator.bytes())) return -1;
    below = out;
    weights += p.directions * shape.step(own);
    biases += p.directions * 2 * shape.rows;
  }
  return 0;
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *static_cast<const P*>(call->params);
  BumpAllocator allocator(nullptr);
  Space space;
  const bool good = space.settle(call, p, &allocator);
  if (what == MX_QUERY_ACCEPTS) return good;
  if (!good || what != MX_QUERY_WORKSPACE) return -1;
  return allocator.bytes() + space.left;
}

}  // namespace

void register_rnn() {
  mx_kernel_add("rnn_onednn", run, 1u << MX_F32, 0);
  const mx_kernel_extra extra = {nullptr, nullptr, query};
  mx_kernel_extend("rnn_onednn", &extra);
}

}  // namespace onednn
}  // namespace mx
