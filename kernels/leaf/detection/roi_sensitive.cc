// Position-sensitive ROI pooling: "psroi_pooling" (data, regions) and "psroi_pooling_grad" (output
// gradient, regions, data).
#include "leaf/detection/parts.h"

MX_LEAF_BEGIN
namespace {

struct Run {
  int64_t begin, end;
  int64_t size() const { return end > begin ? end - begin : 0; }
};

// The pixels of part `i` of a region along axis `d`.
template <class T>
Run pixels(const PartedRegion<T>& region, int d, int64_t i) {
  const T extent = (T)region.p.source[1 - d];
  T low = (T)__builtin_floor((T)i * region.step[d] + region.first[d]);
  T high = (T)__builtin_ceil((T)(i + 1) * region.step[d] + region.first[d]);
  low = low < 0 ? 0 : low < extent ? low : extent;
  high = high < 0 ? 0 : high < extent ? high : extent;
  return {(int64_t)low, (int64_t)high};
}

// Call body(rows, columns, part index, offset of the plane it reads) for each non-empty part;
// `channels`: range of output channels.
template <class T, class Body>
void each_part(const mx_parts_params& p, const T* numbers, const Body& body) {
  const PartedRegion<T> region(p, numbers, 0);
  for (int64_t i = 0; i < p.pooled; ++i) {
    const Run rows = pixels(region, 1, i);
    for (int64_t j = 0; j < p.pooled; ++j) {
      const Run columns = pixels(region, 0, j);
      const int64_t plane = PartedRegion<T>::channel(p, 0, i, j) * p.source[0] * p.source[1];
      body(region, rows, columns, i * p.pooled + j, plane);
    }
  }
}

template <class T>
int psroi_pooling(const mx_call* call) {
  const auto& p = *(const mx_parts_params*)call->params;
  const int64_t parts = p.pooled * p.pooled;
  const T *images = data<T>(call->in[0]), *rois = data<T>(call->in[1]);
  if (!name_images(p, rois)) return -1;
  parallel_for(call->threads, p.regions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* out = data<T>(call->out[0]) + r * p.channels * parts;
      each_part(p, rois + 5 * r,
                [&](const PartedRegion<T>& region, const Run& rows, const Run& columns,
                    int64_t part, int64_t plane) {
                  const int64_t count = rows.size() * columns.size();
                  for (int64_t c = 0; c < p.channels; ++c) {
                    const T* from = group_of(p, images, region.image, c) + plane;
                    T sum = 0;
                    for (int64_t y = rows.begin; y < rows.end; ++y) {
                      for (int64_t x = columns.begin; x < columns.end; ++x)
                        sum += from[y * p.source[1] + x];
                    }
                    out[c * parts + part] = count > 0 ? sum / (T)count : 0;
                  }
                });
    }
  });
  return 0;
}

template <class T>
int psroi_pooling_grad(const mx_call* call) {
  const auto& p = *(const mx_parts_params*)call->params;
  const int64_t parts = p.pooled * p.pooled;
  const T* rois = data<T>(call->in[1]);
  T* images = data<T>(call->out[0]);
  if (!name_images(p, rois)) return -1;
  parallel_for(call->threads, p.channels, 1, [&](int64_t begin, int64_t end) {
    clear_groups(p, images, begin, end);
    for (int64_t r = 0; r < p.regions; ++r) {
      const T* grads = data<T>(call->in[0]) + r * p.channels * parts;
      each_part(p, rois + 5 * r,
                [&](const PartedRegion<T>& region, const Run& rows, const Run& columns,
                    int64_t part, int64_t plane) {
                  const int64_t count = rows.size() * columns.size();
                  for (int64_t c = begin; count > 0 && c < end; ++c) {
                    T* to = group_of(p, images, region.image, c) + plane;
                    const T share = grads[c * parts + part] / (T)count;
                    for (int64_t y = rows.begin; y < rows.end; ++y) {
                      for (int64_t x = columns.begin; x < columns.end; ++x)
                        to[y * p.source[1] + x] += share;
                    }
                  }
                });
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("psroi_pooling", psroi_pooling<T>, dtype, 0);
  mx_kernel_add("psroi_pooling_grad", psroi_pooling_grad<T>, dtype, 0);
}

}  // namespace

void register_roi_sensitive() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
