/* Kernels for three levels of x86-64, of which one is chosen when the library is loaded: a kernel is
   a jump to its code for the processor. XRELAY_KERNELS has its name, and those of its codes.

       xk_3f…:  jmp *xk_3f…_at(%rip)

   A jump leaves registers and stack as they are, whatever the operands are. */

#include <cpuid.h>

#define HIDDEN __attribute__((visibility("hidden")))

#define DECLARE(kernel, v1, v3, v4)                                                \
  extern HIDDEN char v1[], v3[], v4[];                                             \
  HIDDEN __attribute__((used)) void *kernel##_at = v1;                             \
  __asm__(".pushsection .text." #kernel ",\"ax\",@progbits\n.p2align 4\n"          \
          ".globl " #kernel "\n.hidden " #kernel "\n.type " #kernel ",@function\n" \
          #kernel ": jmp *" #kernel "_at(%rip)\n"                                  \
          ".size " #kernel ", .-" #kernel "\n.popsection");
XRELAY_KERNELS(DECLARE) /* NOLINT(portability-no-assembler): C has no such jump */

/* Return the level of this processor: 1, 3 or 4. */
static int xrelay_level(void) {
  unsigned a, b, c, d;
  __builtin_cpu_init();
  int v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_MOVBE) && (c & bit_F16C) &&
           __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
  int v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  return v3 ? v4 ? 4 : 3 : 1;
}

__attribute__((constructor)) static void xrelay_choose_level(void) {
  const long most = xrelay_variable("XRELAY_CPU_LEVEL", 4, 4); /* to test lower levels */
  long level = xrelay_level();
  if (most < level) level = most;
#define CHOOSE(kernel, v1, v3, v4) kernel##_at = level >= 4 ? v4 : level >= 3 ? v3 : v1;
  XRELAY_KERNELS(CHOOSE)
}
