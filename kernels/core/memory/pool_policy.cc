// Policies of memory pools: pure functions of sizes.
#include "mxcy_storage.h"

namespace {

constexpr size_t kMaxMemory = (size_t)1 << 62;  // more than any device has

bool is_power(size_t n) { return (n & (n - 1)) == 0; }

size_t round_up(size_t n, size_t step) {
  return is_power(step) ? (n + step - 1) & ~(step - 1) : (n + step - 1) / step * step;
}

int log2_up(size_t n) { return n <= 1 ? 0 : 64 - __builtin_clzl(n - 1); }

}  // namespace

extern "C" size_t mx_pool_round(const mx_pool_policy* policy, size_t bytes) {
  if (bytes > kMaxMemory) return bytes;
  if (policy->strategy == MX_POOL_ROUND) {
    if (bytes <= policy->page) return policy->page;
    if (bytes > (size_t)1 << policy->cutoff) return round_up(bytes, (size_t)1 << policy->cutoff);
    return (size_t)1 << log2_up(bytes);
  }
  const size_t pages = round_up(bytes, policy->page);
  const bool large = policy->strategy == MX_POOL_NAIVE && pages > policy->large_step;
  return large ? round_up(pages, policy->large_step) : pages;
}

extern "C" size_t mx_pool_bucket(const mx_pool_policy* policy, size_t bytes) {
  const size_t size = mx_pool_round(policy, bytes);
  if (policy->strategy != MX_POOL_ROUND) return size;
  const int cutoff = policy->cutoff;
  return size <= (size_t)1 << cutoff ? (size_t)log2_up(size) : cutoff + (size >> cutoff) - 1;
}

extern "C" size_t mx_pool_limit(const mx_pool_policy* policy, size_t total) {
  return total / 100 * policy->reserve + total % 100 * policy->reserve / 100;
}

extern "C" int32_t mx_pool_must_drop(const mx_pool_policy* policy, size_t bytes, size_t free,
                                     size_t total) {
  return free <= bytes || free - bytes < mx_pool_limit(policy, total);
}
