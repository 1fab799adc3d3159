/*
 * What compiled code needs while it runs: memory, failures, checks of arguments, calls.
 *
 * A program is described by tables, which the functions at the end read: see
 * `struct xrelay_function`. Compiled code is called with the words of all its memrefs, one memref
 * after the other: the address twice, an offset, the sizes, the strides.
 *
 * Nothing is shared between threads. A call has a record on the stack; memory that the code
 * allocates is in a list there, and a failure frees it and jumps back to the start of the call.
 * What compiled code refers to is weak and hidden, so that several objects can be linked into one
 * program; so is what tables refer to. All else is static.
 *
 * The C of a program begins with what is above "the functions"; these are compiled to an object of
 * their own, which is the same for all programs.
 */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlpack.h"

_Static_assert(sizeof(void *) == sizeof(int64_t), "a memref has words of 64 bits");

#define XRELAY_SHARED __attribute__((weak, visibility("hidden")))
#define XRELAY_HIDDEN __attribute__((visibility("hidden")))
#define XRELAY_LOCAL static __attribute__((unused))
#define XRELAY_PUBLIC __attribute__((visibility("default")))
#define XRELAY_ALIGNMENT 64
#define XRELAY_BOOL 6 /* DLPack's code of the type */
#ifndef XRELAY_MAX_STACK
#define XRELAY_MAX_STACK 4194304 /* bytes of stack that a call may use for recursion */
#endif

struct xrelay_block { /* before each piece of memory that the code allocates */
  struct xrelay_block *next, **link;
  void *start;
};

struct xrelay_device {
  const char *name;
  int32_t (*hooks[4])(void *context); /* activate, open, close, deactivate; NULL: no context */
};

struct xrelay_library {
  const char *const *messages; /* of failures, by number */
  int64_t message_count;
  const void *(*constants)(int32_t pool, char *error, size_t room); /* NULL: none */
  int32_t constant_pools;
  const int64_t *constant_sizes; /* by pool */
  const struct xrelay_device *devices; /* NULL: none has a context */
  uint32_t device_count;
};

struct xrelay_call {
  jmp_buf failed;
  struct xrelay_call *outer;
  struct xrelay_block *blocks;
  const struct xrelay_library *library; /* NULL: a kernel alone */
  const char *stack;
  void *const *contexts; /* by device */
  uint64_t is_active, is_open; /* a bit a device */
};

struct xrelay_dim {
  int64_t size;     /* -1: dynamic */
  const char *name; /* dims of one name are equal; NULL: none */
  int64_t low, high; /* bounds; high of -1: none */
};

struct xrelay_tensor {
  const char *name;
  uint8_t code, bits; /* of DLPack */
  uint8_t is_allocated; /* by the call: the size is known only after it */
  uint8_t is_bytes;     /* the code has it as bytes, not as a tensor */
  int32_t rank;
  const struct xrelay_dim *dims;
  int32_t lender;  /* the input in whose memory an output may be, with more rows; -1: none */
  int64_t maximum; /* the rows of that */
};

struct xrelay_pool {
  int64_t size; /* bytes; -1: computed from dims */
  int64_t alignment;
  int64_t capacity; /* bytes; -1: none */
  const char *place; /* such as cpu:0/dtcm */
};

/*
 * The code gets the words of the outputs that it allocates, of the other tensors, of the constants,
 * of the pools, and the contexts.
 */
struct xrelay_function {
  const char *name;
  const struct xrelay_library *library;
  int32_t inputs, outputs, pool_count, context_count;
  const struct xrelay_tensor *tensors; /* inputs, then outputs */
  const struct xrelay_pool *pools;
  const int32_t *contexts; /* devices */
  int32_t has_constants;
  int32_t dims, computed; /* sizes of inputs that callers give; sizes that `sizes` computes of them */
  int32_t rank_sum, words; /* of all tensors; of all that the code gets */
  void (*sizes)(int64_t *dims, int64_t *sizes); /* two memrefs; NULL: all sizes are known */
  void (*code)(int64_t *words);
};

struct xrelay_supplier { /* of kernels that the runtime supplies */
  const char *setter;    /* the function that sets the others */
  int32_t (*callback)(void *, int32_t, const DLTensor *const *, int32_t);
  void *context;
};

