/* Ako for programs that have a training loop of their own: one peer of a cluster as a library.
 *
 * The program brings a model as one flat vector of float32 and an optimizer; Ako brings the
 * cluster: it connects the peers of a cluster file, exchanges what each has learned while all of
 * them train, and at the end sees to it that all hold the same parameters. `model: external` in
 * the cluster file stands for the program. An example: tests/library/line_fit.c.
 *
 *     ako_open           reads the cluster file; no socket yet
 *     ako_set_layout, ako_set_data, ako_require_equal   what is trained, on how much, and how
 *     ako_start          checks it, listens, and begins to dial
 *     loop:
 *         ako_begin_round  AKO_TRAIN: `parameters` is where to compute the gradient
 *         ..               the program's own forward pass, backward pass and optimizer step
 *         ako_end_round    takes the parameters after that step: what they are more than before
 *                          is what this peer adds
 *     ako_step_finish    AKO_FINISH: until AKO_FINISHED; then all who finished hold the same
 *     ako_close
 *
 * Threads: all calls for one peer come from the thread that called ako_open, but for
 * ako_request_stop and ako_stops_requested, which any thread and any signal handler may call. A
 * thread of the library's own does the networking; it never calls the program. One peer per
 * process.
 *
 * Errors: every call says what came of it by its status. No call ends the process and none
 * throws; but where the system refuses the few bytes that the library's own thread asks for, the
 * process is aborted. A wrong call (of another thread, not in this order, a null where there must
 * be none) gives AKO_WRONG_CALL and changes nothing. ako_message has the sentence, ako_hint what
 * to do about it.
 *
 * Memory: what is handed in is copied before a call returns. Strings that are handed out are
 * valid until the next call for the same peer.
 */
#ifndef AKO_AKO_H
#define AKO_AKO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AKO_EXPORT __attribute__((visibility("default")))
#else
#define AKO_EXPORT
#endif

/* The version of this interface. A library of another version refuses ako_open. Structures have
 * their size as first member, so that later versions may add to their ends. */
#define AKO_API_VERSION 2

typedef struct ako_peer ako_peer;

/* What came of a call. Values of 2 and above are the exit statuses of `ako train`. */
typedef enum ako_status {
    AKO_OK = 0,
    AKO_WRONG_CALL = 1,  /* a bug of the caller: nothing has happened */
    AKO_START_UP = 2,    /* settings, ports, memory, a name that is taken: the peer is over */
    AKO_NUMBERS = 3,     /* a parameter is not finite, the step far beyond what is usual, or this
                            loss the 20th in a row that is not a number: nothing of the round was
                            sent, and the peer makes no more */
    AKO_FAILED = 5       /* the system refused something that is needed: the peer is over */
} ako_status;

/* How a peer shows what it does. Its log file and its metrics are in the run folder in any case. */
typedef enum ako_view {
    AKO_VIEW_LINES = 0, /* lines on standard error: events, and one of progress now and then */
    AKO_VIEW_LIVE = 1,  /* the live table, where standard output and error are a terminal; else
                           lines. It has the terminal and its signals to itself */
    AKO_VIEW_NONE = 2   /* nothing; lines of the log wait for ako_take_log */
} ako_view;

typedef struct ako_options {
    size_t size;      /* sizeof(ako_options) */
    const char *file; /* the cluster file; null only under `ako launch` */
    const char *peer; /* which peer of the file this is; null only under `ako launch` */
    const char *const *overrides; /* "training.epochs=2", as --set takes them */
    size_t override_count;
    const char *output_dir; /* write results here instead of into a new folder; may be null */
    ako_view view;
} ako_options;

/* One named tensor, a run of the flat vector. */
typedef struct ako_tensor {
    const char *name;         /* "conv1.weight": unlike all others */
    const size_t *shape;      /* [dimensions], each above 0 */
    const ptrdiff_t *strides; /* [dimensions] in elements, of a dense tensor in its run; null:
                                 row-major. Files have the row-major order in any case. */
    size_t dimensions;        /* 0: a single number */
} ako_tensor;

typedef enum ako_next {
    AKO_TRAIN = 0, /* make a round */
    AKO_WAIT = 1,  /* the time-out is over: ask again */
    AKO_FINISH = 2, /* training is over: go on with ako_step_finish */
    AKO_GIVE_UP = 3 /* there is nothing to finish, and the peer is over */
} ako_next;

