// Kernels of `mx.np.random` for multinomial and choice.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "core/random/numpy_parameters.h"
#include "core/random/rng.h"
#include "core/tensor.h"
#include "params/random.gen.h"

using namespace mx;

namespace {

std::vector<double> cumulated(const mx_tensor& t) {
  std::vector<double> sums = Parameter<double>(t, t).values;
  for (size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  return sums;
}

// Counts of n draws per category with probabilities in[0], for each row of the output.
int multinomial(const mx_call* call) {
  const auto* p = static_cast<const mx_numpy_choice_params*>(call->params);
  const int64_t draws = p->n;
  const std::vector<double> sums = cumulated(call->in[0]);
  const int64_t choices = (int64_t)sums.size(), n = count(call->out[0]);
  auto* out = static_cast<int64_t*>(call->out[0].data);
  std::fill_n(out, n, 0);
  if (n == 0) return 0;
  if (choices > 1 && !(sums[choices - 2] <= 1.0 + 1e-5))
    return mx_fail("ValueError: np.random.multinomial: sum(pvals[:-1]) <= 1 is required");
  call->rng->serial_draw([&](Mt19937& e) {
    for (int64_t* row = out; row < out + n; row += choices) {
      for (int64_t i = 0; i < draws; ++i) {
        const auto place = std::upper_bound(sums.begin(), sums.end() - 1, unit<double>(e));
        ++row[place - sums.begin()];
      }
    }
    for (int64_t i = 0; i < p->spare; ++i) e.next();
  });
  return 0;
}

// Draw k of n distinct numbers by a partial shuffle. at(place) returns a reference to a list
// element.
template <class Places>
void sample_places(Mt19937& e, int64_t n, int64_t k, int64_t* out, const Places& at) {
  const int64_t words = std::min(k, n - k), start = n - words;
  for (int64_t i = 0; i < words; ++i) {
    const int64_t z = e.next() % (i + start + 1);
    if (z < start) std::swap(at(z), at(i + start));
  }
  const int64_t first = 2 * k < n ? n - k : 0;
  for (int64_t i = 0; i < k; ++i) out[i] = at(first + i);
}

// If the list is much longer than the result, only the touched places are stored.
void sample_once(Mt19937& e, int64_t n, int64_t k, int64_t* out) {
  if (n / 64 <= k + 64) {
    std::vector<int64_t> all((size_t)n);
    std::iota(all.begin(), all.end(), 0);
    sample_places(e, n, k, out, [&](int64_t place) -> int64_t& { return all[place]; });
  } else {
    std::unordered_map<int64_t, int64_t> some;
    sample_places(e, n, k, out, [&](int64_t place) -> int64_t& {
      return some.try_emplace(place, place).first->second;
    });
  }
}

// The same with weights: sort random keys scaled by them.
void sample_once_weighted(Mt19937& e, const std::vector<float>& weights, int64_t k, int64_t* out) {
  std::vector<float> keys(weights.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    float u;
    units_below_one(e, &u, 1);
    keys[i] = -std::log(-std::log(u)) + std::log(weights[i]);
  }
  std::vector<int64_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = (int64_t)i;
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return keys[a] > keys[b]; });
  std::copy_n(order.begin(), k, out);
}

int choice(const mx_call* call) {
  const auto* p = static_cast<const mx_numpy_choice_params*>(call->params);
  auto* out = static_cast<int64_t*>(call->out[0].data);
  const int64_t k = count(call->out[0]);
  if (k == 0) return 0;
  std::vector<float> weights;
  if (call->nin) weights = Parameter<float>(call->in[0], call->in[0]).values;
  call->rng->serial_draw([&](Mt19937& e) {
    if (!p->replace) {
      call->nin ? sample_once_weighted(e, weights, k, out) : sample_once(e, p->n, k, out);
    } else if (!call->nin) {
      for (int64_t i = 0; i < k; ++i) out[i] = e.next() % p->n;
    } else {
      for (size_t i = 1; i < weights.size(); ++i) weights[i] += weights[i - 1];
      for (int64_t i = 0; i < k; ++i) {
        float u;
        units_below_one(e, &u, 1);
        const auto place = std::lower_bound(weights.begin(), weights.end() - 1, u);
        out[i] = place - weights.begin();
      }
    }
  });
  return 0;
}

__attribute__((constructor)) void register_numpy_choice() {
  mx_kernel_add("np_multinomial", multinomial, MX_REAL_DTYPES, 0);
  mx_kernel_add("np_choice", choice, MX_REAL_DTYPES, 0);
}

}  // namespace
