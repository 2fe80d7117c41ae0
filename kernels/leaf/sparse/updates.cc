// Optimizer updates with row_sparse gradients: "row_sgd_update" (weight, grad, indices),
// "row_sgd_mom_update" (.., mom), "row_adam_update" (.., mean, var), "row_ftrl_update" (.., z, n),
// "row_adagrad_update" (.., history), "row_group_adagrad_update" (.., one history per row).
//
// Lazy updates only touch the rows of the gradient; names ending in "_standard" treat other rows'
// gradients as zero.
#include "leaf/optimizer/steps.h"
#include "leaf/sparse/parts.h"

MX_LEAF_BEGIN
namespace {

// The output weight and the rows of the gradient; false with an error text if they do not match.
template <class S>
struct Rows {
  S* weight;
  const S* gradient;
  const int64_t* indices;
  int64_t total, stored, width;

  explicit Rows(const mx_call* call)
      : weight(data<S>(call->out[0])),
        gradient(data<S>(call->in[1])),
        indices(data<int64_t>(call->in[2])),
        total(call->in[0].shape[0]),
        stored(count(call->in[2])),
        width(row_size(call->in[0])) {}
  bool ready(const mx_call* call) const {
    if (!ascending(indices, stored)) {
      mx_fail("indices: must be sorted and distinct");
      return false;
    }
    if (!within(indices, stored, total)) {
      mx_fail("indices: out of bounds for %lld rows", (long long)total);
      return false;
    }
    if (call->in[0].data != weight)
      memcpy(weight, call->in[0].data, (size_t)(total * width) * sizeof(S));
    return true;
  }
};

// One step of `n` elements; a NULL gradient counts as zeros.
template <class S, class Step>
MX_INLINE void step_row(const Step& step, S* weight, const S* gradient, S* const* state,
                        int64_t n) {
  typedef Sum<S> T;
  constexpr int L = kLanes<T>, N = Step::states;
  for (int64_t i = 0; i < n; i += L) {
    const int lanes = (int)least(n - i, L);
    Vec<T> states[N + 1];
    for (int s = 0; s < N; ++s) states[s] = load_lanes(state[s] + i, lanes);
    const Vec<T> g = gradient ? load_lanes(gradient + i, lanes) : Vec<T>{};
    const Vec<T> w = step(load_lanes(weight + i, lanes), g, states);
    for (int s = 0; s < N; ++s) store_lanes(state[s] + i, states[s], lanes);
    store_lanes(weight + i, w, lanes);
  }
}

// Rows prefetched: their addresses are unpredictable for the hardware.
constexpr int64_t kAhead = 4;

// Prefetch the elements from `at` of the weight and of the states.
template <int states, class S>
MX_INLINE void fetch(const mx_call* call, const S* weight, int64_t at, int64_t width) {
  const int64_t bytes = least(width * (int64_t)sizeof(S), 1024);
  for (int64_t byte = 0; byte < bytes; byte += 64) {
    __builtin_prefetch((const char*)(weight + at) + byte, 1);
    for (int s = 0; s < states; ++s)
      __builtin_prefetch((const char*)(data<S>(call->in[3 + s]) + at) + byte, 1);
  }
}

template <class S, bool lazy, template <class> class Step, class Params>
int row_update(const mx_call* call) {
  const Step<Sum<S>> step(*(const Params*)call->params);
  constexpr int N = Step<Sum<S>>::states;
  const Rows<S> rows(call);
  if (!rows.ready(call)) return -1;
  const auto update = [&](int64_t row, const S* gradient) {
    S* state[N + 1];
    for (int s = 0; s < N; ++s) state[s] = data<S>(call->in[3 + s]) + row * rows.width;
    step_row(step, rows.weight + row * rows.width, gradient, state, rows.width);
  };
  if (lazy) {
    parallel_for(call->threads, rows.stored, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        if (k + kAhead < end)
          fetch<N>(call, rows.weight, rows.indices[k + kAhead] * rows.width, rows.width);
        update(rows.indices[k], rows.gradient + k * rows.width);
      }
    });
    return 0;
  }
  parallel_for(call->threads, rows.total, 1, [&](int64_t begin, int64_t end) {
    int64_t k = first_from(rows.indices, rows.stored, begin);
    for (int64_t row = begin; row < end; ++row) {
      const bool has = k < rows.stored && rows.indices[k] == row;
      update(row, has ? rows.gradient + k++ * rows.width : nullptr);
    }
  });
  return 0;
}

template <class S>
int row_group_adagrad_update(const mx_call* call) {
  typedef Sum<S> T;
  constexpr int L = kLanes<T>;
  const auto& p = *(const mx_adagrad_params*)call->params;
  const T lr = (T)p.lr, rescale = (T)p.rescale_grad, bound = (T)p.clip_gradient;
  const Rows<S> rows(call);
  if (!rows.ready(call)) return -1;
  S* history = data<S>(call->in[3]);
  parallel_for(call->threads, rows.stored, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const S* gradient = rows.gradient + k * rows.width;
      S* weight = rows.weight + rows.indices[k] * rows.width;
      Vec<T> squares = {};
      for (int64_t i = 0; i < rows.width; i += L) {
        const Vec<T> g =
            clip(rescale * load_lanes(gradient + i, (int)least(rows.width - i, L)), bound);
        squares += g * g;
      }
      T total = 0;
      for (int lane = 0; lane < L; ++lane) total += squares[lane];
      S* kept = history + rows.indices[k];
      const T sum = scalar_as<T>(*kept) + total / (T)rows.width;
      store_scalar(kept, sum);
      const Vec<T> scale = splat<Vec<T>>(sum + (T)p.epsilon);
      for (int64_t i = 0; i < rows.width; i += L) {
        const int lanes = (int)least(rows.width - i, L);
        const Vec<T> g = clip(rescale * load_lanes(gradient + i, lanes), bound);
        store_lanes(weight + i, load_lanes(weight + i, lanes) - lr * g / sqrt(scale), lanes);
      }
    }
  });
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
#define MX_UPDATE(name, Step, Params) \
  mx_kernel_add("row_" name "_update", row_update<S, true, Step, Params>, dtype, 0);
#define MX_UPDATES(name, Step, Params) \
  MX_UPDATE(name, Step, Params)        \
  mx_kernel_add("row_" name "_update_standard", row_update<S, false, Step, Params>, dtype, 0);
  MX_UPDATES("sgd", Sgd, mx_sgd_params)
  MX_UPDATES("sgd_mom", SgdMom, mx_sgd_mom_params)
  MX_UPDATES("adam", Adam, mx_adam_params)
  MX_UPDATE("ftrl", Ftrl, mx_ftrl_params)
  MX_UPDATE("adagrad", AdaGrad, mx_adagrad_params)
#undef MX_UPDATES
#undef MX_UPDATE
  mx_kernel_add("row_group_adagrad_update", row_group_adagrad_update<S>, dtype, 0);
}

}  // namespace

void register_row_updates() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
