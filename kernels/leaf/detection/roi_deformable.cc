// Deformable position-sensitive regions: "deformable_psroi" (data, regions, offsets) and
// "deformable_psroi_grad" (output gradient, data, regions, offsets).
#include "leaf/detection/parts.h"

MX_LEAF_BEGIN
namespace {

// The sampling points of a part that lie in the image, at most kPoints.
template <class T>
struct Part {
  int n = 0;
  Slopes<T> slopes;
  T moved[2];  // pixels per unit offset along x and y

  Part(const PartedRegion<T>& region, const T* moves, int64_t row, int64_t column, bool slope) {
    const mx_parts_params& p = region.p;
    const int64_t part[2] = {column, row};
    T from[2];
    for (int d = 0; d < 2; ++d) {
      moved[d] = (T)p.trans_std * region.size[d];
      from[d] = (T)part[d] * region.step[d] + region.first[d];
      if (moves) from[d] += moves[d * p.part_size * p.part_size] * moved[d];
    }
    const T height = (T)p.source[0], width = (T)p.source[1];
    for (int64_t k = 0; k < p.samples * p.samples; ++k) {
      const T x = from[0] + (T)(k % p.samples) * (region.step[0] / (T)p.samples);
      const T y = from[1] + (T)(k / p.samples) * (region.step[1] / (T)p.samples);
      const bool inside =
          x >= (T)-0.5 && x <= width - (T)0.5 && y >= (T)-0.5 && y <= height - (T)0.5;
      if (!inside) continue;
      const Place<T> place(within(y, height), within(x, width), p.source[0], p.source[1]);
      if (slope) {
        // A point that lies on a pixel gives its neighbour no weight yet.
        set_point(&slopes, n++, place, (T)(place.down > 0), (T)(place.right > 0));
      } else {
        set_point(&slopes.points, n++, place);
      }
    }
  }
  static T within(T x, T extent) { return x < 0 ? 0 : x < extent - 1 ? x : extent - 1; }
};

// The offsets of region r's part for class k, those along x first; NULL if there are none.
template <class T>
T* moves_of(const mx_parts_params& p, T* moves, int64_t r, int64_t k, int64_t row, int64_t column) {
  if (!moves) return nullptr;
  const int64_t y = row * p.part_size / p.pooled, x = column * p.part_size / p.pooled;
  return moves + (((r * p.classes + k) * 2) * p.part_size + y) * p.part_size + x;
}

// The output channels that share the offsets of class k.
struct Members {
  int64_t begin, end;
  Members(const mx_parts_params& p, int64_t k) {
    const int64_t each = p.channels / p.classes > 1 ? p.channels / p.classes : 1;
    begin = least(k * each, p.channels);
    end = k + 1 == p.classes ? p.channels : least(begin + each, p.channels);
  }
};

// Call body(part, class, part index, offset of the plane it reads) for all parts of a region.
template <class T, class Body>
void each_part(const PartedRegion<T>& region, const T* moves, int64_t r, bool slope,
               const Body& body) {
  const mx_parts_params& p = region.p;
  for (int64_t k = 0; k < p.classes; ++k) {
    for (int64_t i = 0; i < p.pooled; ++i) {
      for (int64_t j = 0; j < p.pooled; ++j) {
        const Part<T> part(region, moves_of(p, moves, r, k, i, j), i, j, slope);
        const int64_t plane = PartedRegion<T>::channel(p, 0, i, j) * p.source[0] * p.source[1];
        body(part, k, i * p.pooled + j, plane);
      }
    }
  }
}

template <class T>
int deformable_psroi(const mx_call* call) {
  const auto& p = *(const mx_parts_params*)call->params;
  const int64_t parts = p.pooled * p.pooled;
  const T *images = data<T>(call->in[0]), *rois = data<T>(call->in[1]);
  const T* moves = call->nin > 2 ? data<T>(call->in[2]) : nullptr;
  if (!name_images(p, rois)) return -1;
  parallel_for(call->threads, p.regions, 1, [&](int64_t begin, int64_t end) {
    T values[kPoints];
    for (int64_t r = begin; r < end; ++r) {
      const PartedRegion<T> region(p, rois + 5 * r, (T)0.5);
      T* out = data<T>(call->out[0]) + r * p.channels * parts;
      each_part(region, moves, r, false,
                [&](const Part<T>& part, int64_t k, int64_t number, int64_t plane) {
                  const Members members(p, k);
                  for (int64_t c = members.begin; c < members.end; ++c) {
                    const T* from = group_of(p, images, region.image, c) + plane;
                    part.slopes.points.read(from, values, part.n);
                    T sum = 0;
                    for (int i = 0; i < part.n; ++i) sum += values[i];
                    out[c * parts + number] = part.n > 0 ? sum / (T)part.n : 0;
                  }
                });
    }
  });
  return 0;
}

// Data gradients, for some of the output channels.
template <class T>
void spread(const mx_parts_params& p, const T* grads, const T* rois, const T* moves, T* images,
            int64_t begin, int64_t end) {
  const int64_t parts = p.pooled * p.pooled;
  T each[kPoints];
  clear_groups(p, images, begin, end);
  for (int64_t r = 0; r < p.regions; ++r) {
    const PartedRegion<T> region(p, rois + 5 * r, (T)0.5);
    each_part(region, moves, r, false,
              [&](const Part<T>& part, int64_t k, int64_t number, int64_t plane) {
                const Members members(p, k);
                const int64_t last = least(members.end, end);
                for (int64_t c = members.begin > begin ? members.begin : begin; c < last; ++c) {
                  const T share = grads[(r * p.channels + c) * parts + number] / (T)part.n;
                  for (int i = 0; i < part.n; ++i) each[i] = share;
                  part.slopes.points.add(group_of(p, images, region.image, c) + plane, each,
                                         part.n);
                }
              });
  }
}

// Gradients of a region's offsets.
template <class T>
void move_back(const mx_parts_params& p, const T* grads, const T* images, const T* rois,
               const T* moves, T* out, int64_t r) {
  const int64_t parts = p.pooled * p.pooled, area = p.part_size * p.part_size;
  memset(out + r * 2 * p.classes * area, 0, (size_t)(2 * p.classes * area) * sizeof(T));
  const PartedRegion<T> region(p, rois + 5 * r, (T)0.5);
  T each[kPoints], down[kPoints], right[kPoints];
  each_part(
      region, moves, r, true, [&](const Part<T>& part, int64_t k, int64_t number, int64_t plane) {
        memset(down, 0, sizeof down);
        memset(right, 0, sizeof right);
        const Members members(p, k);
        for (int64_t c = members.begin; c < members.end; ++c) {
          const T share = grads[(r * p.channels + c) * parts + number] / (T)part.n;
          for (int i = 0; i < part.n; ++i) each[i] = share;
          part.slopes.sum(group_of(p, images, region.image, c) + plane, each, down, right, part.n);
        }
        T* to = moves_of(p, out, r, k, number / p.pooled, number % p.pooled);
        for (int i = 0; i < part.n; ++i) {
          to[0] += right[i] * part.moved[0];
          to[area] += down[i] * part.moved[1];
        }
      });
}

template <class T>
int deformable_psroi_grad(const mx_call* call) {
  const auto& p = *(const mx_parts_params*)call->params;
  const T *grads = data<T>(call->in[0]), *images = data<T>(call->in[1]);
  const T* rois = data<T>(call->in[2]);
  const T* moves = call->nin > 3 ? data<T>(call->in[3]) : nullptr;
  if (!name_images(p, rois)) return -1;
  if (call->out[0].data) {
    parallel_for(call->threads, p.channels, 1, [&](int64_t begin, int64_t end) {
      spread(p, grads, rois, moves, data<T>(call->out[0]), begin, end);
    });
  }
  if (!moves || !call->out[1].data) return 0;
  parallel_for(call->threads, p.regions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      move_back(p, grads, images, rois, moves, data<T>(call->out[1]), r);
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("deformable_psroi", deformable_psroi<T>, dtype, 0);
  mx_kernel_add("deformable_psroi_grad", deformable_psroi_grad<T>, dtype, 0);
}

}  // namespace

void register_roi_deformable() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
