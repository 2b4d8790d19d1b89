// The C interface over LibraryPeer. Its own are the thread that opened the peer, that a process has
// only one, and the last message. No exception leaves it.
#include "ako/ako.h"

#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ako/error.h"
#include "net/sockets_of_process.h"
#include "src/launch/launched_peer.h"
#include "src/library/library_peer.h"
#include "src/wiring/settings_of_mode.h"
#include "src/system/build_info.h"

using ako::LibraryPeer;
using ako::WrongCall;

struct ako_peer {
    const std::thread::id thread = std::this_thread::get_id();
    ako::StopRequests stops;
    std::unique_ptr<LibraryPeer> own;  ///< null if it could not be opened, or cannot go on
    bool is_of_process = false;        ///< the one that there may be
    bool forked = false;               ///< in a child
    std::string message;
    std::string hint;
    std::string text;  ///< handed out
};

namespace {

/// A peer has the run folder, the port and what launch says for itself.
std::atomic<bool> taken{false};

/// The texts are left out where there is no memory for them.
ako_status told(ako_peer* peer, ako_status status, std::string_view message,
                std::string_view hint = "") noexcept try {
    peer->message = message;
    peer->hint = hint;
    return status;
} catch (...) {
    return status;
}

/// The system, or a start that failed, leaves nothing to go on with.
ako_status over(ako_peer* peer, ako_status status, std::string_view message,
                std::string_view hint = "") noexcept {
    peer->own.reset();
    return told(peer, status, message, hint);
}

/// Calls `call`, which returns a status, and makes a status of what it throws.
template <class Call>
ako_status guarded(ako_peer* peer, const Call& call) noexcept {
    try {
        peer->message.clear();
        peer->hint.clear();
        return call();
    } catch (const WrongCall& error) {
        return told(peer, AKO_WRONG_CALL, error.what());
    } catch (const ako::StartupError& error) {
        return over(peer, AKO_START_UP, error.what(), error.hint());
    } catch (const std::bad_alloc&) {
        return over(peer, AKO_FAILED, "the system gives no more memory",
                    "train a smaller model or with fewer peers");
    } catch (const std::exception& error) {
        return over(peer, AKO_FAILED, error.what());
    } catch (...) {
        return over(peer, AKO_FAILED, "an unknown failure");
    }
}

/// The same, with a peer that is open and on its thread only.
template <class Call>
ako_status with_peer(ako_peer* peer, const char* name, const Call& call) noexcept {
    if (peer == nullptr) return AKO_WRONG_CALL;
    // Another thread must not touch the message that the right one may be reading.
    if (peer->thread != std::this_thread::get_id()) return AKO_WRONG_CALL;
    return guarded(peer, [&] {
        const std::string named = std::string(name) + ": ";
        if (peer->forked)
            return told(peer, AKO_WRONG_CALL, named + "the peer is the parent process",
                        "use it there alone; a data loader's workers need none of it");
        if (peer->own == nullptr)
            return told(peer, AKO_WRONG_CALL, named + "the peer is over",
                        "close it and open another");
        return call(*peer->own);
    });
}

void need(bool there, const char* what) {
    if (!there) throw WrongCall(std::string(what) + " must not be null");
}

std::optional<float> known(const float* given) {
    return given == nullptr ? std::nullopt : std::optional(*given);
}

ako::LibraryOptions read_options(const ako_options& options) {
    const auto text = [](const char* given) { return std::string(given == nullptr ? "" : given); };
    ako::LibraryOptions found;
    found.file = text(options.file);
    found.peer = text(options.peer);
    found.output_dir = text(options.output_dir);
    need(options.overrides != nullptr || options.override_count == 0, "ako_open: overrides");
    for (std::size_t k = 0; k < options.override_count; ++k) {
        need(options.overrides[k] != nullptr, "ako_open: an override");
        found.overrides.emplace_back(options.overrides[k]);
    }
    found.view = options.view == AKO_VIEW_LIVE   ? ako::View::live
                   : options.view == AKO_VIEW_NONE ? ako::View::none
                                                   : ako::View::lines;
    if (const auto launched = ako::take_launched_peer()) {
        if (!found.peer.empty() && found.peer != launched->peer)
            throw ako::StartupError("ako launch has started this program as the peer " +
                                        launched->peer + ", and it joins as " +
                                        found.peer,
                                    "leave the peer out: launch says which one it is");
        found.file = launched->file;
        found.peer = launched->peer;
        found.output_dir = launched->output_dir;
        found.report_fd = launched->report_fd;
        found.restarted = launched->restarted;
    }
    if (found.file.empty() || found.peer.empty())
        throw ako::StartupError(
            std::string("no ") + (found.file.empty() ? "cluster file" : "peer") + " is named",
            "name both, or start the program by `ako launch FILE -- PROGRAM`");
    return found;
}

ako::Time seconds(double given) {
    constexpr double longest = 86'400;
    return std::chrono::duration_cast<ako::Time>(
        std::chrono::duration<double>(given > 0 ? (given < longest ? given : longest) : 0));
}

}  // namespace

