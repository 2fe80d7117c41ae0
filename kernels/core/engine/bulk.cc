// Bulks: consecutive operations of one thread, queued and run as one.
#include <algorithm>

#include "core/engine/engine.h"

namespace mx {

struct Bulk {
  OperationList parts;
  int32_t count = 0;
  int32_t size = 0;  // operations at which the bulk is queued

  ~Bulk() {
    Lock lock(engine().lock);
    flush_bulk(this);
  }
};

static thread_local Bulk own;

static bool same_device(const mx_operation& one, const mx_operation& other) {
  return one.device_type == other.device_type && one.device_id == other.device_id;
}

static void flush_others(const Operation* operation, const Bulk* but) {
  for (int32_t i = 0; i < operation->count; ++i) {
    Bulk* bulk = var_of(operation->requests[i])->bulk;
    if (bulk && bulk != but) flush_bulk(bulk);
  }
}

void flush_bulks_of(const Operation* operation) { flush_others(operation, nullptr); }

bool add_to_bulk(Operation* operation) {
  Engine& e = engine();
  const mx_operation& spec = operation->spec;
  if (own.size < 2 || !e.allow_bulk || e.stopped || spec.property != MX_OP_NORMAL ||
      spec.priority != 0)
    return false;
  if (own.count && !same_device(own.parts.first->spec, spec)) flush_bulk(&own);
  flush_others(operation, &own);
  if (own.count++ == 0) e.bulks.push_back(&own);
  own.parts.append(operation);
  for (int32_t i = 0; i < operation->count; ++i) var_of(operation->requests[i])->bulk = &own;
  if (own.count >= own.size) flush_bulk(&own);
  return true;
}

// One operation that uses every variable of the parts.
static Operation* unite(Operation* parts) {
  std::vector<mx_var*> vars;
  std::vector<int32_t> access;
  for (Operation* part = parts; part; part = part->next) {
    for (int32_t i = 0; i < part->count; ++i) {
      vars.push_back(var_of(part->requests[i]));
      access.push_back(part->requests[i].access);
    }
  }
  mx_operation spec{};
  spec.name = "ImperativeBulk";
  spec.vars = vars.data();
  spec.access = access.data();
  spec.nvars = (int32_t)vars.size();
  spec.device_type = parts->spec.device_type;
  spec.device_id = parts->spec.device_id;
  Operation* united = make_operation(spec, Role::kBulk);
  if (united) united->parts = parts;
  return united;
}

void flush_bulk(Bulk* bulk) {
  Engine& e = engine();
  if (bulk->count == 0) return;
  Operation* parts = bulk->parts.first;
  const int32_t count = bulk->count;
  bulk->parts = OperationList();
  bulk->count = 0;
  e.bulks.erase(std::find(e.bulks.begin(), e.bulks.end(), bulk));
  for (Operation* part = parts; part; part = part->next)
    for (int32_t i = 0; i < part->count; ++i) var_of(part->requests[i])->bulk = nullptr;
  if (Operation* united = count > 1 ? unite(parts) : nullptr) {
    ++e.counts.bulks;
    e.counts.bulked += count;
    add_uses(united);
    queue_operation(united);
    return;
  }
  while (parts) {
    Operation* following = parts->next;
    queue_operation(parts);
    parts = following;
  }
}

void flush_own_bulk() { flush_bulk(&own); }

void flush_all_bulks() {
  Engine& e = engine();
  while (!e.bulks.empty()) flush_bulk(e.bulks.back());
}

}  // namespace mx

using namespace mx;

extern "C" int32_t mx_engine_set_bulk(int32_t size) {
  Lock lock(engine().lock);
  flush_own_bulk();
  const int32_t before = own.size;
  own.size = size < 0 ? 0 : size;
  return before;
}

extern "C" void mx_engine_flush(void) {
  Lock lock(engine().lock);
  flush_own_bulk();
}

extern "C" void mx_engine_allow_bulk(int32_t allow) {
  Lock lock(engine().lock);
  flush_all_bulks();
  engine().allow_bulk = allow != 0;
}
