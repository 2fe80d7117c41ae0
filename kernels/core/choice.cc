// Kernels that use the serial engine: sampling indices from tables of probabilities, and shuffling.
#include <cmath>
#include <cstring>
#include <vector>

#include "half.h"
#include "rng.h"
#include "samplers.h"
#include "tensor.h"

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

// out[i, j]: the first index whose cumulated probability in row i reaches a uniform number; the
// last one where rounding leaves the sum below it. log_probability (may be NULL): of the chosen
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
      return mx_fail("sample_multinomial: indices of type %d are not made", out.dtype);
  }
}

// --- shuffle -------------------------------------------------------------------------------------

void swap_items(char* data, int64_t size, int64_t i, int64_t j) {
  char buffer[256];
  char *a = data + i * size, *b = data + j * size;
  for (int64_t done = 0; done < size; done += sizeof buffer) {
    const size_t m = size - done < (int64_t)sizeof buffer ? size - done : sizeof buffer;
    memcpy(buffer, a + done, m);
    memmove(a + done, b + done, m);
    memcpy(b + done, buffer, m);
  }
}

// One-dimensional arrays are shuffled from the front, rows of others from the back.
int shuffle(const mx_call* call) {
  const mx_tensor &in = call->in[0], &out = call->out[0];
  const int64_t n = count(in), items = in.ndim ? in.shape[0] : 1;
  const int64_t size = item_size(in.dtype) * (items ? n / items : 0);
  char* data = static_cast<char*>(out.data);
  if (n && data != in.data) memcpy(data, in.data, n * item_size(in.dtype));
  call->rng->serial_draw([&](Mt19937& e) {
    if (in.ndim == 1) {
      for (int64_t i = 1; i < items; ++i) swap_items(data, size, i, below(e, i + 1));
    } else {
      for (int64_t i = items - 1; i > 0; --i) swap_items(data, size, i, below(e, i + 1));
    }
  });
  return 0;
}

__attribute__((constructor)) void register_choice() {
  mx_kernel_add("sample_multinomial", multinomial_of<float>, 1u << MX_F32, MX_SERIAL);
  mx_kernel_add("sample_multinomial", multinomial_of<double>, 1u << MX_F64, MX_SERIAL);
  mx_kernel_add("sample_multinomial", multinomial_of<Half>, 1u << MX_F16, MX_SERIAL);
  mx_kernel_add("shuffle", shuffle, (1u << MX_DTYPE_COUNT) - 1, MX_SERIAL);
}

}  // namespace
