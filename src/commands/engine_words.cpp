// See engine_words.h.
#include "src/commands/engine_words.h"

#include "src/commands/file_words.h"
#include "src/launch/attendant.h"

namespace ako {
namespace {

CLI::App* add_submit(CLI::App& app, SubmitOptions& options) {
    CLI::App* words = app.add_subcommand(
        "submit", "Have the engine of a shared cluster (Slurm, Swarm, Kubernetes) start the peers");
    add_cluster_file(*words, options.file, options.overrides);
    words->add_option("--engine", options.engine, "slurm, swarm or kubernetes")
        ->required()
        ->type_name("NAME");
    words->add_option("--peers", options.peers, "so many, p1, p2 and so on; else those of the file")
        ->type_name("N")
        ->check(CLI::Range(1, 64));
    Resources& resources = options.resources;
    words
        ->add_option("--cpus", resources.cpus,
                     "processors of each peer (1 if left out; not of Slurm also 0.5)")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    words->add_option("--memory", resources.memory_mb, "of each peer, MB")->type_name("MB");
    words
        ->add_option(
            "--spare", resources.spare,
            "Slurm: so many nodes more, if they are free, for peers whose node is lost; then each "
            "peer has a node of its own (none if left out)")
        ->type_name("N")
        ->check(CLI::Range(0, 64));
    words->add_option("--time", resources.time, "of the whole run at most, such as 2:00:00")
        ->type_name("LIMIT");
    words
        ->add_option("--partition", resources.partition,
                     "Slurm's partition; for Swarm a constraint such as node.labels.ako==yes, for "
                     "Kubernetes LABEL=VALUE of nodes")
        ->type_name("NAME");
    words
        ->add_option("--array", resources.array,
                     "Slurm: a run for each element, such as 1-5, with its number as seed")
        ->type_name("RANGE");
    words->add_flag("--broadcast", resources.broadcast,
                    "Slurm: copy the data to the disk of each node first (sbcast), where the nodes "
                    "do not have them on a path that they share");
    words->add_option("--image", resources.image, "of containers; ako if left out")
        ->type_name("NAME");
    words
        ->add_option("--restart", options.restart,
                     "how often a peer that died is started again (3 if left out), where the mode "
                     "has that")
        ->type_name("N");
    words->add_flag("--requeue-always", options.requeue_always,
                    "Slurm: queue a job again at its time limit also without a checkpoint, for a "
                    "program that keeps its own");
    words->add_option("--output-dir", options.output_dir, "the run folder, new or empty")
        ->type_name("FOLDER");
    CLI::Option* print = words->add_flag(
        "--print", options.print,
        "print the script or manifests, or write them to --output-dir, and submit nothing");
    words->add_flag("--check", options.check, "ask the engine whether it would, and submit nothing")
        ->excludes(print);
    words->add_option("PROGRAM", options.program,
                      "after --: with `model: external`, the program of each peer and its words");
    return words;
}

CLI::App* add_jobs(CLI::App& app, JobsOptions& options) {
    CLI::App* words = app.add_subcommand("jobs", "List the runs that `ako submit` has started");
    words->add_option("FOLDER", options.folder, "where their folders are (runs if left out)");
    return words;
}

CLI::App* add_logs(CLI::App& app, LogsOptions& options) {
    CLI::App* words =
        app.add_subcommand("logs", "Show what the peers of a submitted run have said");
    words->add_option("RUN", options.run, "its folder, or the name of that below runs")->required();
    words->add_flag("-f,--follow", options.follow, "go on until it is interrupted");
    return words;
}

CLI::App* add_cancel(CLI::App& app, std::string& run) {
    CLI::App* words =
        app.add_subcommand("cancel", "Have the peers of a submitted run stop, and take it away");
    words->add_option("RUN", run, "its folder, or the name of that below runs")->required();
    return words;
}

/// By launch, on another machine; not for people.
CLI::App* add_attend(CLI::App& app, std::vector<std::string>& words) {
    CLI::App* attend = app.add_subcommand("attend", "Stand for `ako launch` beside a peer");
    attend->group("");
    attend->add_option("WORDS", words, "the peer's")->required();
    return attend;
}

}  // namespace

EngineWords::EngineWords(CLI::App& app)
    : submit_(add_submit(app, submit_options_)),
      jobs_(add_jobs(app, jobs_options_)),
      logs_(add_logs(app, logs_options_)),
      cancel_(add_cancel(app, cancelled_)),
      attend_(add_attend(app, attended_)) {}

std::optional<int> EngineWords::run() const {
    if (submit_->parsed()) return submit(submit_options_);
    if (jobs_->parsed()) return jobs(jobs_options_);
    if (logs_->parsed()) return logs(logs_options_);
    if (cancel_->parsed()) return cancel(cancelled_);
    if (attend_->parsed()) return attend(attended_);
    return std::nullopt;
}

}  // namespace ako
