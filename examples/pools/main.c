/* Call a program whose tensors are in two memories: a small fast one, and a large slow one. */

#include <stdio.h>

#include "scores.h"

/* In firmware, a section of the linker script places each. */
static _Alignas(64) char dtcm[512];
static _Alignas(64) char psram[4096];

int main(void) {
  static float x[2 * 64], v[64 * 64], w[8 * 64], y[2 * 8];
  for (int i = 0; i < 2 * 64; ++i) x[i] = (float)(i % 7) / 7;
  for (int i = 0; i < 64 * 64; ++i) v[i] = (float)(i % 11 - 5) / 64;
  for (int i = 0; i < 8 * 64; ++i) w[i] = (float)(i % 13);

  int64_t slow = scores_main_workspace_psram_size(NULL);
  if (slow < 0 || slow > (int64_t)sizeof psram) {
    fprintf(stderr, "psram needs %lld bytes\n", (long long)slow);
    return 1;
  }
  if (scores_main(x, v, w, y, dtcm, psram) != 0) {
    fprintf(stderr, "%s\n", scores_last_error());
    return 1;
  }
  for (int row = 0; row < 2; ++row)
    for (int i = 0; i < 8; ++i) printf("%.4f%c", y[8 * row + i], i < 7 ? ' ' : '\n');
  return 0;
}
