/* Call a compiled program: its inputs, its outputs, and memory that it works in. */

#include <stdio.h>
#include <stdlib.h>

#include "scores.h"

int main(void) {
  const float x[2 * 4] = {1, 2, 3, 4, -1, 0, 1, 0};
  const float w[3 * 4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
  const float b[3] = {0, 0, -1};
  float y[2 * 3];

  /* The same memory serves any number of calls; with NULL each call allocates it. */
  int64_t size = scores_main_workspace_size(NULL);
  void *workspace = size < 0 ? NULL : aligned_alloc(64, (size_t)(size + 64) / 64 * 64);
  if (workspace == NULL || scores_main(x, w, b, y, workspace) != 0) {
    fprintf(stderr, "%s\n", scores_last_error());
    return 1;
  }
  for (int row = 0; row < 2; ++row)
    printf("%.4f %.4f %.4f\n", y[3 * row], y[3 * row + 1], y[3 * row + 2]);
  free(workspace);
  return 0;
}
