"""
Names in C: letters, digits and `_`, none twice, and no word of the language.

    net_main, net_device_cuda_0_open, xrelay_device_cuda_0_open, net_kernel_3
"""

from __future__ import annotations

from collections.abc import Iterable

KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char class compl
    complex concept const const_cast consteval constexpr constinit continue decltype default delete
    do double dynamic_cast else enum errno explicit export extern false final float for friend goto
    if imaginary import inline int long main module mutable namespace new noexcept not not_eq
    nullptr operator or or_eq override private protected public register reinterpret_cast requires
    restrict return short signed sizeof static static_assert static_cast stderr stdin stdout struct
    switch template this thread_local throw true try typedef typeid typename typeof union unix
    unsigned using virtual void volatile wchar_t while xor xor_eq linux NULL EOF dims data count
    tensors
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t setjmp longjmp
    """.split()
)
"""Words of C and C++, macros, and names that the interface itself uses."""


EVENTS = ("activate", "open", "close", "deactivate")
"""The events of a device with a context, in the order of a call."""


def spelled(text: str) -> str:
    """Return `text` as part of a name, with `_` for characters that names cannot have."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in text)


def hook_symbol(library: str, device: str, event: str) -> str:
    """Return the name of the function that compiled code calls for an event of a device."""
    return f"{library}_device_{spelled(device)}_{event}"


def user_hook_symbol(device: str, event: str) -> str:
    """Return the name of the user's function for an event of a device."""
    return f"xrelay_device_{spelled(device)}_{event}"


def kernel_symbol(library: str, number: int) -> str:
    """Return the name of a kernel that the runtime supplies."""
    return f"{library}_kernel_{number}"


def sanitized(text: str) -> str:
    """Return `text` as a name of C."""
    name = spelled(text) or "_"
    if name[0].isdigit() or name[0] == "_" or name.startswith("xrelay_"):
        name = f"v{name}"  # names that start with _ are the compiler's
    return f"{name}_" if name in KEYWORDS else name


def unique_names(texts: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """
    Return a name of C for each text.

    A name that is taken gets the next number: `x`, `x_1`. Texts that are valid names keep them.
    """
    given = list(texts)
    names = [sanitized(text) for text in given]
    used, chosen = set(taken), dict[int, str]()
    for i in sorted(range(len(names)), key=lambda i: names[i] != given[i]):
        name, number = names[i], 0
        while name in used:
            number += 1
            name = f"{names[i]}_{number}"
        used.add(name)
        chosen[i] = name
    return [chosen[i] for i in range(len(names))]
