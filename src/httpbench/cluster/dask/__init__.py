"""One load from many load hosts, coordinated by Dask. Requires the extra ``cluster``; nothing else in httpbench imports dask.

Instead of a load generator, a trial starts one process on this machine: the conductor. It starts an agent on each load host, schedules
a common start, and prints the merged result in the format of the load generator. The run doesn't notice the difference.

=================  =====================================================================
``generator.py``   the load generator that a run gets: starts the conductor, reads its result
``conductor.py``   one trial, from this machine: prepare, start, watch, collect
``hosts.py``       load hosts as workers of a Dask cluster
``by_ssh.py``      starts such a cluster by ssh
``agent.py``       the part that runs on a load host
``survey.py``      questions to all load hosts: versions, clocks, speed, reach
``orders.py``      input and output of an agent; connections and threads of each load host
``results.py``     a result in transit, with packed histograms
``merge.py``       merges the results of all agents
=================  =====================================================================
"""

from httpbench.cluster.dask.generator import ManyHosts, Workers, require_dask

__all__ = ["ManyHosts", "Workers", "require_dask"]
