// "gpu_rnn" and "gpu_rnn_grad": recurrent layers. One input product for all time steps, then per
// step a product with the hidden state and one kernel for the cells, see mxcy/gpu/recurrent.
#include "cuda/blas.h"
#include "cuda/call.h"
#include "cuda/random.h"
#include "params/launch.gen.h"

#define MX_ISA cuda  // a separate level: this file must not share inline code with leaves
#include "leaf/recurrent/shape.h"

namespace mx {
namespace cuda {
namespace {

constexpr int64_t kBlock = 256, kMostBlocks = 1024, kTile = 64, kColumns = 32;

struct Grid {
  int64_t columns, rows = 1, threads = kBlock;
};

Grid grid_for(int64_t count) {
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  return {blocks < kMostBlocks ? blocks : kMostBlocks};
}

// A call: its shape, plan and stream.
class Layers {
 public:
  explicit Layers(const mx_call* call)
      : call_(call),
        params_(*(const mx_rnn_params*)call->params),
        plan_(*(const mx_rnn_plan_params*)((const mx_rnn_params*)call->params + 1)),
        shape_(params_) {}

  bool begin() { return begin_call(call_, plan_.device, 0, 0, &stream_); }
  bool end() {
    if (Capture* capture = capturing()) capture->launches += launches_;
    return end_call(call_, plan_.device, 0);
  }

 protected:
  // The address of an element; NULL without an array.
  void* at(const void* array, int64_t index) const {
    return array ? (char*)array + index * plan_.bytes : nullptr;
  }
  void* workspace(int64_t offset) const { return (char*)call_->workspace + offset; }
  bool has_cell() const { return shape_.mode == kLstm; }
  // The inputs after the states, of which lengths are first, if there are any.
  const mx_tensor* behind_states() const { return call_->in + (has_cell() ? 4 : 3); }
  const void* lengths() const { return shape_.lengths ? behind_states()->data : nullptr; }
  int64_t state_size() const { return shape_.batch * shape_.out; }
  int64_t cell_size() const { return shape_.batch * shape_.hidden; }

  template <class... Arguments>
  bool start(int64_t function, Grid grid, Arguments... arguments) {
    void* pointers[] = {(void*)&arguments...};
    ++launches_;
    return succeeded(
        api().LaunchKernel((void*)function, (unsigned)grid.columns, (unsigned)grid.rows, 1,
                           (unsigned)grid.threads, 1, 1, 0, stream_, pointers, nullptr),
        "launching a kernel");
  }

  bool product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void* a, int64_t a_step,
               const void* b, int64_t b_step, double beta, void* c, int64_t c_step) {
    if (!plan_.product) {
      Product one = {ta, tb, m, n, k, a, a_step, b, b_step, c, c_step};
      one.beta = beta;
      ++launches_;
      return multiply(plan_.device, stream_, {plan_.type, plan_.compute, plan_.scalar}, one);
    }
    const int64_t unit = 1;
    const void* third = c;
    const Grid tiles = {(n + kTile - 1) / kTile, (m + kTile - 1) / kTile};
    return start(plan_.product, tiles, a, b, third, c, m, n, k, ta ? unit : a_step,
                 ta ? a_step : unit, tb ? unit : b_step, tb ? b_step : unit, c_step, beta);
  }

  const mx_call* call_;
  const mx_rnn_params& params_;
  const mx_rnn_plan_params& plan_;
  const RnnShape shape_;
  Stream stream_ = nullptr;
  int64_t launches_ = 0;
};

class Forward : public Layers {
 public:
  using Layers::Layers;

  bool run() {
    const void* below = call_->in[0].data;
    void* saved = shape_.saves ? call_->out[call_->nout - 1].data : workspace(plan_.saved);
    for (int64_t layer = 0; layer < shape_.layers; ++layer) {
      const bool top = layer == shape_.layers - 1;
      void* out = top ? call_->out[0].data : at(saved, shape_.out_at(layer));
      for (int64_t direction = 0; direction < shape_.directions; ++direction)
        if (!run_part(layer, direction, below, saved, at(out, direction * shape_.out)))
          return false;
      below = out;
      if (!top && shape_.drops) {
        void* kept = workspace(plan_.below);
        if (!drop(out, kept, at(saved, shape_.mask_at(layer)))) return false;
        below = kept;
      }
    }
    return true;
  }

