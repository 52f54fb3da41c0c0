// Members of objects, written to memory and read back in the same order: numbers, arrays of them, and objects that name
// their own members. Never a struct as it lies in memory, whose padding is anything.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace nicloop {

template <typename T>
constexpr bool is_plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
public:
    explicit Writer(std::string& out) : out_(out) {}

    template <typename... T>
    void operator()(T&... members) {
        (put(members), ...);
    }

private:
    template <typename T>
    void put(T& member) {
        if constexpr (is_plain<T>) {
            out_.append(reinterpret_cast<const char*>(&member), sizeof member);
        } else {
            member.archive(*this);
        }
    }
    template <typename T, size_t N>
    void put(std::array<T, N>& members) {
        for (T& member : members) put(member);
    }

    std::string& out_;
};

class Reader {
public:
    // `at`: as many bytes as a Writer writes of the same members.
    explicit Reader(const char* at) : at_(at) {}

    template <typename... T>
    void operator()(T&... members) {
        (get(members), ...);
    }

private:
    template <typename T>
    void get(T& member) {
        if constexpr (is_plain<T>) {
            std::memcpy(&member, at_, sizeof member);
            at_ += sizeof member;
        } else {
            member.archive(*this);
        }
    }
    template <typename T, size_t N>
    void get(std::array<T, N>& members) {
        for (T& member : members) get(member);
    }

    const char* at_;
};

}  // namespace nicloop
