/*
 * Threads for kernels: the functions of OpenMP's interface that MLIR calls, on a pool of pthreads.
 *
 * The turns of a parallel loop are divided into as many adjacent parts as there are threads. A
 * thread executes its part a turn at a time, from the front, so that it has the rows of the loop
 * before in its cache; then it takes turns from the back of other parts, as processors are not
 * equally fast. Loops are over chunks whose bounds do not depend on the number of threads, and no
 * sum is divided: results are the same bits for any. The symbols are local to a library, beside
 * those of an OpenMP library, too.
 *
 * Without XRELAY_THREADS, one thread computes everything, and there is no pool.
 *
 * A process has one pool: the dynamic linker keeps one object of all libraries that have a symbol
 * of type gnu_unique_object. One call at a time has the threads; others are computed by their
 * callers alone. Workers look for the next region for some microseconds, and sleep then.
 */

#define XRELAY_MAX_THREADS 64
#define XRELAY_LOOKS 4000   /* at the next region, or at the end of one, before a thread sleeps */
#define XRELAY_GRAINS 16    /* that a thread's part has at most, which are taken one by one */
#define XRELAY_PART 300000 /* multiplications that are worth a thread: about 5 us */

typedef void xrelay_outlined(int32_t *thread, int32_t *bound, void *operands);

static _Thread_local int32_t xrelay_thread, xrelay_team = 1; /* in the region that runs here */
static _Thread_local int64_t xrelay_region_work = INT64_MAX;

#ifdef XRELAY_THREADS

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Rounding, flushing and traps; the x87 registers, which kernels do not use, take longer. */
#ifdef __x86_64__
typedef unsigned xrelay_arithmetic;
#define XRELAY_READ_ARITHMETIC(to) (*(to) = __builtin_ia32_stmxcsr())
#define XRELAY_SET_ARITHMETIC(from) __builtin_ia32_ldmxcsr(*(from))
#else
#include <fenv.h>
typedef fenv_t xrelay_arithmetic;
#define XRELAY_READ_ARITHMETIC fegetenv
#define XRELAY_SET_ARITHMETIC fesetenv
#endif

struct xrelay_taken { /* grains of a part: from its front; in the upper half, from its back */
  _Alignas(64) atomic_uint_fast64_t grains;
};

struct xrelay_region { /* what threads execute together */
  void (*part)(struct xrelay_region *region, int32_t thread, int32_t threads);
  xrelay_outlined *code;
  void *operands;
  const struct xrelay_library *library;
  xrelay_arithmetic arithmetic; /* of the caller */
  atomic_int has_failed;
  char error[sizeof xrelay_error];
  struct xrelay_taken taken[XRELAY_MAX_THREADS]; /* of the part of each thread */
};

/*
 * What several threads look at is in lines of its own: `job` and what it is, which workers look for,
 * and `left`, for which the caller looks. The lock is for those who sleep, or wake these.
 */
struct xrelay_pool_of_process {
  pthread_mutex_t owner; /* held by the call that has the threads */
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  int workers;
  int handles_fork;
  unsigned first_job; /* that the newest worker has not to do */
  _Alignas(64) atomic_uint job; /* its number, and in the lowest 8 bits how many threads it is for */
  struct xrelay_region *region;
  _Alignas(64) atomic_int left;     /* workers that have not ended the job */
  _Alignas(64) atomic_int sleepers; /* workers that sleep, or are about to */
  atomic_int caller_sleeps;
};

#ifdef XRELAY_LIBRARY
__asm__(".type xrelay_pool_2, @gnu_unique_object");
#define XRELAY_OF_PROCESS __attribute__((visibility("default")))
#else
#define XRELAY_OF_PROCESS XRELAY_SHARED
#endif

