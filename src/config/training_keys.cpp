// The rows of `training`; see key_rows.h.
#include "src/config/key_rows.h"

namespace ako {

namespace {

bool rate_falls_in_steps(const Settings& settings) {
    return settings.training.schedule.kind == RateScheduleKind::steps;
}
bool batch_grows_in_steps(const Settings& settings) {
    return settings.training.batch.schedule.kind == BatchScheduleKind::steps;
}
bool has_lars(const Settings& settings) {
    return settings.training.optimizer == OptimizerKind::lars;
}

void add_batch_keys(std::vector<Field>& rows) {
    rows.push_back(
        whole_field("training.batch.local", shared, AKO_MEMBER(training.batch.local), 1, 65'536)
            .means("samples per round of one peer (`batch: 64`); with a batch of "
                   "all peers together: at most so many are computed at once")
            .told());
    rows.push_back(whole_field("training.batch.accumulate", Scope::own,
                               AKO_MEMBER(training.batch.accumulate), 1, 65'536)
                       .means("so many parts of a batch are computed one after another and "
                              "their gradients added: the same gradient (but for dropout) "
                              "with the layers' memory of a part, and from 2 on the metrics "
                              "tell its noise; at most local"));
    rows.push_back(whole_or_word_field("training.batch.global_target", shared,
                                       AKO_MEMBER(training.batch.global_target), "none",
                                       global_batch_max)
                       .means("samples per round of all peers together, in equal shares of "
                              "those that are there: the batch stays so when peers come and "
                              "go; none: local of each")
                       .told());
    rows.push_back(choice_field<BatchScheduleKind>("training.batch.schedule.kind", shared,
                                                   AKO_MEMBER(training.batch.schedule.kind),
                                                   {{"constant", BatchScheduleKind::constant},
                                                    {"steps", BatchScheduleKind::steps},
                                                    {"auto", BatchScheduleKind::automatic}})
                       .means("that batch over the run: constant | steps | auto (doubles as "
                              "the gradient noise scale allows; `batch: auto`). Not with "
                              "parameter-server")
                       .shown_as("steps")
                       .told());
    rows.push_back(rising_numbers_field("training.batch.schedule.at", shared,
                                        AKO_MEMBER(training.batch.schedule.at))
                       .means("shares of the run at which it grows", "required with steps")
                       .only_with("training.batch.schedule.kind: steps", batch_grows_in_steps)
                       .shown_as("[0.6, 0.85]"));
    rows.push_back(whole_field("training.batch.schedule.factor", shared,
                               AKO_MEMBER(training.batch.schedule.factor), 2, 1'024)
                       .means("what it is multiplied by at each")
                       .only_with("training.batch.schedule.kind: steps", batch_grows_in_steps));
    rows.push_back(
        choice_field<RateRule>(
            "training.batch.rate_rule", shared, AKO_MEMBER(training.batch.rate_rule),
            {{"linear", RateRule::linear}, {"sqrt", RateRule::sqrt}, {"none", RateRule::none}})
            .means("learning_rate is for local samples of every peer; with another "
                   "batch of all together it is multiplied by their ratio "
                   "(linear), its root (sqrt) or not (none)"));
}

void add_schedule_keys(std::vector<Field>& rows) {
    rows.push_back(choice_field<RateScheduleKind>("training.schedule.kind", shared,
                                                  AKO_MEMBER(training.schedule.kind),
                                                  {{"constant", RateScheduleKind::constant},
                                                   {"cosine", RateScheduleKind::cosine},
                                                   {"steps", RateScheduleKind::steps}})
                       .means("the learning rate over the run: constant | cosine (falls to 0 "
                              "at the end) | steps")
                       .shown_as("steps")
                       .told());
    rows.push_back(number_field("training.schedule.warm_up", shared,
                                AKO_MEMBER(training.schedule.warm_up),
                                {.low = 0, .high = 1, .high_open = true})
                       .means("share of the run over which it rises from 0"));
    rows.push_back(
        rising_numbers_field("training.schedule.at", shared, AKO_MEMBER(training.schedule.at))
            .means("shares of the run at which it falls", "required with steps")
            .only_with("training.schedule.kind: steps", rate_falls_in_steps)
            .shown_as("[0.5, 0.75]"));
    rows.push_back(number_field("training.schedule.factor", shared,
                                AKO_MEMBER(training.schedule.factor),
                                {.low = 0, .high = 1, .low_open = true})
                       .means("what it is multiplied by at each")
                       .only_with("training.schedule.kind: steps", rate_falls_in_steps));
}

void add_optimizer_keys(std::vector<Field>& rows) {
    rows.push_back(
        choice_field<OptimizerKind>("training.optimizer", shared, AKO_MEMBER(training.optimizer),
                                    {{"sgd", OptimizerKind::sgd}, {"lars", OptimizerKind::lars}})
            .means("sgd: with momentum | lars: each layer's step by the size of "
                   "its parameters, for large batches; of a peer's own gradient "
                   "in ako and local-sgd, of the mean in ring; not with "
                   "parameter-server")
            .shown_as("lars")
            .told());
    rows.push_back(number_field("training.trust_coefficient", shared,
                                AKO_MEMBER(training.trust_coefficient),
                                {.low = 0, .high = 1, .low_open = true})
                       .means("a step of rate 1 moves a layer by this share of its size")
                       .only_with("training.optimizer: lars", has_lars));
    rows.push_back(number_field("training.learning_rate", shared,
                                AKO_MEMBER(training.learning_rate),
                                {.low = 0, .high = 100, .low_open = true})
                       .means("choose it for the batch of ONE peer")
                       .told());
    add_schedule_keys(rows);
    rows.push_back(number_field("training.momentum", shared, AKO_MEMBER(training.momentum),
                                {.low = 0, .high = 1, .high_open = true})
                       .means("of the sender's own optimizer")
                       .told());
    rows.push_back(flag_field("training.nesterov", shared, AKO_MEMBER(training.nesterov))
                       .means("true: momentum looks a step ahead (Nesterov's) | false: the "
                              "classical"));
    rows.push_back(number_field("training.weight_decay", shared, AKO_MEMBER(training.weight_decay),
                                {.low = 0, .high = 1})
                       .means("this share of each parameter is added to its gradient")
                       .told());
    rows.push_back(
        number_field("training.clip", shared, AKO_MEMBER(training.clip), {.low = 0, .high = 1e6})
            .means("the gradient of each peer, or the update of its learners or "
                   "its program, is scaled down to this norm (Euclidean, over all "
                   "parameters); 0: it is not"));
    rows.push_back(number_field("training.growth_max", Scope::own, AKO_MEMBER(training.growth_max),
                                {.low = 0, .high = 1e6})
                       .means("a gradient or an update so many times as large as the largest "
                              "before it is refused, and its peer ends (exit 3); 0: none is"));
}

void add_evaluation_keys(std::vector<Field>& rows) {
    rows.push_back(flag_field("training.must_learn", Scope::own, AKO_MEMBER(training.must_learn))
                       .means("true: a run of 100 rounds or more that ends at chance, or "
                              "with a loss far above its first one, exits 8 | false: it has "
                              "finished like any other"));
    rows.push_back(number_field("training.epochs", shared, AKO_MEMBER(training.epochs),
                                {.low = 0, .high = 1e6, .low_open = true})
                       .means("samples of all peers together / size of the data set")
                       .told());
    rows.push_back(optional_number_field("training.target_accuracy", shared,
                                         AKO_MEMBER(training.target_accuracy),
                                         {.low = 0, .high = 1, .low_open = true})
                       .means("stop as soon as an evaluation reaches it: 0.988 is 98.8 %; "
                              "null: never"));
    rows.push_back(number_field("training.evaluate_every", shared,
                                AKO_MEMBER(training.evaluate_every), {.low = 0, .high = 1e6})
                       .means("epochs between two evaluations on the test set; 0: only at "
                              "the end"));
    rows.push_back(choice_field<EvaluateWhen>(
                       "training.evaluate", Scope::own, AKO_MEMBER(training.evaluate),
                       {{"during", EvaluateWhen::during}, {"after", EvaluateWhen::after}})
                       .means("during: one peer evaluates, a slice between its rounds | "
                              "after: it keeps the parameters in a file (their size each "
                              "time), to be evaluated when all is over; takes no time from "
                              "training, and no target_accuracy"));
    // Peers with marks that differ would have none in common.
    rows.push_back(number_or_word_field("training.checkpoint_every", Scope::lockstep,
                                        AKO_MEMBER(training.checkpoint_every),
                                        {.low = 0, .high = 1e6}, "auto", -1)
                       .means("epochs between two checkpoints in the run folder: every peer "
                              "keeps what `--resume` goes on from, the lowest live peer also "
                              "the evaluated anchor (with evaluate: during); 0: none | auto: as "
                              "often as it pays, by what one takes and mtbf_h. The "
                              "same for everyone in ring, local-sgd, sma and "
                              "parameter-server with bsp and co-located servers, where all "
                              "go on from the same"));
    rows.push_back(number_field("training.mtbf_h", Scope::own, AKO_MEMBER(training.mtbf_h),
                                {.low = 0, .high = 1e6, .low_open = true})
                       .means("hours between two faults that end the run, as far as known, for "
                              "checkpoint_every: auto; those of the run itself count as well"));
    rows.push_back(optional_number_field("training.until", Scope::lockstep,
                                         AKO_MEMBER(training.until),
                                         {.low = 0, .high = 1e6, .low_open = true})
                       .means("end after so many of the epochs, with a checkpoint there, which "
                              "`--resume` or `--from` goes on from; null: after all of them"));
}

}  // namespace

void add_training_keys(std::vector<Field>& rows) {
    add_batch_keys(rows);
    add_optimizer_keys(rows);
    add_evaluation_keys(rows);
    rows.push_back(whole_field("training.threads", Scope::own, AKO_MEMBER(training.threads), 1, 256)
                       .means("of each peer for its layers; leave one core's worth to the "
                              "network"));
    // Shared: what others say of their rounds is held against it.
    rows.push_back(whole_or_word_field("training.learners", shared, AKO_MEMBER(training.learners),
                                       "auto", learners_max)
                       .means("ako, sma and local: so many replicas of one peer, each a "
                              "thread with its own small batch (batch.local samples), "
                              "optimizer and memory of the layers, corrected towards their "
                              "average after every round; 2 and more instead of threads | "
                              "auto: as many as bring samples per second, at most as many as "
                              "cores")
                       .told());
    rows.push_back(number_field("training.averaging_momentum", shared,
                                AKO_MEMBER(training.averaging_momentum),
                                {.low = 0, .high = 1, .high_open = true})
                       .means("with 2 learners and more: the average and all of them go on by "
                              "this part of its last change, for rates far below the highest "
                              "that one of them bears"));
}

}  // namespace ako