 private:
  bool run_part(int64_t layer, int64_t direction, const void* below, void* saved, void* out) {
    const int64_t source = shape_.source(layer), number = layer * shape_.directions + direction;
    const void* parameters = call_->in[1].data;
    const void* weight = at(parameters, shape_.weights_at(layer, direction));
    const void* own_weight = at(weight, shape_.rows * source);
    const void* bias = at(parameters, shape_.bias_at(layer, direction));
    void* gates = at(saved, shape_.part_at(layer, direction));
    void* extra = shape_.extra ? at(gates, shape_.points() * shape_.rows) : nullptr;
    void* last = at(call_->out[1].data, number * state_size());
    void* last_cell = has_cell() ? at(call_->out[2].data, number * cell_size()) : nullptr;
    const void* hidden_then = at(call_->in[2].data, number * state_size());
    const void* cell_then = has_cell() ? at(call_->in[3].data, number * cell_size()) : nullptr;
    const void* projection = at(own_weight, shape_.rows * shape_.out);
    int64_t apart = shape_.out;
    if (!product(false, true, shape_.points(), shape_.rows, source, below, source, weight, source,
                 0, gates, shape_.rows))
      return false;
    for (int64_t i = 0; i < shape_.steps; ++i) {
      const int64_t step = shape_.step(direction, i), first = step * shape_.batch;
      void *own = workspace(plan_.own), *result = at(out, first * shape_.wide);
      void* extra_now = at(extra, first * shape_.hidden);
      // With lengths the states are kept in the outputs, else these get the last states.
      const bool keeps = shape_.lengths || i == shape_.steps - 1;
      void* cells_out = shape_.projected ? workspace(plan_.raw) : result;
      if (!product(false, true, shape_.batch, shape_.rows, shape_.out, hidden_then, apart,
                   own_weight, shape_.out, 0, own, shape_.rows) ||
          !start(plan_.cell, grid_for(cell_size()), at(gates, first * shape_.rows),
                 (const void*)own, bias, extra_now, cells_out,
                 shape_.projected ? shape_.hidden : shape_.wide, hidden_then, apart, cell_then,
                 keeps ? last : nullptr, keeps ? last_cell : nullptr, lengths(), step, shape_.batch,
                 shape_.hidden, shape_.low, shape_.high))
        return false;
      if (shape_.projected &&
          (!product(false, true, shape_.batch, shape_.out, shape_.hidden, cells_out, shape_.hidden,
                    projection, shape_.hidden, 0, result, shape_.wide) ||
           (keeps && !start(plan_.states, grid_for(state_size()), (const void*)result, shape_.wide,
                            hidden_then, apart, last, lengths(), step, shape_.batch, shape_.out))))
        return false;
      hidden_then = shape_.lengths ? last : result;
      apart = shape_.lengths ? shape_.out : shape_.wide;
      if (cell_then) cell_then = shape_.lengths ? last_cell : extra_now;
    }
    return true;
  }

  bool drop(const void* out, void* kept, void* mask) {
    const int64_t count = shape_.points() * shape_.wide;
    const Address streams = random_state(&call_->rng->for_dropout(), plan_.device);
    return start(plan_.drop, grid_for((count + 3) / 4), streams, out, kept, mask, count,
                 params_.drop) &&
           start(plan_.counted, Grid{1, 1, 1}, streams);
  }
};

class Backward : public Layers {
 public:
  using Layers::Layers;

  bool run() {
    const mx_tensor* in = behind_states() + (shape_.lengths ? 1 : 0);
    const void *out = in[0].data, *saved = in[1].data, *d_out = in[2].data;
    const int64_t count = shape_.points() * shape_.wide;
    for (int64_t layer = shape_.layers - 1; layer >= 0; --layer) {
      const void* below = layer ? at(saved, shape_.out_at(layer - 1)) : call_->in[0].data;
      const void* mask = layer && shape_.drops ? at(saved, shape_.mask_at(layer - 1)) : nullptr;
      const void* seen = below;
      if (mask) {
        seen = workspace(plan_.below);
        if (!start(plan_.scale, grid_for(count), below, mask, seen, count)) return false;
      }
      void* d_data =
          layer == 0 ? call_->out[0].data : workspace(layer % 2 ? plan_.d_below : plan_.d_above);
      for (int64_t direction = 0; direction < shape_.directions; ++direction) {
        const int64_t column = direction * shape_.out;
        if (!run_part(layer, direction, seen, saved, at(out, column), at(d_out, column), d_data,
                      in))
          return false;
      }
      if (mask && !start(plan_.scale, grid_for(count), d_data, mask, d_data, count)) return false;
      out = below;
      d_out = d_data;
    }
    return true;
  }

