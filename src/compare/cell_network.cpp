#include "src/compare/cell_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "ako/error.h"
#include "src/system/child_process.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

constexpr double command_seconds_max = 120;
constexpr int exit_skipped = 77;
/// The port of every machine of the testbed; each has an address of its own.
constexpr unsigned testbed_port = 7701;

/// `peers=[...]`; `address` gives that of a machine.
template <class Address>
std::string peers_override(const Cell& cell, Address address) {
    const std::size_t servers = dedicated_servers(cell.candidate.variant);
    std::string list;
    for (std::size_t k = 0; k < cell.setting.machines; ++k) {
        const bool server = k >= cell.setting.machines - servers;
        list += fmt::format("{}{{name: {}, address: \"{}\"{}}}", k == 0 ? "" : ", ", peer_name(k),
                            address(k), server ? ", role: server" : "");
    }
    return "peers=[" + list + "]";
}

class PacedNetwork final : public CellNetwork {
  public:
    explicit PacedNetwork(std::string why) : why_(std::move(why)) {}

    std::string text() const override {
        return fmt::format(
            "all peers on this machine over 127.0.0.1, each holding its egress to the rate itself "
            "(exchange.egress_mbit_max, the same code for all modes); ingress is not limited, and "
            "the peers share the processors ({})",
            why_);
    }
    std::string key() const override { return "paced"; }
    std::vector<double> prepare(std::size_t machines, const Rate& rate) override {
        const std::optional<double> mbit = rate.of(0);
        return mbit ? std::vector<double>(machines, *mbit) : std::vector<double>();
    }
    std::vector<std::string> overrides(const Cell& cell) const override {
        const std::optional<double> mbit = cell.rate.of(0);
        return {
            peers_override(cell, [](std::size_t k) { return fmt::format("127.0.0.1:{}", k + 1); }),
            "exchange.egress_mbit_max=" + (mbit ? fmt::format("{}", *mbit) : "null")};
    }
    std::vector<std::string> launch_words(const Cell&) const override { return {"--free-ports"}; }

  private:
    const std::string why_;
};

std::string tc_rate(const Rate& rate, std::size_t machines) {
    std::string text;
    for (std::size_t k = 0; k < machines; ++k) {
        const std::optional<double> mbit = rate.of(k);
        text += (k == 0 ? "" : ",") +
                (mbit ? fmt::format("{}kbit", static_cast<long>(*mbit * 1000)) : "none");
    }
    return text;
}

std::string cpus_text(const TestbedPlan& plan) {
    return fmt::format("{}", fmt::join(plan.cpus, ","));
}

class TestbedNetwork final : public CellNetwork {
  public:
    TestbedNetwork(std::string script, TestbedPlan plan, std::unique_ptr<LockFile> lock)
        : script_(std::move(script)), plan_(std::move(plan)), lock_(std::move(lock)) {}
    ~TestbedNetwork() override {
        if (prepared_) command({"down"});
    }

    std::string text() const override {
        return fmt::format(
            "deploy/testbed: one network namespace per machine, links shaped both "
            "ways by tbf{}",
            plan_.cpus.empty() ? ", no limit on processor time"
                               : fmt::format(", {}{}", cpus_text(plan_), share_words));
    }

    std::string key() const override {
        return plan_.cpus.empty() ? "testbed" : fmt::format("testbed, cpus {}", cpus_text(plan_));
    }

    std::vector<double> prepare(std::size_t machines, const Rate& rate) override {
        prepared_ = true;
        std::vector<std::string> words = {"up", "--peers", fmt::to_string(machines), "--rate",
                                          tc_rate(rate, machines)};
        if (!plan_.cpus.empty()) words.insert(words.end(), {"--cpus", cpus_text(plan_)});
        const CommandOutput made = command(words);
        if (made.exit != 0)
            throw StartupError(fmt::format("{} {}: {}", script_, fmt::join(words, " "), made.text),
                               "run it by hand, or use --set testbed.use=never");
        return goodput(machines);
    }

    std::vector<std::string> overrides(const Cell& cell) const override {
        const std::size_t first = first_machine(cell);
        return {peers_override(cell,
                               [first](std::size_t k) {
                                   return fmt::format("10.99.0.{}:{}", first + k + 1, testbed_port);
                               }),
                "exchange.egress_mbit_max=null"};
    }

    std::vector<std::string> launch_words(const Cell& cell) const override {
        const std::string number =
            cell.candidate.alone() ? fmt::to_string(first_machine(cell) + 1) : "{number}";
        return {"--in", fmt::format("{} --name {} exec {} --", script_, plan_.name, number)};
    }

  private:
    /// Where the first peer runs: one that is alone on the machine with the largest share.
    std::size_t first_machine(const Cell& cell) const {
        if (!cell.candidate.alone() || plan_.cpus.empty()) return 0;
        const auto largest = std::max_element(plan_.cpus.begin(), plan_.cpus.end());
        return static_cast<std::size_t>(largest - plan_.cpus.begin());
    }