extern "C" {

const char* ako_version(void) {
    static const std::string text = std::string(AKO_VERSION) + " (" + ako::build_commit() + ")";
    return text.c_str();
}

ako_status ako_open(int api_version, const ako_options* options, ako_peer** peer) {
    if (peer == nullptr) return AKO_WRONG_CALL;
    *peer = new (std::nothrow) ako_peer;
    if (*peer == nullptr) return AKO_FAILED;
    ako_peer* const it = *peer;
    return guarded(it, [&] {
        if (api_version != AKO_API_VERSION)
            throw ako::StartupError("the program was made for version " +
                                        std::to_string(api_version) +
                                        " of the library, and this is version " +
                                        std::to_string(AKO_API_VERSION),
                                    "install a program and a library that belong together");
        need(options != nullptr, "ako_open: options");
        if (options->size < sizeof(ako_options))
            throw WrongCall("ako_open: options.size is not sizeof(ako_options)");
        if (taken.exchange(true))
            throw ako::StartupError("this process is a peer already",
                                    "close it before; one process is one peer");
        it->is_of_process = true;
        it->own = std::make_unique<LibraryPeer>(read_options(*options), it->stops);
        return AKO_OK;
    });
}

const char* ako_message(const ako_peer* peer) {
    return peer == nullptr ? "there is no peer" : peer->message.c_str();
}

const char* ako_hint(const ako_peer* peer) {
    return peer == nullptr ? "" : peer->hint.c_str();
}

ako_status ako_set_layout(ako_peer* peer, const ako_tensor* tensors, size_t count) {
    return with_peer(peer, "ako_set_layout", [&](LibraryPeer& it) {
        need(tensors != nullptr || count == 0, "ako_set_layout: tensors");
        std::vector<ako::Tensor> named;
        std::vector<ako::Strides> strides;
        for (std::size_t k = 0; k < count; ++k) {
            const ako_tensor& tensor = tensors[k];
            need(tensor.name != nullptr, "ako_set_layout: a name");
            need(tensor.shape != nullptr || tensor.dimensions == 0, "ako_set_layout: a shape");
            named.push_back({tensor.name, {tensor.shape, tensor.shape + tensor.dimensions}, 0});
            strides.emplace_back();
            if (tensor.strides != nullptr)
                strides.back().assign(tensor.strides, tensor.strides + tensor.dimensions);
        }
        it.set_layout(std::move(named), std::move(strides));
        return AKO_OK;
    });
}

ako_status ako_set_data(ako_peer* peer, uint64_t samples, uint64_t samples_per_round) {
    return with_peer(peer, "ako_set_data", [&](LibraryPeer& it) {
        it.set_data(samples, samples_per_round);
        return AKO_OK;
    });
}

ako_status ako_set_data_digest(ako_peer* peer, const char* digest) {
    return with_peer(peer, "ako_set_data_digest", [&](LibraryPeer& it) {
        need(digest != nullptr, "ako_set_data_digest: digest");
        it.set_data_digest(digest);
        return AKO_OK;
    });
}

ako_status ako_require_equal(ako_peer* peer, const char* key, const char* value) {
    return with_peer(peer, "ako_require_equal", [&](LibraryPeer& it) {
        need(key != nullptr && value != nullptr, "ako_require_equal: key and value");
        it.require_equal(key, value);
        return AKO_OK;
    });
}

ako_status ako_start(ako_peer* peer, const float* initial, ako_initial whose) {
    return with_peer(peer, "ako_start", [&](LibraryPeer& it) {
        need(initial != nullptr, "ako_start: initial");
        it.start({initial, it.parameter_count()}, whose == AKO_INITIAL_OF_LOWEST);
        return AKO_OK;
    });
}

ako_status ako_begin_round(ako_peer* peer, double timeout_s, float* parameters,
                           ako_next* next) {
    return with_peer(peer, "ako_begin_round", [&](LibraryPeer& it) {
        need(parameters != nullptr && next != nullptr, "ako_begin_round: parameters and next");
        const auto said =
            it.begin_round(seconds(timeout_s), {parameters, it.parameter_count()});
        using Kind = ako::Next::Kind;
        *next = !said                          ? AKO_WAIT
                : said->kind == Kind::train    ? AKO_TRAIN
                : said->kind == Kind::finish   ? AKO_FINISH
                                               : AKO_GIVE_UP;
        return said ? told(peer, AKO_OK, said->why, it.remedy()) : AKO_OK;
    });
}

ako_status ako_end_round(ako_peer* peer, const float* parameters, const float* loss) {
    return with_peer(peer, "ako_end_round", [&](LibraryPeer& it) {
        need(parameters != nullptr, "ako_end_round: parameters");
        const auto ended = it.end_round({parameters, it.parameter_count()}, known(loss));
        if (ended) return AKO_OK;
        return told(peer, AKO_NUMBERS, ended.error().what, it.remedy());
    });
}

ako_status ako_copy_anchor(ako_peer* peer, float* out) {
    return with_peer(peer, "ako_copy_anchor", [&](LibraryPeer& it) {
        need(out != nullptr, "ako_copy_anchor: out");
        it.copy_anchor({out, it.parameter_count()});
        return AKO_OK;
    });
}

ako_state ako_get_state(const ako_peer* peer) {
    const bool usable = peer != nullptr && peer->own != nullptr && !peer->forked &&
                        peer->thread == std::this_thread::get_id();
    if (!usable) return AKO_STATE_NONE;
    const ako::RunDriver& driver = peer->own->driver();
    return driver.over()     ? AKO_STATE_OVER
           : driver.trains() ? AKO_STATE_TRAINING
           : driver.state() == ako::RunDriver::State::opened ? AKO_STATE_OPENED
                                                        : AKO_STATE_FINISHING;
}

ako_status ako_get_standing(ako_peer* peer, ako_standing* standing) {
    return with_peer(peer, "ako_get_standing", [&](LibraryPeer& it) {
        need(standing != nullptr, "ako_get_standing: standing");
        if (standing->size < sizeof(ako_standing))
            throw WrongCall("ako_get_standing: standing->size is not sizeof(ako_standing)");
        const ako::Standing now = it.standing();
        const ako::WorkerPlace place = ako::shard_place(it.settings(), it.self());
        *standing = {sizeof(ako_standing),
                     now.round,
                     now.samples,
                     now.progress,
                     it.settings().training.epochs,
                     it.settings().seed,
                     place.place,
                     place.count,
                     it.settings().training.batch.local,
                     now.evaluates ? 1 : 0};
        return AKO_OK;
    });
}

ako_status ako_announce(ako_peer* peer, double progress, float accuracy, const float* loss) {
    return with_peer(peer, "ako_announce", [&](LibraryPeer& it) {
        it.announce({progress, accuracy, known(loss)});
        return AKO_OK;
    });
}

void ako_request_stop(ako_peer* peer, ako_stop what) {
    if (peer == nullptr) return;
    peer->stops.ask(what == AKO_STOP_PEER ? ako::StopKind::peer : ako::StopKind::run);
}

int ako_stops_requested(const ako_peer* peer) {
    return peer == nullptr ? 0 : peer->stops.count().load();
}

ako_status ako_step_finish(ako_peer* peer, double timeout_s, float* out, ako_finish* finish) {
    return with_peer(peer, "ako_step_finish", [&](LibraryPeer& it) {
        need(out != nullptr && finish != nullptr, "ako_step_finish: out and finish");
        const bool over = it.step_finish(seconds(timeout_s), {out, it.parameter_count()});
        *finish = !over                       ? AKO_FINISHING
                  : it.driver().has_model() ? AKO_FINISHED
                                              : AKO_FINISHED_WITHOUT;
        return AKO_OK;
    });
}

ako_status ako_final_result(ako_peer* peer, float accuracy, const float* loss) {
    return with_peer(peer, "ako_final_result", [&](LibraryPeer& it) {
        it.set_final_verdict(accuracy, known(loss));
        return AKO_OK;
    });
}

ako_status ako_report(ako_peer* peer, const char** json) {
    return with_peer(peer, "ako_report", [&](LibraryPeer& it) {
        need(json != nullptr, "ako_report: json");
        *json = nullptr;
        const ako::PeerResult* const result = it.report();
        if (result == nullptr) return AKO_OK;
        peer->text = ako::result_text(*result);
        *json = peer->text.c_str();
        return AKO_OK;
    });
}

ako_status ako_metrics(ako_peer* peer, const char** json) {
    return with_peer(peer, "ako_metrics", [&](LibraryPeer& it) {
        need(json != nullptr, "ako_metrics: json");
        peer->text = ako::to_json_text(it.metrics());
        *json = peer->text.c_str();
        return AKO_OK;
    });
}

const char* ako_run_folder(const ako_peer* peer) {
    const bool usable = peer != nullptr && peer->own != nullptr && !peer->forked;
    return usable ? peer->own->folder().c_str() : "";
}

ako_status ako_take_log(ako_peer* peer, const char** line) {
    return with_peer(peer, "ako_take_log", [&](LibraryPeer& it) {
        need(line != nullptr, "ako_take_log: line");
        const std::optional<std::string> taken_line = it.take_log();
        if (taken_line) peer->text = *taken_line;
        *line = taken_line ? peer->text.c_str() : nullptr;
        return AKO_OK;
    });
}

void ako_after_fork(ako_peer* peer) {
    ako::close_listed_sockets();
    if (peer == nullptr) return;
    if (peer->own != nullptr) peer->own->close_report_pipe();
    peer->forked = true;
    taken = false;
}

ako_status ako_fail(ako_peer* peer, const char* why) {
    return with_peer(peer, "ako_fail", [&](LibraryPeer& it) {
        need(why != nullptr, "ako_fail: why");
        it.fails(why);
        return AKO_OK;
    });
}

void ako_close(ako_peer* peer) {
    if (peer == nullptr) return;
    // What threads of the parent hold cannot be given back in a child.
    if (peer->forked || peer->thread != std::this_thread::get_id()) return;
    try {
        peer->own.reset();
    } catch (...) {
        // It is gone all the same.
    }
    if (peer->is_of_process) taken = false;
    delete peer;
}

}  // extern "C"
