"""Names of machines for paths and headings."""

from __future__ import annotations

import re

from httpbench.model import Environment

_NOISE = re.compile(r"\((?:r|tm|c)\)|@.*|\b(?:cpu|processor|\d+-core)\b")
"""Pattern for the parts of a processor's name (in lowercase) that carry no information."""

NAME_MAX = 60
"""Maximum length of a processor's name within a path."""


def machine_name(environment: Environment) -> str:
    """Return the name of a machine for paths, such as ``intel-xeon-2-cpus-kvm``. All runs on the machine get the same name."""
    words = re.findall(r"[a-z0-9]+", _NOISE.sub(" ", environment.cpu_model.lower()))
    model = "-".join(words)[:NAME_MAX].strip("-") or "unknown"
    hypervisor = re.findall(r"[a-z0-9]+", (environment.virtualization or "").lower())
    return "-".join([model, str(len(environment.cpus_allowed)), "cpus", *hypervisor])


def machine_title(environment: Environment) -> str:
    """Describe a machine, as in ``Intel(R) Xeon(R) Processor, 2 CPUs, virtual machine (kvm), Debian 12, kernel 6.18``."""
    count = len(environment.cpus_allowed)
    virtual = [f"virtual machine ({environment.virtualization})"] if environment.virtualization else []
    cpus = f"{count} CPU{'' if count == 1 else 's'}"
    return ", ".join([environment.cpu_model, cpus, *virtual, environment.os, f"kernel {environment.kernel}"])
