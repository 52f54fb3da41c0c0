// Memory of verilated models begins as zeros.
//
// Verilator saves some variables that its model may not have written yet (results of functions in branches that were
// never taken), and padding. They count for nothing, but a state must have the same bytes in every process. Its models are
// aligned to cache lines; nothing else in the library asks for aligned memory.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto align = static_cast<std::size_t>(alignment);
    const std::size_t whole = (size + align - 1) / align * align;
    void* memory = std::aligned_alloc(align, whole);
    if (memory == nullptr) throw std::bad_alloc();
    return std::memset(memory, 0, whole);
}

void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
