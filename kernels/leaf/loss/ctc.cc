// "ctc_loss" (data, label[, data lengths][, label lengths]): losses and their data gradients. The
// states of an alignment are the labels with blanks before, between and after them; the recursions
// over time work on vectors of states, in log space and double.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/simd/math.h"
#include "leaf/simd/runs.h"
#include "params/loss.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int L = kLanes<double>;
constexpr double kNever = -__builtin_inf();

int64_t integer_at(const mx_tensor& t, int64_t i) {
  switch (t.dtype) {
    case MX_F32:
      return (int64_t)data<float>(t)[i];
    case MX_F64:
      return (int64_t)data<double>(t)[i];
    case MX_F16:
      return (int64_t)scalar_as<float>(data<f16>(t)[i]);
    case MX_I32:
      return data<int32_t>(t)[i];
    case MX_I64:
      return data<int64_t>(t)[i];
    case MX_I8:
      return data<int8_t>(t)[i];
    default:
      return data<uint8_t>(t)[i];
  }
}

VD log_sum(VD a, VD b, VD c) {
  const VD top = max(a, max(b, c));
  const VD base = select<VD>(top > kNever, top, VD{});
  return base + log(exp(a - base) + exp(b - base) + exp(c - base));
}
double log_sum(double a, double b) {
  return log_sum(splat<VD>(a), splat<VD>(b), splat<VD>(kNever))[0];
}

// One sample. Rows of states are padded by a vector of impossible states on both sides.
template <class S>
class Sample {
  typedef Sum<S> T;

 public:
  static size_t bytes(const mx_ctc_params& p) {
    const size_t rows = (size_t)(2 * p.steps + 4) * (size_t)row_of(2 * p.labels + 1);
    return rows * sizeof(double) + 2 * (size_t)p.steps * sizeof(double) +
           (size_t)p.classes * sizeof(double) + (size_t)(2 * p.labels + 1) * sizeof(int64_t) + 64;
  }

  Sample(const mx_call* call, int64_t number, void* memory)
      : p(*(const mx_ctc_params*)call->params), call_(call), number_(number) {
    steps_ = p.steps;
    if (p.data_lengths >= 0) steps_ = integer_at(call->in[p.data_lengths], number);
    counted_ = steps_ < 0 ? 0 : least(steps_, p.steps);
    steps_ = counted_ > 0 ? counted_ : 1;
    const int64_t labels = count_labels();
    possible_ = labels >= 0 && labels <= p.labels;
    states_ = possible_ ? 2 * labels + 1 : 1;
    row_ = row_of(states_);
    double* at = (double*)memory;
    emitted_ = at + L, at += steps_ * row_;
    paths_ = at + L, at += steps_ * row_;
    skips_ = at + L, at += row_;
    after_ = at + L, at += row_;
    left_ = at + L, at += 2 * row_;
    top_ = at, at += steps_;
    inverse_ = at, at += steps_;
    classes_ = (T*)at, at += p.classes;
    class_ = (int64_t*)at;
  }

  double loss() {
    if (!possible_) return 0;
    name_states();
    for (int64_t t = 0; t < steps_; ++t) emit(t);
    forward();
    const double* last = paths_ + (steps_ - 1) * row_ + states_;
    total_ = log_sum(last[-1], states_ > 1 ? last[-2] : kNever);
    possible_ = total_ > kNever;
    return possible_ ? -total_ : 0;
  }

  // Call after `loss`.
  void gradient() {
    if (possible_) backward();
    for (int64_t t = possible_ ? counted_ : 0; t < p.steps; ++t) {
      memset(gradient_row(t), 0, (size_t)p.classes * sizeof(S));
    }
  }

 private:
  static int64_t row_of(int64_t states) { return round_up(states, L) + 2 * L; }
  const S* scores(int64_t t) const {
    return data<S>(call_->in[0]) + (t * p.batch + number_) * p.classes;
  }
  S* gradient_row(int64_t t) const {
    return data<S>(call_->out[1]) + (t * p.batch + number_) * p.classes;
  }

  int64_t label(int64_t i) const { return integer_at(call_->in[1], number_ * p.labels + i); }
  int64_t count_labels() const {
    if (p.label_lengths >= 0) return integer_at(call_->in[p.label_lengths], number_);
    int64_t n = 0;
    while (n < p.labels && label(n) != p.padding) ++n;
    return n;
  }

  static void clear(double* row, int64_t size) {
    for (int64_t i = -L; i < size - L; ++i) row[i] = kNever;
  }

