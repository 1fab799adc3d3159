/* Functions that compiled kernels call: copies of strided buffers, and memory for their own. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *allocated, *aligned;
  int64_t offset;
  int64_t sizes_and_strides[];
} Buffer;

typedef struct {
  int64_t rank;
  Buffer *buffer;
} UnrankedBuffer;

static void copy_rows(int64_t axis, int64_t rank, int64_t run, const int64_t *sizes,
                      const char *from, const int64_t *from_strides, char *to,
                      const int64_t *to_strides) {
  if (axis == rank) {
    memcpy(to, from, (size_t)run);
    return;
  }
  for (int64_t i = 0; i < sizes[axis]; ++i)
    copy_rows(axis + 1, rank, run, sizes, from + i * from_strides[axis], from_strides,
              to + i * to_strides[axis], to_strides);
}

/* Copy a buffer to one of the same shape; the trailing axes that are contiguous in both at once. */
__attribute__((weak, visibility("hidden"))) void memrefCopy(int64_t element, UnrankedBuffer *source, UnrankedBuffer *target) {
  int64_t rank = source->rank, from_strides[16], to_strides[16], run = element;
  const Buffer *from = source->buffer, *to = target->buffer;
  const int64_t *sizes = from->sizes_and_strides;
  if (rank < 0 || rank > 16)
    abort();
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] <= 0)
      return;
    from_strides[i] = from->sizes_and_strides[rank + i] * element;
    to_strides[i] = to->sizes_and_strides[rank + i] * element;
  }
  while (rank > 0 && (sizes[rank - 1] == 1 ||
                      (from_strides[rank - 1] == run && to_strides[rank - 1] == run)))
    run *= sizes[--rank];
  copy_rows(0, rank, run, sizes, from->aligned + from->offset * element, from_strides,
            to->aligned + to->offset * element, to_strides);
}
