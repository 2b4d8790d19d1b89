#!/usr/bin/env python3
"""A worker that trains the transformer on the text: experiments/pytorch-shaped/run.py starts it."""

import torch
from torch.nn import functional

import methods
from text import Text, Windows
from transformer import Transformer

LENGTH, BATCH = 128, 8
DECAY = 0.01


class TextRun(methods.Run):
    rate, warm_up = 1e-3, 0.05

    def __init__(self, options):
        super().__init__(options)
        text = Text()
        self.validation = text.validation
        self.model = Transformer(text.vocabulary, LENGTH)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.rate,
                                           weight_decay=DECAY, betas=(0.9, 0.95))
        together = options.method == "alone"
        self.batches = Windows(text.train if together else
                               text.share(options.worker, options.workers), LENGTH,
                               BATCH * (options.workers if together else 1),
                               [2, options.worker, options.seed])

    def loss(self, model, x, y):
        return functional.cross_entropy(model(x).flatten(0, 1), y.flatten())

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def judge(self):
        """The mean loss of 12 batches of the validation text, in nats of a character."""
        batches = iter(Windows(self.validation, LENGTH, 16, 3))
        losses = [self.loss(self.model, *next(batches)).item() for _ in range(12)]
        return [sum(losses) / len(losses)]


if __name__ == "__main__":
    methods.main(TextRun)
