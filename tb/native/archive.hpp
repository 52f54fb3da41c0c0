// Plain members of an object, written to memory and read back in the same order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace nicloop {

class Writer {
public:
    explicit Writer(std::string& out) : out_(out) {}

    template <typename... T>
    void operator()(T&... members) {
        (put(members), ...);
    }

private:
    template <typename T>
    void put(const T& member) {
        static_assert(std::is_trivially_copyable_v<T>);
        out_.append(reinterpret_cast<const char*>(&member), sizeof member);
    }

    std::string& out_;
};

class Reader {
public:
    Reader(const char* at, const char* end) : at_(at), end_(end) {}

    template <typename... T>
    void operator()(T&... members) {
        (get(members), ...);
    }
    // The next `size` bytes; null: there are fewer.
    const char* take(size_t size) {
        good_ = good_ && size <= static_cast<size_t>(end_ - at_);
        if (!good_) return nullptr;
        at_ += size;
        return at_ - size;
    }

private:
    template <typename T>
    void get(T& member) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (const char* from = take(sizeof member)) std::memcpy(&member, from, sizeof member);
    }

    const char* at_;
    const char* end_;
    bool good_ = true;
};

}  // namespace nicloop
