// "blocked_excitation": squeeze-and-excitation of blocked arrays (Hu et al., 2018) in one region.
//
// Channels are divided into parts, whatever the number of threads. A thread averages the channels
// of its parts and multiplies them by their rows of the first weights; after the only barrier it
// adds the products of all parts, computes the gates of its own channels and scales these, which
// its caches still hold if they are not many.
#include "core/memory/scratch.h"
#include "leaf/fused/block.h"
#include "leaf/queries.h"
#include "params/fused.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int B = kBlockLanes;
constexpr int64_t kMostParts = 16;
constexpr int kTogether = 4;          // rows of weights that share a pass over the sums
constexpr int64_t kAhead = 8 * 1024;  // bytes of weights to prefetch ahead, into the second cache

// sums += x W for the rows of W of some channels, a multiple of kTogether.
void add_rows(const float* x, int64_t channels, const float* w, int64_t hidden, float* sums) {
  constexpr int L = kLanes<float>;
  for (int64_t c = 0; c < channels; c += kTogether, w += kTogether * hidden) {
    VF factors[kTogether];
    for (int t = 0; t < kTogether; ++t) factors[t] = splat<VF>(x[c + t]);
    const auto step = [&](int64_t j, const auto& read, const auto& write) MX_ALWAYS {
      VF sum = read(sums + j);
#pragma GCC unroll 4
      for (int t = 0; t < kTogether; ++t) {
        __builtin_prefetch((const char*)(w + kTogether * j + t * L) + kAhead, 0, 2);
        sum = fma(factors[t], read(w + t * hidden + j), sum);
      }
      write(sums + j, sum);
    };
    int64_t j = 0;
    for (; j + L <= hidden; j += L) {
      step(
          j, [](const float* from) MX_ALWAYS { return load(from); },
          [](float* to, VF x) MX_ALWAYS { store(to, x); });
    }
    if (j == hidden) continue;
    const int rest = (int)(hidden - j);
    step(
        j, [rest](const float* from) MX_ALWAYS { return load_first(from, rest); },
        [rest](float* to, VF x) MX_ALWAYS { store_first(to, x, rest); });
  }
}

