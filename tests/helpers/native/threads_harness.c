/* Regions on the pool of threads.c, without kernels: what a test calls, or ThreadSanitizer runs. */

#include <fenv.h>

#define REGIONS 200
#define TURNS 37

struct loop { int64_t *counts; int64_t fails; };

static void body(int32_t *thread, int32_t *bound, void *operands) {
  struct loop *loop = *(struct loop **)operands;
  uint64_t first = 0, last = TURNS - 1;
  int64_t stride;
  int32_t is_last;
  (void)thread, (void)bound;
  __kmpc_for_static_init_8u(NULL, 0, 34, &is_last, &first, &last, &stride, 1, 0);
  for (uint64_t i = first; i + 1 < last + 2; i++) {
    void *memory = _mlir_memref_to_llvm_alloc(100);
    memset(memory, (int)i, 100);
    loop->counts[i]++;
    xrelay_require((int64_t)i != loop->fails, 0, (int64_t)i, 0);
    _mlir_memref_to_llvm_free(memory);
  }
  __kmpc_for_static_fini(NULL, 0);
}

static const char *const messages[] = {"turn {0} fails"};
static const struct xrelay_library program = {.messages = messages, .message_count = 1};

/* Run regions, each of which fails at turn `fails` (-1: none); return how many turns were done. */
XRELAY_PUBLIC int64_t harness_turns(int32_t threads, int64_t regions, int64_t fails) {
  int64_t counts[TURNS] = {0}, total = 0;
  struct loop loop = {counts, fails}, *operand = &loop;
  struct xrelay_call call;
  xrelay_set_threads(threads);
  for (int64_t i = 0; i < regions; i++) {
    xrelay_begin(&call, &program);
    if (setjmp(call.failed)) {
      xrelay_end();
      return -1;
    }
    __kmpc_fork_call(NULL, 1, body, &operand);
    xrelay_end();
  }
  for (int64_t i = 0; i < TURNS; i++) total += counts[i];
  return total;
}

struct quotients { volatile float one, three; float each[TURNS]; atomic_int of_workers; };

static void divide(int32_t *thread, int32_t *bound, void *operands) {
  struct quotients *all = operands;
  uint64_t first = 0, last = TURNS - 1;
  int64_t stride;
  int32_t is_last;
  (void)bound;
  __kmpc_for_static_init_8u(NULL, 0, 34, &is_last, &first, &last, &stride, 1, 0);
  for (uint64_t i = first; i + 1 < last + 2; i++) {
    all->each[i] = all->one / all->three;
    atomic_fetch_add(&all->of_workers, *thread > 0);
  }
}

/* Return how many quotients are rounded as the caller's, some of which are computed by workers. */
XRELAY_PUBLIC int32_t harness_rounded_down(void) {
  struct quotients all = {.one = 1, .three = 3};
  const float nearest = all.one / all.three;
  int32_t down = 0;
  xrelay_set_threads(4);
  __kmpc_fork_call(NULL, 1, divide, &all); /* workers that start later would round as their starter */
  atomic_store(&all.of_workers, 0);
  fesetround(FE_DOWNWARD);
  while (!atomic_load(&all.of_workers)) __kmpc_fork_call(NULL, 1, divide, &all);
  fesetround(FE_TONEAREST);
  for (int i = 0; i < TURNS; i++) down += all.each[i] < nearest;
  return down;
}

XRELAY_PUBLIC const char *harness_error(void) { return xrelay_error; }

XRELAY_PUBLIC int32_t harness_workers(void) { return xrelay_pool_2.workers; }

#ifdef ALONE
static void *caller(void *fails) {
  for (int i = 0; i < 20; i++)
    (void)harness_turns(3, 10, (int64_t)(intptr_t)fails);
  return NULL;
}

int main(void) {
  pthread_t others[3];
  for (intptr_t i = 0; i < 3; i++) pthread_create(&others[i], NULL, caller, (void *)(i - 1));
  for (int i = 0; i < 3; i++) pthread_join(others[i], NULL);
  return harness_turns(4, REGIONS, -1) == REGIONS * TURNS ? 0 : 1;
}
#endif
