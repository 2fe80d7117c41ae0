// Modules, kernels and their launches.
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

namespace standin {

struct Kernel {
  std::string name;
  int (*launch)(cuda_text::LaunchSpec*, void**);
  int (*sizes)(int*);
  int max_dynamic_bytes = 48 << 10;
};

struct Module {
  void* library;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
};

namespace {

// The size of an ELF file: the section table is at its end.
size_t size_of_image(const void* image) {
  const Elf64_Ehdr& header = *(const Elf64_Ehdr*)image;
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_machine != EM_X86_64) return 0;
  return header.e_shoff + (size_t)header.e_shentsize * header.e_shnum;
}

// Use a unique file name, for dlopen returns the same library for a known path.
void* open_image(const void* image, size_t bytes) {
  char path[] = "/tmp/mxcy-kernel-XXXXXX";
  const int file = mkstemp(path);
  const bool complete = file >= 0 && write(file, image, bytes) == (ssize_t)bytes;
  void* library = complete ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (file >= 0) close(file), unlink(path);
  return library;
}

template <class Function>
Function symbol(Module* module, const char* prefix, const char* name) {
  return (Function)dlsym(module->library, (std::string(prefix) + name).c_str());
}

CUresult run(const Kernel& kernel, cuda_text::LaunchSpec spec,
             const std::vector<std::string>& values) {
  spec.seed = (int)random_below(1 << 20);
  spec.open_memory = open_memory;
  spec.order = state.timing == Timing::kRandom ? cuda_text::kShuffled : cuda_text::kForward;
  std::vector<void*> arguments;
  for (const std::string& value : values) arguments.push_back((void*)value.data());
  if (kernel.launch(&spec, arguments.data()) == 0) return CUDA_SUCCESS;
  const bool address = strstr(spec.error, "address");
  return error(address ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_FAILED,
               kernel.name + ": " + spec.error);
}

}  // namespace
}  // namespace standin

using namespace standin;

API CUresult cuModuleLoadData(Module** module, const void* image) {
  const size_t bytes = size_of_image(image);
  if (!bytes) return error(CUDA_ERROR_INVALID_IMAGE, "the image is none of compiler.py");
  void* library = open_image(image, bytes);
  if (!library) return error(CUDA_ERROR_INVALID_IMAGE, dlerror());
  return *module = new Module{library, {}}, CUDA_SUCCESS;
}
API CUresult cuModuleUnload(Module*) {
  return CUDA_SUCCESS;
}  // kept: tasks may still run its kernels
API CUresult cuModuleGetFunction(Kernel** kernel, Module* module, const char* name) {
  Lock lock(state.mutex);
  auto& entry = module->kernels[name];
  if (!entry) {
    auto launch = symbol<int (*)(cuda_text::LaunchSpec*, void**)>(module, "cuda_launch_", name);
    auto sizes = symbol<int (*)(int*)>(module, "cuda_sizes_", name);
    if (!launch || !sizes)
      return error(CUDA_ERROR_NOT_FOUND, std::string("there is no kernel ") + name);
    entry.reset(new Kernel{name, launch, sizes});
  }
  return *kernel = entry.get(), CUDA_SUCCESS;
}
API CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, Module* module,
                                  const char* name) {
  *address = (CUdeviceptr)dlsym(module->library, name);
  return *bytes = 0, *address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// CUfunction_attribute: 0 threads per block, 4 registers, 8 dynamic shared memory
API CUresult cuFuncGetAttribute(int* value, int attribute, Kernel* kernel) {
  *value = attribute == 0   ? 1024
           : attribute == 4 ? 32
           : attribute == 8 ? kernel->max_dynamic_bytes
                            : 0;
  return CUDA_SUCCESS;
}
API CUresult cuFuncSetAttribute(Kernel* kernel, int attribute, int value) {
  if (attribute != 8) return CUDA_SUCCESS;
  if (value < 0 || value > (int)cuda_text::kMaxSharedBytes) return CUDA_ERROR_INVALID_VALUE;
  return kernel->max_dynamic_bytes = value, CUDA_SUCCESS;
}
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int threads,
                                                         size_t) {
  return *blocks = threads > 0 ? 2048 / threads : 0, CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(Kernel* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, Stream* stream, void** arguments, void** extra) {
  Lock lock(state.mutex);
  if (!kernel || extra)
    return error(CUDA_ERROR_INVALID_HANDLE, "no kernel, or its arguments in `extra`");
  if ((int)shared_bytes > kernel->max_dynamic_bytes)
    return error(CUDA_ERROR_INVALID_VALUE,
                 kernel->name + ": more shared memory than it has asked for");
  int sizes[256];
  std::vector<std::string> values;
  const int count = kernel->sizes(sizes);
  for (int i = 0; i < count; ++i) values.emplace_back((const char*)arguments[i], (size_t)sizes[i]);
  ++state.counts.launches;
  cuda_text::LaunchSpec spec{};
  spec = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, 0, 0, nullptr, ""};
  return push(stream, [=] { return run(*kernel, spec, values); }, kernel->name);
}