/* Which parameters the run begins with. */
typedef enum ako_initial {
    AKO_INITIAL_SAME = 0,     /* all peers bring the same bits: one that does not is refused */
    AKO_INITIAL_OF_LOWEST = 1 /* those of the first peer of the file; all others, and that one too
                                 when it returns, take them over before their first round */
} ako_initial;

/* How far the final exchange is. */
typedef enum ako_finish {
    AKO_FINISHING = 0,      /* the time-out is over: ask again */
    AKO_FINISHED = 1,       /* over, and `out` has the parameters */
    AKO_FINISHED_WITHOUT = 2 /* over, and `out` is untouched: this peer has left, or what was agreed
                               on is not finite */
} ako_finish;

typedef enum ako_stop {
    AKO_STOP_RUN = 1,  /* all peers stop after their round and agree, as on Ctrl-C */
    AKO_STOP_PEER = 2  /* this peer alone leaves, and the others go on, as on SIGTERM */
} ako_stop;

/* Where the run of a peer stands. */
typedef enum ako_state {
    AKO_STATE_NONE = 0,      /* every call but ako_message, ako_hint and ako_close is refused */
    AKO_STATE_OPENED = 1,    /* before ako_start */
    AKO_STATE_TRAINING = 2,
    AKO_STATE_FINISHING = 3, /* ako_begin_round has said AKO_FINISH */
    AKO_STATE_OVER = 4       /* it has finished, given up, or had AKO_NUMBERS: see ako_report */
} ako_state;

typedef struct ako_standing {
    size_t size;          /* sizeof(ako_standing) */
    uint64_t rounds;      /* made by this peer, earlier processes of its name included */
    uint64_t samples;     /* that it has trained on, likewise */
    double progress;      /* 0 .. 1 of the sample budget, over all peers; never falls */
    double epochs;        /* what 1 stands for: training.epochs of the file */
    uint64_t seed;        /* of the file */
    size_t place;         /* of this peer among those that train, from 0 */
    size_t trainers;      /* how many those are; with data.sharding: own 1, for it shares no data */
    size_t batch;         /* samples of a round: training.batch.local, or of ako_set_data */
    int evaluates;        /* 1: it is this peer whose test results count now */
} ako_standing;

/* "0.1.0 (commit)". */
AKO_EXPORT const char *ako_version(void);

/* Reads the cluster file and becomes the process's one peer. `api_version`: AKO_API_VERSION.
 * `*peer` is set on an error as well, for ako_message and ako_close, but for one of memory or of
 * a null pointer, which leaves null there. AKO_START_UP: what is wrong in the file, or a peer
 * that was not closed. Under `ako launch` the file as it resolved it counts. */
AKO_EXPORT ako_status ako_open(int api_version, const ako_options *options, ako_peer **peer);

/* What the last call has to say, in a sentence, and what to do about it; never null, "" for
 * nothing. */
AKO_EXPORT const char *ako_message(const ako_peer *peer);
AKO_EXPORT const char *ako_hint(const ako_peer *peer);

/* The tensors in the order of the flat vector, without gaps. Peers whose names, shapes or strides
 * differ refuse each other. Once, before ako_start. */
AKO_EXPORT ako_status ako_set_layout(ako_peer *peer, const ako_tensor *tensors, size_t count);
/* `samples`: the size of the data set of all peers together, of which training.epochs counts.
 * `samples_per_round`: what each round of each peer trains on, the same for all; 0: what the file
 * says in training.batch.local, instead of which it counts. Peers with other numbers refuse
 * each other. Once, before ako_start. */
AKO_EXPORT ako_status ako_set_data(ako_peer *peer, uint64_t samples,
                                   uint64_t samples_per_round);
/* What the caller says of its data, such as a hash of labels and samples: printable, 1 to 64 bytes
 * of UTF-8 on one line, the same at all peers. Peers with another one, or none, refuse each other
 * with both. Without it only the numbers of ako_set_data are compared. Once, before ako_start. */
AKO_EXPORT ako_status ako_set_data_digest(ako_peer *peer, const char *digest);
/* What must be the same at all peers besides, such as "optimizer" and "AdamW, weight decay 0.01",
 * or the digest of frozen parameters; one line each. Peers with another value refuse each other
 * by key and both values. Before ako_start. */
AKO_EXPORT ako_status ako_require_equal(ako_peer *peer, const char *key, const char *value);

/* Listens and dials, after it has made the run folder. `initial` is [parameter_count]; all peers
 * say the same in `whose`. AKO_START_UP: a port that is taken, a mode that exchanges gradients, no
 * memory; AKO_INITIAL_OF_LOWEST in another mode than ako and local. */
AKO_EXPORT ako_status ako_start(ako_peer *peer, const float *initial, ako_initial whose);

