// Integer division that rounds up.
#pragma once
#include <cstdint>

namespace mx {

// ceil(n / unit) for positive arguments.
constexpr int64_t ceil_div(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

// The smallest multiple of `unit` that is at least n.
constexpr int64_t round_up(int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; }

}  // namespace mx
