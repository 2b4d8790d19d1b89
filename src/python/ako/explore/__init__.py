"""`ako explore`: many configurations as one workflow over Dask.

A search is a tree of *stages*. A stage is what trains from one place to the next: named by its
content (what it begins from, its settings, until when), computed once whoever needs it, and kept in
a store. Configurations that agree in their first part share it; a branch that cannot win is stopped
and its data go. The design's page is README.md beside this file.

A program of one's own that is explored asks for its settings and reports its score:

    from ako.explore import trial
    rate = trial.get("learning_rate", 0.05)
    trial.report(epoch, accuracy)
"""

from .program import trial

__all__ = ["trial"]
