#!/usr/bin/env python3
"""A worker that trains the transformer on the text: experiments/pytorch-shaped/run.py starts it."""

import torch

import methods
from language import BATCH, BETAS, DECAY, LENGTH, LanguageRun
from text import Text, Windows
from transformer import Transformer


class TextRun(LanguageRun):
    rate, warm_up = 1e-3, 0.05

    def __init__(self, options):
        super().__init__(options)
        text = Text()
        self.validation = text.validation
        self.model = Transformer(text.vocabulary, LENGTH)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.rate,
                                           weight_decay=DECAY, betas=BETAS)
        together = options.method == "alone"
        self.batches = Windows(text.train if together else
                               text.share(options.worker, options.workers), LENGTH,
                               BATCH * (options.workers if together else 1),
                               [2, options.worker, options.seed])


if __name__ == "__main__":
    methods.main(TextRun)
