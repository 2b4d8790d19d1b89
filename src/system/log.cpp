#include "src/system/log.h"

#include <fcntl.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "ako/error.h"
#include "ako/printable.h"
#include "src/system/console.h"
#include "src/system/output_file.h"

namespace ako {

class Log::ConsoleSink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    explicit ConsoleSink(Console& console) : console_(console) {}

    void show_in(std::function<void(const std::string&)> shown) {
        const std::lock_guard lock(mutex_);
        shown_ = std::move(shown);
    }

  private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (shown_) return shown_({message.payload.data(), message.payload.size()});
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        console_.print(Console::Stream::err, {line.data(), line.size()});
    }
    void flush_() override {}

    Console& console_;
    std::function<void(const std::string&)> shown_;  // protected by mutex_
};

Log::Log(const std::string& name, LogStyle style, Console& console) {
    sink_ = std::make_shared<ConsoleSink>(console);
    const auto& sink = sink_;
    sink->set_pattern(style == LogStyle::bare ? "%v" : "%H:%M:%S  %n  %v");
    sink->set_level(spdlog::level::info);
    logger_ = std::make_shared<spdlog::logger>(name, sink);
    logger_->set_level(spdlog::level::debug);
    logger_->flush_on(spdlog::level::debug);
    // Only the file can fail. Once is enough: the next lines will fail as well.
    logger_->set_error_handler(
        [sink = sink_, name, said = std::make_shared<std::once_flag>()](const std::string& why) {
            std::call_once(*said, [&] {
                const std::string text =
                    "not all lines are in the log's file, training goes on: " + why;
                sink->log({name, spdlog::level::warn, text});
            });
        });
}

void Log::keep_in(const std::string& path) try {
    const Result<int> may_be_written = open_output(path, O_APPEND);
    if (!may_be_written)
        throw StartupError(path + ": cannot be written: " + may_be_written.error().what);
    close(*may_be_written);
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_pattern("%Y-%m-%d %H:%M:%S.%e  %v");
    logger_->sinks().push_back(std::move(sink));
} catch (const spdlog::spdlog_ex& error) {
    throw StartupError(path + ": cannot be written: " + error.what());
}

void Log::show_in(std::function<void(const std::string&)> shown) {
    sink_->show_in(std::move(shown));
}

std::function<void(const std::string&)> Log::notice() const {
    return [logger = logger_](const std::string& line) { logger->info(printable_lines(line)); };
}

std::function<void(const std::string&)> Log::detail() const {
    return [logger = logger_](const std::string& line) { logger->debug(printable_lines(line)); };
}

}  // namespace ako
