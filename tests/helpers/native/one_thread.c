/* What copies call of threads.c, in libraries of tests without it: one thread takes all turns. */

#include <stdarg.h>
#include <stdint.h>

void xrelay_work(int64_t products) { (void)products; }

void __kmpc_fork_call(void *place, int32_t count, void (*code)(int32_t *, int32_t *, void *), ...) {
  int32_t thread = 0, bound = 0;
  va_list operands;
  (void)place, (void)count;
  va_start(operands, code);
  code(&thread, &bound, va_arg(operands, void *));
  va_end(operands);
}

void __kmpc_for_static_init_8u(void *place, int32_t thread, int32_t kind, int32_t *is_last,
                               uint64_t *first, uint64_t *last, int64_t *stride, int64_t step,
                               int64_t chunk) {
  (void)place, (void)thread, (void)kind, (void)step, (void)chunk;
  *stride = (int64_t)(*last - *first + 1);
  *is_last = 0;
}
