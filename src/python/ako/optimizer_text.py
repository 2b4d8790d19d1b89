"""An optimizer in one line, such as "SGD lr=0.1 momentum=0.9", for peers to compare; and whether it
is one of the model.

What differs by the version of torch or by the machine, and does not change what is learned, is
left out: how steps are computed, and options that are None or False.
"""

from __future__ import annotations

import hashlib
from typing import Any, Dict, Optional

from .errors import StartupError

NONE = "none"
BYTES_MAX = 300  # of a value that the library compares; a longer text becomes its digest
UNSEEN = {"params", "param_names", "initial_lr", "foreach", "fused", "capturable",
          "differentiable"}
PLAIN = (bool, int, float, str)


def optimizer_text(optimizer: Optional[Any]) -> str:
    """The class and the options of all groups; learning rates as they are before any schedule."""
    if optimizer is None:
        return NONE
    kind = type(optimizer).__name__
    groups = [_group_text(kind, group) for group in getattr(optimizer, "param_groups", [])]
    if groups and all(text == groups[0] for text in groups):
        options = groups[0] if len(groups) == 1 else f"{groups[0]} groups={len(groups)}"
    else:
        options = " | ".join(groups)
    text = " ".join(f"{kind} {options}".split())
    if len(text.encode()) <= BYTES_MAX:
        return text
    return f"{kind} groups={len(groups)} sha256={hashlib.sha256(text.encode()).hexdigest()}"


def check_optimizer(optimizer: Any, model: Any) -> int:
    """How many tensors this torch optimizer trains that are not of the model; StartupError if it
    trains no parameter of the model."""
    own = {id(value) for group in optimizer.param_groups for value in group["params"]}
    parameters = list(model.parameters())
    if not any(id(value) in own for value in parameters if value.requires_grad):
        raise StartupError(
            "the optimizer trains no parameter of the model",
            "hand in the optimizer that was made of the parameters of this very model, after "
            "whatever replaces them, such as torch.nn.utils.parametrize")
    return len(own - {id(value) for value in parameters})


def _group_text(kind: str, group: Dict[str, Any]) -> str:
    words = []
    for key, value in group.items():
        if key == "lr":
            value = group.get("initial_lr", value)
        # AdamW of newer versions is an Adam with this option, of older ones a class of its own.
        if key in UNSEEN or (key == "decoupled_weight_decay" and kind == "AdamW"):
            continue
        text = _value_text(value)
        if text:
            words.append(f"{key}={text}")
    return " ".join(sorted(words))


def _value_text(value: Any) -> str:
    """Empty for what is off, or is no plain value."""
    if value is None or value is False:
        return ""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a learning rate as tensor
        value = value.item()
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, (tuple, list)):
        texts = [_value_text(it) or repr(it) for it in value]
        return "(" + ", ".join(texts) + ")"
    return ""
