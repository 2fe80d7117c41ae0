// "hawkesll" (lda, alpha, beta, state, lags, marks, valid_length, max_time): log-likelihoods of
// marked Hawkes processes and their final states; "hawkesll_grad" (gradient, the same): gradients
// of lda, alpha and beta. Sequences are processed event by event and divided among a team.
#include <math.h>

#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/leaf.h"
#include "params/random.gen.h"

MX_LEAF_BEGIN
namespace {

// The inputs, and one sequence of them.
template <class T>
struct Sequences {
  const mx_hawkes_params& p;
  const T *lda, *alpha, *beta, *state, *lags, *valid_length, *max_time;
  const int32_t* marks;

  Sequences(const mx_call* call, const mx_tensor* in)
      : p(*(const mx_hawkes_params*)call->params),
        lda(data<T>(in[0])),
        alpha(data<T>(in[1])),
        beta(data<T>(in[2])),
        state(data<T>(in[3])),
        lags(data<T>(in[4])),
        valid_length(data<T>(in[6])),
        max_time(data<T>(in[7])),
        marks(data<int32_t>(in[5])) {}

  int64_t length(int64_t row) const {
    const int64_t n = (int64_t)valid_length[row];
    return n < p.steps ? n : p.steps;
  }
  // Check that all valid marks exist; sets an error text if not.
  bool checked() const {
    for (int64_t r = 0; r < p.rows; ++r) {
      for (int64_t i = 0; i < length(r); ++i) {
        const int32_t mark = marks[r * p.steps + i];
        if (mark < 0 || mark >= p.kinds) {
          mx_fail("argument marks: %d is not one of %ld marks", mark, (long)p.kinds);
          return false;
        }
      }
    }
    return true;
  }
};

template <class T>
int hawkesll(const mx_call* call) {
  const Sequences<T> s(call, call->in);
  if (!s.checked()) return -1;
  const int64_t kinds = s.p.kinds;
  return parallel_try(call->threads, s.p.rows, 1, [&](int64_t begin, int64_t end) {
    T* since = (T*)scratch(kTempSlot, (size_t)(2 * kinds) * sizeof(T));
    if (!since) return false;
    for (int64_t r = begin; r < end; ++r) {
      const T* lda = s.lda + r * kinds;
      T *state = since + kinds, now = 0, sum = 0;
      for (int64_t k = 0; k < kinds; ++k) since[k] = 0, state[k] = s.state[r * kinds + k];
      for (int64_t i = r * s.p.steps; i < r * s.p.steps + s.length(r); ++i) {
        const int32_t k = s.marks[i];
        now += s.lags[i];
        const T passed = now - since[k], left = state[k] * exp(-s.beta[k] * passed);
        const T rate = lda[k] + s.alpha[k] * s.beta[k] * left;
        sum += log(rate) - lda[k] * passed - s.alpha[k] * (state[k] - left);
        state[k] = 1 + left;
        since[k] = now;
      }
      for (int64_t k = 0; k < kinds; ++k) {
        const T passed = s.max_time[r] - since[k], left = state[k] * exp(-s.beta[k] * passed);
        sum -= lda[k] * passed + s.alpha[k] * (state[k] - left);
        if (call->out[1].data) data<T>(call->out[1])[r * kinds + k] = left;
      }
      if (call->out[0].data) data<T>(call->out[0])[r] = sum;
    }
    return true;
  });
}

// Derivatives of one sequence's likelihood; `memory` has room for 3 values per mark.
template <class T>
void differentiate(const Sequences<T>& s, int64_t r, T* memory, T* by_lda, T* by_alpha,
                   T* by_beta) {
  const int64_t kinds = s.p.kinds;
  const T* lda = s.lda + r * kinds;
  // slope: derivative of the state with respect to beta.
  T *since = memory, *state = since + kinds, *slope = state + kinds;
  for (int64_t k = 0; k < kinds; ++k) {
    since[k] = slope[k] = by_lda[k] = by_alpha[k] = by_beta[k] = 0;
    state[k] = s.state[r * kinds + k];
  }
  T now = 0;
  for (int64_t i = r * s.p.steps; i < r * s.p.steps + s.length(r); ++i) {
    const int32_t k = s.marks[i];
    const T strength = s.alpha[k], decay = s.beta[k];
    now += s.lags[i];
    const T passed = now - since[k], factor = exp(-decay * passed);
    const T left = state[k] * factor, left_slope = (slope[k] - passed * state[k]) * factor;
    const T inverse = 1 / (lda[k] + strength * decay * left);
    by_lda[k] += inverse - passed;
    by_alpha[k] += decay * left * inverse - (state[k] - left);
    by_beta[k] += strength * (left + decay * left_slope) * inverse;
    by_beta[k] -= strength * (slope[k] - left_slope);
    state[k] = 1 + left;
    slope[k] = left_slope;
    since[k] = now;
  }
  for (int64_t k = 0; k < kinds; ++k) {
    const T passed = s.max_time[r] - since[k], factor = exp(-s.beta[k] * passed);
    by_lda[k] -= passed;
    by_alpha[k] -= state[k] * (1 - factor);
    by_beta[k] -= s.alpha[k] * (slope[k] - (slope[k] - passed * state[k]) * factor);
  }
}

template <class T>
int hawkesll_grad(const mx_call* call) {
  const Sequences<T> s(call, call->in + 1);
  if (!s.checked()) return -1;
  const int64_t kinds = s.p.kinds, size = s.p.rows * kinds;
  const T* gradient = data<T>(call->in[0]);
  // Derivatives per sequence, weighted; those of alpha and beta are summed at the end.
  T* by_alpha = (T*)scratch(kSharedSlot, (size_t)(2 * size + 1) * sizeof(T));
  if (!by_alpha) return -1;
  T *by_beta = by_alpha + size, *out = data<T>(call->out[0]);
  const int status = parallel_try(call->threads, s.p.rows, 1, [&](int64_t begin, int64_t end) {
    T* memory = (T*)scratch(kTempSlot, (size_t)(4 * kinds) * sizeof(T));
    if (!memory) return false;
    for (int64_t r = begin; r < end; ++r) {
      T *by_lda = memory + 3 * kinds, *a = by_alpha + r * kinds, *b = by_beta + r * kinds;
      differentiate(s, r, memory, by_lda, a, b);
      for (int64_t k = 0; k < kinds; ++k) {
        if (out) out[r * kinds + k] = gradient[r] * by_lda[k];
        a[k] *= gradient[r];
        b[k] *= gradient[r];
      }
    }
    return true;
  });
  if (status) return status;
  for (int i = 0; i < 2; ++i) {
    const T* each = i ? by_beta : by_alpha;
    for (int64_t k = 0; call->out[1 + i].data && k < kinds; ++k) {
      double sum = 0;
      for (int64_t r = 0; r < s.p.rows; ++r) sum += each[r * kinds + k];
      data<T>(call->out[1 + i])[k] = (T)sum;
    }
  }
  return 0;
}

}  // namespace

void register_hawkes() {
  mx_kernel_add("hawkesll", hawkesll<float>, MX_BIT(F32), 0);
  mx_kernel_add("hawkesll", hawkesll<double>, MX_BIT(F64), 0);
  mx_kernel_add("hawkesll_grad", hawkesll_grad<float>, MX_BIT(F32), 0);
  mx_kernel_add("hawkesll_grad", hawkesll_grad<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
