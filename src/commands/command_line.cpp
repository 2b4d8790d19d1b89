#include "src/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "ako/assert.h"
#include "ako/ending.h"
#include "ako/printable.h"
#include "src/commands/check_command.h"
#include "src/commands/compare_command.h"
#include "src/commands/completion.h"
#include "src/commands/compose_command.h"
#include "src/commands/engine_words.h"
#include "src/commands/evaluate_command.h"
#include "src/commands/explore_words.h"
#include "src/commands/file_words.h"
#include "src/commands/keys_command.h"
#include "src/commands/launch_command.h"
#include "src/commands/network_command.h"
#include "src/commands/plot_command.h"
#include "src/commands/predict_command.h"
#include "src/commands/profile_command.h"
#include "src/commands/status_command.h"
#include "src/commands/train_command.h"
#include "src/commands/verify_words.h"
#include "src/system/build_info.h"

namespace ako {

namespace {

constexpr const char* about =
    "Ako trains one neural network on several machines over an ordinary network, with no server.";

constexpr const char* exit_statuses =
    "Exit status: 0 trained, and all who finished hold the same parameters; 2 could not start;\n"
    "3 a number is not finite; 4 no agreement was possible, or parameters differ; 5 a peer was\n"
    "lost that the mode cannot go on without; 6 trained and agreed, but not all results could be\n"
    "written; 7 all stopped before the budget was spent, because somebody asked for it; 130\n"
    "interrupted; 143 this peer left (SIGTERM), and the others went on.\n"
    "launch: as its peers, the worst; 0 also if a peer left or was killed and the others finished\n"
    "alike; 1 if a peer crashed. compare: 1 if a cell of the comparison proper failed.\n"
    "status --health: 1 if the peer does not answer, or stands still.";

struct CheckOptions {
    std::string file;
    std::vector<std::string> overrides;
    bool only_model = false;
    bool only_network = false;
    NetworkOptions network = {};  ///< without the file and its overrides
};

/// --resume, after which the file may be left out; --from and --until beside it.
CLI::Option* add_resume(CLI::App& command, std::string& file, std::vector<std::string>& overrides,
                        ResumeWords& resume) {
    command.add_option("FILE", file, "the cluster file (YAML); with --resume FOLDER, that run's");
    add_overrides(command, overrides);
    CLI::Option* const from =
        command
            .add_option("--from", resume.folder,
                        "branch off: go on from the newest checkpoints in this folder, of a run of "
                        "the same model, data and peers, by other settings of `training`")
            ->type_name("FOLDER");
    from->each([&resume](const std::string&) { resume.said = resume.branches = true; });
    command.add_option_function<double>(
               "--until", [&overrides](double epochs) {
                   overrides.push_back(fmt::format("training.until={}", epochs));
               },
               "end after so many of the epochs, with a checkpoint there")
        ->type_name("EPOCHS");
    command.add_option_function<double>(
               "--mtbf", [&overrides](double hours) {
                   overrides.push_back(fmt::format("training.mtbf_h={}", hours));
               },
               "hours between two faults, for training.checkpoint_every: auto")
        ->type_name("HOURS");
    return command
        .add_option("--resume", resume.folder,
                    "go on from the checkpoints (training.checkpoint_every) that the run in this "
                    "folder has left; without a folder, from the newest below `output`")
        ->type_name("FOLDER")
        ->expected(0, 1)
        ->excludes(from);
}

/// What FILE is where it was left out.
void complete_file(const CLI::Option& said, std::string& file, ResumeWords& resume) {
    resume.said = resume.said || said.count() > 0;
    if (!file.empty()) return;
    if (resume.folder.empty()) throw CLI::RequiredError("FILE");
    file = cluster_file_of(resume);
}

void add_keep_milestones(CLI::App& command, bool& keep) {
    command.add_flag("--keep-milestones", keep,
                     "keep the parameters of training.evaluate: after once they are evaluated");
}

struct ResumableWords {
    const CLI::App* command;
    const CLI::Option* resume;
};

ResumableWords add_train(CLI::App& app, TrainOptions& options) {
    CLI::App* words = app.add_subcommand("train", "Train as one peer, in the foreground");
    const CLI::Option* resume = add_resume(*words, options.file, options.overrides, options.resume);
    words->add_option("--peer", options.peer, "which peer of the file this one is")
        ->required()
        ->type_name("NAME");
    words
        ->add_option("--output-dir", options.output_dir,
                     "write results here instead of into a new folder")
        ->type_name("FOLDER");
    words->add_flag("--plain", options.plain,
                    "show lines of text instead of the live view, as in a pipe");
    add_keep_milestones(*words, options.keep_milestones);
    words
        ->add_flag_callback(
            "--resume-if-any",
            [&options] { options.resume.said = options.resume.if_any = true; },
            "as --resume without a folder, and begin anew where there is nothing to go on from: "
            "for what starts a peer again by itself")
        ->excludes(words->get_option("--resume"))
        ->excludes(words->get_option("--from"));
    words->add_flag("--exit-zero", options.exit_zero,
                    "exit 0 whatever the run came to, but for settings that are wrong and "
                    "crashes: for what starts again all that ends otherwise, as Docker's "
                    "on-failure");
    words->add_option("--report-fd", options.report_fd)->group("");
    words->add_flag("--restarted", options.restarted)->group("");
    return {words, resume};
}

ResumableWords add_launch(CLI::App& app, LaunchOptions& options) {
    CLI::App* words = app.add_subcommand(
        "launch", "Train as all peers of the file, on this machine, one process each");
    const CLI::Option* resume = add_resume(*words, options.file, options.overrides, options.resume);
    CLI::Option* free_ports =
        words->add_flag("--free-ports", options.free_ports,
                        "use free ports of 127.0.0.1 instead of the file's addresses");
    words->add_flag("--plain", options.plain,
                    "show rows of text instead of the live view, as in a pipe");
    add_keep_milestones(*words, options.keep_milestones);
    words
        ->add_option("--restart", options.restart,
                     "start a peer whose process died (kill -9, a crash) again, each at most N "
                     "times; mode ako, in which it takes its row from the others and goes on")
        ->type_name("N");
    words
        ->add_option("--in", options.in,
                     "start each peer by this command, which must become what follows it, such as "
                     "'deploy/testbed exec {number} --'; {number} is the peer's place in the file "
                     "from 1, {name} its name; words end at spaces, there is no quoting")
        ->type_name("COMMAND")
        ->excludes(free_ports);
    words
        ->add_option("--output-dir", options.output_dir,
                     "write results here, a new or empty folder, instead of below `output`")
        ->type_name("FOLDER");
    words->add_option("PROGRAM", options.program,
                      "after --: with `model: external`, the program of each peer and its words, "
                      "in which {name} and {number} stand for the peer; it finds its peer in the "
                      "environment, too");
    return {words, resume};
}

CLI::App* add_compare(CLI::App& app, CompareOptions& options) {
    CLI::App* words = app.add_subcommand(
        "compare", "Run a plan of modes, rates and seeds, and write a report of them");
    words->add_option("PLAN", options.file, "the plan (YAML)")->required();
    add_overrides(*words, options.overrides);
    words->add_flag("--retry-failed", options.retry_failed, "run cells that failed once more");
    CLI::Option* report = words->add_flag("--report", options.only_report,
                                          "run nothing; write the report of what was run");
    words->add_option("--program", options.program)->group("");  // for tests
    words->add_flag("--list", options.only_list, "run nothing; list the cells the plan comes to")
        ->excludes(report);
    return words;
}

CLI::App* add_check(CLI::App& app, CheckOptions& options) {
    CLI::App* words = app.add_subcommand(
        "check", "Show resolved settings, memory, data and traffic of each peer; start nothing");
    add_cluster_file(*words, options.file, options.overrides);
    CLI::Option* model =
        words->add_flag("--model", options.only_model,
                        "show only the network, as a list of layers for a cluster file");
    NetworkOptions& network = options.network;
    CLI::Option* links = words->add_flag(
        "--network", options.only_network,
        "measure the links between the peers instead, which all start this; for `ako predict`");
    links->excludes(model);
    words->add_option("--peer", network.peer, "which peer this one is; else all, on this machine")
        ->type_name("NAME")
        ->needs(links);
    words->add_option("-o,--output", network.output, "the folder for network.json")
        ->type_name("FOLDER")
        ->capture_default_str()
        ->needs(links);
    return words;
}

ExitStatus check_as_said(CheckOptions& options) {
    if (options.only_network) {
        options.network.file = options.file;
        options.network.overrides = options.overrides;
        return check_network_of(options.network);
    }
    return (options.only_model ? check_model : check)(options.file, options.overrides);
}

CLI::App* add_keys(CLI::App& app, KeysOptions& options) {
    CLI::App* words = app.add_subcommand(
        "keys", "Print the keys of a cluster file, with meaning, range and default");
    words->add_option("GROUP", options.group,
                      "only these, such as training or exchange.partitions");
    words->add_option("--mode", options.mode, "only those that this exchange.mode heeds");
    words->add_flag("--example", options.example, "a cluster file with all of them");
    return words;
}

CLI::App* add_status(CLI::App& app, StatusOptions& options) {
    CLI::App* words = app.add_subcommand(
        "status", "Show how the peers of a cluster stand that runs with observe.address");
    words
        ->add_option("TARGET", options.target,
                     "the cluster file, HOST:PORT where one of its peers is observed, or a run of "
                     "`ako submit`")
        ->required();
    add_overrides(*words, options.overrides);
    CLI::Option* watch = words->add_flag("--watch", options.watch,
                                         "show it anew every second, until the run is over");
    words
        ->add_flag("--health", options.health,
                   "say in a line whether the peer at HOST:PORT answers and moves; exit 1 if not")
        ->excludes(watch);
    return words;
}

CLI::App* add_plot(CLI::App& app, PlotOptions& options) {
    CLI::App* words = app.add_subcommand(
        "plot", "Draw the charts of a run, also while it is under way: run.html and SVG files");
    words->add_option("RUN", options.folder, "the folder of the run, such as runs/latest")
        ->required();
    words
        ->add_option("--output", options.output, "write them here instead of into the run's folder")
        ->type_name("FOLDER");
    return words;
}

CLI::App* add_evaluate(CLI::App& app, EvaluateOptions& options) {
    CLI::App* words = app.add_subcommand(
        "evaluate", "Show what a saved model makes of a cluster file's test set");
    words->add_option("MODEL", options.model, "the model (safetensors)")->required();
    words
        ->add_option("--config", options.config,
                     "the cluster file; if left out: config.yaml beside the model")
        ->type_name("FILE");
    add_overrides(*words, options.overrides);
    return words;
}

CLI::App* add_profile(CLI::App& app, ProfileOptions& options) {
    CLI::App* words = app.add_subcommand(
        "profile", "Measure this machine for the network of a cluster file, for `ako predict`");
    add_cluster_file(*words, options.file, options.overrides);
    words->add_option("-o,--output", options.output, "the folder for profiles")
        ->type_name("FOLDER")
        ->capture_default_str();
    words
        ->add_option("--name", options.name,
                     "of the profile: that of the peer that runs here; else this machine's")
        ->type_name("NAME");
    return words;
}

CLI::App* add_predict(CLI::App& app, PredictOptions& options) {
    CLI::App* words = app.add_subcommand(
        "predict", "Say what machines would make of a network, by their profiles; starts nothing");
    words
        ->add_option("FILE", options.file,
                     "the cluster file (YAML), or the folder of a run, which is a profile itself")
        ->required();
    add_overrides(*words, options.overrides);
    words->add_option("--profile", options.profiles, "the folder with the profiles")
        ->type_name("FOLDER")
        ->capture_default_str()
        ->each([&options](const std::string&) { options.profiles_named = true; });
    words
        ->add_option("--run", options.runs,
                     "a run whose figures count instead of the profile's, such as runs/latest; "
                     "repeatable")
        ->type_name("FOLDER")
        ->take_all()
        ->allow_extra_args(false);
    words->add_option("--machines", options.machines, "so many, such as 1,2,3 or 1..64")
        ->type_name("LIST");
    words->add_option("--rates", options.rates, "Mbit/s of each machine's link, such as 20,100")
        ->type_name("LIST");
    words->add_option("--batch", options.batches, "samples of a round of each peer")
        ->type_name("LIST");
    words
        ->add_option("--cores", options.cores,
                     "processors of each machine, such as 1,1,0.25; the last of all others")
        ->type_name("LIST");
    words
        ->add_option("--period", options.period_ms,
                     "after which such a share of processors is there again; the kernel's, if left "
                     "out")
        ->type_name("MS")
        ->check(CLI::Range(1.0, 1000.0));
    words->add_option("--latency", options.latency_ms, "of the links, one way")
        ->type_name("MS")
        ->check(CLI::Range(0.0, 60'000.0));
    words
        ->add_option("--goodput", options.goodput,
                     "what TCP gets through of a link's rate (0.957 if left out)")
        ->check(CLI::Range(0.1, 1.0));
    words
        ->add_option("--rounds", options.rounds,
                     "rounds of one machine to the target that is meant, for the time to it")
        ->check(CLI::PositiveNumber);
    words->add_option("--noise-scale", options.noise_scale, "of the gradient, in samples")
        ->check(CLI::PositiveNumber);
    words->add_flag("--divided", options.divided,
                    "--batch is that of all machines together, in equal parts (strong scaling)");
    words
        ->add_option("--for", options.goal,
                     "what is wanted the least of: time to a target, cost (time of all machines), "
                     "or time without a loss of accuracy (accuracy)")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, Goal>{
                {"time", Goal::time}, {"cost", Goal::cost}, {"accuracy", Goal::accuracy}},
            CLI::ignore_case))
        ->option_text("time|cost|accuracy");
    words->add_flag("--shared", options.shared,
                    "the machines are groups of this one (containers, namespaces), which slow each "
                    "other");
    words->add_flag("--strategies", options.strategies,
                    "also what a step would take with the work divided by rows, filters, channels "
                    "or layers");
    words->add_flag("--json", options.json, "print JSON");
    words->add_option("--output", options.output, "also write a page with charts: predict.html")
        ->type_name("FOLDER");
    return words;
}

CLI::App* add_completion(CLI::App& app, std::string& shell) {
    CLI::App* words = app.add_subcommand(
        "completion", "Print a script for the shell: source <(ako completion bash)");
    words->add_option("SHELL", shell, "bash")->required()->check(CLI::IsMember({"bash"}));
    return words;
}

/// What is said when the words of the command line do not fit together. It repeats them, which may
/// be names of files.
int refuse_words(const CLI::App& app, const CLI::ParseError& error,
                 const std::vector<std::string>& words) {
    std::ostringstream out, wrong;
    const int status = app.exit(error, out, wrong);
    if (status != 0) {
        const std::string meant = option_meant(app, words);
        wrong << meant << (meant.empty() ? "" : "\n");
    }
    std::cout << printable_lines(out.str());
    std::cerr << printable_lines(wrong.str());
    return status == 0 ? exit_ok : exit_start_up;
}

CLI::App* add_compose(CLI::App& app, ComposeOptions& options) {
    CLI::App* words =
        app.add_subcommand("compose", "Write a Compose file that runs the peers as containers");
    add_cluster_file(*words, options.file, options.overrides);
    words->add_option("--image", options.image, "the image to run; ako if left out")
        ->type_name("NAME");
    words
        ->add_option("--build", options.repository,
                     "have Compose build the image from Ako's repository, which lies here")
        ->type_name("FOLDER");
    words->add_option("-o", options.output, "write it there instead of to standard output")
        ->type_name("FILE");
    return words;
}

}  // namespace

int run_command_line(int count, char** words) {
    CLI::App app{about, "ako"};
    app.footer(exit_statuses);
    app.set_version_flag("--version", fmt::format("ako {} ({})", AKO_VERSION, build_commit()));
    app.require_subcommand(1);

    CheckOptions check_options;
    const CLI::App* check_words = add_check(app, check_options);

    TrainOptions train_options;
    const ResumableWords train_words = add_train(app, train_options);

    LaunchOptions launch_options;
    const ResumableWords launch_words = add_launch(app, launch_options);

    EvaluateOptions evaluate_options;
    const CLI::App* evaluate_words = add_evaluate(app, evaluate_options);

    ComposeOptions compose_options;
    const CLI::App* compose_words = add_compose(app, compose_options);

    CompareOptions compare_options;
    const CLI::App* compare_words = add_compare(app, compare_options);

    StatusOptions status_options;
    const CLI::App* status_words = add_status(app, status_options);

    PlotOptions plot_options;
    const CLI::App* plot_words = add_plot(app, plot_options);

    ProfileOptions profile_options;
    const CLI::App* profile_words = add_profile(app, profile_options);
    PredictOptions predict_options;
    const CLI::App* predict_words = add_predict(app, predict_options);

    KeysOptions keys_options;
    const CLI::App* keys_words = add_keys(app, keys_options);
    std::string shell;
    const CLI::App* completion_words = add_completion(app, shell);
    const VerifyWords verify_words(app);
    EngineWords engine_words(app);
    ExploreWords explore_words(app);

    if (count > 1) check_command_word(app, words[1]);
    try {
        app.parse(count, words);
        if (train_words.command->parsed())
            complete_file(*train_words.resume, train_options.file, train_options.resume);
        if (launch_words.command->parsed())
            complete_file(*launch_words.resume, launch_options.file, launch_options.resume);
    } catch (const CLI::ParseError& error) {
        return refuse_words(app, error, {words + 1, words + count});
    }
    for (const auto& status : {engine_words.run(), verify_words.run(), explore_words.run()})
        if (status) return *status;
    if (check_words->parsed()) return check_as_said(check_options);
    if (keys_words->parsed()) return keys(keys_options);
    if (completion_words->parsed()) {
        std::cout << bash_completion(app);
        return exit_ok;
    }
    if (compose_words->parsed()) return compose(compose_options);
    if (status_words->parsed()) return status(status_options);
    if (compare_words->parsed()) return compare(compare_options);
    if (plot_words->parsed()) return plot(plot_options);
    if (profile_words->parsed()) return profile(profile_options);
    if (predict_words->parsed()) return predict(predict_options);
    if (train_words.command->parsed()) return train(train_options);
    if (evaluate_words->parsed()) return evaluate(evaluate_options);
    AKO_ASSERT(launch_words.command->parsed(), "a command has no line here");
    return launch(launch_options);
}

}  // namespace ako
