#!/usr/bin/env python3
"""What the model's sum for a data-parallel step (src/predict/README.md: computing, and a ring's
exchange that overlaps with it at best) makes of a published example: ResNet-50 on ImageNet, on one
Xeon and on 2,048 Xeon Phi. Every assumption is a constant below, with its source; nothing here was
measured. Standard library."""

from typing import NamedTuple

# The work.
IMAGES = 1_281_167         # ImageNet's training set: Russakovsky et al., 2015 (arXiv:1409.0575)
BATCH = 16_384             # of all machines together: the example's "16K"
MULTIPLY_ADDS = 3.8e9      # forward, an image: He et al., 2015 (arXiv:1512.03385), table 1
PASSES = 3                 # forward, gradient of the inputs, gradient of the parameters
FLOP_PER_MULTIPLY_ADD = 2  # as peaks are counted
PARAMETERS = 25.6e6        # 25,557,032: torchvision's resnet50
PARAMETER_BYTES = 4

# The machines: cores * Hz * floats of two vector units * multiply and add.
FLOP_PER_CYCLE = 2 * 16 * 2      # a core with two units of AVX-512: Intel, both processors
PHI_PEAK = 68 * 1.4e9 * FLOP_PER_CYCLE   # Xeon Phi 7250: You et al. name it; Intel's figures
XEON_CORES = 24                  # "one Xeon" is not told closer; assumed the Platinum 8160, which
XEON_CORE_PEAK = 2.1e9 * FLOP_PER_CYCLE  # the same publication has for AlexNet; Intel's figures
GPU_PEAK = 6.8e12                # Nvidia's M40, float32: Nvidia's figures
# What convolutions sustain of a peak: as the M40 that You et al. compare with, 90 epochs in 14
# days. It is none of the machines that are asked about.
GPU_EPOCHS, GPU_SECONDS = 90, 14 * 86_400

# The links: Omni-Path of such clusters.
LINK_BYTES_PER_S = 100e9 / 8     # Intel Omni-Path 100
GOODPUT = 0.957                  # as src/predict takes it; of TCP, so that it is rather too little
LATENCY_S = 1e-6                 # of a message: Intel's order of magnitude

# What was published, or is handed on.
MONTH_S = 365.25 / 12 * 86_400
PHI_MACHINES, PHI_EPOCHS, PHI_SECONDS = 2048, 90, 20 * 60  # You et al., 2018 (arXiv:1709.05011)
EXAMPLE_EPOCHS, XEON_SECONDS = 100, 26 * MONTH_S           # the example; its source was not found


class Case(NamedTuple):
    name: str
    machines: int
    peak: float  # FLOP/s of a machine
    epochs: int
    published_s: float


CASES = [Case("one Xeon", 1, XEON_CORES * XEON_CORE_PEAK, EXAMPLE_EPOCHS, XEON_SECONDS),
         Case("one core of it", 1, XEON_CORE_PEAK, EXAMPLE_EPOCHS, XEON_SECONDS),
         Case("2,048 Phi", PHI_MACHINES, PHI_PEAK, PHI_EPOCHS, PHI_SECONDS),
         Case("2,048 Phi", PHI_MACHINES, PHI_PEAK, EXAMPLE_EPOCHS, PHI_SECONDS)]


def flop(images):
    return images * MULTIPLY_ADDS * PASSES * FLOP_PER_MULTIPLY_ADD


def sustained_share():
    return flop(IMAGES * GPU_EPOCHS) / GPU_SECONDS / GPU_PEAK


def exchange_s(machines):
    """A ring's all-reduce: 2 (n - 1) messages of M / n bytes each."""
    if machines == 1:
        return 0.0
    part = PARAMETERS * PARAMETER_BYTES / machines
    return 2 * (machines - 1) * (LATENCY_S + part / (LINK_BYTES_PER_S * GOODPUT))


def compute_s(case, share):
    return flop(BATCH / case.machines) / (case.peak * share)


def span(seconds):
    for unit, of_unit in (("months", MONTH_S), ("days", 86_400), ("hours", 3600), ("min", 60)):
        if seconds >= 2 * of_unit:
            return f"{seconds / of_unit:.1f} {unit}"
    return f"{seconds:.0f} s"


def main():
    share = sustained_share()
    print(f"sustained: {share:.1%} of the peak")
    print(f"{'':15} {'epochs':>6} {'compute ms':>11} {'exchange ms':>11} "
          f"{'overlapped':>12} {'one by one':>12} {'published':>12} {'of peak then':>12}")
    for case in CASES:
        steps = case.epochs * IMAGES / BATCH
        compute, exchange = compute_s(case, share), exchange_s(case.machines)
        best, worst = steps * max(compute, exchange), steps * (compute + exchange)
        used = flop(IMAGES * case.epochs) / case.published_s / case.machines / case.peak
        print(f"{case.name:15} {case.epochs:6} {compute * 1e3:11.1f} {exchange * 1e3:11.1f} "
              f"{span(best):>12} {span(worst):>12} {span(case.published_s):>12} {used:12.1%}")
    ratio = XEON_SECONDS / PHI_SECONDS
    print(f"published, one Xeon over {PHI_MACHINES:,} Phi: {ratio:,.0f} times, "
          f"{ratio / PHI_MACHINES:.0f} for each; by peaks "
          f"{PHI_PEAK / (XEON_CORES * XEON_CORE_PEAK):.1f}")


if __name__ == "__main__":
    main()
