/* The runtime of compiled test programs: it counts what they allocate, and returns from failures. */

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIVE (1 << 20)
static void *live[MAX_LIVE];
static int64_t count, faults, failed, numbers[2];
static jmp_buf failure;
static char *stack_start;
static void (*kernel_hook)(int64_t, void **);

static void *keep(void *memory, uint64_t size) {
  if (count == MAX_LIVE)
    abort();
  memset(memory, 0xff, size); /* NaN */
  live[count++] = memory;
  return memory;
}

void *_mlir_memref_to_llvm_alloc(uint64_t size) { return keep(malloc(size + 1), size); }

void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  uint64_t room = (size / alignment + 1) * alignment;
  return keep(aligned_alloc(alignment, room), size);
}

void _mlir_memref_to_llvm_free(void *memory) {
  for (int64_t i = count - 1; i >= 0; --i)
    if (live[i] == memory) {
      live[i] = live[--count];
      free(memory);
      return;
    }
  ++faults; /* freed twice, or not ours */
}

void xrelay_require(_Bool ok, int64_t code, int64_t a, int64_t b) {
  if (ok)
    return;
  failed = code, numbers[0] = a, numbers[1] = b;
  longjmp(failure, 1);
}

void xrelay_enter(void) {
  char here;
  if (stack_start - &here > (4 << 20))
    xrelay_require(0, -2, 0, 0);
}

void xrelay_call_kernel(int64_t number, void **arguments) { kernel_hook(number, arguments); }

__attribute__((visibility("default"))) void harness_hook(void (*hook)(int64_t, void **)) {
  kernel_hook = hook;
}

__attribute__((visibility("default"))) int64_t harness_state(int64_t which) {
  int64_t states[] = {count, faults, numbers[0], numbers[1]};
  return states[which];
}

__attribute__((visibility("default"))) void harness_free_all(void) {
  while (count)
    free(live[--count]);
  faults = 0;
}

typedef void entry(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                   void *, void *);

/* Return -1, or the number of the message of the requirement that is not met. */
__attribute__((visibility("default"))) int64_t harness_run(entry *f, void **a) {
  char here;
  stack_start = &here;
  failed = -1;
  if (setjmp(failure))
    return failed;
  f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  return -1;
}
