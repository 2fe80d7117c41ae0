// "percentile": order statistics along the rows of (outer, extent) arrays, and interpolation
// between them.
//
// Elements become order-preserving unsigned keys. Radix select: their digits are counted from the
// highest on, and only keys with the wanted digit are kept; short remainders are sorted.
#include "core/parallel_try.h"
#include "leaf/simd/cast.h"
#include "leaf/simd/vec.h"
#include "params/reduce.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kSortedKeys = 48;  // keys that are sorted
constexpr int kDigit = 11;           // in bits

template <class K>
void sort_few(K* keys, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const K key = keys[i];
    int64_t j = i;
    for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

template <class T>
using KeyOf = typename UnsignedOf<sizeof(T)>::type;

// Order-preserving keys; NaN is distinguished, zeros of either sign are equal.
template <class T>
bool to_keys(KeyOf<T>* keys, const T* x, int64_t n) {
  typedef KeyOf<T> K;
  constexpr int kSign = 8 * sizeof(T) - 1;
  bool nan = false;
  for (int64_t i = 0; i < n; ++i) {
    const T value = x[i] + T(0);
    K bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    nan |= value != value;
    keys[i] = bits ^ ((K)(-(bits >> kSign)) | (K)1 << kSign);
  }
  return nan;
}
template <class T>
double value_of(KeyOf<T> key) {
  typedef KeyOf<T> K;
  constexpr int kSign = 8 * sizeof(T) - 1;
  const K bits = key ^ ((K)((key >> kSign) - 1) | (K)1 << kSign);
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return (double)value;
}

// Select the keys of ranks `rank` and, if it exists, `rank + 1`; `keys` is kept, `left` is
// overwritten.
template <class K>
void select(const K* keys, K* left, int64_t n, int64_t rank, K selected[2]) {
  const K* from = keys;
  K above = ~(K)0;  // the smallest key seen that is larger than all in `from`
  int shift = 8 * sizeof(K);
  while (n > kSortedKeys && shift > 0) {
    const int digit = n < 4096 ? 8 : kDigit;
    const int bits = shift < digit ? shift : digit;
    shift -= bits;
    const K mask = ((K)1 << bits) - 1;
    uint32_t counted[1 << kDigit];
    memset(counted, 0, sizeof(uint32_t) << bits);
    for (int64_t i = 0; i < n; ++i) ++counted[from[i] >> shift & mask];
    int64_t wanted = 0;
    while (rank >= counted[wanted]) rank -= counted[wanted++];
    const int64_t stay = counted[wanted];
    if (rank + 1 >= stay)
      for (int64_t i = 0; i < n; ++i)
        if ((int64_t)(from[i] >> shift & mask) > wanted && from[i] < above) above = from[i];
    if (stay < n) {
      int64_t kept = 0;
      for (int64_t i = 0; i < n; ++i) {
        const K key = from[i];
        if ((int64_t)(key >> shift & mask) == wanted) left[kept++] = key;
      }
      from = left;
      n = stay;
    }
  }
  if (shift > 0) {
    if (from != left) memcpy(left, from, n * sizeof(K));
    sort_few(left, n);
    from = left;
  }
  // After all digits, the remaining keys are equal.
  selected[0] = from[rank];
  selected[1] = rank + 1 < n ? from[rank + 1] : above;
}

double between(double low, double high, double part) {
  const double apart = high - low;
  return part < 0.5 ? low + apart * part : high - apart * (1 - part);
}

template <class K, class Value>
double of_keys(const K* keys, K* left, int64_t n, double percent, int mode, const Value& value) {
  const double place = percent / 100 * (double)(n - 1);
  const int64_t rank = (int64_t)place;
  const double part = place - (double)rank;
  K selected[2];
  select(keys, left, n, rank, selected);
  const double low = value(selected[0]), high = part > 0 ? value(selected[1]) : low;
  switch (mode) {
    case 0:
      return part > 0 ? between(low, high, part) : low;
    case 1:
      return low;
    case 2:
      return high;
    case 3:
      return part > 0 ? between(low, high, 0.5) : low;
    default:  // nearest, half to even
      return part < 0.5 || (part == 0.5 && rank % 2 == 0) ? low : high;
  }
}

template <class T>
int percentile(const mx_call* call) {
  typedef KeyOf<T> K;
  const auto& p = *static_cast<const mx_percentile_params*>(call->params);
  const mx_tensor &in = call->in[0], &out = call->out[0];
  const int64_t number = call->nin > 1 ? count(call->in[1]) : 1;
  const CastRow load = in.dtype == dtype_of<T> ? nullptr : cast_row(dtype_of<T>, in.dtype);
  const CastRow save = cast_row(out.dtype, MX_F64);
  const int in_size = element_size(in.dtype), out_size = element_size(out.dtype);
  double* percents = nullptr;
  if (call->nin > 1) {
    percents = (double*)mx_system_alloc(number * sizeof(double));
    if (!percents) return -1;
    cast_row(MX_F64, call->in[1].dtype)(percents, call->in[1].data, number);
    for (int64_t i = 0; i < number; ++i)
      if (!(percents[i] >= 0 && percents[i] <= 100)) {
        const double wrong = percents[i];
        mx_system_free(percents);
        return mx_fail("ValueError: percentiles must be in [0, 100], got %g", wrong);
      }
  }
  const int64_t n = p.extent;
  const int status =
      parallel_try(call->threads, p.outer, 4096 / n + 1, [&](int64_t begin, int64_t end) {
        T* copy = (T*)mx_system_alloc(3 * n * sizeof(T));
        if (!copy) return false;
        K *keys = (K*)(copy + n), *left = keys + n;
        for (int64_t r = begin; r < end; ++r) {
          const char* from = data<char>(in) + r * n * in_size;
          if (load) load(copy, from, n);
          const bool nan = to_keys(keys, load ? copy : (const T*)from, n);
          for (int64_t i = 0; i < number; ++i) {
            const double percent = percents ? percents[i] : p.percent;
            const double element = nan ? __builtin_nan("")
                                       : of_keys(keys, left, n, percent, p.mode,
                                                 [](K key) { return value_of<T>(key); });
            save(data<char>(out) + (i * p.outer + r) * out_size, &element, 1);
          }
        }
        mx_system_free(copy);
        return true;
      });
  mx_system_free(percents);
  return status;
}

}  // namespace

void register_rank() {
  const uint32_t single = MX_BIT(F32) | MX_BIT(F16) | MX_BIT(BF16);
  mx_kernel_add("percentile", percentile<float>, single, 0);
  const uint32_t wide = MX_REAL_DTYPES & ~single;
  mx_kernel_add("percentile", percentile<double>, wide, 0);
}
MX_LEAF_END
