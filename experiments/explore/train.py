#!/usr/bin/env python3
"""A PyTorch program that is explored: three lines say what is chosen, and how good it is."""

import torch
from ako.explore import trial  # the first

torch.manual_seed(1)
x = torch.randn(4_000, 20)
y = (x[:, :10].sum(1) * x[:, 10] > 0).long()
train, held_back = slice(0, 3_200), slice(3_200, None)
model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=trial.get("learning_rate", 1e-3))  # the second

for epoch in range(1, 21):
    for batch in torch.randperm(3_200).split(64):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[train][batch]), y[train][batch]).backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(x[held_back]).argmax(1) == y[held_back]).float().mean().item()
    trial.report(epoch, accuracy)  # the third