/* Takes in what has arrived, and waits for at most `timeout_s` where there is something to wait
 * for: the other peers at the start, their rows or the initial parameters, a bound on staleness.
 * AKO_TRAIN: `parameters` [parameter_count] has been filled with the replica. Said again before
 * ako_end_round it does the same: a round that is not ended is none. ako_message says why it is
 * AKO_FINISH or AKO_GIVE_UP. */
AKO_EXPORT ako_status ako_begin_round(ako_peer *peer, double timeout_s, float *parameters,
                                      ako_next *next);
/* `parameters` [parameter_count] are those of ako_begin_round after the caller's own steps,
 * `loss` is the mean loss of what they were made of, null where it is not known. One that is not a
 * number is counted, and else as one that is not known. The round counts as samples_per_round
 * samples. AKO_NUMBERS: see there. */
AKO_EXPORT ako_status ako_end_round(ako_peer *peer, const float *parameters, const float *loss);

/* The anchor into `out` [parameter_count]: the parameters to evaluate and to save. Within a round,
 * and in the modes ako and local also between two; not before the first AKO_TRAIN. */
AKO_EXPORT ako_status ako_copy_anchor(ako_peer *peer, float *out);
/* Any time. AKO_STATE_NONE also from another thread than that of ako_open. */
AKO_EXPORT ako_state ako_get_state(const ako_peer *peer);
/* Any time; before ako_start what follows from the file and from ako_set_data. */
AKO_EXPORT ako_status ako_get_standing(ako_peer *peer, ako_standing *standing);
/* A test result of this peer, accuracy 0 .. 1, made at `progress`: all peers show it, and one that
 * reaches training.target_accuracy ends the run. `loss`: null where it is not known. Between
 * rounds, or within one. */
AKO_EXPORT ako_status ako_announce(ako_peer *peer, double progress, float accuracy,
                                   const float *loss);

/* Asks for the end, which ako_begin_round then says. Any thread and any signal handler. */
AKO_EXPORT void ako_request_stop(ako_peer *peer, ako_stop what);
/* How often that was said; likewise. */
AKO_EXPORT int ako_stops_requested(const ako_peer *peer);

/* After AKO_FINISH: goes on with the final exchange for at most `timeout_s`. With AKO_FINISHED
 * `out` [parameter_count] has what all who finished together hold, and ako_report says with whom,
 * and whether all are the same. */
AKO_EXPORT ako_status ako_step_finish(ako_peer *peer, double timeout_s, float *out,
                                      ako_finish *finish);
/* After that, once: the test result of the final parameters, for the files and the summary. Without
 * it they have none. `loss`: null where it is not known. */
AKO_EXPORT ako_status ako_final_result(ako_peer *peer, float accuracy, const float *loss);

/* What the run came to, JSON as in result-<peer>.json, after ako_step_finish is over or
 * AKO_GIVE_UP; `*json` is null before. "exit" has the status that `ako train` would exit with.
 * The first call writes the result files and ends what is shown of the run. */
AKO_EXPORT ako_status ako_report(ako_peer *peer, const char **json);
/* How it stands now, JSON as a line of metrics-<peer>.jsonl. After ako_start. */
AKO_EXPORT ako_status ako_metrics(ako_peer *peer, const char **json);
/* The folder with the results; "" before ako_start. */
AKO_EXPORT const char *ako_run_folder(const ako_peer *peer);

/* With AKO_VIEW_NONE: the oldest line of the log that was not taken, or null. At most 1,000 are
 * kept, the newest. */
AKO_EXPORT ako_status ako_take_log(ako_peer *peer, const char **line);

/* In a child that fork has made: gives back the sockets that the child has inherited, without a
 * word to the other peers. The peer is of no use there, every call but ako_close is wrong. */
AKO_EXPORT void ako_after_fork(ako_peer *peer);

/* Before ako_close, where the program ends by a failure of its own: what the others are then told
 * of it, such as "ValueError: no such column"; of that one line of 200 bytes at most. The first one
 * stands. */
AKO_EXPORT ako_status ako_fail(ako_peer *peer, const char *why);

/* Ends the peer and frees it; null: nothing. One that trains leaves with a goodbye, in the mode ako
 * after it has handed over what it learned, which takes 5 s at most; then, and if it was finishing,
 * it does not count as one that finished. From another thread than that of ako_open it does
 * nothing. */
AKO_EXPORT void ako_close(ako_peer *peer);

#ifdef __cplusplus
}
#endif

#endif /* AKO_AKO_H */
