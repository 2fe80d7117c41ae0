// Streams, events, and scheduling of tasks.
#include <chrono>
#include <iterator>

#include "state.h"

namespace standin {
namespace {

Stream* default_streams[kMaxDevices];

CUresult run_first_task(Stream* stream);

// Run a stream until it has finished `count` tasks.
CUresult run_until(Stream* stream, uint64_t count) {
  if (stream->finished >= count) return state.sticky_error;
  const DeviceRuns runs;
  while (stream->finished < count)
    if (const CUresult status = run_first_task(stream)) return status;
  return CUDA_SUCCESS;
}

CUresult run_first_task(Stream* stream) {
  if (stream->tasks.empty()) return CUDA_SUCCESS;
  if (Stream* other = stream->tasks.front().stream)
    if (const CUresult status = run_until(other, stream->tasks.front().count)) return status;
  const Work work = std::move(stream->tasks.front().work);
  stream->tasks.pop_front();
  CUresult status = state.sticky_error;
  if (!status && work) {
    const DeviceRuns runs;
    status = work();
  }
  ++stream->finished;
  if (!state.sticky_error) state.sticky_error = status;
  return state.sticky_error;
}

// With random timing, streams also progress at other moments.
void run_some() {
  if (state.timing != Timing::kRandom) return;
  for (uint64_t left = random_below(8); left > 0; --left)
    run_first_task(*std::next(state.streams.begin(), (long)random_below(state.streams.size())));
}

CUresult break_capture(Stream* stream, const char* message) {
  stream->broke_capture = true;
  return error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, message);
}

CUresult push_task(Stream* stream, Task task) {
  stream->tasks.push_back(std::move(task));
  ++stream->pushed;
  if (state.timing == Timing::kEager) return run_until(stream, stream->pushed);
  run_some();
  return state.sticky_error;
}

CUresult status_of(Stream* stream, uint64_t count) {
  run_first_task(stream);  // make progress, or polling would never end
  if (state.sticky_error) return state.sticky_error;
  return stream->finished < count ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

}  // namespace

Stream* stream_of(Stream* handle) {
  if ((uintptr_t)handle > 2) return handle;
  Stream*& stream = default_streams[current_context ? current_context->device : 0];
  if (!stream) {
    stream = new Stream;
    stream->device = current_context ? current_context->device : 0;
    state.streams.insert(stream);
  }
  return stream;
}

CUresult push(Stream* handle, Work work, const std::string& label) {
  if (state.sticky_error) return state.sticky_error;
  Stream* stream = stream_of(handle);
  if (!stream->capture) return push_task(stream, {std::move(work)});
  stream->capture->nodes.push_back(std::move(work));
  stream->capture->labels.push_back(label);
  return CUDA_SUCCESS;
}

CUresult wait_for_stream(Stream* handle) {
  ++state.counts.waits;
  Stream* stream = stream_of(handle);
  if (stream->capture) return break_capture(stream, "a wait while a graph is captured");
  run_some();
  return run_until(stream, stream->pushed);
}

CUresult wait_for_device() {
  for (Stream* stream : state.streams)
    if (stream->capture)
      return break_capture(stream, "a wait for the device while a graph is captured");
  for (Stream* stream : state.streams)
    if (const CUresult status = run_until(stream, stream->pushed)) return status;
  return state.sticky_error;
}

}  // namespace standin

using namespace standin;

API CUresult cuStreamCreateWithPriority(Stream** stream, unsigned, int priority) {
  Lock lock(state.mutex);
  if (!current_context) return error(CUDA_ERROR_INVALID_CONTEXT, "this thread has no context");
  *stream = new Stream;
  (*stream)->device = current_context->device, (*stream)->priority = priority;
  return state.streams.insert(*stream), state.sticky_error;
}
API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, CUDA_SUCCESS;
}
API CUresult cuStreamGetPriority(Stream* handle, int* priority) {
  Lock lock(state.mutex);
  return *priority = stream_of(handle)->priority, CUDA_SUCCESS;
}
API CUresult cuStreamDestroy_v2(Stream* stream) {  // kept, for events may refer to it
  Lock lock(state.mutex);
  return run_until(stream, stream->pushed), CUDA_SUCCESS;
}
API CUresult cuStreamSynchronize(Stream* stream) {
  Lock lock(state.mutex);
  return wait_for_stream(stream);
}
API CUresult cuStreamQuery(Stream* handle) {
  Lock lock(state.mutex);
  Stream* stream = stream_of(handle);
  return status_of(stream, stream->pushed);
}
API CUresult cuStreamWaitEvent(Stream* handle, Event* event, unsigned) {
  Lock lock(state.mutex);
  Stream* stream = stream_of(handle);
  if (!event->stream) return state.sticky_error;  // never recorded: nothing to wait for
  if (event->capture) {                           // the stream joins the capture
    if (stream->capture && stream->capture != event->capture)
      return error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "an event of another capture");
    return stream->capture = event->capture, CUDA_SUCCESS;
  }
  if (stream->capture) return break_capture(stream, "a captured stream waits for one that is not");
  ++state.counts.orders;
  if (state.is_deaf) return state.sticky_error;
  return push_task(stream, {nullptr, event->stream, event->count});
}
API CUresult standin_push(Stream* stream, const std::function<int()>& work, const char* label) {
  Lock lock(state.mutex);
  return push(stream, work, label);
}
// Number of tasks of all streams that have run.
API int64_t standin_finished() {
  Lock lock(state.mutex);
  int64_t finished = 0;
  for (const Stream* stream : state.streams) finished += (int64_t)stream->finished;
  return finished;
}
API CUresult cuLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  Lock lock(state.mutex);
  return push(stream, [=] { return function(data), CUDA_SUCCESS; });
}

API CUresult cuEventCreate(Event** event, unsigned) { return *event = new Event, CUDA_SUCCESS; }
API CUresult cuEventDestroy_v2(Event*) { return CUDA_SUCCESS; }  // kept: a task may still mark it
API CUresult cuEventRecord(Event* event, Stream* handle) {
  Lock lock(state.mutex);
  Stream* stream = stream_of(handle);
  event->stream = stream, event->capture = stream->capture;
  if (stream->capture) return CUDA_SUCCESS;
  event->reached = false, ++state.counts.records;
  const CUresult status = push(handle, [=] {
    const std::chrono::duration<double, std::milli> now =
        std::chrono::steady_clock::now().time_since_epoch();
    event->time = now.count();
    return event->reached = true, CUDA_SUCCESS;
  });
  return event->count = stream->pushed, status;
}
API CUresult cuEventSynchronize(Event* event) {
  Lock lock(state.mutex);
  ++state.counts.waits;
  return event->stream ? run_until(event->stream, event->count) : CUDA_SUCCESS;
}
API CUresult cuEventQuery(Event* event) {
  Lock lock(state.mutex);
  return event->stream ? status_of(event->stream, event->count) : state.sticky_error;
}
API CUresult cuEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  if (!begin->reached || !end->reached) return CUDA_ERROR_NOT_READY;
  return *milliseconds = (float)(end->time - begin->time), CUDA_SUCCESS;
}
