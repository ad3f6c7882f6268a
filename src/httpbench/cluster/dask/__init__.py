"""Generate one load from many load hosts, coordinated by Dask. Requires the extra ``cluster``. No other part of httpbench imports dask.

Instead of a load generator, a trial starts one process on this machine: the conductor. It starts an agent on each load host, schedules
a common start, and prints the merged result in the format of the load generator. The rest of httpbench sees only a load generator.

=================  =====================================================================
``generator.py``   the load generator of a run, which starts the conductor and reads its result
``conductor.py``   prepares, starts and watches one trial from this machine, and collects its results
``hosts.py``       load hosts as workers of a Dask cluster
``by_ssh.py``      starts a Dask cluster on load hosts by ssh
``node.py``        the scheduler or a worker of such a cluster
``credentials.py`` certificates of a cluster, and which clusters must have some
``security.py``    the form in which Dask takes them
``agent.py``       the part that runs on a load host
``survey.py``      asks all load hosts for versions, clocks and speed, and whether they reach this machine
``orders.py``      input and output of an agent, and the connections and threads of each load host
``results.py``     a result on its way from a load host, with packed histograms
``merge.py``       merges the results of all agents
=================  =====================================================================
"""

from httpbench.cluster.dask.credentials import Scheduler
from httpbench.cluster.dask.generator import ManyHosts, Workers, require_dask

__all__ = ["ManyHosts", "Scheduler", "Workers", "require_dask"]
