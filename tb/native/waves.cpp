#include "waves.hpp"

namespace nicloop {

bool Waves::open(Model& model, const std::string& path) {
    close(model);
    if (!model.open_waves(path)) return false;
    state_ = RUNNING;
    return true;
}

bool Waves::arm(Model& model, const std::string& path, Path& frames, int64_t first, int64_t last) {
    if (!open(model, path)) return false;
    frames_ = &frames;
    first_ = first;
    frames.watch(first, last);
    state_ = ARMED;
    follow(model);
    return true;
}

void Waves::close(Model& model) {
    if (state_ != OFF) model.close_waves();
    state_ = OFF;
}

void Waves::follow(Model& model) {
    if (state_ == ARMED && frames_->source().ended() >= first_) state_ = FRAMES;
    if (state_ == FRAMES && frames_->watched() <= 0) {
        state_ = TAIL;
        left_ = TAIL_CYCLES;
    } else if (state_ == TAIL && --left_ == 0) {
        close(model);
    }
}

}  // namespace nicloop
