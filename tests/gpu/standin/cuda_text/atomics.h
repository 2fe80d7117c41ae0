// Atomic functions: plain operations suffice, for all fibers share one OS thread.
#pragma once

namespace cuda_text {
template <class T, class Change>
T replace(T* address, Change change) {
  const T old = *address;
  *address = change(old);
  return old;
}
}  // namespace cuda_text

#define CUDA_TEXT_ATOMIC(name, result)                                      \
  template <class T>                                                        \
  T name(T* address, T value) {                                             \
    return cuda_text::replace(address, [=](T old) -> T { return result; }); \
  }
CUDA_TEXT_ATOMIC(atomicAdd, old + value)
CUDA_TEXT_ATOMIC(atomicSub, old - value)
CUDA_TEXT_ATOMIC(atomicMax, old < value ? value : old)
CUDA_TEXT_ATOMIC(atomicMin, value < old ? value : old)
CUDA_TEXT_ATOMIC(atomicExch, value)
CUDA_TEXT_ATOMIC(atomicAnd, old& value)
CUDA_TEXT_ATOMIC(atomicOr, old | value)
CUDA_TEXT_ATOMIC(atomicXor, old ^ value)
CUDA_TEXT_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
CUDA_TEXT_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef CUDA_TEXT_ATOMIC

template <class T>
T atomicCAS(T* address, T expected, T value) {
  return cuda_text::replace(address, [=](T old) { return old == expected ? value : old; });
}
