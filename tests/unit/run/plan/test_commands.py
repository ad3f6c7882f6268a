"""Tests of targets from the command line: distinct names, words split as in a shell, and errors for mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.errors import UsageError
from httpbench.run.plan.commands import Servers, names_of, path_of, targets_of


@pytest.mark.parametrize(
    ("commands", "names"),
    [
        (["./old --port {port}", "./new --port {port}"], ["old", "new"]),
        (["/x/server {port} level", "/x/server {port} edge"], ["x-server-level", "x-server-edge"]),
        (["./app {port} -q", "./app {port}"], ["app-q", "app"]),
        (["./app {port}", "./app {port}", "./app {port}"], ["app", "app-2", "app-3"]),
        (["./My_Server.bin {port}"], ["my_server"]),
        (["old/server {port}", "new/server {port}"], ["old-server", "new-server"]),
        (["python3 cheats.py {port} first", "python3 cheats.py {port} second"], ["cheats.py-first", "cheats.py-second"]),
        (
            ["python3 -m http.server {port}", "python3 -m http.server --protocol HTTP/1.1 {port}"],
            ["http.server", "http.server-protocol-http-1.1"],
        ),
        (["python3 a/app.py {port}", "python3 b/app.py {port}"], ["a-app.py", "b-app.py"]),
        (["./server.old {port}", "./server.new {port}"], ["server.old", "server.new"]),
    ],
)
def test_names_are_short_and_distinct(commands: list[str], names: list[str]) -> None:
    assert names_of(Servers(commands=commands)) == names


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python3 srv.py {port}", "srv.py"),
        ("./server {port} --threads 4", "server-threads-4"),
        ("cd old && ./server {port}", "old-server"),
        (f"{Path.home()}/app/server {{port}}", "app-server"),
        ("/srv/www/releases/v2/server {port}", "releases-v2-server"),
        ("./server {port} --token=secret-value", "server"),
        (f"./server {{port}} {'x' * 80}", "server-xxxxxxxxxxxxxxxxxxxxxxxxxx-4d353a"),
    ],
)
def test_a_command_has_the_same_name_beside_any_other(command: str, name: str) -> None:
    for others in ([], ["./other {port}"], ["python3 old/srv.py {port}", "python3 srv.py {port} new"]):
        servers = Servers(commands=[*others, command], shell=True, env={"TOKEN": "secret-value"})
        assert names_of(servers)[-1] == name


def test_urls_are_named_after_their_host_and_port() -> None:
    assert names_of(Servers(commands=["./new {port}"], urls=["http://127.0.0.1:8080/x"])) == ["new", "127.0.0.1-8080"]


@given(st.lists(st.text(alphabet="abc/-. ", min_size=1, max_size=12), min_size=1, max_size=6))
def test_all_commands_get_valid_and_distinct_ids(programs: list[str]) -> None:
    asked = Servers(commands=[f"x{program} {{port}}" for program in programs])
    ids = [target.id for target in targets_of(asked)]
    assert len(set(ids)) == len(ids)


def test_words_are_split_as_in_a_shell_but_no_shell_runs() -> None:
    (target,) = targets_of(Servers(commands=["./server --name 'two words' --port {port}"]))
    assert target.run == ("./server", "--name", "two words", "--port", "{port}")
    assert not target.is_declared


@pytest.mark.parametrize(
    ("command", "message", "hint"),
    [
        ("TOKEN=secret ./server {port}", "a command begins with TOKEN=…, which requires a shell", "use --env TOKEN=VALUE, or --shell"),
        (
            "cd x && ./server {port}",
            '"cd x && ./server {port}" uses cd, which requires a shell',
            "with --shell, or name the folder with --cwd",
        ),
        ("./server {port} | tee log", '"./server {port} | tee log" uses |, which requires a shell', "run commands in a shell with --shell"),
        ("./server {port} 2>&1", '"./server {port} 2>&1" uses 2>&1, which requires a shell', "run commands in a shell with --shell"),
    ],
)
def test_a_command_for_a_shell_is_refused_without_one(command: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        targets_of(Servers(commands=(command,)))
    assert raised.value.message == message
    assert hint in str(raised.value.hint)
    assert targets_of(Servers(commands=(command,), shell=True))


@pytest.mark.parametrize("command", ["sh -c 'cd x && ./server {port}'", "./server {port} '|' a=1 --url=x?a=1&b=2"])
def test_quoted_words_and_arguments_are_not_shell_syntax(command: str) -> None:
    assert targets_of(Servers(commands=(command,)))


def test_a_shell_gets_the_command_unchanged() -> None:
    (target,) = targets_of(Servers(commands=["cd x && ./server {port}"], shell=True))
    assert target.run == ("/bin/sh", "-c", "cd x && ./server {port}")


def test_a_port_may_come_from_the_environment_or_be_fixed() -> None:
    assert targets_of(Servers(commands=["./server"], env={"PORT": "{port}"}))
    assert targets_of(Servers(commands=["./server"], port=8080))
    with pytest.raises(UsageError, match=r"has no \{port\}"):
        targets_of(Servers(commands=["./server"]))


def test_a_url_becomes_a_target_that_is_not_started() -> None:
    (target,) = targets_of(Servers(urls=["http://localhost/path"]))
    assert (target.url, target.run) == ("http://localhost:80", ())


@pytest.mark.parametrize("url", ["127.0.0.1:80", "http://", "http://127.0.0.1:99999/", "ftp://x/"])
def test_urls_other_than_http_and_https_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        targets_of(Servers(urls=[url]))


def test_a_unix_socket_becomes_a_target_with_an_absolute_path() -> None:
    for url in ("unix:/run/app.sock", "unix:///run/app.sock"):
        (target,) = targets_of(Servers(urls=[url]))
        assert (target.id, target.url, target.unix_socket) == ("command/unix-run-app.sock", "unix:/run/app.sock", "/run/app.sock")
    (relative,) = targets_of(Servers(urls=["unix:app.sock"]))
    assert relative.unix_socket == str(Path.cwd() / "app.sock")
    with pytest.raises(UsageError, match="--url unix: has no path"):
        targets_of(Servers(urls=["unix:"]))


def test_an_ipv6_address_keeps_its_brackets() -> None:
    (target,) = targets_of(Servers(urls=["http://[::1]:8080/"]))
    assert target.url == "http://[::1]:8080"


def test_a_preparation_applies_to_all_servers_or_to_one_each() -> None:
    commands = ["./a {port}", "./b {port}"]
    assert [target.prepare for target in targets_of(Servers(commands=commands, prepare=["make clean"]))] == [("make", "clean")] * 2
    assert [target.prepare for target in targets_of(Servers(commands=commands, prepare=["one", "two"]))] == [("one",), ("two",)]
    with pytest.raises(UsageError, match="3 --prepare for 2 servers"):
        targets_of(Servers(commands=commands, prepare=["1", "2", "3"]))


def test_the_path_comes_from_the_urls() -> None:
    assert path_of(["unix:/run/app.sock"]) is None
    assert path_of(["http://a/", "http://b/x?y=1"]) == "/x?y=1"
    assert path_of(["http://a", "http://b/"]) is None
    with pytest.raises(UsageError, match="different paths"):
        path_of(["http://a/x", "http://b/y"])
