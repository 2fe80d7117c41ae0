// Kernels that draw from the serial engine: sampling indices from probability tables, and
// shuffling.
#include <cmath>
#include <cstring>
#include <vector>

#include "core/memory/scratch.h"
#include "core/random/half.h"
#include "core/random/rng.h"
#include "core/random/samplers.h"
#include "core/tensor.h"

using namespace mx;

namespace {

// --- multinomial ---------------------------------------------------------------------------------

template <class T>
T convert(int64_t value) {
  return (T)value;
}
template <>
Half convert<Half>(int64_t value) {
  return Half((float)value);
}

// out[i, j]: the first index whose cumulative probability in row i reaches a uniform number, or the
// last index if rounding leaves the sum below it. log_probability (may be NULL): of the chosen
// indices.
template <class P, class O>
void choose(Mt19937& e, const P* table, int64_t rows, int64_t choices, int64_t draws, O* out,
            P* log_probability) {
  std::vector<float> cumulated(choices);
  for (int64_t i = 0; i < rows; ++i) {
    const P* row = table + i * choices;
    double sum = 0;
    for (int64_t c = 0; c < choices; ++c) cumulated[c] = (float)(sum += (double)row[c]);
    for (int64_t j = i * draws; j < (i + 1) * draws; ++j) {
      const P wanted = (P)unit<float>(e);
      int64_t low = 0, high = choices - 1;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((P)cumulated[middle] < wanted)
          low = middle + 1;
        else
          high = middle;
      }
      out[j] = convert<O>(low);
      if (log_probability) log_probability[j] = (P)std::log((float)row[low]);
    }
  }
}

template <class P>
int multinomial_of(const mx_call* call) {
  const mx_tensor &in = call->in[0], &out = call->out[0];
  const int64_t choices = in.shape[in.ndim - 1];
  if (choices == 0 || count(out) == 0) return 0;
  const int64_t rows = count(in) / choices, draws = count(out) / rows;
  P* log_probability = call->nout > 1 ? static_cast<P*>(call->out[1].data) : nullptr;
  auto run = [&](auto zero) {
    call->rng->serial_draw([&](Mt19937& e) {
      choose(e, static_cast<const P*>(in.data), rows, choices, draws,
             static_cast<decltype(zero)*>(out.data), log_probability);
    });
    return 0;
  };
  switch (out.dtype) {
    case MX_U8:
      return run(uint8_t{});
    case MX_I32:
      return run(int32_t{});
    case MX_F16:
      return run(Half{});
    case MX_F32:
      return run(float{});
    case MX_F64:
      return run(double{});
    default:
      return mx_fail("sample_multinomial: indices of dtype %d are not supported", out.dtype);
  }
}

// --- shuffle -------------------------------------------------------------------------------------

template <class T>
void swap(T* data, int64_t i, int64_t j) {
  const T kept = data[i];
  data[i] = data[j];
  data[j] = kept;
}

// Shuffle items of the size of T, front to back.
template <class T>
void shuffle_items(Mt19937& e, T* data, int64_t n) {
  for (int64_t i = 1; i < n; ++i) swap(data, i, below(e, i + 1));
}

void shuffle_vector(Mt19937& e, void* data, int64_t size, int64_t n) {
  switch (size) {
    case 1:
      return shuffle_items(e, static_cast<uint8_t*>(data), n);
    case 2:
      return shuffle_items(e, static_cast<uint16_t*>(data), n);
    case 4:
      return shuffle_items(e, static_cast<uint32_t*>(data), n);
    default:
      return shuffle_items(e, static_cast<uint64_t*>(data), n);
  }
}

// Shuffle rows back to front, drawing the order first so that each row is moved once.
int shuffle_rows(mx_rng* rng, const char* rows, int64_t size, int64_t n, char* out) {
  const size_t copied = rows == out ? (size_t)(n * size) : 0;
  auto* order =
      static_cast<int64_t*>(scratch(kTempSlot, (size_t)(n + 1) * sizeof(int64_t) + copied));
  if (!order) return -1;
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  rng->serial_draw([&](Mt19937& e) {
    for (int64_t i = n - 1; i > 0; --i) swap(order, i, below(e, i + 1));
  });
  if (copied) rows = static_cast<const char*>(memcpy(order + n, rows, copied));
  for (int64_t i = 0; i < n; ++i) memcpy(out + i * size, rows + order[i] * size, (size_t)size);
  return 0;
}

int shuffle(const mx_call* call) {
  const mx_tensor &in = call->in[0], &out = call->out[0];
  const int64_t n = count(in), items = in.ndim ? in.shape[0] : 1;
  const int64_t size = item_size(in.dtype) * (items ? n / items : 0);
  char* data = static_cast<char*>(out.data);
  if (in.ndim > 1) {
    return shuffle_rows(call->rng, static_cast<const char*>(in.data), size, items, data);
  }
  if (n && data != in.data) memcpy(data, in.data, n * item_size(in.dtype));
  if (in.ndim == 1) {
    call->rng->serial_draw([&](Mt19937& e) { shuffle_vector(e, data, size, items); });
  }
  return 0;
}

__attribute__((constructor)) void register_choice() {
  mx_kernel_add("sample_multinomial", multinomial_of<float>, 1u << MX_F32, 0);
  mx_kernel_add("sample_multinomial", multinomial_of<double>, 1u << MX_F64, 0);
  mx_kernel_add("sample_multinomial", multinomial_of<Half>, 1u << MX_F16, 0);
  mx_kernel_add("shuffle", shuffle, MX_REAL_DTYPES, 0);
}

}  // namespace
