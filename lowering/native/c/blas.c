/*
 * Products of matrices by OpenBLAS, on the thread of the caller.
 *
 * The text before this file defines OPENBLAS(name), the name of a function in the library.
 */

#include <limits.h>
#include <stdint.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

int OPENBLAS(openblas_get_num_threads)(void);
void OPENBLAS(openblas_set_num_threads)(int);
void OPENBLAS(cblas_sgemm)(int, int, int, int, int, int, float, const float *, int, const float *,
                           int, float, float *, int);
void OPENBLAS(cblas_dgemm)(int, int, int, int, int, int, double, const double *, int,
                           const double *, int, double, double *, int);

static int64_t leading(int64_t size) { return size > 0 ? size : 1; }

/*
 * c[i] = a[i] b[i], of m x k by k x n; a step of 0 is one matrix for all i. OpenBLAS's integers
 * have 32 bits: larger matrices are multiplied here.
 */
#define PRODUCTS(NAME, GEMM, TYPE)                                                                 \
  __attribute__((weak, visibility("hidden"))) void NAME(                                           \
      int64_t a, int64_t b, int64_t c, int64_t count, int64_t m, int64_t n, int64_t k,             \
      int64_t a_step, int64_t b_step, int64_t a_transposed, int64_t b_transposed) {                \
    int threads = OPENBLAS(openblas_get_num_threads)();                                            \
    if (threads != 1)                                                                              \
      OPENBLAS(openblas_set_num_threads)(1);                                                       \
    for (int64_t i = 0; m > 0 && n > 0 && i < count; ++i) {                                        \
      const TYPE *x = (const TYPE *)(intptr_t)a + i * a_step;                                      \
      const TYPE *y = (const TYPE *)(intptr_t)b + i * b_step;                                      \
      TYPE *z = (TYPE *)(intptr_t)c + i * m * n;                                                   \
      int64_t x_row = leading(a_transposed ? m : k), y_row = leading(b_transposed ? k : n);        \
      if (m <= INT_MAX && n <= INT_MAX && k <= INT_MAX) {                                          \
        OPENBLAS(GEMM)                                                                             \
        (ROW_MAJOR, a_transposed ? TRANSPOSED : PLAIN, b_transposed ? TRANSPOSED : PLAIN, (int)m,  \
         (int)n, (int)k, 1, x, (int)x_row, y, (int)y_row, 0, z, (int)n);                           \
        continue;                                                                                  \
      }                                                                                            \
      for (int64_t row = 0; row < m; ++row)                                                        \
        for (int64_t column = 0; column < n; ++column) {                                           \
          TYPE sum = 0;                                                                            \
          for (int64_t j = 0; j < k; ++j)                                                          \
            sum += (a_transposed ? x[j * x_row + row] : x[row * x_row + j]) *                      \
                   (b_transposed ? y[column * y_row + j] : y[j * y_row + column]);                 \
          z[row * n + column] = sum;                                                               \
        }                                                                                          \
    }                                                                                              \
    if (threads != 1)                                                                              \
      OPENBLAS(openblas_set_num_threads)(threads);                                                 \
  }

PRODUCTS(xrelay_sgemm, cblas_sgemm, float)
PRODUCTS(xrelay_dgemm, cblas_dgemm, double)
