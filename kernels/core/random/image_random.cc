// Random augmentations of an image (height, width, channel) with one or three channels: colour
// jitter and flips. The draws are those of MXNet 1.9.1; colours are computed in float32.
#include <cmath>
#include <cstring>
#include <utility>

#include "core/random/half.h"
#include "core/random/rng.h"
#include "core/random/samplers.h"
#include "core/tensor.h"
#include "params/image.gen.h"

using namespace mx;

namespace {

constexpr int64_t kGrain = 8192;                      // pixels
constexpr float kGray[3] = {0.299f, 0.587f, 0.114f};  // luminance weights of red, green and blue
// Principal components of the colours of photographs, scaled by their standard deviations.
constexpr float kDirections[3][3] = {
    {-0.5675f, 0.7192f, 0.4009f}, {-0.5808f, -0.0045f, -0.8140f}, {-0.5836f, -0.6948f, 0.4203f}};
constexpr float kSpreads[3] = {55.46f, 4.794f, 1.148f};

// Saturating conversion: uint8 values are clamped.
template <class T>
inline T stored(float value) {
  return (T)value;
}
template <>
inline uint8_t stored<uint8_t>(float value) {
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// Each function reads `in` and writes `out`, which may be the same memory.
template <class T>
struct Picture {
  const T* in;
  T* out;
  int64_t pixels;
  int channels, threads;

  int64_t size() const { return pixels * channels; }

  void copy() const {
    if (in != out) memcpy(out, in, size() * sizeof(T));
  }

  float gray(const T* pixel) const {
    return (float)pixel[0] * kGray[0] + (float)pixel[1] * kGray[1] + (float)pixel[2] * kGray[2];
  }

  // x * factor + more.
  void scale(float factor, float more) const {
    parallel_for(threads, size(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = stored<T>((float)in[i] * factor + more);
    });
  }

  void contrast(float factor) const {
    float sum = 0;
    for (int64_t i = 0; i < pixels; ++i) sum += channels == 3 ? gray(in + 3 * i) : (float)in[i];
    scale(factor, (1 - factor) * (sum / (float)pixels));
  }

  // As in MXNet, gray is the blue contribution alone here.
  void saturation(float factor) const {
    if (channels == 1) return copy();
    parallel_for(threads, pixels, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
        const float base = (float)in[i + 2] * kGray[2] * (1 - factor);
        for (int c = 0; c < 3; ++c) out[i + c] = stored<T>(base + (float)in[i + c] * factor);
      }
    });
  }

  void hue(float turns) const {
    if (channels == 1) return copy();
    parallel_for(threads, pixels, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 3 * begin; i < 3 * end; i += 3) turn(in + i, out + i, turns);
    });
  }

  // Rotate a pixel's hue; lightness and saturation stay.
  static void turn(const T* from, T* to, float turns) {
    float colour[3];
    for (int c = 0; c < 3; ++c) colour[c] = (float)from[c] / 255;
    const float r = colour[0], g = colour[1], b = colour[2];
    const float most = std::fmax(r, std::fmax(g, b)), least = std::fmin(r, std::fmin(g, b));
    const float lightness = (most + least) * 0.5f, range = most - least;
    if (range > 1.1920929e-7f) {
      const float saturation = range / (lightness < 0.5f ? most + least : 2 - most - least);
      const float sixth = 60 / range;
      float angle = most == r   ? (g - b) * sixth
                    : most == g ? (b - r) * sixth + 120
                                : (r - g) * sixth + 240;
      if (angle < 0) angle += 360;
      const float high = lightness <= 0.5f ? lightness * (1 + saturation)
                                           : lightness + saturation - lightness * saturation;
      const float low = 2 * lightness - high;
      float place = (angle + turns * 360) * (1 / 60.0f);
      place -= 6 * std::floor(place / 6);
      // Guards against huge values and NaN.
      const int sector = place >= 5 ? 5 : place > 0 ? (int)place : 0;
      const float part = place - sector;
      const float falling = low + (high - low) * (1 - part), rising = low + (high - low) * part;
      const float sectors[6][3] = {{high, rising, low}, {falling, high, low},
                                   {low, high, rising}, {low, falling, high},
                                   {rising, low, high}, {high, low, falling}};
      memcpy(colour, sectors[sector], sizeof colour);
    } else {
      for (float& value : colour) value = lightness;
    }
    for (int c = 0; c < 3; ++c) to[c] = stored<T>(colour[c] * 255);
  }

  void lighting(const float* alpha) const {
    if (channels == 1) return copy();
    float added[3];
    for (int c = 0; c < 3; ++c) {
      added[c] = 0;
      for (int d = 0; d < 3; ++d) added[c] += kDirections[c][d] * kSpreads[d] * alpha[d];
    }
    parallel_for(threads, pixels, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 3 * begin; i < 3 * end; ++i) out[i] = stored<T>((float)in[i] + added[i % 3]);
    });
  }
};

