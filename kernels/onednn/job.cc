// Making and running primitives.
#include "onednn/job.h"

#include <algorithm>
#include <cstring>

#include "core/scratch.h"
#include "core/tensor.h"
#include "core/threads.h"

namespace mx {
namespace onednn {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

void copy(int threads, const mx_tensor& from, const mx_tensor& to) {
  const int64_t bytes = count(from) * item_size(from.dtype);
  const char* src = static_cast<const char*>(from.data);
  char* dst = static_cast<char*>(to.data);
  parallel_for(threads, bytes, 1 << 16,
               [&](int64_t begin, int64_t end) { memcpy(dst + begin, src + begin, end - begin); });
}

}  // namespace

Primitive::Primitive(Primitive&& other)
    : name_(other.name_),
      description_(other.description_),
      primitive_(other.primitive_),
      scratch_bytes_(other.scratch_bytes_) {
  other.description_ = nullptr;
  other.primitive_ = nullptr;
}

Primitive::~Primitive() {
  if (primitive_) api().primitive_destroy(primitive_);
  if (description_) api().primitive_desc_destroy(description_);
}

bool Primitive::take(int status, dnnl_primitive_desc* description, const char* name) {
  name_ = name;
  if (!ok(status, name)) return false;
  description_ = description;
  const Md scratch = layout_of(kScratchpad);
  scratch_bytes_ = scratch ? (int64_t)api().memory_desc_get_size(scratch) : 0;
  return true;
}

bool Primitive::ready() {
  return primitive_ || ok(api().primitive_create(&primitive_, description_), name_);
}

bool Primitive::run(const std::vector<Bound>& arguments, void* scratch) const {
  Argument made[kMostArguments];
  int count = 0;
  auto add = [&](int index, Md layout, void* data) {
    made[count].index = index;
    const int status = api().memory_create(&made[count].memory, layout, opened().engine, data);
    return ok(status, "memory") && ++count;
  };
  bool good = true;
  for (const Bound& bound : arguments) good = good && add(bound.argument, bound.layout, bound.data);
  if (good && scratch_bytes_) good = add(kScratchpad, layout_of(kScratchpad), scratch);
  good = good && ok(api().primitive_execute(primitive_, opened().stream, count, made), name_);
  while (count > 0) api().memory_destroy(made[--count].memory);
  return good;
}

Md Primitive::layout_of(int argument) const {
  return api().primitive_desc_query_md(description_, kQueryArgument, argument);
}

const char* Primitive::implementation() const {
  const char* text = "";
  api().primitive_desc_query(description_, kQueryImplementation, 0, &text);
  return text;
}

void Job::input(int argument, int tensor, Layout layout) {
  bindings_.emplace_back(argument, tensor, false, std::move(layout));
}

void Job::output(int argument, int tensor, Layout layout) {
  bindings_.emplace_back(argument, tensor, true, std::move(layout));
}

void Job::start_from(int input, int output) {
  copied_ = input;
  copy_ = output;
}

bool describe_reorder(Md from, Md to, Primitive* primitive) {
  dnnl_primitive_desc* description = nullptr;
  Attributes attributes;
  dnnl_engine* engine = opened().engine;
  const int status =
      api().reorder_primitive_desc_create(&description, from, engine, to, engine, attributes.get());
  return primitive->take(status, description, "reorder");
}

bool describe_pack(const Extents& extents, Layout packed, Job* job) {
  Layout plain = Layout::rows(extents);
  if (!describe_reorder(plain, packed, &job->primitive())) return false;
  job->set_packed_bytes((int64_t)api().memory_desc_get_size(packed));
  job->input(kSrc, 0, std::move(plain));
  job->output(kDst, 0, std::move(packed));
  return true;
}

bool Job::settle() {
  int64_t scratch = primitive_.scratch_bytes();
  for (Binding& binding : bindings_) {
    const Md own = primitive_.layout_of(binding.argument);
    if (!own) return mx_fail("oneDNN: argument %d has no layout", binding.argument) == 0;
    binding.reordered = !api().memory_desc_equal(own, binding.layout);
    if (!binding.reordered) continue;
    const Md from = binding.writes ? own : (Md)binding.layout;
    const Md to = binding.writes ? (Md)binding.layout : own;
    if (!describe_reorder(from, to, &binding.reorder)) return false;
    binding.offset = workspace_bytes_;
    workspace_bytes_ += aligned((int64_t)api().memory_desc_get_size(own));
    scratch = std::max(scratch, binding.reorder.scratch_bytes());
  }
  scratch_offset_ = workspace_bytes_;
  workspace_bytes_ += scratch;
  return true;
}

bool Job::ready() {
  std::lock_guard<std::mutex> guard(lock_);
  if (ready_) return true;
  Team team(threads_);
  for (Binding& binding : bindings_) {
    if (binding.reordered && !binding.reorder.ready()) return false;
  }
  return ready_ = primitive_.ready();
}

bool Job::run_in(const mx_call* call, char* space) const {
  char* scratch = space + scratch_offset_;
  if (copied_ >= 0 && call->in[copied_].data != call->out[copy_].data)
    copy(threads_, call->in[copied_], call->out[copy_]);
  std::vector<Bound> arguments;
  arguments.reserve(bindings_.size());
  for (const Binding& b : bindings_) {
    void* data = b.writes ? call->out[b.tensor].data : call->in[b.tensor].data;
    const Md own = primitive_.layout_of(b.argument);
    void* place = b.reordered ? space + b.offset : data;
    if (b.reordered && !b.writes &&
        !b.reorder.run({{kSrc, b.layout, data}, {kDst, own, place}}, scratch))
      return false;
    arguments.push_back({b.argument, own, place});
  }
  if (!primitive_.run(arguments, scratch)) return false;
  for (size_t i = 0; i < bindings_.size(); ++i) {
    const Binding& b = bindings_[i];
    if (b.reordered && b.writes &&
        !b.reorder.run({{kSrc, arguments[i].layout, arguments[i].data},
                        {kDst, b.layout, call->out[b.tensor].data}},
                       scratch))
      return false;
  }
  return true;
}

int Job::run(const mx_call* call) {
  if (!ready()) return -1;
  char* space = static_cast<char*>(call->workspace);
  if (workspace_bytes_ > (int64_t)call->workspace_size) {
    space = static_cast<char*>(scratch(kSharedSlot, workspace_bytes_));
    if (!space) return -1;
  }
  Team team(threads_);
  return run_in(call, space) ? 0 : -1;
}

}  // namespace onednn
}  // namespace mx
