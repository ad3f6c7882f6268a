"""Tests that commands are named after their script, not their interpreter."""

from __future__ import annotations

import pytest

from httpbench.run.plan.command_names import named


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python3 cheats.py first {port}", "cheats.py"),
        ("/usr/bin/python3.11 -u -X dev src/app.py {port}", "app.py"),
        ("python -m http.server {port}", "http.server"),
        ("python3 -c 'print(1)' {port}", "python3"),
        ("node --require ./hook.js server.mjs {port}", "server.mjs"),
        ("ruby -I lib app.rb {port}", "app.rb"),
        ("java -Xmx1g -cp lib -jar build/app.jar {port}", "app.jar"),
        ("java -cp classes com.example.Main {port}", "com.example.Main"),
        ("deno run --allow-net main.ts {port}", "main.ts"),
        ("deno serve --port {port} main.ts", "main.ts"),
        ("bun run index.ts {port}", "index.ts"),
        ("php -S 127.0.0.1:{port} -t public router.php", "router.php"),
        ("php -S 127.0.0.1:{port}", "php"),
        ("perl -Ilib app.pl {port}", "app.pl"),
        ("sh serve.sh {port}", "serve.sh"),
        ("env A=1 ./server {port}", "server"),
        ("cd x && A=1 exec ./server {port}", "server"),
        ("nginx -p 'a b' {port}", "nginx"),
        ("'unclosed {port}", "'unclosed"),
        ("", "server"),
    ],
)
def test_a_command_is_named_after_its_script(command: str, name: str) -> None:
    assert named(command).name == name