// --- draws ---------------------------------------------------------------------------------------

float between(Mt19937& e, float low, float high) {
  const float u = (float)e.next() * 0x1p-32f;
  return (u < 1 ? u : 0.99999994f) * (high - low) + low;
}

// Both normal numbers of one accepted pair of the polar method.
void normal_pair(Mt19937& e, float* pair) {
  float x, y, square;
  do {
    x = 2 * between(e, 0, 1) - 1;
    y = 2 * between(e, 0, 1) - 1;
    square = x * x + y * y;
  } while (square > 1 || square == 0);
  const float scale = std::sqrt(-2 * std::log(square) / square);
  pair[0] = y * scale;
  pair[1] = x * scale;
}

void draw_order(Mt19937& e, int (&order)[4]) {
  for (int i = 0; i < 4; ++i) order[i] = i;
  for (int i = 1; i < 4; ++i) std::swap(order[i], order[below(e, i + 1)]);
}

// --- the kernels ---------------------------------------------------------------------------------

template <class Body>
int with_picture(const mx_call* call, const Body& body) {
  const mx_tensor& in = call->in[0];
  const int channels = (int)in.shape[2];
  auto run = [&](auto zero) {
    using T = decltype(zero);
    body(Picture<T>{static_cast<const T*>(in.data), static_cast<T*>(call->out[0].data),
                    in.shape[0] * in.shape[1], channels, call->threads});
    return 0;
  };
  switch (in.dtype) {
    case MX_U8:
      return run(uint8_t{});
    case MX_I8:
      return run(int8_t{});
    case MX_I32:
      return run(int32_t{});
    case MX_I64:
      return run(int64_t{});
    case MX_F16:
      return run(Half{});
    case MX_F32:
      return run(float{});
    case MX_F64:
      return run(double{});
    default:
      return mx_fail("image augmentation: dtype %d is not supported", in.dtype);
  }
}

float draw_factor(const mx_call* call) {
  const auto* p = static_cast<const mx_image_factor_params*>(call->params);
  float factor = 0;
  call->rng->serial_draw([&](Mt19937& e) { factor = between(e, (float)p->low, (float)p->high); });
  return factor;
}

int brightness(const mx_call* call) {
  const float factor = draw_factor(call);
  return with_picture(call, [=](const auto& picture) { picture.scale(factor, 0); });
}

int contrast(const mx_call* call) {
  const float factor = draw_factor(call);
  return with_picture(call, [=](const auto& picture) { picture.contrast(factor); });
}

int saturation(const mx_call* call) {
  const float factor = draw_factor(call);
  return with_picture(call, [=](const auto& picture) { picture.saturation(factor); });
}

int hue(const mx_call* call) {
  const float turns = draw_factor(call);
  return with_picture(call, [=](const auto& picture) { picture.hue(turns); });
}