extern XRELAY_HIDDEN _Thread_local char xrelay_error[1024];
int32_t xrelay_call_unpacked(const struct xrelay_function *, void *const *data, const int64_t *dims,
                             void *const *workspaces, void *const *contexts);
int32_t xrelay_call_packed(const struct xrelay_function *, DLTensor *const *tensors, int32_t count,
                           void *const *workspaces, void *const *contexts);
int64_t xrelay_sizes(const struct xrelay_function *, const int64_t *dims, int32_t pool,
                     int64_t *output_shapes);
int32_t xrelay_call_code(void (*code)(int64_t *), int64_t *words);
void xrelay_call_supplied(const struct xrelay_supplier *, int32_t kernel, const char *name,
                          const struct xrelay_tensor *types, int64_t *const *words, int32_t count);
void xrelay_event(uint32_t device, int32_t event, void *context);
void xrelay_release(void *memory);
int32_t xrelay_set_threads(int32_t threads);

/* ---- the functions ---- */

XRELAY_SHARED _Thread_local struct xrelay_call *xrelay_current = NULL;
XRELAY_SHARED _Thread_local char xrelay_error[1024] = "";

XRELAY_LOCAL void xrelay_begin(struct xrelay_call *call, const struct xrelay_library *library) {
  memset(call, 0, sizeof *call);
  call->outer = xrelay_current;
  call->library = library;
  call->stack = (const char *)call;
  xrelay_current = call;
}

/* Free what the call allocated, and return to the call around it. */
XRELAY_LOCAL void xrelay_end(void) {
  struct xrelay_call *call = xrelay_current;
  while (call->blocks) {
    struct xrelay_block *block = call->blocks;
    call->blocks = block->next;
    free(block->start);
  }
  xrelay_current = call->outer;
}

/* Close and deactivate the devices of a call that failed, and end it. */
XRELAY_LOCAL int32_t xrelay_fail_call(void) {
  const struct xrelay_call *call = xrelay_current;
  uint32_t i;
  for (i = 0; call->library && call->library->devices && i < call->library->device_count; i++) {
    const struct xrelay_device *device = &call->library->devices[i];
    if (call->is_open >> i & 1U) (void)device->hooks[2](call->contexts[i]);
    if (call->is_active >> i & 1U) (void)device->hooks[3](call->contexts[i]);
  }
  xrelay_end();
  return 1;
}

__attribute__((noreturn, format(printf, 1, 2))) XRELAY_SHARED void xrelay_fail(const char *format,
                                                                              ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(xrelay_error, sizeof xrelay_error, format, values);
  va_end(values);
  if (!xrelay_current) abort();
  longjmp(xrelay_current->failed, 1);
}

/* Call a hook of a device, which begins (0, 1) or ends (2, 3) its use. */
XRELAY_SHARED void xrelay_event(uint32_t number, int32_t event, void *context) {
  static const char *const names[] = {"activate", "open", "close", "deactivate"};
  struct xrelay_call *call = xrelay_current;
  const struct xrelay_device *device = &call->library->devices[number];
  uint64_t *state = event == 0 || event == 3 ? &call->is_active : &call->is_open;
  const uint64_t bit = (uint64_t)1 << number;
  if (event >= 2) *state &= ~bit;
  if (device->hooks[event](context))
    xrelay_fail("device %s failed to %s", device->name, names[event]);
  if (event < 2) *state |= bit;
}

/* Fail with message `code`, in which {0} and {1} are `a` and `b`. */
__attribute__((noreturn)) XRELAY_LOCAL void xrelay_fail_with(int64_t code, int64_t a, int64_t b) {
  char text[sizeof xrelay_error];
  const char *from = "the program failed";
  const struct xrelay_library *library = xrelay_current->library;
  size_t at = 0;
  if (library && 0 <= code && code < library->message_count) from = library->messages[code];
  while (*from && at + 1 < sizeof text) {
    if (from[0] == '{' && (from[1] == '0' || from[1] == '1') && from[2] == '}') {
      int length = snprintf(text + at, sizeof text - at, "%" PRId64, from[1] == '0' ? a : b);
      at += (size_t)length < sizeof text - at ? (size_t)length : sizeof text - at - 1;
      from += 3;
    } else {
      text[at++] = *from++;
    }
  }
  text[at] = 0;
  xrelay_fail("%s", text);
}

