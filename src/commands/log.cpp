#include "src/commands/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "ako/error.h"

namespace ako {

Log::Log(const std::string& name, LogStyle style) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    sink->set_pattern(style == LogStyle::bare ? "%v" : "%H:%M:%S  %n  %v");
    sink->set_level(spdlog::level::info);
    logger_ = std::make_shared<spdlog::logger>(name, std::move(sink));
    logger_->set_level(spdlog::level::debug);
    logger_->flush_on(spdlog::level::debug);
}

void Log::keep_in(const std::string& path) try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_pattern("%Y-%m-%d %H:%M:%S.%e  %v");
    logger_->sinks().push_back(std::move(sink));
} catch (const spdlog::spdlog_ex& error) {
    throw StartupError(path + ": cannot be written: " + error.what());
}

std::function<void(const std::string&)> Log::notice() const {
    return [logger = logger_](const std::string& line) { logger->info(line); };
}

std::function<void(const std::string&)> Log::detail() const {
    return [logger = logger_](const std::string& line) { logger->debug(line); };
}

}  // namespace ako
