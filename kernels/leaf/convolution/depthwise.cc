// Depthwise convolution (one channel per group) without matrix products: "conv_depthwise" (data,
// weight[, bias]), "conv_depthwise_data" (output gradient, weight) and "conv_depthwise_weight"
// (data, output gradient). A filter reads one plane, which stays in the cache for all its taps; the
// usual square filters with 3 or 5 taps per side are implemented in planes.h.
#include "core/parallel_try.h"
#include "leaf/convolution/patches.h"
#include "leaf/convolution/planes.h"

MX_LEAF_BEGIN
namespace {

// dst[x] += scale * src[x * stride].
template <class T>
void gather_run(T* dst, const T* src, int64_t n, int64_t stride, T scale) {
  if (stride == 1) {
    add_run(dst, src, n, 1, scale);
  } else if (stride == 2) {
    for (int64_t x = 0; x < n; ++x) dst[x] += scale * src[2 * x];
  } else {
    for (int64_t x = 0; x < n; ++x) dst[x] += scale * src[x * stride];
  }
}

// Sum of a[x * stride] * b[x].
template <class T>
T dot_run(const T* a, const T* b, int64_t n, int64_t stride) {
  T sum = 0;
  int64_t x = 0;
  if (stride == 1) {
    Vec<T> sums = {};
    for (; x + kLanes<T> <= n; x += kLanes<T>) sums = fma(load(a + x), load(b + x), sums);
    for (int i = 0; i < kLanes<T>; ++i) sum += sums[i];
  }
  for (; x < n; ++x) sum += a[x * stride] * b[x];
  return sum;
}

template <class S>
struct Job {
  const mx_conv_params& p;
  Window window;
  int64_t taps, source, target, filters;
  bool add;
  explicit Job(const mx_call* call)
      : p(*(const mx_conv_params*)call->params),
        window(forward_window(p)),
        taps(window.taps()),
        source(window.source_size()),
        target(window.target_size()),
        filters(p.groups * p.filters),
        add(call->req[0] == MX_ADD) {}
  // Two temporary planes, needed only by 16-bit types.
  Sum<S>* planes() const {
    return (Sum<S>*)scratch(kTempSlot,
                            is_half<S> ? (size_t)(source + target) * sizeof(Sum<S>) : 64);
  }
};

// --- square filters with 3 or 5 taps per side --------------------------------------------------

template <class T>
int forward_planes(const mx_call* call, const Job<T>& job, const PlaneJob& planes) {
  int status = 0;
  with_plane_sizes(planes, [&](auto taps, auto step) {
    constexpr int K = taps, S = step;
    status =
        parallel_try(call->threads, job.p.batch * job.p.groups, 1, [&](int64_t begin, int64_t end) {
          auto copy = planes.padded_data<T, K, S>();
          T* memory = (T*)scratch(kTempSlot, copy.bytes());
          if (!memory) return false;
          copy.clear(memory);
          for (int64_t i = begin; i < end; ++i) {
            copy.fill(data<T>(call->in[0]) + i * job.source, planes.height, planes.width);
            for (int64_t f = 0; f < job.p.filters; ++f) {
              const int64_t filter = i % job.p.groups * job.p.filters + f;
              plane_forward<T, K, S>(planes, copy, data<T>(call->in[1]) + filter * K * K,
                                     call->nin > 2 ? data<T>(call->in[2])[filter] : 0,
                                     data<T>(call->out[0]) + (i * job.p.filters + f) * job.target,
                                     job.add);
            }
          }
          return true;
        });
  });
  return status;
}

template <class T>
int backward_planes(const mx_call* call, const Job<T>& job, const PlaneJob& planes) {
  int status = 0;
  with_plane_sizes(planes, [&](auto taps, auto step) {
    constexpr int K = taps, S = step;
    status =
        parallel_try(call->threads, job.p.batch * job.p.groups, 1, [&](int64_t begin, int64_t end) {
          auto copy = planes.padded_gradient<T, K, S>();
          const int64_t line = planes.width + planes.left + 2 * S * kLanes<T>;
          T* memory = (T*)scratch(kTempSlot, copy.bytes() + (size_t)line * sizeof(T));
          if (!memory) return false;
          copy.clear(memory);
          for (int64_t i = begin; i < end; ++i) {
            T* out = data<T>(call->out[0]) + i * job.source;
            const T bias = call->nin > 2 ? data<T>(call->in[2])[i % job.p.groups] : 0;
            for (int64_t f = 0; f < job.p.filters; ++f) {
              const int64_t filter = i % job.p.groups * job.p.filters + f;
              copy.fill(data<T>(call->in[0]) + (i * job.p.filters + f) * job.target,
                        planes.target_height, planes.target_width);
              plane_backward<T, K, S>(planes, copy, data<T>(call->in[1]) + filter * K * K,
                                      f ? 0 : bias, out, job.add || f > 0,
                                      memory + copy.bytes() / sizeof(T));
            }
          }
          return true;
        });
  });
  return status;
}

template <class T>
int weight_planes(const mx_call* call, const Job<T>& job, const PlaneJob& planes) {
  int status = 0;
  with_plane_sizes(planes, [&](auto taps, auto step) {
    constexpr int K = taps, S = step;
    status = parallel_try(call->threads, job.filters, 1, [&](int64_t begin, int64_t end) {
      auto copy = planes.padded_data<T, K, S>();
      T* memory = (T*)scratch(kTempSlot, copy.bytes());
      if (!memory) return false;
      copy.clear(memory);
      for (int64_t filter = begin; filter < end; ++filter) {
        Vec<T> sums[K * K] = {};
        for (int64_t n = 0; n < job.p.batch; ++n) {
          const int64_t plane = n * job.p.groups + filter / job.p.filters;
          copy.fill(data<T>(call->in[0]) + plane * job.source, planes.height, planes.width);
          plane_weight<T, K, S>(
              planes, copy, data<T>(call->in[1]) + (n * job.filters + filter) * job.target, sums);
        }
        store_weight_sums<T, K>(sums, data<T>(call->out[0]) + filter * K * K, job.add);
      }
      return true;
    });
  });
  return status;
}

// --- all filters ---------------------------------------------------------------------------------

template <class S>
int conv_depthwise(const mx_call* call) {
  typedef Sum<S> T;
  const Job<S> job(call);
  if constexpr (!is_half<S>) {
    if (const PlaneJob planes(job.p); planes.taps) return forward_planes<S>(call, job, planes);
  }
  return parallel_try(call->threads, job.p.batch * job.filters, 1, [&](int64_t begin, int64_t end) {
    T* temporary = job.planes();
    if (!temporary) return false;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t filter = i % job.filters;
      const int64_t channel = i / job.filters * job.p.groups + filter / job.p.filters;
      const T* in = open_block(data<S>(call->in[0]) + channel * job.source, temporary, job.source);
      const S* weight = data<S>(call->in[1]) + filter * job.taps;
      const T bias = call->nin > 2 ? scalar_as<T>(data<S>(call->in[2])[filter]) : 0;
      S* plane = data<S>(call->out[0]) + i * job.target;
      T* out = start_block(plane, temporary + job.source, job.target, job.add, bias);
      for (int64_t t = 0; t < job.taps; ++t) {
        const T scale = scalar_as<T>(weight[t]);
        each_row(job.window, Digits(t, job.window.kernel),
                 [&](int64_t from, int64_t to, int64_t n) {
                   gather_run(out + to, in + from, n, job.window.stride[2], scale);
                 });
      }
      close_block(plane, out, job.target, job.add);
    }
    return true;
  });
}