// A block of channels' gates before their function: bias + x W, with a block in each row of W.
MX_INLINE VB gates_of(const float* x, const float* w, int64_t hidden, const float* bias) {
  VB sums[kTogether] = {load_block(bias)};
  int64_t j = 0;
  for (; j + kTogether <= hidden; j += kTogether, w += kTogether * B) {
#pragma GCC unroll 4
    for (int t = 0; t < kTogether; ++t) {
      __builtin_prefetch((const char*)(w + t * B) + kAhead, 0, 2);
      sums[t] = fma(splat_block(x[j + t]), load_block(w + t * B), sums[t]);
    }
  }
  for (; j < hidden; ++j, w += B) sums[0] = fma(splat_block(x[j]), load_block(w), sums[0]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

MX_INLINE VB sum_of(const float* pixels, int64_t n) {
  VB sums[kTogether] = {};
  int64_t i = 0;
  for (; i + kTogether <= n; i += kTogether) {
#pragma GCC unroll 4
    for (int t = 0; t < kTogether; ++t) sums[t] += load_block(pixels + (i + t) * B);
  }
  for (; i < n; ++i) sums[0] += load_block(pixels + i * B);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

struct Excitation {
  const mx_excitation_params& p;
  const float *in, *squeeze, *squeeze_bias, *weight, *bias;
  float* out;
  float* products;  // of each image and part, with `hidden` elements
  int64_t parts;

  int64_t begin(int64_t part) const { return p.blocks * part / parts; }
  int64_t plane(int64_t image, int64_t block) const {
    return (image * p.blocks + block) * p.inner * B;
  }
  // Multiply the means of a part by its weights.
  void reduce(int64_t image, int64_t part) const {
    float* sums = products + (image * parts + part) * p.hidden;
    memset(sums, 0, p.hidden * sizeof(float));
    const VB share = splat_block(1 / (float)p.inner);
    for (int64_t b = begin(part); b < begin(part + 1); ++b) {
      float means[B];
      store_block(means, sum_of(in + plane(image, b), p.inner) * share);
      add_rows(means, B, squeeze + b * B * p.hidden, p.hidden, sums);
    }
  }
  // The hidden units of an image.
  void join(int64_t image, float* units) const {
    memcpy(units, squeeze_bias, p.hidden * sizeof(float));
    for (int64_t part = 0; part < parts; ++part) {
      const float* sums = products + (image * parts + part) * p.hidden;
      for (int64_t j = 0; j < p.hidden; ++j) units[j] += sums[j];
    }
    activate_row(units, (int)p.hidden, p.act, (float)p.alpha, (float)p.beta);
  }
  // Scale the channels of a part by their gates.
  void scale(int64_t image, int64_t part, const float* units) const {
    for (int64_t b = begin(part); b < begin(part + 1); ++b) {
      float gates[B];
      store_block(gates, gates_of(units, weight + b * p.hidden * B, p.hidden, bias + b * B));
      if (p.hard) {
        activate_row(gates, B, kLinear, (float)p.gate_alpha, (float)p.gate_beta);
        activate_row(gates, B, kClip, 0, 1);
      } else {
        activate_row(gates, B, kSigmoid, 0, 0);
      }
      const VB gate = load_block(gates);
      const int64_t first = plane(image, b);
      for (int64_t i = 0; i < p.inner; ++i) {
        store_block(out + first + i * B, load_block(in + first + i * B) * gate);
      }
    }
  }
};

const mx_excitation_params& params_of(const mx_call* call) {
  return *(const mx_excitation_params*)call->params;
}

// The reason the kernel rejects a call, or NULL.
const char* refusal(const mx_excitation_params& p) {
  return p.block == B ? nullptr : "the data is not blocked by this CPU's block size";
}

int64_t query(const mx_call* call, int32_t what) {
  if (const char* reason = refusal(params_of(call)))
    return refused("blocked_excitation", reason, what);
  return what == MX_QUERY_ACCEPTS ? 1 : 0;
}

int blocked_excitation(const mx_call* call) {
  const mx_excitation_params& p = params_of(call);
  if (const char* reason = refusal(p)) return mx_fail("blocked_excitation: %s", reason);
  const int64_t parts = least(p.blocks, kMostParts), units = p.images * parts;
  // Products of each image and part, then each thread's hidden units.
  const int64_t own = round_up(p.images * p.hidden, 16);
  float* shared = (float*)scratch(
      kSharedSlot, (size_t)(units * p.hidden + 16 + call->threads * own) * sizeof(float));
  if (!shared) return -1;
  float* hidden = shared + round_up(units * p.hidden, 16);
  const Excitation work = {p,
                           data<float>(call->in[0]),
                           data<float>(call->in[1]),
                           data<float>(call->in[2]),
                           data<float>(call->in[3]),
                           data<float>(call->in[4]),
                           data<float>(call->out[0]),
                           shared,
                           parts};
  parallel_team(call->threads, [&](const TeamMember& member) {
    // Images of a part follow each other, as they share its weights.
    const int64_t first = member.begin(units), last = member.end(units);
    for (int64_t i = first; i < last; ++i) work.reduce(i % p.images, i / p.images);
    member.barrier();
    float* mine = hidden + member.rank * own;
    for (int64_t image = 0; image < p.images; ++image) work.join(image, mine + image * p.hidden);
    for (int64_t i = first; i < last; ++i) {
      const int64_t image = i % p.images;
      work.scale(image, i / p.images, mine + image * p.hidden);
    }
  });
  return 0;
}

}  // namespace

void register_excitation() {
  add_with_query("blocked_excitation", blocked_excitation, MX_BIT(F32), query);
}
MX_LEAF_END