/* Fail with message `code` unless the lowest bit is set: a call computes a hundred sizes. */
XRELAY_SHARED void xrelay_require(uint8_t ok, int64_t code, int64_t a, int64_t b) {
  if (!(ok & 1U)) xrelay_fail_with(code, a, b);
}

/* Fail before recursion exhausts the stack. */
XRELAY_SHARED void xrelay_enter(void) {
  char here = 0;
  const char *volatile now = &here;
  ptrdiff_t used = xrelay_current->stack - now;
  if (used > XRELAY_MAX_STACK || used < -XRELAY_MAX_STACK)
    xrelay_fail("recursion is too deep: it needs more than %d KiB of stack",
                XRELAY_MAX_STACK / 1024);
}

XRELAY_SHARED void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  struct xrelay_block *block = NULL;
  char *start = NULL;
  if (alignment < XRELAY_ALIGNMENT) alignment = XRELAY_ALIGNMENT;
  if (size <= PTRDIFF_MAX - 3 * alignment)
    start = aligned_alloc(alignment, (size + 2 * alignment - 1) / alignment * alignment);
  if (!start) xrelay_fail("there is no memory for %" PRIu64 " bytes", size);
  block = (struct xrelay_block *)(start + alignment) - 1;
  block->start = start;
  block->next = xrelay_current->blocks;
  block->link = &xrelay_current->blocks;
  if (block->next) block->next->link = &block->next;
  xrelay_current->blocks = block;
  return start + alignment;
}

XRELAY_SHARED void *_mlir_memref_to_llvm_alloc(uint64_t size) {
  return _mlir_memref_to_llvm_aligned_alloc(XRELAY_ALIGNMENT, size);
}

/* Take an allocation from those that end with the call. */
XRELAY_LOCAL void xrelay_keep(void *memory) {
  struct xrelay_block *block = (struct xrelay_block *)memory - 1;
  *block->link = block->next;
  if (block->next) block->next->link = block->link;
}

XRELAY_SHARED void _mlir_memref_to_llvm_free(void *memory) {
  struct xrelay_block *block = (struct xrelay_block *)memory - 1;
  if (!memory) return;
  xrelay_keep(memory);
  free(block->start);
}

/* Return the `size` bytes at `data`, in the allocation `memory`, as an allocation by themselves. */
XRELAY_LOCAL void *xrelay_separate(void *memory, const void *data, int64_t size) {
  if (data == memory) return memory;
  memory = _mlir_memref_to_llvm_aligned_alloc(XRELAY_ALIGNMENT, (uint64_t)size);
  return memcpy(memory, data, (size_t)size);
}

/* Free what a call allocated for its caller. */
XRELAY_SHARED void xrelay_release(void *memory) {
  if (memory) free(((struct xrelay_block *)memory - 1)->start);
}

/* Return the bytes of an element. */
XRELAY_LOCAL int64_t xrelay_item(const struct xrelay_tensor *tensor) {
  return tensor->bits > 8 ? tensor->bits / 8 : 1;
}

/* Return count * size, or fail. */
XRELAY_LOCAL int64_t xrelay_times(int64_t count, int64_t size) {
  int64_t product;
  if (count < 0 || size < 0 || __builtin_mul_overflow(count, size, &product))
    xrelay_fail("a tensor is too large");
  return product;
}

XRELAY_LOCAL int64_t xrelay_bytes(const struct xrelay_tensor *tensor, const int64_t *shape) {
  int64_t count = xrelay_item(tensor);
  int32_t axis;
  if (tensor->is_allocated) return 0; /* not in memory of the caller */
  for (axis = 0; axis < tensor->rank; axis++) { /* no dim is negative, even if another is 0 */
    if (shape[axis] < 0) xrelay_fail("dim %d of '%s' is %" PRId64, axis, tensor->name, shape[axis]);
  }
  for (axis = 0; axis < tensor->rank; axis++)
    if (!shape[axis]) return 0;
  for (axis = 0; axis < tensor->rank; axis++) count = xrelay_times(count, shape[axis]);
  return count;
}