 private:
  bool run_part(int64_t layer, int64_t direction, const void* below, const void* saved,
                const void* out, const void* d_out, void* d_data, const mx_tensor* in) {
    const int64_t source = shape_.source(layer), number = layer * shape_.directions + direction;
    const int64_t rows = shape_.rows, hidden = shape_.hidden, points = shape_.points();
    const int64_t size = shape_.out;
    const int64_t weights = shape_.weights_at(layer, direction);
    const void* weight = at(call_->in[1].data, weights);
    const void *own_weight = at(weight, rows * source), *projection = at(own_weight, rows * size);
    const void* gates = at(saved, shape_.part_at(layer, direction));
    const void* extra = shape_.extra ? at(gates, points * rows) : nullptr;
    const void* state = at(call_->in[2].data, number * state_size());
    const void* cell = has_cell() ? at(call_->in[3].data, number * cell_size()) : nullptr;
    void* d_state = at(call_->out[2].data, number * state_size());
    void* d_cell = has_cell() ? at(call_->out[3].data, number * cell_size()) : nullptr;
    const void* d_hidden_after = at(in[3].data, number * state_size());
    const void* d_cell_after = has_cell() ? at(in[4].data, number * cell_size()) : nullptr;
    void *d_gates = workspace(plan_.d_gates), *d_own = workspace(plan_.d_own),
         *then = workspace(plan_.then), *raw = workspace(plan_.raw),
         *d_raw = workspace(plan_.d_raw), *d_projected = workspace(plan_.d_projected);
    const bool projected = shape_.projected;
    for (int64_t i = shape_.steps - 1; i >= 0; --i) {
      const int64_t step = shape_.step(direction, i);
      const int64_t before = i ? shape_.step(direction, i - 1) : -1;
      if (projected &&
          (!start(plan_.states, grid_for(state_size()), state, out, shape_.wide, d_out,
                  d_hidden_after, d_state, d_projected, then, lengths(), step, before, shape_.batch,
                  size) ||
           !product(false, false, shape_.batch, hidden, size, at(d_projected, step * state_size()),
                    size, projection, hidden, 0, d_raw, hidden)))
        return false;
      if (!start(plan_.cell, grid_for(cell_size()), gates, extra, state, out, shape_.wide, cell,
                 projected ? (const void*)d_raw : d_out, d_hidden_after, d_cell_after, d_state,
                 d_cell, d_gates, d_own, projected ? raw : then, lengths(), step, before,
                 shape_.batch, hidden, shape_.low, shape_.high) ||
          !product(false, false, shape_.batch, size, rows, at(d_own, step * shape_.batch * rows),
                   rows, own_weight, size, 1, d_state, size))
        return false;
      d_hidden_after = d_state;
      d_cell_after = d_cell;
    }
    void* d_parameters = call_->out[1].data;
    void* d_bias = at(d_parameters, shape_.bias_at(layer, direction));
    void *d_weight = at(d_parameters, weights), *d_own_weight = at(d_weight, rows * source);
    return sum(d_gates, d_bias) && sum(d_own, at(d_bias, rows)) &&
           product(false, false, points, source, rows, d_gates, rows, weight, source,
                   direction ? 1 : 0, d_data, source) &&
           product(true, false, rows, source, points, d_gates, rows, below, source, 0, d_weight,
                   source) &&
           product(true, false, rows, size, points, d_own, rows, then, size, 0, d_own_weight,
                   size) &&
           (!projected || product(true, false, size, hidden, points, d_projected, size, raw, hidden,
                                  0, at(d_own_weight, rows * size), hidden));
  }

  bool sum(const void* x, void* sums) {
    return start(plan_.sums, Grid{(shape_.rows + kColumns - 1) / kColumns}, x, sums,
                 shape_.points(), shape_.rows);
  }
};

template <class Pass>
int run(const mx_call* call) {
  Pass layers(call);
  return layers.begin() && layers.run() && layers.end() ? 0 : -1;
}

const int g_forward = mx_kernel_add("gpu_rnn", run<Forward>, (1u << MX_DTYPE_COUNT) - 1, 0);
const int g_backward = mx_kernel_add("gpu_rnn_grad", run<Backward>, (1u << MX_DTYPE_COUNT) - 1, 0);

}  // namespace
}  // namespace cuda
}  // namespace mx
