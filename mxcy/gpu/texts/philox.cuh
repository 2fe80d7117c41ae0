// Random numbers: Philox4x32-10 (Salmon et al., SC 2011), ten rounds over a counter.
//
// Each call of an operator has a number in its set of streams, and each element of the result draws
// from counters (element, attempt, call), independently of other elements.
namespace mx {

struct Words { unsigned x[4]; };

__device__ inline Words philox(Words c, unsigned k0, unsigned k1) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c.x[0], b = 0xCD9E8D57ull * c.x[2];
    c = Words{{(unsigned)(b >> 32) ^ c.x[1] ^ k0, (unsigned)b, (unsigned)(a >> 32) ^ c.x[3] ^ k1,
               (unsigned)a}};
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return c;
}

// In device memory: the current set, the number of sets, and for each set its key and the number of
// its next call.
struct Sets {
  unsigned long long turn, count;
  struct { unsigned long long key, call; } set[1];
};

// Count a call; the next one draws from the next set.
__device__ inline void next_call(Sets* sets) {
  ++sets->set[sets->turn].call;
  sets->turn = (sets->turn + 1) % sets->count;
}

// The generator of one element.
struct Draws {
  unsigned long long element, call, key;
  unsigned attempt, left;
  Words words;

  __device__ Draws(const Sets* sets, unsigned long long element_)
      : element(element_), attempt(0), left(0), words() {
    const auto& mine = sets->set[sets->turn];
    key = mine.key, call = mine.call;
  }
  // 32 bits.
  __device__ unsigned bits() {
    if (left == 0) {
      // 48 bits of element, 32 of attempt, 48 of call.
      const Words counter{{(unsigned)element,
                           (unsigned)(element >> 32 & 0xffff) | (unsigned)(call >> 32) << 16,
                           attempt++, (unsigned)call}};
      words = philox(counter, (unsigned)key, (unsigned)(key >> 32)), left = 4;
    }
    return words.x[4 - left--];
  }
};

// Uniform on [0, 1), and on (0, 1].
template <class T> __device__ inline T below_one(Draws* d);
template <> __device__ inline float below_one<float>(Draws* d) {
  return (float)(d->bits() >> 8) * 0x1p-24f;
}
template <> __device__ inline double below_one<double>(Draws* d) {
  const unsigned long long high = d->bits() >> 5, low = d->bits() >> 6;
  return (double)(high << 26 | low) * 0x1p-53;
}
template <class T> __device__ inline T above_zero(Draws* d) { return 1 - below_one<T>(d); }

// A pair of standard normals, by Box and Muller.
template <class T> __device__ inline void normals(Draws* d, T* x, T* y) {
  const T r = ::sqrt(T(-2) * ::log(above_zero<T>(d)));
  const T angle = T(6.283185307179586477) * below_one<T>(d);
  *x = r * ::cos(angle), *y = r * ::sin(angle);
}
template <class T> __device__ inline T normal(Draws* d) {
  T x, y;
  normals(d, &x, &y);
  return x;
}

// Gamma, by Marsaglia and Tsang.
template <class T> __device__ inline T gamma_of(Draws* d, T shape) {
  if (!(shape > 0)) return shape == 0 ? T(0) : T(kNaN);
  const T boost = shape < 1 ? ::pow(above_zero<T>(d), 1 / shape) : T(1);
  const T c = (shape < 1 ? shape + 1 : shape) - T(1) / 3, s = 1 / ::sqrt(9 * c);
  for (;;) {
    const T z = normal<T>(d), w = 1 + s * z, v = w * w * w;
    if (v <= 0) continue;
    if (::log(above_zero<T>(d)) < z * z / 2 + c * (1 - v + ::log(v))) return boost * c * v;
  }
}

// Poisson: by products of uniforms, or from rate 10 on by Hoermann's transformed rejection.
__device__ inline double poisson(Draws* d, double rate) {
  if (!(rate > 0)) return rate == 0 ? 0 : kNaN;
  if (rate < 10) {
    const double limit = ::exp(-rate);
    double k = 0;
    for (double p = above_zero<double>(d); p > limit; p *= above_zero<double>(d)) ++k;
    return k;
  }
  const double b = 0.931 + 2.53 * ::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = below_one<double>(d) - 0.5, v = above_zero<double>(d);
    const double distance = 0.5 - ::fabs(u), k = ::floor((2 * a / distance + b) * u + rate + 0.43);
    if (distance >= 0.07 && v <= most) return k;
    if (k < 0 || (distance < 0.013 && v > distance)) continue;
    if (::log(v * inverse / (a / (distance * distance) + b)) <=
        k * ::log(rate) - rate - ::lgamma(k + 1))
      return k;
  }
}

// Binomial: by counting, or from a mean of 10 on by Hoermann's transformed rejection.
__device__ inline double seldom(Draws* d, double n, double p) {  // p <= 1/2
  if (n * p < 10) {
    if (p == 0) return 0;
    // Failures before each success are geometric.
    double tried = 0, k = -1;
    const double failure = ::log1p(-p);
    do {
      tried += ::floor(::log(above_zero<double>(d)) / failure) + 1;
      ++k;
    } while (tried <= n);
    return k;
  }
  const double deviation = ::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, most = 0.92 - 4.2 / b;
  const double scale = (2.83 + 5.1 / b) * deviation, mode = ::floor((n + 1) * p);
  const double odds = ::log(p / (1 - p)), top = ::lgamma(mode + 1) + ::lgamma(n - mode + 1);
  for (;;) {
    const double u = below_one<double>(d) - 0.5, v = above_zero<double>(d);
    const double distance = 0.5 - ::fabs(u), k = ::floor((2 * a / distance + b) * u + n * p + 0.5);
    if (distance >= 0.07 && v <= most) return k;
    if (k < 0 || k > n) continue;
    if (::log(v * scale / (a / (distance * distance) + b)) <=
        top - ::lgamma(k + 1) - ::lgamma(n - k + 1) + (k - mode) * odds)
      return k;
  }
}
__device__ inline double binomial(Draws* d, double n, double p) {
  if (!(n >= 0 && p >= 0 && p <= 1)) return kNaN;
  const double k = seldom(d, n, p > 0.5 ? 1 - p : p);
  return p > 0.5 ? n - k : k;
}

}  // namespace mx