XRELAY_LOCAL void xrelay_describe(char *text, size_t room, uint8_t code, uint8_t bits,
                                   uint16_t lanes, int32_t rank, const int64_t *shape) {
  static const char *const names[] = {"int", "uint", "float", "handle", "bfloat", "complex"};
  size_t at;
  int32_t axis;
  if (code == 6)
    snprintf(text, room, "bool");
  else if (code < 6)
    snprintf(text, room, "%s%d", names[code], bits);
  else
    snprintf(text, room, "type %d:%d", code, bits);
  at = strlen(text);
  if (lanes != 1) at += (size_t)snprintf(text + at, room - at, "x%d", lanes);
  at += (size_t)snprintf(text + at, room - at, "[");
  for (axis = 0; axis < rank && at + 32 < room; axis++) {
    const char *comma = axis ? ", " : "";
    if (shape[axis] < 0)
      at += (size_t)snprintf(text + at, room - at, "%s?", comma);
    else
      at += (size_t)snprintf(text + at, room - at, "%s%" PRId64, comma, shape[axis]);
  }
  snprintf(text + at, room - at, axis < rank ? ", ...]" : "]");
}

__attribute__((noreturn)) XRELAY_LOCAL void xrelay_reject(const char *kind,
                                                         const struct xrelay_function *function,
                                                         const struct xrelay_tensor *tensor,
                                                         const int64_t *shape,
                                                         const DLTensor *given) {
  char expected[256], found[256];
  xrelay_describe(expected, sizeof expected, tensor->code, tensor->bits, 1, tensor->rank, shape);
  xrelay_describe(found, sizeof found, (uint8_t)given->dtype.code, given->dtype.bits,
                  given->dtype.lanes, given->ndim, given->shape);
  xrelay_fail("%s '%s' of %s must be %s, but is %s", kind, tensor->name, function->name, expected,
              found);
}

/* Check type, device and layout of tensor `index`; `shape` has its sizes, -1 for any. */
XRELAY_LOCAL void xrelay_check_tensor(const struct xrelay_function *function, int32_t index,
                                       const int64_t *shape, const DLTensor *given) {
  const struct xrelay_tensor *tensor = &function->tensors[index];
  const char *kind = index < function->inputs ? "parameter" : "result";
  int64_t stride = 1, count = 1;
  int32_t axis;
  if (!given) xrelay_fail("%s '%s' of %s is NULL", kind, tensor->name, function->name);
  if (given->ndim != tensor->rank || given->dtype.code != tensor->code ||
      given->dtype.bits != tensor->bits || given->dtype.lanes != 1)
    xrelay_reject(kind, function, tensor, shape, given);
  for (axis = 0; axis < tensor->rank; axis++)
    if (given->shape[axis] < 0 || (shape[axis] >= 0 && given->shape[axis] != shape[axis]))
      xrelay_reject(kind, function, tensor, shape, given);
  if (given->device.device_type != 1)
    xrelay_fail("%s '%s' of %s must be in the memory of the CPU, but is on device type %d", kind,
                tensor->name, function->name, (int)given->device.device_type);
  for (axis = 0; axis < tensor->rank; axis++) count = given->shape[axis] ? count : 0;
  for (axis = tensor->rank - 1; given->strides && count && axis >= 0; axis--) {
    if (given->shape[axis] != 1 && given->strides[axis] != stride)
      xrelay_fail("%s '%s' of %s must be contiguous, but dim %d has stride %" PRId64
                  " in place of %" PRId64,
                  kind, tensor->name, function->name, axis, given->strides[axis], stride);
    stride = xrelay_times(stride, given->shape[axis]);
  }
}

