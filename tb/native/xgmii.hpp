// A wire of the harness as XGMII, 64 bits of data and 8 of control a cycle of the MAC's clock (IEEE 802.3 clause 46).
//
// XgmiiEncoder stands between a Source and the pins from which a MAC receives, XgmiiDecoder between those to which it
// sends and a Sink. Both are stepped once a cycle of the MAC's clock, behind its rising edge; `cycle` is the harness's that
// is under way then. The cycle of a frame's first beat is that in which its start character begins to stand on XGMII, the
// cycle of its last one that of its terminate character. Positions are counted in characters, 8 a word.
#pragma once

#include <cstdint>
#include <vector>

#include "stream.hpp"

namespace nicloop {

namespace xgmii {
// Table 46-3.
constexpr uint8_t IDLE = 0x07, START = 0xFB, TERMINATE = 0xFD, ERROR = 0xFE, SEQUENCE = 0x9C;
constexpr uint64_t IDLE_D = 0x0707070707070707;
constexpr uint8_t IDLE_C = 0xFF;
constexpr int64_t PREAMBLE = 8, FCS = 4, MIN_FRAME = 64;
constexpr int64_t GAP = 12;        // interPacketGap, 4.4.2
constexpr int64_t MOST_DEFICIT = 3;  // 46.3.1.4
constexpr int64_t LONG_GAP = 1 << 20;

struct Word {
    uint64_t d = IDLE_D;
    uint8_t c = IDLE_C;
};

// Frame check sequence, as the number that zlib.crc32 gives (3.2.9).
uint32_t fcs(const uint8_t* data, size_t size);
}  // namespace xgmii

// Sends whatever frames the source gives, as they are: a short one is a runt, one with tuser[0] gets a wrong FCS. The gap is
// 12 with the deficit idle count; a frame that comes later than that starts in lane 0.
class XgmiiEncoder {
public:
    void step(Source& source, int64_t cycle);
    // The frame under way is lost.
    void reset();
    const xgmii::Word& word() const { return word_; }
    bool in_frame() const { return !chars_.empty(); }
    // No frame is under way.
    void forget() { chars_.clear(); }

    template <typename Archive>
    void archive(Archive& members) {
        members(gap_, deficit_);
    }

private:
    int start_lane() const;
    void begin(Source& source, int64_t cycle, int lane);
    void put(Source& source, int64_t cycle, int lane);

    std::vector<uint8_t> chars_;     // of the frame, from start to its FCS; terminate comes behind. None: between frames
    size_t at_ = 0;                  // the next of them
    int64_t gap_ = xgmii::LONG_GAP;  // from the last terminate character, which is the first of it, to the next word
    int64_t deficit_ = 0;
    xgmii::Word word_;
};

// Whose frame begins in a word, where pins beside XGMII say so.
struct XgmiiTag {
    bool valid;
    uint16_t seq;
    bool direction;
};

// Checks every character: between frames all are idle, starts stand in lane 0 or 4 at least 9 characters behind the terminate
// character before, preamble, FCS and length are right, and a frame ends with terminate.
class XgmiiDecoder {
public:
    explicit XgmiiDecoder(bool tagged) : tagged_(tagged) {}

    void step(Sink& sink, const xgmii::Word& word, const XgmiiTag& tag, int64_t cycle);
    // The frame under way is lost.
    void reset();
    bool in_frame() const { return in_frame_; }
    void forget() { in_frame_ = false; }

    template <typename Archive>
    void archive(Archive& members) {
        members(gap_);
    }

private:
    void character(Sink& sink, int lane, uint8_t octet, bool control, int64_t cycle);
    void begin(Sink& sink, int lane, int64_t cycle);
    void end(Sink& sink, uint8_t octet, int64_t cycle);

    bool tagged_;
    bool in_frame_ = false;
    bool begun_ = false;           // a start character was in this word
    bool odd_ = false;             // what stands between frames was told of
    std::vector<uint8_t> chars_;   // of the frame behind its start character
    int64_t first_ = -1;           // cycle of its start
    XgmiiTag tag_{};
    int64_t gap_ = xgmii::LONG_GAP;  // characters from the last terminate on
};

}  // namespace nicloop
