// The threads of a block as fibers: separate stacks within one OS thread.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

namespace cuda_text {

// Not a power of two, to avoid cache set conflicts between stacks.
constexpr size_t kStackBytes = (64u << 10) + 832;

// Save callee-saved registers on the stack and the stack pointer in *save; continue at `resume`.
extern "C" void cuda_text_switch(void** save, void* resume) __attribute__((visibility("hidden")));
asm(R"(
  .pushsection .text
  .hidden cuda_text_switch
  .globl cuda_text_switch
  .type cuda_text_switch, @function
cuda_text_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .popsection
)");

// The initial stack of a fiber: what cuda_text_switch pops, then its return address.
inline void* fresh_stack(char* stack, void (*entry)()) {
  constexpr int kSavedRegisters = 6;
  void** top = (void**)((uintptr_t)(stack + kStackBytes) & ~(uintptr_t)15);
  top[-2] = (void*)entry;  // 16 bytes below an aligned address, as after a call
  return top - 2 - kSavedRegisters;
}

// Memory that is committed on first use.
inline char* reserve(size_t bytes) {
  return (char*)mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace cuda_text