/* Check that dims of one name are equal, and within their bounds. */
XRELAY_LOCAL void xrelay_check_dims(const struct xrelay_function *function,
                                     const int64_t *const *shapes) {
  int32_t i, j, a, b;
  for (i = 0; i < function->inputs; i++)
    for (a = 0; a < function->tensors[i].rank; a++) {
      const struct xrelay_dim *dim = &function->tensors[i].dims[a];
      if (dim->size >= 0 || !dim->name) continue;
      if (shapes[i][a] < dim->low || (dim->high >= 0 && shapes[i][a] > dim->high)) {
        char bounds[64];
        if (dim->high < 0)
          snprintf(bounds, sizeof bounds, "at least %" PRId64, dim->low);
        else
          snprintf(bounds, sizeof bounds, "from %" PRId64 " to %" PRId64, dim->low, dim->high);
        xrelay_fail("%s: parameter '%s' has dim %d (%s) of %" PRId64 ", but %s must be %s",
                    function->name, function->tensors[i].name, a, dim->name, shapes[i][a],
                    dim->name, bounds);
      }
      for (j = 0; j <= i; j++)
        for (b = 0; b < (j < i ? function->tensors[j].rank : a); b++) {
          const struct xrelay_dim *other = &function->tensors[j].dims[b];
          if (!other->name || strcmp(other->name, dim->name) != 0 || shapes[j][b] == shapes[i][a])
            continue;
          xrelay_fail("%s: parameter '%s' has dim %d (%s) of %" PRId64
                      ", but parameter '%s' has dim %d (%s) of %" PRId64,
                      function->name, function->tensors[j].name, b, dim->name, shapes[j][b],
                      function->tensors[i].name, a, dim->name, shapes[i][a]);
        }
    }
}

XRELAY_LOCAL int xrelay_overlap(const void *a, int64_t size, const void *b, int64_t other) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return size > 0 && other > 0 && x < y + (uint64_t)other && y < x + (uint64_t)size;
}

/* Check the memory of all tensors: it is there, aligned, and no result is in that of another. */
XRELAY_LOCAL void xrelay_check_memory(const struct xrelay_function *function,
                                       const int64_t *const *shapes, const int64_t *bytes,
                                       void *const *data) {
  int32_t i, j;
  for (i = 0; i < function->inputs + function->outputs; i++) {
    const struct xrelay_tensor *tensor = &function->tensors[i];
    const char *kind = i < function->inputs ? "parameter" : "result";
    if (bytes[i] && !data[i])
      xrelay_fail("the data of %s '%s' of %s are NULL", kind, tensor->name, function->name);
    if ((uintptr_t)data[i] % (uintptr_t)xrelay_item(tensor))
      xrelay_fail("the data of %s '%s' of %s must be aligned to %" PRId64 " bytes", kind,
                  tensor->name, function->name, xrelay_item(tensor));
    if (tensor->lender >= 0 && shapes[i][0] > tensor->maximum)
      xrelay_fail("parameter '%s' of %s is a cache of at most %" PRId64
                  " rows, but the result has %" PRId64,
                  function->tensors[tensor->lender].name, function->name, tensor->maximum,
                  shapes[i][0]);
    for (j = 0; i >= function->inputs && j < i; j++)
      if (!(j == tensor->lender && data[i] == data[j]) &&
          xrelay_overlap(data[i], bytes[i], data[j], bytes[j]))
        xrelay_fail("result '%s' of %s overlaps '%s'", tensor->name, function->name,
                    function->tensors[j].name);
  }
}

/* Return `given`, the workspace of a caller, or allocate one. */
XRELAY_LOCAL char *xrelay_workspace(const struct xrelay_function *function,
                                     const int64_t *bytes, void *const *data, void *given,
                                     int64_t size, int64_t alignment) {
  int32_t i;
  if (size < 0) xrelay_fail("the workspace of %s is too large", function->name);
  if (!given) return _mlir_memref_to_llvm_aligned_alloc((uint64_t)alignment, (uint64_t)size);
  if ((uintptr_t)given % (uintptr_t)alignment)
    xrelay_fail("the workspace of %s must be aligned to %" PRId64 " bytes", function->name,
                alignment);
  for (i = 0; i < function->inputs + function->outputs; i++)
    if (xrelay_overlap(given, size, data[i], bytes[i]))
      xrelay_fail("the workspace of %s overlaps '%s'", function->name, function->tensors[i].name);
  return given;
}

/* Check that the workspace in `pool`, of `size` bytes, is within its capacity. */
XRELAY_LOCAL void xrelay_require_room(const struct xrelay_function *function,
                                       const struct xrelay_pool *pool, int64_t size) {
  if (pool->capacity >= 0 && size > pool->capacity)
    xrelay_fail("the workspace of %s needs %" PRId64 " bytes of pool %s, which has %" PRId64,
                function->name, size, pool->place, pool->capacity);
}

XRELAY_LOCAL int64_t xrelay_size(int32_t rank, const int64_t *shape, int64_t size) {
  int32_t axis;
  for (axis = 0; axis < rank; axis++) size = xrelay_times(size, shape[axis]);
  return size;
}