template <class S>
int conv_depthwise_data(const mx_call* call) {
  typedef Sum<S> T;
  const Job<S> job(call);
  if constexpr (!is_half<S>) {
    if (const PlaneJob planes(job.p); planes.taps) return backward_planes<S>(call, job, planes);
  }
  return parallel_try(
      call->threads, job.p.batch * job.p.groups, 1, [&](int64_t begin, int64_t end) {
        T* temporary = job.planes();
        if (!temporary) return false;
        for (int64_t i = begin; i < end; ++i) {
          S* plane = data<S>(call->out[0]) + i * job.source;
          const T bias = call->nin > 2 ? scalar_as<T>(data<S>(call->in[2])[i % job.p.groups]) : 0;
          T* out = start_block(plane, temporary + job.target, job.source, job.add, bias);
          for (int64_t f = 0; f < job.p.filters; ++f) {
            const int64_t filter = i % job.p.groups * job.p.filters + f;
            const S* gradient = data<S>(call->in[0]) + (i * job.p.filters + f) * job.target;
            const T* in = open_block(gradient, temporary, job.target);
            const S* weight = data<S>(call->in[1]) + filter * job.taps;
            for (int64_t t = 0; t < job.taps; ++t) {
              const T scale = scalar_as<T>(weight[t]);
              each_row(job.window, Digits(t, job.window.kernel),
                       [&](int64_t to, int64_t from, int64_t n) {
                         add_run(out + to, in + from, n, job.window.stride[2], scale);
                       });
            }
          }
          close_block(plane, out, job.source, job.add);
        }
        return true;
      });
}

template <class S>
int conv_depthwise_weight(const mx_call* call) {
  typedef Sum<S> T;
  const Job<S> job(call);
  if constexpr (!is_half<S>) {
    if (const PlaneJob planes(job.p); planes.taps) return weight_planes<S>(call, job, planes);
  }
  return parallel_try(call->threads, job.filters, 1, [&](int64_t begin, int64_t end) {
    T* temporary = job.planes();
    T* sums = (T*)scratch(kPackSlot, (size_t)job.taps * sizeof(T));
    if (!temporary || !sums) return false;
    for (int64_t filter = begin; filter < end; ++filter) {
      for (int64_t t = 0; t < job.taps; ++t) sums[t] = 0;
      for (int64_t n = 0; n < job.p.batch; ++n) {
        const int64_t channel = n * job.p.groups + filter / job.p.filters;
        const T* in =
            open_block(data<S>(call->in[0]) + channel * job.source, temporary, job.source);
        const T* gradient =
            open_block(data<S>(call->in[1]) + (n * job.filters + filter) * job.target,
                       temporary + job.source, job.target);
        for (int64_t t = 0; t < job.taps; ++t) {
          each_row(job.window, Digits(t, job.window.kernel),
                   [&](int64_t a, int64_t b, int64_t count) {
                     sums[t] += dot_run(in + a, gradient + b, count, job.window.stride[2]);
                   });
        }
      }
      S* out = data<S>(call->out[0]) + filter * job.taps;
      for (int64_t t = 0; t < job.taps; ++t) {
        if (job.add) sums[t] += scalar_as<T>(out[t]);
        store_scalar(out + t, sums[t]);
      }
    }
    return true;
  });
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("conv_depthwise", conv_depthwise<S>, dtype, MX_TAKES_ADD);
  mx_kernel_add("conv_depthwise_data", conv_depthwise_data<S>, dtype, MX_TAKES_ADD);
  mx_kernel_add("conv_depthwise_weight", conv_depthwise_weight<S>, dtype, MX_TAKES_ADD);
}

}  // namespace

void register_conv_depthwise() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