/* The number in the name is that of the layout of these structures. */
XRELAY_OF_PROCESS struct xrelay_pool_of_process xrelay_pool_2 = {
    .owner = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

static _Thread_local struct xrelay_region *xrelay_current_region; /* if xrelay_team > 1 */
static _Thread_local int xrelay_has_taken;
static atomic_int xrelay_wanted; /* threads of this library's regions; 0: not known yet */
static void xrelay_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Take a grain of one part of `turns`, from its front or back; return whether there was one. */
static int xrelay_take(struct xrelay_taken *taken, int is_back, uint64_t *first, uint64_t *turns) {
  const uint64_t all = *turns, grain = (all + XRELAY_GRAINS - 1) / XRELAY_GRAINS;
  const uint64_t grains = grain ? (all + grain - 1) / grain : 0;
  uint_fast64_t before = atomic_load(&taken->grains);
  uint64_t start;
  do {
    const uint64_t front = before & UINT32_MAX, back = before >> 32;
    if (front + back >= grains) return 0;
    start = grain * (is_back ? grains - 1 - back : front);
  } while (!atomic_compare_exchange_weak(&taken->grains, &before,
                                         before + (is_back ? (uint64_t)1 << 32 : 1)));
  *first += start;
  *turns = all - start < grain ? all - start : grain;
  return 1;
}

/* Take turns of this thread's part of a loop, or else of another's; there may be none. */
static void xrelay_take_turns(uint64_t *first, uint64_t *turns) {
  const uint64_t begin = *first, all = *turns, threads = (uint64_t)xrelay_team;
  uint64_t i, owner;
  for (i = 0; i < threads && !xrelay_has_taken; i++) {
    owner = ((uint64_t)xrelay_thread + i) % threads;
    *first = begin + all * owner / threads;
    *turns = begin + all * (owner + 1) / threads - *first;
    xrelay_has_taken = xrelay_take(&xrelay_current_region->taken[owner], i > 0, first, turns);
  }
  if (!xrelay_has_taken) *turns = 0;
}

/*
 * Execute turns of a region until all are taken: the code executes one loop, which takes some at
 * each call. A failure ends the thread's share, and is that of the region.
 */
static void xrelay_run_part(struct xrelay_region *region, int32_t thread, int32_t threads) {
  struct xrelay_call call;
  int32_t bound = 0;
  xrelay_begin(&call, region->library);
  xrelay_thread = thread;
  xrelay_team = threads;
  xrelay_current_region = region;
  if (!setjmp(call.failed))
    do {
      xrelay_has_taken = 0;
      region->code(&xrelay_thread, &bound, region->operands);
    } while (xrelay_has_taken);
  else if (!atomic_exchange(&region->has_failed, 1))
    memcpy(region->error, xrelay_error, sizeof region->error);
  xrelay_thread = 0;
  xrelay_team = 1;
  xrelay_end();
}

static void *xrelay_worker(void *number) {
  struct xrelay_pool_of_process *pool = &xrelay_pool_2;
  const unsigned me = (unsigned)(uintptr_t)number;
  unsigned seen = pool->first_job;
  int looks;
  for (;;) {
    for (looks = 0; looks < XRELAY_LOOKS && atomic_load(&pool->job) == seen; looks++)
      xrelay_pause();
    if (looks == XRELAY_LOOKS) {
      pthread_mutex_lock(&pool->lock);
      atomic_fetch_add(&pool->sleepers, 1);
      while (atomic_load(&pool->job) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
      atomic_fetch_sub(&pool->sleepers, 1);
      pthread_mutex_unlock(&pool->lock);
    }
    seen = atomic_load(&pool->job);
    if (me >= (seen & 255U)) continue;
    XRELAY_SET_ARITHMETIC(&pool->region->arithmetic);
    pool->region->part(pool->region, (int32_t)me, (int32_t)(seen & 255U));
    if (atomic_fetch_sub(&pool->left, 1) == 1 && atomic_load(&pool->caller_sleeps)) {
      pthread_mutex_lock(&pool->lock);
      pthread_cond_signal(&pool->done);
      pthread_mutex_unlock(&pool->lock);
    }
  }
  return NULL;
}

/* In a child process, which has no threads but the one that forked. */
static void xrelay_forget_workers(void) {
  struct xrelay_pool_of_process *pool = &xrelay_pool_2;
  pool->workers = 0;
  atomic_store(&pool->left, 0);
  atomic_store(&pool->sleepers, 0);
  atomic_store(&pool->caller_sleeps, 0);
  pthread_mutex_init(&pool->owner, NULL);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
}

/* Start workers until there are `threads` with the caller; return how many there are. */
static int xrelay_start(int threads) {
  struct xrelay_pool_of_process *pool = &xrelay_pool_2;
  pthread_t thread;
  sigset_t all, before;
  if (pool->workers + 1 >= threads) return threads;
  if (!pool->handles_fork) {
    if (pthread_atfork(NULL, NULL, xrelay_forget_workers)) return 1;
    pool->handles_fork = 1;
  }
  pool->first_job = atomic_load(&pool->job);
  sigfillset(&all); /* signals are the program's, whose threads handle them */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool->workers + 1 < threads) {
    void *number = (void *)(uintptr_t)(pool->workers + 1);
    if (pthread_create(&thread, NULL, xrelay_worker, number)) break;
    pthread_detach(thread);
    pool->workers++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return pool->workers + 1;
}

/* Execute a region with the workers, whom nobody else has. */
static void xrelay_run_region(struct xrelay_region *region, int threads) {
  struct xrelay_pool_of_process *pool = &xrelay_pool_2;
  int looks;
  atomic_store_explicit(&pool->left, threads - 1, memory_order_relaxed);
  pool->region = region;
  atomic_store(&pool->job,
               ((atomic_load_explicit(&pool->job, memory_order_relaxed) >> 8) + 1) << 8 |
                   (unsigned)threads);
  if (atomic_load(&pool->sleepers)) { /* others see the new job before they sleep */
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
  }
  region->part(region, 0, threads);
  for (looks = 0; looks < XRELAY_LOOKS && atomic_load(&pool->left); looks++) xrelay_pause();
  if (!atomic_load(&pool->left)) return;
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->caller_sleeps, 1);
  while (atomic_load(&pool->left)) pthread_cond_wait(&pool->done, &pool->lock);
  atomic_store(&pool->caller_sleeps, 0);
  pthread_mutex_unlock(&pool->lock);
}

/* Return the threads of calls: those that were set, or of XRELAY_NUM_THREADS, or one. */
static int xrelay_threads(void) {
  int threads = atomic_load(&xrelay_wanted);
  if (!threads) {
    threads = (int)xrelay_variable("XRELAY_NUM_THREADS", XRELAY_MAX_THREADS, 1);
    atomic_store(&xrelay_wanted, threads);
  }
  return threads;
}

/* Execute a region with other threads, unless it has too little work, or another call has them. */
static int xrelay_is_divided(xrelay_outlined *code, void *operands, int64_t work) {
  struct xrelay_pool_of_process *pool = &xrelay_pool_2;
  struct xrelay_region region;
  int threads = xrelay_threads(), i;
  if (threads > work / XRELAY_PART) threads = (int)(work / XRELAY_PART);
  if (threads < 2 || xrelay_team > 1 || pthread_mutex_trylock(&pool->owner)) return 0;
  region.part = xrelay_run_part;
  region.code = code;
  region.operands = operands;
  region.library = xrelay_current ? xrelay_current->library : NULL;
  atomic_init(&region.has_failed, 0);
  for (i = 0; i < threads; i++) atomic_init(&region.taken[i].grains, 0);
  XRELAY_READ_ARITHMETIC(&region.arithmetic);
  xrelay_run_region(&region, xrelay_start(threads));
  pthread_mutex_unlock(&pool->owner);
  if (atomic_load(&region.has_failed)) xrelay_fail("%s", region.error);
  return 1;
}

#endif

/* Let calls use so many threads. */
XRELAY_SHARED int32_t xrelay_set_threads(int32_t threads) {
  if (threads < 1 || threads > XRELAY_MAX_THREADS) {
    snprintf(xrelay_error, sizeof xrelay_error,
             "the number of threads must be from 1 to %d, but is %d", XRELAY_MAX_THREADS,
             (int)threads);
    return 1;
  }
#ifdef XRELAY_THREADS
  atomic_store(&xrelay_wanted, threads);
#endif
  return 0;
}

/* Say how many multiplications the next region has. */
XRELAY_SHARED void xrelay_work(int64_t products) { xrelay_region_work = products; }

XRELAY_SHARED void __kmpc_fork_call(void *place, int32_t count, xrelay_outlined *code, ...) {
  const int32_t thread = xrelay_thread, team = xrelay_team;
  const int64_t work = xrelay_region_work;
  int32_t bound = 0;
  void *operands;
  va_list values;
  (void)place, (void)work;
  if (count > 1) xrelay_fail("a parallel loop has %d operands", (int)count);
  va_start(values, code);
  operands = count ? va_arg(values, void *) : NULL;
  va_end(values);
  xrelay_region_work = INT64_MAX;
#ifdef XRELAY_THREADS
  if (xrelay_is_divided(code, operands, work)) return;
#endif
  xrelay_thread = 0;
  xrelay_team = 1;
  code(&xrelay_thread, &bound, operands);
  xrelay_thread = thread;
  xrelay_team = team;
}

XRELAY_SHARED int32_t __kmpc_global_thread_num(void *place) {
  (void)place;
  return xrelay_thread;
}

/* Return which of the turns from `first` to `last` this thread executes next. */
XRELAY_SHARED void __kmpc_for_static_init_8u(void *place, int32_t thread, int32_t kind,
                                             int32_t *is_last, uint64_t *first, uint64_t *last,
                                             int64_t *stride, int64_t step, int64_t chunk) {
  uint64_t turns = *last - *first + 1;
  (void)place, (void)thread, (void)kind, (void)step, (void)chunk; /* loops have step 1 */
  *stride = (int64_t)turns;
#ifdef XRELAY_THREADS
  if (xrelay_team > 1) xrelay_take_turns(first, &turns);
#endif
  *last = *first + turns - 1; /* before `first`: no turn */
  *is_last = 0;               /* nobody asks */
}

XRELAY_SHARED void __kmpc_for_static_fini(void *place, int32_t thread) {
  (void)place, (void)thread;
}

XRELAY_SHARED void __kmpc_barrier(void *place, int32_t thread) {
  (void)place, (void)thread; /* the end of a region waits for all */
}
