// Creation and execution of primitives.
#include "onednn/job.h"

#include <algorithm>
#include <cstring>

#include "core/fork.h"
#include "core/memory/scratch.h"
#include "core/tensor.h"
#include "core/threads.h"

namespace mx {
namespace onednn {
namespace {

int64_t aligned(int64_t bytes) { return round_up(bytes, 64); }

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
      scratch_bytes_(other.scratch_bytes_),
      kept_(std::move(other.kept_)) {
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
  if (!kept_) kept_.reset(new Arguments);
  return primitive_ || ok(api().primitive_create(&primitive_, description_), name_);
}

bool Primitive::run(const std::vector<Bound>& arguments, void* scratch) const {
  std::vector<Bound> bound = arguments;
  if (scratch_bytes_) bound.push_back({kScratchpad, layout_of(kScratchpad), scratch});
  const auto run_with = [&](Arguments& argument) {
    return argument.set(bound) && ok(api().primitive_execute(primitive_, opened().stream,
                                                             argument.count(), argument.data()),
                                     name_);
  };
  std::unique_lock<ForkSafeMutex> lock(kept_->lock(), std::try_to_lock);
  if (lock.owns_lock()) return run_with(*kept_);
  Arguments own;  // another thread is running the same job
  return run_with(own);
}

bool Arguments::set(const std::vector<Bound>& bound) {
  bool same = arguments_.size() == bound.size();
  for (size_t i = 0; same && i < bound.size(); ++i)
    same = arguments_[i].index == bound[i].argument && layouts_[i] == bound[i].layout;
  if (!same) clear();
  for (size_t i = 0; i < bound.size(); ++i) {
    const Bound& b = bound[i];
    if (same) {
      if (!ok(api().memory_set_data_handle(arguments_[i].memory, b.data), "memory")) return false;
      continue;
    }
    Argument argument{};
    argument.index = b.argument;
    if (!ok(api().memory_create(&argument.memory, b.layout, opened().engine, b.data), "memory"))
      return false;
    arguments_.push_back(argument);
    layouts_.push_back(b.layout);
  }
  return true;
}

void Arguments::clear() {
  for (const Argument& argument : arguments_) api().memory_destroy(argument.memory);
  arguments_.clear();
  layouts_.clear();
}

Md Primitive::layout_of(int argument) const {
  return api().primitive_desc_query_md(description_, kQueryArgument, argument);
}

const char* Primitive::implementation() const {
  const char* text = "";
  api().primitive_desc_query(description_, kQueryImplementation, 0, &text);
  return text;
}

int Primitive::inputs() const {
  int count = 0;
  api().primitive_desc_query(description_, kQueryInputs, 0, &count);
  return count;
}

Job::Binding& Job::bind(int argument, int tensor, bool writes, Layout& layout) {
  bindings_.emplace_back(argument, tensor, writes, std::move(layout));
  return bindings_.back();
}

void Job::input_as(Convert convert, double number, int argument, int tensor, Layout layout) {
  Binding& binding = bind(argument, tensor, false, layout);
  binding.convert = convert;
  binding.number = number;
  binding.offset = 0;  // settle() computes the offset
}

void Job::scales(int argument, int tensor, Layout layout) {
  bind(kScalesOf | argument, tensor, false, layout).untouched = true;
}

void Job::output_as(Convert convert, double number, int argument, int tensor, Layout layout) {
  input_as(convert, number, argument, tensor, std::move(layout));
  bindings_.back().writes = true;
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

bool describe_pack(Layout plain, Layout packed, Job* job) {
  if (!describe_reorder(plain, packed, &job->primitive())) return false;
  job->set_packed(packed);
  job->input(kSrc, 0, std::move(plain));
  job->output(kDst, 0, std::move(packed));
  return true;
}

namespace {

// Index of a layout among all layouts that weights were packed in.
int64_t number_of(Md layout) {
  static ForkSafeMutex lock;
  static auto* known = new std::vector<Layout>;
  std::lock_guard<std::mutex> guard(lock);
  for (size_t i = 0; i < known->size(); ++i)
    if (api().memory_desc_equal((*known)[i], layout)) return (int64_t)i;
  known->push_back(Layout::copy(layout));
  return (int64_t)known->size() - 1;
}

}  // namespace

void Job::set_packed(Md weights) {
  packed_bytes_ = (int64_t)api().memory_desc_get_size(weights);
  packed_format_ = number_of(weights);
}

bool Job::settle() {
  int64_t scratch = std::max(primitive_.scratch_bytes(), follower_.scratch_bytes());
  for (Binding& binding : bindings_) {
    if (binding.untouched) continue;
    const Md own = primitive_.layout_of(binding.argument);
    if (!own) return mx_fail("oneDNN: argument %d has no layout", binding.argument) == 0;
    binding.reordered = !api().memory_desc_equal(own, binding.layout);
    if (!binding.reordered && binding.offset < 0) continue;
    binding.offset = workspace_bytes_;
    workspace_bytes_ += aligned((int64_t)api().memory_desc_get_size(own));
    if (!binding.reordered) continue;
    const Md from = binding.writes ? own : (Md)binding.layout;
    const Md to = binding.writes ? (Md)binding.layout : own;
    if (!describe_reorder(from, to, &binding.reorder)) return false;
    scratch = std::max(scratch, binding.reorder.scratch_bytes());
    if (!starts_as_copy(binding)) continue;
    if (!describe_reorder(to, from, &binding.fill)) return false;
    scratch = std::max(scratch, binding.fill.scratch_bytes());
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
    if (!binding.reordered) continue;
    if (!binding.reorder.ready() || (starts_as_copy(binding) && !binding.fill.ready()))
      return false;
  }
  return ready_ = primitive_.ready() && (!follower_.description() || follower_.ready());
}

// Create the argument for an input tensor, reordering or converting it if necessary.
bool Job::enter(const Binding& b, const mx_call* call, char* space, Bound* bound) const {
  void* data = b.data(call);
  *bound = {b.argument, b.untouched ? (Md)b.layout : primitive_.layout_of(b.argument), data};
  if (b.offset < 0) return true;
  if (!b.writes || b.reordered || !data) bound->data = space + b.offset;
  if (b.writes) return true;
  if (b.reordered)
    return b.reorder.run({{kSrc, b.layout, data}, {kDst, bound->layout, bound->data}},
                         space + scratch_offset_);
  b.convert(static_cast<float*>(data), static_cast<float*>(bound->data), count(call->in[b.tensor]),
            b.number);
  return true;
}

// Copy an output to its tensor, if they differ.
bool Job::leave(const Binding& b, const mx_call* call, char* space, const Bound& bound) const {
  float* data = static_cast<float*>(b.data(call));
  if (!b.writes || !data) return true;
  if (b.reordered && !b.reorder.run({{kSrc, bound.layout, bound.data}, {kDst, b.layout, data}},
                                    space + scratch_offset_))
    return false;
  if (b.convert) b.convert(data, data, count(call->out[b.tensor]), b.number);
  return true;
}

// Initialise an output in the layout that the primitive sees.
bool Job::start(const mx_call* call, char* space) const {
  const mx_tensor& from = call->in[copied_];
  for (const Binding& b : bindings_) {
    if (!starts_as_copy(b) || !b.reordered) continue;
    return b.fill.run(
        {{kSrc, b.layout, from.data}, {kDst, primitive_.layout_of(b.argument), space + b.offset}},
        space + scratch_offset_);
  }
  if (from.data != call->out[copy_].data) copy(threads_, from, call->out[copy_]);
  return true;
}

bool Job::run_in(const mx_call* call, char* space) const {
  if (copied_ >= 0 && !start(call, space)) return false;
  const size_t n = bindings_.size();
  std::vector<Bound> arguments(n);
  for (size_t i = 0; i < n; ++i) {
    if (!enter(bindings_[i], call, space, &arguments[i])) return false;
  }
  if (!primitive_.run(arguments, space + scratch_offset_)) return false;
  for (const Bound& bound : arguments) {
    if (bound.argument != kDst || !follower_.description()) continue;
    Bound source = bound;
    source.argument = kSrc;
    if (!follower_.run({source, bound}, space + scratch_offset_)) return false;
  }
  for (size_t i = 0; i < n; ++i) {
    if (!leave(bindings_[i], call, space, arguments[i])) return false;
  }
  if (then_) then_(call);
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