/* Make bytes that are not 0 a 1: a tensor of bools may view bytes of another type. */
XRELAY_LOCAL void xrelay_make_bools(void *data, int64_t size) {
  uint8_t *bytes = data;
  int64_t i;
  for (i = 0; i < size; i++) bytes[i] = bytes[i] != 0;
}

/* ---- words of memrefs ---- */

/* Write the words of a contiguous memref; return where the next one begins. */
XRELAY_LOCAL int64_t *xrelay_describe_memref(int64_t *words, const void *data, int32_t rank,
                                              const int64_t *sizes) {
  uint64_t stride = 1; /* may wrap if a size is 0: then no element is read */
  int32_t axis;
  words[0] = words[1] = (int64_t)(intptr_t)data;
  words[2] = 0;
  for (axis = rank - 1; axis >= 0; axis--) {
    words[3 + axis] = sizes[axis];
    words[3 + rank + axis] = (int64_t)stride;
    stride *= (uint64_t)sizes[axis];
  }
  return words + 3 + (ptrdiff_t)2 * rank;
}

XRELAY_LOCAL int64_t *xrelay_describe_bytes(int64_t *words, const void *data, int64_t size) {
  return xrelay_describe_memref(words, data, 1, &size);
}

XRELAY_LOCAL char *xrelay_data_of(const int64_t *words, const struct xrelay_tensor *tensor) {
  return (char *)(intptr_t)words[1] + words[2] * xrelay_item(tensor);
}

/* ---- calls ---- */

/* Compute all shapes, one after the other, and the bytes of each workspace. */
XRELAY_LOCAL void xrelay_measure(const struct xrelay_function *function, const int64_t *dims,
                                  int64_t *sizes, int64_t *workspaces) {
  int64_t computed[function->computed + 1];
  const int64_t *output = computed + function->pool_count;
  int32_t i, axis;
  if (function->sizes) {
    int64_t from[5], to[5], dim_count = function->dims, computed_count = function->computed;
    if (!dims) xrelay_fail("the dims of %s are NULL", function->name);
    for (i = 0; i < function->dims; i++)
      if (dims[i] < 0) xrelay_fail("dim %d of %s is %" PRId64, i, function->name, dims[i]);
    xrelay_describe_memref(from, dims, 1, &dim_count);
    xrelay_describe_memref(to, computed, 1, &computed_count);
    function->sizes(from, to);
  }
  for (i = 0; i < function->inputs + function->outputs; i++) {
    const struct xrelay_tensor *tensor = &function->tensors[i];
    for (axis = 0; axis < tensor->rank; axis++) {
      int64_t size = tensor->dims[axis].size;
      if (size < 0 && !tensor->is_allocated) size = i < function->inputs ? *dims++ : *output++;
      *sizes++ = size;
    }
  }
  for (i = 0; i < function->pool_count; i++) {
    workspaces[i] = function->pools[i].size < 0 ? computed[i] : function->pools[i].size;
    if (workspaces[i] < 0 || workspaces[i] > INT64_MAX / 2)
      xrelay_fail("the workspace is too large");
    xrelay_require_room(function, &function->pools[i], workspaces[i]);
  }
}

/*
 * Describe the outputs that the call allocated, as `words` have them, to the caller, and let their
 * memory outlive the call; after a failure, none of them.
 */
XRELAY_LOCAL void xrelay_hand_over(const struct xrelay_function *function, const int64_t *words,
                                    void *const *data) {
  void *separate[function->outputs + 1];
  const int64_t *from = words;
  int32_t i, pass;
  for (pass = 0; pass < 2; pass++, from = words)
    for (i = 0; i < function->outputs; i++) {
      const struct xrelay_tensor *tensor = &function->tensors[function->inputs + i];
      if (!tensor->is_allocated) continue;
      if (!pass) {
        int64_t size = xrelay_size(tensor->rank, from + 3, xrelay_item(tensor));
        separate[i] =
            xrelay_separate((void *)(intptr_t)from[0], xrelay_data_of(from, tensor), size);
        if (tensor->code == XRELAY_BOOL) xrelay_make_bools(separate[i], size);
      } else {
        DLTensor *to = data[function->inputs + i];
        const DLTensor result = {separate[i], {1, 0}, tensor->rank,
                                 {tensor->code, tensor->bits, 1}, to->shape, NULL, 0};
        xrelay_keep(separate[i]);
        if (tensor->rank) memcpy(to->shape, from + 3, (size_t)tensor->rank * sizeof *from);
        *to = result;
      }
      from += 3 + 2 * tensor->rank;
    }
}

