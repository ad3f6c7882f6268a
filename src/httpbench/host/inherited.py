"""The environment variables that programs inherit from the harness: only those that help to find toolchains and the user's files.

Programs don't get any other variables, which may contain tokens, credentials or addresses of internal services. A target declares
additional variables in ``env``, and ``httpbench run --env`` or ``--env-all`` passes them to a command. docs/reliability.md lists the names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2]
"""Folder of the package httpbench."""

EVERYWHERE = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
    *("ASDF_DATA_DIR", "ASDF_DIR", "CARGO_HOME", "DOTNET_ROOT", "GEM_HOME", "GEM_PATH", "GOROOT", "JAVA_HOME", "LD_LIBRARY_PATH"),
    *("MISE_DATA_DIR", "NVM_DIR", "PYENV_ROOT", "PYENV_VERSION", "RBENV_ROOT", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "SDKMAN_DIR"),
)
"""Variables that point to the user's files and to the runtimes of languages."""

PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "http_proxy", "https_proxy", "no_proxy")
CERTIFICATES = (
    *("AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "HEX_CACERTS_PATH", "NIX_SSL_CERT_FILE"),
    *("NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"),
)
REGISTRIES = (
    *("CARGO_NET_OFFLINE", "GOFLAGS", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "HEX_MIRROR", "NPM_CONFIG_REGISTRY"),
    *("PIP_DEFAULT_TIMEOUT", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PUB_HOSTED_URL", "npm_config_registry"),
)
CACHES = (
    *("CRYSTAL_CACHE_DIR", "DOTNET_CLI_HOME", "DPATH", "DUB_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "HEX_HOME", "MAVEN_OPTS", "MIX_HOME"),
    *("NIMBLE_DIR", "NPM_CONFIG_CACHE", "NUGET_PACKAGES", "PIP_CACHE_DIR", "PUB_CACHE", "ZIG_GLOBAL_CACHE_DIR", "npm_config_cache"),
)
COMPILERS = ("CC", "CFLAGS", "CPATH", "CXX", "CXXFLAGS", "LDFLAGS", "LIBRARY_PATH", "PKG_CONFIG_PATH")
OF_THE_SHELL = ("OLDPWD", "PWD", "SHLVL", "_")
"""Variables that describe the user's shell. They would be wrong in another process."""
BUILDS = (*PROXIES, *CERTIFICATES, *REGISTRIES, *CACHES, *COMPILERS)
"""Variables that configure package registries, caches and compilers for a build. The address of a registry may contain a password."""


def own_program(module: str, *words: str) -> tuple[str, ...]:
    """Return the command line that runs ``main`` of one of our modules. It sets the import path, because PYTHONPATH isn't inherited."""
    start = f"import sys; sys.path.insert(0, sys.argv.pop(1)); from {module} import main; main()"
    return (sys.executable, "-c", start, str(PACKAGES), *words)


def for_targets() -> dict[str, str]:
    """Return the variables that every program gets from the harness."""
    return _those_set(EVERYWHERE)


def for_builds() -> dict[str, str]:
    """Return the variables that commands that build targets or print versions get from the harness."""
    return _those_set((*EVERYWHERE, *BUILDS))


def withheld(given: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that a program doesn't get from the harness, except the names in ``given``."""
    passed = {*EVERYWHERE, *OF_THE_SHELL, *given}
    return {name: value for name, value in os.environ.items() if name not in passed}


def _those_set(names: tuple[str, ...]) -> dict[str, str]:
    return {name: os.environ[name] for name in names if name in os.environ}
