// Alarms: what is wrong with the elements that a kernel was given, for kernels/cuda/alarms.cc.
namespace mx {
struct Alarm {
  unsigned state, unused;
  Long value[3];
};
// Have an error raised where somebody waits, with these numbers; the first one to be set stays.
__device__ inline void set_alarm(Alarm* alarm, Long a = 0, Long b = 0, Long c = 0) {
  if (atomicCAS(&alarm->state, 0u, 1u)) return;
  alarm->value[0] = a, alarm->value[1] = b, alarm->value[2] = c;
  __threadfence_system();
  *(volatile unsigned*)&alarm->state = 2u;
}
}  // namespace mx
