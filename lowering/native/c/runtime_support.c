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

typedef struct {
  int64_t rank, run; /* the bytes that lie together, after `rank` axes */
  const int64_t *sizes;
  int64_t from_strides[16], to_strides[16];
  const char *from;
  char *to;
} Copy;

/* In threads.c, as compiled code calls them. */
void xrelay_work(int64_t products);
void __kmpc_fork_call(void *place, int32_t count, void (*code)(int32_t *, int32_t *, void *), ...);
void __kmpc_for_static_init_8u(void *place, int32_t thread, int32_t kind, int32_t *is_last,
                               uint64_t *first, uint64_t *last, int64_t *stride, int64_t step,
                               int64_t chunk);

#define BYTE 6 /* the multiplications that take as long as copying one */

static void copy_rows(const Copy *copy, int64_t axis, const char *from, char *to) {
  if (axis == copy->rank) {
    memcpy(to, from, (size_t)copy->run);
    return;
  }
  for (int64_t i = 0; i < copy->sizes[axis]; ++i)
    copy_rows(copy, axis + 1, from + i * copy->from_strides[axis], to + i * copy->to_strides[axis]);
}

/* Copy turns of the first axis of more than one; a loop that threads divide. */
static void copy_turns(int32_t *thread, int32_t *bound, void *operand) {
  const Copy *copy = operand;
  int64_t axis = 0, stride;
  int32_t is_last;
  (void)bound;
  while (copy->sizes[axis] == 1) ++axis;
  uint64_t first = 0, last = (uint64_t)copy->sizes[axis] - 1;
  __kmpc_for_static_init_8u(NULL, *thread, 0, &is_last, &first, &last, &stride, 1, 1);
  for (int64_t i = (int64_t)first; i <= (int64_t)last; ++i)
    copy_rows(copy, axis + 1, copy->from + i * copy->from_strides[axis],
              copy->to + i * copy->to_strides[axis]);
}

/* Copy a buffer to one of the same shape; the trailing axes that are contiguous in both at once. */
__attribute__((weak, visibility("hidden"))) void memrefCopy(int64_t element, UnrankedBuffer *source, UnrankedBuffer *target) {
  const Buffer *from = source->buffer, *to = target->buffer;
  int64_t rank = source->rank, bytes = element;
  Copy copy = {.run = element, .sizes = from->sizes_and_strides};
  if (rank < 0 || rank > 16)
    abort();
  for (int64_t i = 0; i < rank; ++i) {
    if (copy.sizes[i] <= 0)
      return;
    copy.from_strides[i] = from->sizes_and_strides[rank + i] * element;
    copy.to_strides[i] = to->sizes_and_strides[rank + i] * element;
    bytes *= copy.sizes[i];
  }
  while (rank > 0 && (copy.sizes[rank - 1] == 1 || (copy.from_strides[rank - 1] == copy.run &&
                                                    copy.to_strides[rank - 1] == copy.run)))
    copy.run *= copy.sizes[--rank];
  copy.rank = rank;
  copy.from = from->aligned + from->offset * element;
  copy.to = to->aligned + to->offset * element;
  if (bytes == copy.run) {
    memcpy(copy.to, copy.from, (size_t)copy.run);
    return;
  }
  xrelay_work(bytes > INT64_MAX / BYTE ? INT64_MAX : bytes * BYTE);
  __kmpc_fork_call(NULL, 1, copy_turns, &copy);
}
