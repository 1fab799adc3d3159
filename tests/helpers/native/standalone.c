/* Memory and failures of code that is called without an entry of aot-lower-main. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *_mlir_memref_to_llvm_alloc(uint64_t size) {
  void *memory = malloc(size ? size : 1);
  if (memory == NULL) {
    fprintf(stderr, "xrelay: cannot allocate %llu bytes\n", (unsigned long long)size);
    abort();
  }
  return memory;
}

void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  void *memory = aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  return memory != NULL ? memory : _mlir_memref_to_llvm_alloc(UINT64_MAX);
}

void _mlir_memref_to_llvm_free(void *memory) { free(memory); }

void xrelay_require(_Bool holds, int64_t code, int64_t a, int64_t b) {
  if (!holds) {
    fprintf(stderr, "xrelay: requirement %lld is not met: %lld, %lld\n", (long long)code,
            (long long)a, (long long)b);
    abort();
  }
}