/* Check memory, describe it to the code, and call it. */
XRELAY_LOCAL void xrelay_invoke(const struct xrelay_function *function, void *const *data,
                                 const int64_t *dims, DLTensor *const *tensors,
                                 void *const *workspaces, void *const *contexts) {
  const int32_t count = function->inputs + function->outputs;
  int64_t all_sizes[function->rank_sum + 1], sizes[function->pool_count + 1];
  int64_t words[function->words + 1], *next = words;
  const int64_t *shapes[count + 1], *shape = all_sizes;
  int64_t bytes[count + 1];
  int32_t i;
  xrelay_measure(function, dims, all_sizes, sizes);
  for (i = 0; i < count; shape += function->tensors[i++].rank) shapes[i] = shape;
  xrelay_check_dims(function, shapes);
  for (i = function->inputs; tensors && i < count; i++)
    if (!function->tensors[i].is_allocated) xrelay_check_tensor(function, i, shapes[i], tensors[i]);
  for (i = 0; i < count; i++) bytes[i] = xrelay_bytes(&function->tensors[i], shapes[i]);
  xrelay_check_memory(function, shapes, bytes, data);
  for (i = function->inputs; i < count; i++) {
    const struct xrelay_tensor *tensor = &function->tensors[i];
    const DLTensor *target = data[i];
    if (!tensor->is_allocated) continue;
    if (!target || (tensor->rank && !target->shape))
      xrelay_fail("result '%s' of %s must be a tensor with room for a shape of %d, but is NULL",
                  tensor->name, function->name, (int)tensor->rank);
    next += 3 + 2 * tensor->rank;
  }
  for (i = 0; i < count; i++) {
    const struct xrelay_tensor *tensor = &function->tensors[i];
    if (tensor->is_allocated) continue;
    if (tensor->is_bytes)
      next = xrelay_describe_bytes(next, data[i], bytes[i]);
    else
      next = xrelay_describe_memref(next, data[i], tensor->rank, shapes[i]);
  }
  for (i = 0; function->has_constants && i < function->library->constant_pools; i++) {
    const void *pool = function->library->constants(i, xrelay_error, sizeof xrelay_error);
    if (!pool) longjmp(xrelay_current->failed, 1); /* the reason is in the error */
    next = xrelay_describe_bytes(next, pool, function->library->constant_sizes[i]);
  }
  for (i = 0; i < function->pool_count; i++) {
    char *pool = xrelay_workspace(function, bytes, data, workspaces[i], sizes[i],
                                  function->pools[i].alignment);
    next = xrelay_describe_bytes(next, pool, sizes[i]);
  }
  xrelay_current->contexts = contexts;
  for (i = 0; i < function->context_count; i++)
    *next++ = (int64_t)(intptr_t)contexts[function->contexts[i]];
  function->code(words);
  for (i = function->inputs; i < count; i++) {
    const struct xrelay_tensor *tensor = &function->tensors[i];
    if (tensor->code == XRELAY_BOOL && !tensor->is_allocated)
      xrelay_make_bools(data[i], bytes[i]);
  }
  xrelay_hand_over(function, words, data);
}

/* The unpacked form: return 0, or 1 after a failure. */
XRELAY_SHARED int32_t xrelay_call_unpacked(const struct xrelay_function *function, void *const *data,
                                           const int64_t *dims, void *const *workspaces,
                                           void *const *contexts) {
  struct xrelay_call call;
  xrelay_begin(&call, function->library);
  if (setjmp(call.failed)) return xrelay_fail_call();
  xrelay_invoke(function, data, dims, NULL, workspaces, contexts);
  xrelay_end();
  return 0;
}

