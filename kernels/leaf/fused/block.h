// Blocked activations (N, C/B, H, W, B), with the B channels of a block in one vector, and the
// epilogue of fused convolutions.
#pragma once
#include "leaf/simd/half.h"
#include "leaf/simd/plane.h"
#include "leaf/simd/special.h"
#include "params/convolution.gen.h"

MX_LEAF_BEGIN

constexpr int kBlockLanes = MX_ISA_LEVEL >= 4 ? 16 : 8;
typedef float VB __attribute__((vector_size(4 * kBlockLanes)));  // two registers at level 2

// GCC warns about the ABI of vectors wider than registers; all functions that use them are inlined
// and take them by reference.
#if MX_ISA_LEVEL == 2
#pragma GCC diagnostic ignored "-Wpsabi"
MX_INLINE VB fma(const VB& a, const VB& b, const VB& c) { return a * b + c; }
#endif
MX_INLINE VB load_block(const float* p) {
  VB v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
MX_INLINE void store_block(float* p, const VB& v) { __builtin_memcpy(p, &v, sizeof v); }
typedef uint16_t HB __attribute__((vector_size(2 * kBlockLanes)));  // a block of 16-bit elements
typedef uint32_t UB __attribute__((vector_size(4 * kBlockLanes)));
MX_INLINE VB load_block(const bf16* p) {
  HB bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return (VB)(__builtin_convertvector(bits, UB) << 16);
}
MX_INLINE VB splat_block(float x) { return x - VB{}; }

// --- epilogue ----------------------------------------------------------------------------------

// The activations of FUSED_CONV, by its numbers.
// clang-format off
enum Activation {
  kNoAct, kRelu, kSigmoid, kTanh, kSoftplus, kLeaky, kElu, kGeluErf, kGeluTanh, kClip, kAbs,
  kSquared, kSqrt, kExp, kLinear, kSwish, kHardSwish, kActivations
};
// clang-format on

// Apply any activation to n <= B elements in place.
void activate_row(float* row, int n, int act, float alpha, float beta);

// Common cheap activations stay in registers; the others go through memory.
template <int act>
MX_INLINE VB activate(const VB& x, const VB& alpha, const VB& beta) {
  if constexpr (act == kRelu) {
    return x < 0 ? VB{} : x;  // NaN passes
  } else if constexpr (act == kLeaky) {
    return x < 0 ? x * alpha : x;
  } else if constexpr (act == kClip) {
    const VB above = x < alpha ? alpha : x;
    return above > beta ? beta : above;
  } else if constexpr (act == kHardSwish) {
    const VB gate = fma(x, alpha, beta), above = gate < 0 ? VB{} : gate;
    return x * (above > 1 ? splat_block(1) : above);
#if MX_ISA_LEVEL > 2  // where a block is one register
  } else if constexpr (act == kSwish) {
    return swish(x);
#endif
  } else {
    return x;
  }
}
constexpr int kAnyAct = kActivations;

// Call body(constant) with the activation as a template constant, kAnyAct for the rare ones.
template <int act>
struct Act {
  static constexpr int value = act;
};
template <class Body>
inline void with_activation(int act, const Body& body) {
  switch (act) {
    case kNoAct:
      return body(Act<kNoAct>());
    case kRelu:
      return body(Act<kRelu>());
    case kLeaky:
      return body(Act<kLeaky>());
    case kClip:
      return body(Act<kClip>());
    case kHardSwish:
      return body(Act<kHardSwish>());
#if MX_ISA_LEVEL > 2
    case kSwish:
      return body(Act<kSwish>());
#endif
    default:
      return body(Act<kAnyAct>());
  }
}

// Preprocessing of the data before the convolution, as in FUSED_CONV's parameters.
enum Beforehand { kNothing, kScale, kScaleRelu };

// act(sum + bias + other), written to `out`; `other` is NULL or shaped like the output.
template <class T>
struct FinishOf {
  const float* bias;
  const T* other;
  T* out;
  int act;
  float alpha, beta;

  // `at`: offset in the output; bias_block: the bias of its channels.
  template <int kind>
  MX_INLINE void write(int64_t at, const VB& x, const VB& bias_block) const {
    VB sum = x + bias_block;
    if (other) sum += load_block(other + at);
    sum = activate<kind>(sum, splat_block(alpha), splat_block(beta));
    if constexpr (kind == kAnyAct) {
      float row[kBlockLanes];
      store_block(row, sum);
      activate_row(row, kBlockLanes, act, alpha, beta);
      sum = load_block(row);
    }
    store_block(out + at, sum);
  }
  MX_INLINE VB bias_of(int64_t block) const {
    return bias ? load_block(bias + block * kBlockLanes) : VB{};
  }
};

typedef FinishOf<float> Finish;

template <class T = float>
inline FinishOf<T> finish_of(const mx_call* call, const mx_fused_conv_params& p) {
  return {p.bias ? data<float>(call->in[2]) : nullptr,
          p.sum ? data<T>(call->in[call->nin - 1]) : nullptr,
          data<T>(call->out[0]),
          p.act,
          (float)p.alpha,
          (float)p.beta};
}

MX_LEAF_END
