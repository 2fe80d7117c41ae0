// Divisions of sizes that round up.
#pragma once
#include <cstdint>

namespace mx {

// How many pieces of `unit` cover n; both are positive.
constexpr int64_t ceil_div(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

// The multiple of `unit` that follows n, or n itself.
constexpr int64_t round_up(int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; }

}  // namespace mx