/* Take data and dims from DLPack tensors, and call the code with them. */
XRELAY_LOCAL void xrelay_gather(const struct xrelay_function *function, DLTensor *const *tensors,
                                 int32_t count, void *const *workspaces, void *const *contexts) {
  const int32_t expected = function->inputs + function->outputs;
  void *data[expected + 1];
  int64_t dims[function->dims + 1], *dim = dims, shape[function->rank_sum + 1];
  int32_t i, axis;
  if (count != expected || !tensors)
    xrelay_fail("%s expects %d tensors, %d inputs and then %d outputs, but got %d", function->name,
                expected, function->inputs, function->outputs, count);
  for (i = 0; i < function->inputs; i++) {
    const struct xrelay_tensor *tensor = &function->tensors[i];
    for (axis = 0; axis < tensor->rank; axis++) shape[axis] = tensor->dims[axis].size;
    xrelay_check_tensor(function, i, shape, tensors[i]);
    for (axis = 0; axis < tensor->rank; axis++)
      if (shape[axis] < 0) *dim++ = tensors[i]->shape[axis];
  }
  for (i = 0; i < count; i++) {
    const char *name = function->tensors[i].name;
    if (!tensors[i]) xrelay_fail("result '%s' of %s is NULL", name, function->name);
    data[i] = tensors[i]->data ? (char *)tensors[i]->data + tensors[i]->byte_offset : NULL;
    if (function->tensors[i].is_allocated) data[i] = tensors[i];
  }
  xrelay_invoke(function, data, dims, tensors, workspaces, contexts);
}

/* The packed forms: return 0, or 1 after a failure. */
XRELAY_SHARED int32_t xrelay_call_packed(const struct xrelay_function *function,
                                         DLTensor *const *tensors, int32_t count,
                                         void *const *workspaces, void *const *contexts) {
  struct xrelay_call call;
  xrelay_begin(&call, function->library);
  if (setjmp(call.failed)) return xrelay_fail_call();
  xrelay_gather(function, tensors, count, workspaces, contexts);
  xrelay_end();
  return 0;
}

/* Write the shapes of outputs, unless NULL; return the bytes of `pool`, or -1 after a failure. */
XRELAY_SHARED int64_t xrelay_sizes(const struct xrelay_function *function, const int64_t *dims,
                                   int32_t pool, int64_t *output_shapes) {
  int64_t sizes[function->rank_sum + 1], workspaces[function->pool_count + 1];
  struct xrelay_call call;
  xrelay_begin(&call, function->library);
  if (setjmp(call.failed)) return xrelay_fail_call(), -1;
  workspaces[function->pool_count] = 0;
  xrelay_measure(function, dims, sizes, workspaces);
  if (output_shapes) {
    int32_t i, first = 0;
    for (i = 0; i < function->inputs; i++) first += function->tensors[i].rank;
    memcpy(output_shapes, sizes + first, (size_t)(function->rank_sum - first) * sizeof *sizes);
  }
  xrelay_end();
  return workspaces[pool];
}

/* Call the code of a kernel by itself: return 0, or 1 after a failure. */
XRELAY_SHARED int32_t xrelay_call_code(void (*code)(int64_t *), int64_t *words) {
  struct xrelay_call call;
  xrelay_begin(&call, NULL);
  if (setjmp(call.failed)) return xrelay_fail_call();
  code(words);
  xrelay_end();
  return 0;
}

/* ---- kernels that the runtime supplies ---- */

XRELAY_SHARED void xrelay_call_supplied(const struct xrelay_supplier *supplier, int32_t kernel,
                                        const char *name, const struct xrelay_tensor *types,
                                        int64_t *const *words, int32_t count) {
  DLTensor tensors[count + 1];
  const DLTensor *list[count + 1];
  int32_t i;
  if (!supplier->callback)
    xrelay_fail("kernel %s needs the runtime: load the library with xrelay.load, or "
                "give %s a function",
                name, supplier->setter);
  for (i = 0; i < count; i++) {
    const struct xrelay_tensor *type = &types[i];
    const DLTensor tensor = {xrelay_data_of(words[i], type), {1, 0}, type->rank,
                             {type->code, type->bits, 1}, type->rank ? words[i] + 3 : NULL,
                             NULL, 0};
    tensors[i] = tensor;
    list[i] = &tensors[i];
  }
  strcpy(xrelay_error, "");
  if (supplier->callback(supplier->context, kernel, list, count))
    xrelay_fail("kernel %s failed", name);
}
