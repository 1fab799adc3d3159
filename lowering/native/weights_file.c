/* The constants of a program, mapped from the file XRELAY_FILE beside the library or program. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t table[8][256];

static void make_table(void) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    table[0][i] = crc;
  }
  for (int slice = 1; slice < 8; ++slice)
    for (int i = 0; i < 256; ++i)
      table[slice][i] = table[slice - 1][i] >> 8 ^ table[0][table[slice - 1][i] & 255];
}

/* CRC-32 as in zlib, eight bytes at a time. */
static uint32_t crc32_of(const unsigned char *data, size_t size) {
  uint32_t crc = ~0u;
  for (; size >= 8; data += 8, size -= 8) {
    uint32_t low = crc ^ ((uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                          (uint32_t)data[3] << 24);
    crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
          table[4][low >> 24] ^ table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^
          table[0][data[7]];
  }
  for (; size > 0; ++data, --size)
    crc = crc >> 8 ^ table[0][(crc ^ *data) & 255];
  return ~crc;
}

static const void *map_file(const char *path, char *error, size_t room) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 || fstat(file, &status) != 0) {
    snprintf(error, room, "cannot read the weights '%s': %s", path, strerror(errno));
    if (file >= 0)
      close(file);
    return NULL;
  }
  if (!S_ISREG(status.st_mode) || status.st_size != (off_t)XRELAY_SIZE) {
    snprintf(error, room, "the weights '%s' have %lld bytes, but those of this program have %llu",
             path, (long long)status.st_size, (unsigned long long)XRELAY_SIZE);
    close(file);
    return NULL;
  }
  void *memory = mmap(NULL, XRELAY_SIZE, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED)
    snprintf(error, room, "cannot map the weights '%s': %s", path, strerror(errno));
  close(file);
  if (memory == MAP_FAILED)
    return NULL;
  make_table();
  if (crc32_of(memory, XRELAY_SIZE) != XRELAY_CRC) {
    snprintf(error, room, "the weights '%s' are not those of this program, or damaged", path);
    munmap(memory, XRELAY_SIZE);
    return NULL;
  }
  return memory;
}

static const void *load(char *error, size_t room) {
  Dl_info info;
  char path[4096];
  if (dladdr((void *)table, &info) == 0 || info.dli_fname == NULL) {
    snprintf(error, room, "cannot find the file of this program, beside which its weights are");
    return NULL;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  int folder = slash == NULL ? 0 : (int)(slash - info.dli_fname + 1);
  int length = snprintf(path, sizeof path, "%.*s%s", folder, info.dli_fname, XRELAY_FILE);
  if (length < 0 || (size_t)length >= sizeof path) {
    snprintf(error, room, "the path of the weights '%s' is too long", XRELAY_FILE);
    return NULL;
  }
  return map_file(path, error, room);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const void *loaded;

__attribute__((visibility("hidden"))) const void *XRELAY_CONSTANTS(char *error, size_t room) {
  const void *found = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
  if (found != NULL)
    return found;
  pthread_mutex_lock(&mutex);
  found = loaded != NULL ? loaded : load(error, room);
  __atomic_store_n(&loaded, found, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&mutex);
  return found;
}