  void name_states() {
    clear(skips_, row_);
    for (int64_t s = 0; s < states_; ++s) {
      const int64_t wanted = s % 2 ? label(s / 2) : p.blank;
      class_[s] = wanted < 0 ? 0 : least(wanted, p.classes - 1);
      if (s % 2 && s > 1 && class_[s] != class_[s - 2]) skips_[s] = 0;
    }
  }

  // Compute the log-probabilities of the states at a time step.
  void emit(int64_t t) {
    const S* from = scores(t);
    T top = scalar_as<T>(from[0]);
    for (int64_t i = 1; i < p.classes; ++i) {
      const T x = scalar_as<T>(from[i]);
      top = x > top ? x : top;
    }
    map_run(p.classes, classes_, [top](auto x) { return exp(x - top); }, from);
    const double sum = sum_run<T>(p.classes, [](auto x) { return x; }, classes_);
    const double all = (double)top + log(splat<VD>(sum))[0];
    top_[t] = (double)top;
    inverse_[t] = 1 / sum;
    double* row = emitted_ + t * row_;
    clear(row, row_);
    for (int64_t s = 0; s < states_; ++s) row[s] = (double)scalar_as<T>(from[class_[s]]) - all;
  }

  // For each time step, the log-probabilities of the paths up to each state.
  void forward() {
    clear(paths_, row_);
    for (int64_t s = 0; s < least(states_, 2); ++s) paths_[s] = emitted_[s];
    for (int64_t t = 1; t < steps_; ++t) {
      const double *before = paths_ + (t - 1) * row_, *emitted = emitted_ + t * row_;
      double* row = paths_ + t * row_;
      clear(row, row_);
      for (int64_t s = 0; s < states_; s += L) {
        const VD reached = log_sum(load(before + s), load(before + s - 1),
                                   load(before + s - 2) + load(skips_ + s));
        store(row + s, reached + load(emitted + s));
      }
    }
  }

  // The same from each state on; combined with those, the expected counts of the classes.
  void backward() {
    clear(left_, row_);
    clear(after_, row_);
    for (int64_t s = states_ > 1 ? states_ - 2 : 0; s < states_; ++s) left_[s] = 0;
    for (int64_t t = steps_ - 1; t >= 0; --t) {
      if (t < counted_) write_gradient(t);
      for (int64_t s = 0; s < states_; s += L) {
        store(after_ + s, load(left_ + s) + load(emitted_ + t * row_ + s));
      }
      for (int64_t s = 0; s < states_; s += L) {
        store(left_ + s, log_sum(load(after_ + s), load(after_ + s + 1),
                                 load(after_ + s + 2) + load(skips_ + s + 2)));
      }
    }
  }

  void write_gradient(int64_t t) {
    const S* from = scores(t);
    const T top = (T)top_[t], inverse = (T)inverse_[t];
    map_run(p.classes, classes_, [=](auto x) { return exp(x - top) * inverse; }, from);
    const double* paths = paths_ + t * row_;
    double* shares = left_ + row_;
    for (int64_t s = 0; s < states_; s += L) {
      store(shares + s, exp(load(paths + s) + load(left_ + s) - total_));
    }
    for (int64_t s = 0; s < states_; ++s) classes_[class_[s]] -= (T)shares[s];
    S* to = gradient_row(t);
    map_run(p.classes, to, [](auto x) { return x; }, classes_);
  }

  const mx_ctc_params& p;
  const mx_call* call_;
  int64_t number_, steps_, counted_, states_, row_;
  bool possible_;
  double *emitted_, *paths_, *skips_, *after_, *left_, *top_, *inverse_, total_ = 0;
  T* classes_;
  int64_t* class_;
};

template <class S>
int ctc_loss(const mx_call* call) {
  const auto& p = *(const mx_ctc_params*)call->params;
  return parallel_try(call->threads, p.batch, 1, [&](int64_t begin, int64_t end) {
    void* memory = scratch(kTempSlot, Sample<S>::bytes(p));
    if (!memory) return false;
    for (int64_t b = begin; b < end; ++b) {
      Sample<S> sample(call, b, memory);
      store_scalar(data<S>(call->out[0]) + b, (Sum<S>)sample.loss());
      if (call->out[1].data) sample.gradient();
    }
    return true;
  });
}

}  // namespace

void register_ctc() {
  mx_kernel_add("ctc_loss", ctc_loss<float>, MX_BIT(F32), 0);
  mx_kernel_add("ctc_loss", ctc_loss<double>, MX_BIT(F64), 0);
  mx_kernel_add("ctc_loss", ctc_loss<f16>, MX_BIT(F16), 0);
  mx_kernel_add("ctc_loss", ctc_loss<bf16>, MX_BIT(BF16), 0);
}
MX_LEAF_END