int lighting(const mx_call* call) {
  const auto* p = static_cast<const mx_image_lighting_params*>(call->params);
  float alpha[4];
  for (int i = 0; i < 3; ++i) alpha[i] = (float)p->alpha[i];
  if (p->deviation >= 0) {
    call->rng->serial_draw([&](Mt19937& e) {
      normal_pair(e, alpha);
      normal_pair(e, alpha + 2);
    });
    for (float& value : alpha) value *= (float)p->deviation;
  }
  return with_picture(call, [&](const auto& picture) { picture.lighting(alpha); });
}

int colour_jitter(const mx_call* call) {
  const auto* p = static_cast<const mx_image_jitter_params*>(call->params);
  int order[4];
  float change[4];
  call->rng->serial_draw([&](Mt19937& e) {
    draw_order(e, order);
    for (int kind : order) {
      const float most = (float)p->most[kind];
      if (most > 0) change[kind] = between(e, -most, most);
    }
  });
  return with_picture(call, [&](auto picture) {
    bool changed = false;
    for (int kind : order) {
      if (!(p->most[kind] > 0)) continue;
      if (kind == 0) picture.scale(1 + change[0], 0);
      if (kind == 1) picture.contrast(1 + change[1]);
      if (kind == 2) picture.saturation(1 + change[2]);
      if (kind == 3) picture.hue(change[3]);
      picture.in = picture.out;
      changed = true;
    }
    if (!changed) picture.copy();
  });
}

template <class T>
void reverse(const mx_call* call, int axis) {
  const int64_t *shape = call->in[0].shape, channels = shape[2];
  const T* from = static_cast<const T*>(call->in[0].data);
  T* to = static_cast<T*>(call->out[0].data);
  const int64_t row = shape[1] * channels;
  for (int64_t y = 0; y < shape[0]; ++y) {
    if (axis == 0) {
      memcpy(to + y * row, from + (shape[0] - 1 - y) * row, row * sizeof(T));
      continue;
    }
    for (int64_t x = 0; x < shape[1]; ++x)
      for (int64_t c = 0; c < channels; ++c)
        to[y * row + x * channels + c] = from[y * row + (shape[1] - 1 - x) * channels + c];
  }
}

int flip(const mx_call* call) {
  const auto* p = static_cast<const mx_image_flip_params*>(call->params);
  double drawn = 0;
  call->rng->serial_draw([&](Mt19937& e) { drawn = unit<double>(e); });
  const mx_tensor& in = call->in[0];
  if (drawn < 1 - p->p || p->p <= 0) {
    memcpy(call->out[0].data, in.data, count(in) * item_size(in.dtype));
    return 0;
  }
  switch (item_size(in.dtype)) {
    case 1:
      return reverse<uint8_t>(call, p->axis), 0;
    case 2:
      return reverse<uint16_t>(call, p->axis), 0;
    case 4:
      return reverse<uint32_t>(call, p->axis), 0;
    default:
      return reverse<uint64_t>(call, p->axis), 0;
  }
}

__attribute__((constructor)) void register_image_random() {
  constexpr uint32_t kTypes = 1u << MX_U8 | 1u << MX_I8 | 1u << MX_I32 | 1u << MX_I64 |
                              1u << MX_F16 | 1u << MX_F32 | 1u << MX_F64;
  mx_kernel_add("image_random_brightness", brightness, kTypes, 0);
  mx_kernel_add("image_random_contrast", contrast, kTypes, 0);
  mx_kernel_add("image_random_saturation", saturation, kTypes, 0);
  mx_kernel_add("image_random_hue", hue, kTypes, 0);
  mx_kernel_add("image_lighting", lighting, kTypes, 0);
  mx_kernel_add("image_random_color_jitter", colour_jitter, kTypes, 0);
  mx_kernel_add("image_random_flip", flip, MX_REAL_DTYPES, 0);
}

}  // namespace
