/* An example of Ako as a library, in C: a line is fitted to points by every peer of a cluster, each
 * on points of its own and with an optimizer of its own (SGD with momentum).
 *
 *     line_fit cluster.yaml PEER      or, all peers at once:
 *     ako launch cluster.yaml -- line_fit
 *
 * Prints the line that all peers agreed on. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "ako/ako.h"

enum { batch = 64, dimensions = 1000, count = dimensions + 1 };
static const size_t samples = 4096;

static float truth(int k) { return (float)(k % 7) / 3 - 1; } /* weights, the last is the offset */

static float uniform(unsigned *state) { /* -1 .. 1, the same everywhere */
    *state = *state * 1664525U + 1013904223U;
    return (float)(*state >> 8) / 8388608.0F - 1.0F;
}

/* One step on a batch of this peer's points; returns the batch's mean squared error. */
static float step(float *parameters, float *velocity, unsigned *state) {
    float gradient[count] = {0};
    float loss = 0;
    for (int item = 0; item < batch; ++item) {
        float x[count], error = 0;
        for (int k = 0; k < count; ++k) {
            x[k] = k < dimensions ? uniform(state) : 1.0F;
            error += (parameters[k] - truth(k)) * x[k];
        }
        loss += error * error / batch;
        for (int k = 0; k < count; ++k) gradient[k] += 2 * error * x[k] / batch;
    }
    for (int k = 0; k < count; ++k) {
        velocity[k] = 0.9F * velocity[k] + gradient[k];
        parameters[k] -= 0.001F * velocity[k];
    }
    return loss;
}

static ako_peer *volatile peer = NULL; /* a signal handler gets no argument of ours */

static void on_signal(int number) {
    ako_request_stop(peer, number == SIGTERM ? AKO_STOP_PEER : AKO_STOP_RUN);
}

static int fail(void) {
    fprintf(stderr, "line_fit: %s\n          %s\n", ako_message(peer), ako_hint(peer));
    ako_close(peer);
    return 2;
}

int main(int words, char **word) {
    ako_options options = {.size = sizeof options};
    if (words > 2) {
        options.file = word[1];
        options.peer = word[2];
    }
    ako_peer *opened = NULL;
    const ako_status status = ako_open(AKO_API_VERSION, &options, &opened);
    peer = opened;
    if (status != AKO_OK) return fail();

    const size_t shape[] = {dimensions};
    const ako_tensor tensors[] = {{"line.weight", shape, NULL, 1}, {"line.offset", NULL, NULL, 0}};
    float parameters[count] = {0}, velocity[count] = {0};
    if (ako_set_layout(peer, tensors, 2) != AKO_OK || ako_set_data(peer, samples, batch) != AKO_OK ||
        ako_require_equal(peer, "optimizer", "SGD, momentum 0.9") != AKO_OK ||
        ako_start(peer, parameters, AKO_INITIAL_SAME) != AKO_OK)
        return fail();

    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    ako_standing standing = {.size = sizeof standing};
    if (ako_get_standing(peer, &standing) != AKO_OK) return fail();
    unsigned points = 1 + (unsigned)standing.place;
    for (;;) {
        ako_next next = AKO_WAIT;
        while (next == AKO_WAIT)
            if (ako_begin_round(peer, 1.0, parameters, &next) != AKO_OK) return fail();
        if (next == AKO_GIVE_UP) return fail();
        if (next == AKO_FINISH) break;
        const float loss = step(parameters, velocity, &points);
        if (ako_end_round(peer, parameters, &loss) != AKO_OK) return fail();
    }

    ako_finish finish = AKO_FINISHING;
    while (finish == AKO_FINISHING)
        if (ako_step_finish(peer, 1.0, parameters, &finish) != AKO_OK) return fail();
    float worst = 0;
    for (int k = 0; k < count; ++k) worst = fmaxf(worst, fabsf(parameters[k] - truth(k)));
    if (finish == AKO_FINISHED) ako_final_result(peer, worst < 0.01F ? 1.0F : 0.0F, NULL);

    const char *report = NULL;
    if (ako_report(peer, &report) != AKO_OK || report == NULL) return fail();
    printf("%s\n", report);
    const int asked = ako_stops_requested(peer) > 0; /* and then it may have come to nothing */
    peer = NULL;
    ako_close(opened);
    return asked || worst < 0.01F ? 0 : 1;
}
