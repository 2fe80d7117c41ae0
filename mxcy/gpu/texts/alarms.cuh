// Alarms: errors in the elements that a kernel is given, which kernels/cuda/alarms.cc raises.
namespace mx {
struct AlarmReport {
  unsigned state, unused;
  Long value[3];
  const void* output;
};
struct Alarm {
  AlarmReport* report;  // NULL: there is nothing to report
  const void* output;   // of the launch
};
// Report an error with its numbers. Of several only the first is kept.
__device__ inline void set_alarm(Alarm alarm, Long a = 0, Long b = 0, Long c = 0) {
  AlarmReport* report = alarm.report;
  if (!report || atomicCAS(&report->state, 0u, 1u)) return;
  report->value[0] = a, report->value[1] = b, report->value[2] = c;
  report->output = alarm.output;
  __threadfence_system();
  *(volatile unsigned*)&report->state = 2u;
}
}  // namespace mx