    CommandOutput command(const std::vector<std::string>& words) const {
        std::vector<std::string> all = {script_, "--name", plan_.name};
        all.insert(all.end(), words.begin(), words.end());
        return run_command(all, command_seconds_max);
    }

    /// A testbed that cannot measure it leaves it unknown.
    std::vector<double> goodput(std::size_t machines) const try {
        const CommandOutput measured = command({"goodput"});
        if (measured.exit != 0) return {};
        const std::size_t brace = measured.text.find('{');
        if (brace == std::string::npos) return {};
        const nlohmann::json json = nlohmann::json::parse(measured.text.substr(brace));
        std::vector<double> mbit;
        for (std::size_t k = 1; k <= machines; ++k)
            mbit.push_back(json.at("egress_mbit").at(fmt::to_string(k)));
        return mbit;
    } catch (const nlohmann::json::exception&) {
        return {};
    }

    const std::string script_;
    const TestbedPlan plan_;
    const std::unique_ptr<LockFile> lock_;
    bool prepared_ = false;
};

/// Taken before anything is tried with the testbed; nullptr for who is not root, for whom the
/// testbed refuses to do anything.
std::unique_ptr<LockFile> lock_testbed(const Plan& plan) {
    if (geteuid() != 0) return nullptr;
    const std::string file = testbed_lock_file(plan.testbed.name);
    auto lock = std::make_unique<LockFile>(file);
    if (lock->state() == LockFile::State::no_file)
        throw StartupError(fmt::format("{}: the testbed's lock {} cannot be written: {}", plan.file,
                                       file, lock->why()),
                           "remove it, or use --set testbed.name=NAME or testbed.use=never");
    if (lock->state() == LockFile::State::taken)
        throw StartupError(
            fmt::format("{}: another comparison uses the testbed `{}`", plan.file,
                        plan.testbed.name),
            "wait for it, or use another testbed with --set testbed.name=NAME (at the same time "
            "they share the processors)");
    return lock;
}

/// Why the testbed cannot be made here; empty if it can.
std::string testbed_obstacle(const std::string& script, const TestbedPlan& plan) {
    if (script.empty()) return "there is no deploy/testbed beside this program";
    std::vector<std::string> words = {script,    "--name", plan.name, "up",
                                      "--peers", "2",      "--rate",  "none"};
    if (!plan.cpus.empty())
        words.insert(words.end(), {"--cpus", fmt::format("{}", plan.cpus.front())});
    const CommandOutput made = run_command(words, command_seconds_max);
    run_command({script, "--name", plan.name, "down"}, command_seconds_max);
    if (made.exit == 0) return "";
    std::string why = made.text.substr(0, made.text.find('\n'));
    const std::string skipped = "skipped: ";
    if (made.exit == exit_skipped && why.starts_with(skipped)) why = why.substr(skipped.size());
    return "no testbed: " + why;
}

}  // namespace

std::unique_ptr<CellNetwork> make_paced_network(const std::string& why) {
    return std::make_unique<PacedNetwork>(why);
}

std::unique_ptr<CellNetwork> make_testbed_network(const std::string& script,
                                                  const TestbedPlan& plan,
                                                  std::unique_ptr<LockFile> lock) {
    return std::make_unique<TestbedNetwork>(script, plan, std::move(lock));
}

std::unique_ptr<CellNetwork> choose_network(const Plan& plan, const std::string& script) {
    std::string why = "testbed.use: never";
    if (plan.testbed.use != NetworkChoice::paced) {
        std::unique_ptr<LockFile> lock = lock_testbed(plan);
        why = testbed_obstacle(script, plan.testbed);
        if (why.empty()) return make_testbed_network(script, plan.testbed, std::move(lock));
        if (plan.testbed.use == NetworkChoice::testbed)
            throw StartupError(fmt::format("{}: testbed.use: always, but {}", plan.file, why),
                               "run it as root, or use --set testbed.use=auto");
    }
    const bool uneven = std::any_of(plan.rates.begin(), plan.rates.end(),
                                    [](const Rate& rate) { return !rate.even(); }) ||
                        (plan.screening && !plan.screening->rate.even());
    if (uneven)
        throw StartupError(
            fmt::format("{}: rates_mbit: one per machine needs the testbed ({})", plan.file, why),
            "run it as root; where every peer paces itself there is one rate for all");
    return make_paced_network(why);
}

std::string testbed_lock_file(const std::string& name) {
    return fmt::format("/run/lock/ako-testbed-{}.lock", name);
}

std::string find_testbed_script(const Plan& plan) {
    std::error_code error;
    for (fs::path folder :
         {fs::path(own_program()).parent_path(), fs::absolute(plan.file, error).parent_path()}) {
        for (; !folder.empty(); folder = folder.parent_path()) {
            const fs::path script = folder / "deploy" / "testbed";
            if (fs::is_regular_file(script, error)) return script.string();
            if (folder == folder.root_path()) break;
        }
    }
    return "";
}

}  // namespace ako
