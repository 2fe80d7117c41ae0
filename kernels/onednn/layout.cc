// Array layouts and primitive attributes.
#include "onednn/layout.h"

#include <utility>

namespace mx {
namespace onednn {

int data_type(int32_t dtype) {
  switch (dtype) {
    case MX_F32:
      return kF32;
    case MX_F16:
      return kF16;
    case MX_BF16:
      return kBf16;
    case MX_I32:
      return kS32;
    case MX_I8:
      return kS8;
    case MX_U8:
      return kU8;
    default:
      return 0;
  }
}

Layout& Layout::operator=(Layout&& other) {
  std::swap(md_, other.md_);
  return *this;
}

Layout::~Layout() {
  if (md_) api().memory_desc_destroy(md_);
}

Layout Layout::strided(const Extents& extents, const Extents& strides, int type) {
  Layout layout;
  ok(api().memory_desc_create_with_strides(&layout.md_, extents.count, extents.at, type,
                                           strides.at),
     "layout");
  return layout;
}

Layout Layout::rows(const Extents& extents, int type) {
  Extents strides = extents;
  int64_t stride = 1;
  for (int i = extents.count - 1; i >= 0; --i) {
    strides.at[i] = stride;
    stride *= extents.at[i];
  }
  return strided(extents, strides, type);
}

Layout Layout::tagged(const Extents& extents, int tag, int type) {
  Layout layout;
  ok(api().memory_desc_create_with_tag(&layout.md_, extents.count, extents.at, type, tag),
     "layout");
  return layout;
}

Layout Layout::any(const Extents& extents, int type) { return tagged(extents, kTagAny, type); }

Layout Layout::channels_last(const Extents& extents, int type) {
  Extents strides = extents;
  int64_t stride = extents.at[1];
  strides.at[1] = 1;
  for (int i = extents.count - 1; i >= 2; --i) {
    strides.at[i] = stride;
    stride *= extents.at[i];
  }
  strides.at[0] = stride;
  return strided(extents, strides, type);
}

Layout Layout::channels(const Extents& extents, int block, int type) {
  if (block == 0) return rows(extents, type);
  return tagged(extents, opened().tags[block == 16][extents.count == 5], type);
}

Layout Layout::copy(Md md) {
  Layout layout;
  ok(api().memory_desc_clone(&layout.md_, md), "layout");
  return layout;
}

Attributes::Attributes() {
  ok(api().primitive_attr_create(&attr_), "attributes");
  ok(api().primitive_attr_set_scratchpad_mode(attr_, kUserScratchpad), "attributes");
  ok(api().post_ops_create(&after_), "post-operations");
}

Attributes::~Attributes() {
  api().post_ops_destroy(after_);
  api().primitive_attr_destroy(attr_);
}

void Attributes::sum(float scale, int type) {
  ok(api().post_ops_append_sum(after_, scale, 0, type), "post-operation sum");
}

void Attributes::scales(int argument, int mask) {
  ok(api().primitive_attr_set_scales_mask(attr_, argument, mask), "scales");
}

void Attributes::eltwise(int algorithm, float alpha, float beta) {
  ok(api().post_ops_append_eltwise(after_, algorithm, alpha, beta), "post-operation eltwise");
}

AttrOf Attributes::get() {
  ok(api().primitive_attr_set_post_ops(attr_, after_), "post-operations");
  return attr_;
}

}  // namespace onednn
}  // namespace mx
