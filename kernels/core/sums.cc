// Sums of the arrays of several processes.
#include "mxcy_sums.h"

#include <algorithm>
#include <cstring>

#include "core/sum_types.h"
#include "machine.h"

namespace {

constexpr int64_t kPieceBytes = 4096;  // of sums that stay in the first cache until they are copied

template <class T>
void sum_arrays(int64_t arrays, const void* const* terms, int64_t n, T* out, T* shared) {
  constexpr int64_t kPiece = kPieceBytes / static_cast<int64_t>(sizeof(T));
  alignas(64) T apart[kPiece];
  const bool replaces = out && arrays == 2;  // of more terms, `out` may be a later one
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const auto term = [&](int64_t t) { return static_cast<const T*>(terms[t]) + begin; };
    const int64_t count = std::min(kPiece, n - begin);
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    T* total = replaces ? out + begin : apart;
    const T *first = term(0), *second = term(1);
    for (int64_t i = 0; i < count; ++i) total[i] = static_cast<T>(first[i] + second[i]);
    for (int64_t t = 2; t < arrays; ++t) {
      const T* other = term(t);
      for (int64_t i = 0; i < count; ++i) total[i] = static_cast<T>(total[i] + other[i]);
    }
    if (shared) mx::machine::stream(shared + begin, total, bytes);
    if (out && !replaces) std::memcpy(out + begin, total, bytes);
  }
  if (shared) mx::machine::order_streams();
}

}  // namespace

extern "C" bool mx_sum_arrays(int32_t dtype, int64_t arrays, const void* const* terms, int64_t n,
                              void* out, void* shared) {
  return mx::with_sum_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    sum_arrays(arrays, terms, n, static_cast<T*>(out), static_cast<T*>(shared));
  });
}
