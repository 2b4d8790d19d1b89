// The rows of `exchange`; see key_rows.h.
#include "src/config/consistency.h"
#include "src/config/key_rows.h"
#include "src/config/peer_list.h"
#include "src/config/staleness.h"

namespace ako {

namespace {

constexpr double a_day_s = 86'400;
/// 1 Tbit/s: more than any link there is, so anything above it is a slip of the unit.
constexpr Bounds rate_mbit{.low = 0.01, .high = 1e6};

std::vector<std::pair<std::string, Mode>> mode_words() {
    std::vector<std::pair<std::string, Mode>> words;
    for (const ModeEntry& entry : mode_table::entries)
        if (words.empty() || words.back().second != entry.mode)
            words.emplace_back(entry.word, entry.mode);
    return words;
}

/// "How peers agree: ako | ring (all-reduce of every gradient) | ..".
std::string mode_meaning() {
    std::string text = "How peers agree:";
    for (const auto& [word, mode] : mode_words()) {
        const ModeEntry& entry = *entry_named(word);
        text += (mode == mode_words().front().second ? " " : " | ") + word;
        if (!entry.sentence.empty()) text += fmt::format(" ({})", entry.sentence);
    }
    return text +
           " | auto (that which by the machines' profiles takes the least time: ako profile). "
           "Keys of other modes are not heeded.";
}

void add_keys_of_ako(std::vector<Field>& rows) {
    rows.push_back(choice_field<Rule>("exchange.rule", shared, AKO_MEMBER(exchange.rule),
                                      {{"anchored", Rule::anchored}, {"plain", Rule::plain}})
                       .means("anchored: own progress stands in for peers not yet heard from "
                              "| plain: Ako as published, for comparison (wants a far "
                              "smaller rate)")
                       .of_modes({"ako"})
                       .told());
    rows.push_back(choice_field<Precision>(
                       "exchange.precision", Scope::own, AKO_MEMBER(exchange.precision),
                       {{"adaptive", Precision::adaptive}, {"float32", Precision::float32}})
                       .means("adaptive: rows travel in 8 or 16 bits where that is fine "
                              "enough, and what rounding cuts off comes later | float32")
                       .of_modes({"ako"})
                       .told());
    rows.push_back(whole_or_word_field("exchange.partitions", Scope::own,
                                       AKO_MEMBER(exchange.partitions), "auto", 1'000'000)
                       .means("auto: as fast as each link takes them, as long as fresher "
                              "rows save more rounds than they cost processor time | N: a "
                              "fixed number of rounds for one cycle")
                       .of_modes({"ako"})
                       .told());
    // Shared: a peer that is not held back would leave one that is behind for good.
    rows.push_back(staleness_field()
                       .means("auto: 1 where waiting, as measured, costs at most 20 % of the "
                              "pace, else none; not for a peer that makes less than 80 % of "
                              "the rounds of others, nor for one with `partitions: N` or "
                              "`rule: plain` | none: nobody waits | N: round r begins once "
                              "round r - N of every live peer is held, 1: as in a ring, and a "
                              "cycle takes N rounds at most; but a peer that is far behind, or "
                              "does not move at all for long, is not waited for")
                       .of_modes({"ako"})
                       .told());
}

void add_keys_of_rings(std::vector<Field>& rows) {
    rows.push_back(flag_field("exchange.elastic", shared, AKO_MEMBER(exchange.elastic))
                       .means("true: the members go on without who is lost or leaves, and "
                              "take in who comes | false: they all end")
                       .of_modes({"ring"})
                       .told());
    rows.push_back(
        choice_field<AllReduce>("exchange.all_reduce", shared, AKO_MEMBER(exchange.all_reduce),
                                {{"ring", AllReduce::ring}, {"butterfly", AllReduce::butterfly}})
            .means("how peers sum up. ring: 2 (n - 1) steps, each to the next "
                   "peer; small layers straight, in 2 | butterfly: 2 lg n steps, "
                   "each with another peer")
            .of_modes({"ring", "local-sgd", "sma"})
            .told());
    rows.push_back(
        whole_field("exchange.rounds_ahead", shared, AKO_MEMBER(exchange.rounds_ahead), 0, 1)
            .means("0: a round begins with all that was learned before | 1: "
                   "without the newest step, which travels while it computes "
                   "(delayed update)")
            .of_modes({"ring"})
            .told());
}

void add_keys_of_servers(std::vector<Field>& rows) {
    rows.push_back(
        whole_field("exchange.servers", shared, AKO_MEMBER(exchange.server.count), 1, peers_max)
            .means("so many share the parameters, by bytes")
            .of_modes({"parameter-server"})
            .told());
    rows.push_back(choice_field<Placement>(
                       "exchange.placement", shared, AKO_MEMBER(exchange.server.placement),
                       {{"co-located", Placement::co_located}, {"dedicated", Placement::dedicated}})
                       .means("co-located: on the first peers of the file, which train as "
                              "well | dedicated: on the peers with `role: server`")
                       .of_modes({"parameter-server"})
                       .told());
    rows.push_back(consistency_field()
                       .means("bsp: all workers step together | {ssp: 3}: no worker more "
                              "than 3 rounds ahead of the slowest | async: nobody waits")
                       .of_modes({"parameter-server"})
                       .told());
}

void add_keys_of_local_sgd(std::vector<Field>& rows) {
    rows.push_back(whole_field("exchange.local_rounds", shared,
                               AKO_MEMBER(exchange.local_sgd.rounds), 1, 1'000'000)
                       .means("rounds between two averagings")
                       .of_modes({"local-sgd"})
                       .told());
    rows.push_back(number_field("exchange.outer_learning_rate", shared,
                                AKO_MEMBER(exchange.local_sgd.outer_learning_rate),
                                {.low = 0, .high = 100, .low_open = true})
                       .means("of the step to the average; 1 is plain averaging")
                       .of_modes({"local-sgd"})
                       .told());
    rows.push_back(number_field("exchange.outer_momentum", shared,
                                AKO_MEMBER(exchange.local_sgd.outer_momentum),
                                {.low = 0, .high = 1, .high_open = true})
                       .means("Nesterov momentum of that step, as in DiLoCo (0.9, rate 0.7)")
                       .of_modes({"local-sgd"})
                       .told());
}

void add_rate_keys(std::vector<Field>& rows) {
    rows.push_back(optional_number_field("exchange.egress_mbit_max", Scope::own,
                                         AKO_MEMBER(exchange.egress_mbit_max), rate_mbit)
                       .means("what one peer may send over all its links, Mbit/s; null: no "
                              "limit. Of frames: TCP, IP and acknowledgements come on top, "
                              "up to 9 %")
                       .told());
    rows.push_back(optional_number_field("exchange.link_mbit", Scope::own,
                                         AKO_MEMBER(exchange.link_mbit), rate_mbit)
                       .means("what each link may carry in each direction, Mbit/s; null: no "
                              "limit")
                       .told());
    rows.push_back(
        link_limits_field(rate_mbit).means("single links instead: [{from: a, to: b, mbit: 10}]"));
}

template <class Member>
Field seconds_field(const char* path, Scope scope, Member member) {
    return number_field(path, scope, member, {.low = 0, .high = a_day_s});
}

/// Shared are times that one peer measures and another keeps to: one that beats more slowly than
/// another listens would be lost to it, and one that gives up before the others propose would end
/// without them.
void add_time_keys(std::vector<Field>& rows) {
    rows.push_back(
        seconds_field("exchange.start_wait_s", Scope::own, AKO_MEMBER(exchange.start_wait_s))
            .means("how long to wait for all peers of the file. Then those that "
                   "are there begin, if they are start_peers_min; in mode ako "
                   "whoever comes later joins them. 0: begin at once, let all "
                   "others join"));
    rows.push_back(whole_or_word_field("exchange.start_peers_min", Scope::own,
                                       AKO_MEMBER(exchange.start_peers_min), "majority", peers_max)
                       .means("how many peers must be there then: majority or a number. The "
                              "file may name spare slots, for peers that come later or "
                              "never; but to agree at the end takes a majority of the file. "
                              "In an elastic ring: fewer wait until more are back, and it is "
                              "begun by a majority at least")
                       .of_modes({"ako", "elastic ring"}));
    rows.push_back(
        whole_field("exchange.heartbeat_ms", shared, AKO_MEMBER(exchange.heartbeat_ms), 1, 600'000)
            .means("how often a peer says how far it is"));
    rows.push_back(whole_field("exchange.life_timeout_ms", shared,
                               AKO_MEMBER(exchange.life_timeout_ms), 1, 600'000)
                       .means("a peer not heard from for so long is lost; more than 2 x "
                              "heartbeat_ms. Unless given it is 30000 where the loss of a "
                              "peer can end the run: ring without elastic, local-sgd, sma, "
                              "and parameter-server with bsp or ssp"));
    rows.push_back(retired_field("exchange.finish_exchange_s", shared, "30",
                                 "it is a quarter of finish_timeout_s"));
    rows.push_back(
        seconds_field("exchange.finish_timeout_s", shared, AKO_MEMBER(exchange.finish_timeout_s))
            .means("if nothing moves for so long, the end goes without agreement (exit 4), and "
                   "a round that all wait for ends the run (exit 5); a quarter of it the end "
                   "waits for the last round of every live peer"));
    rows.push_back(retired_field("exchange.finish_linger_s", shared, "10",
                                 "it is two fifths of leave_timeout_s"));
    rows.push_back(
        seconds_field("exchange.leave_timeout_s", Scope::own, AKO_MEMBER(exchange.leave_timeout_s))
            .means("a peer that leaves (SIGTERM) goes when the others hold its "
                   "row, or after so long; one that has finished serves those "
                   "that have not and do not move for two fifths of it")
            .of_modes({"ako", "elastic ring"}));
    rows.push_back(retired_field("exchange.connect_timeout_ms", Scope::own, "3000",
                                 "each address has three seconds to answer"));
    rows.push_back(retired_field("exchange.want_timeout_ms", Scope::own, "auto",
                                 "round trips and rounds say how long an answer may take"));
}

}  // namespace

void add_exchange_keys(std::vector<Field>& rows) {
    rows.push_back(
        choice_field<Mode>("exchange.mode", shared, AKO_MEMBER(exchange.mode), mode_words())
            .means(mode_meaning())
            .told());
    add_keys_of_ako(rows);
    add_keys_of_rings(rows);
    add_keys_of_servers(rows);
    add_keys_of_local_sgd(rows);
    add_rate_keys(rows);
    add_time_keys(rows);
}

}  // namespace ako
