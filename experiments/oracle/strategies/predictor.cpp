// What src/predict/strategies.h says to one question of JSON on the standard input, as JSON; built
// and asked by predicted.py.
#include <iostream>
#include <nlohmann/json.hpp>

#include "src/predict/strategies.h"

using namespace ako;
using Json = nlohmann::json;

namespace {

Shape shape_of(const Json& json) { return {json.at(0), json.at(1), json.at(2)}; }

PassTime pass_of(const Json& json) {
    PassTime pass{.whole_s = json.at("whole_s"), .parts = {}};
    for (std::size_t along = 0; along < along_count; ++along)
        for (const Json& part : json.at("parts").at(along))
            pass.parts[along].push_back({part.at(0), part.at(1)});
    return pass;
}

StrategyLayer layer_of(const Json& json) {
    StrategyLayer layer;
    layer.name = json.at("kind");
    layer.input = shape_of(json.at("input"));
    layer.output = shape_of(json.at("output"));
    layer.parameter_count = json.at("parameters");
    layer.mixes = json.at("mixes");
    layer.window = json.at("window");
    layer.stride = json.at("stride");
    layer.padding = json.at("padding");
    layer.forward = pass_of(json.at("forward"));
    layer.backward = pass_of(json.at("backward"));
    return layer;
}

StrategyQuestion question_of(const Json& json) {
    StrategyQuestion question;
    for (const Json& layer : json.at("layers")) question.layers.push_back(layer_of(layer));
    const Json& system = json.at("system");
    question.system.link_bytes_per_s = system.at("link_bytes_per_s");
    question.system.latency_s = system.at("latency_s");
    question.system.call_s = system.at("call_s");
    question.system.send_s_per_byte = system.at("send_s_per_byte");
    question.system.take_s_per_byte = system.at("take_s_per_byte");
    question.system.add_s_per_byte = system.at("add_s_per_byte");
    question.system.copy_s_per_byte = system.at("copy_s_per_byte");
    question.system.update_s_per_byte = system.at("update_s_per_byte");
    question.machines = json.at("machines");
    question.batch = json.at("batch");
    question.segments = json.at("segments");
    question.group = json.at("group");
    question.stages = json.at("stages").get<std::vector<std::size_t>>();
    return question;
}

Json json_of(const StrategyAnswer& answer) {
    Json findings = Json::array();
    for (const StrategyFinding& one : answer.findings)
        findings.push_back({{"kind", word(one.kind)},
                            {"label", one.limitation ? "limitation" : "bottleneck"},
                            {"seconds", one.seconds},
                            {"text", one.text}});
    return {{"strategy", word(answer.strategy)},
            {"projected", answer.projected},
            {"possible", answer.possible},
            {"machines_max", answer.machines_max},
            {"why", answer.machines_max_why},
            {"group", answer.group},
            {"stages", answer.stages},
            {"compute_s", answer.compute_s},
            {"update_s", answer.update_s},
            {"forward_s", answer.forward_s},
            {"backward_s", answer.backward_s},
            {"gradient_s", answer.gradient_s},
            {"step_s", answer.step_s},
            {"sent_bytes", answer.sent_bytes},
            {"memory_bytes", answer.memory_bytes},
            {"findings", findings}};
}

}  // namespace

int main() {
    Json answers = Json::array();
    for (const StrategyAnswer& answer : ranked_strategies(question_of(Json::parse(std::cin))))
        answers.push_back(json_of(answer));
    std::cout << answers << "\n";
}
