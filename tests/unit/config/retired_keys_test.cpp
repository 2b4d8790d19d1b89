// Files and checkpoints of earlier versions, which have keys that there are no more.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "ako/exchange_times.h"
#include "src/config/cluster_file.h"
#include "tests/contains.h"
#include "tests/unit/config/complaint.h"

namespace ako::retired_keys_test {

using test::contains;

namespace {

const std::string minimal =
    "run: x\nmodel: synthetic\npeers: [{name: a, address: '127.0.0.1:1'}]\n";

Settings read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_cluster_text(text, "small.yaml", overrides);
}

}  // namespace

TEST_CASE("keys of earlier versions are read, and digested as they were") {
    const Settings plain = read(minimal);
    const Settings same = read(minimal, {"exchange.finish_linger_s=10"});
    CHECK(same.retired.empty());
    CHECK(write_cluster_text(plain).find("finish_linger_s") == std::string::npos);
    // Checkpoints of that time have this in the digest of what they were trained with.
    const std::string then =
        "  life_timeout_ms: 2000\n  finish_exchange_s: 30\n"
        "  finish_timeout_s: 120\n  finish_linger_s: 10\n";
    CHECK(contains(training_digest_text(plain), then));
    const Settings other = read(minimal, {"exchange.finish_linger_s=2"});
    CHECK(other.retired.at("exchange.finish_linger_s") == "2");
    CHECK(other.exchange == plain.exchange);
    CHECK(read(write_cluster_text(other)).retired == other.retired);
    CHECK(test::complaint(minimal, "small.yaml", {"exchange.want_timeout=9"}).find("unknown key") !=
          std::string::npos);
}

TEST_CASE("two of the times of the end follow from the others") {
    const Settings settings =
        read(minimal, {"exchange.finish_timeout_s=8", "exchange.leave_timeout_s=5"});
    const ExchangeTimes times = times_of(settings.exchange);
    CHECK(times.finish_exchange == std::chrono::seconds(2));
    CHECK(times.finish_linger == std::chrono::seconds(2));
}

}  // namespace ako::retired_keys_test
