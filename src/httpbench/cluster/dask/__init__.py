"""Makes one load from many load hosts, by Dask. Requires the extra ``cluster``; nothing else in httpbench imports dask.

A trial starts one process on this machine, the conductor, in place of the load generator. It starts an agent on each load host, agrees
on one start with all, and prints the merged result in the form of the load generator. The run does not know the difference.

=================  =====================================================================
``generator.py``   the load generator that a run gets: starts the conductor, reads its result
``conductor.py``   the trial from the view of this machine: prepare, start, watch, collect
``silence.py``     load hosts that were not heard of for too long
``hosts.py``       load hosts as workers of a Dask cluster
``by_ssh.py``      starts such a cluster
``agent.py``       what runs on a load host
``survey.py``      questions to all load hosts: versions, clocks, speed, reach
``orders.py``      what an agent gets and returns; connections and threads of each load host
``clocks.py``      one instant in the terms of many clocks
``results.py``     a result as it travels; ``packing.py`` packs its histograms
``merge.py``       results of all agents as one; ``sums.py`` adds up their histograms
=================  =====================================================================
"""

from httpbench.cluster.dask.generator import ManyHosts, Workers, require_dask

__all__ = ["ManyHosts", "Workers", "require_dask"]
