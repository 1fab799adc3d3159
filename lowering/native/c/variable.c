#include <stdio.h>
#include <stdlib.h>

/* Return the number that a variable of the environment has, or `otherwise` if it is not set; also,
   after a line to stderr, if it is not a number from 1 to `most`. */
static inline long xrelay_variable(const char *name, long most, long otherwise) {
  const char *text = getenv(name);
  char *end;
  long number;
  if (!text || !*text) return otherwise;
  number = strtol(text, &end, 10);
  if (!*end && number >= 1 && number <= most) return number;
  fprintf(stderr, "xrelay: %s must be a number from 1 to %ld, but is '%s'\n", name, most, text);
  return otherwise;
}

