"""The picture of a terminal at the beginning of the README: a comparison of two servers, drawn from a real run.

``python -m tools.first_screen`` compiles a server whose cost per request is known, measures two versions of it, and writes the picture. The
new version does an eighth more work for each request.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURE = Path("docs/images/first-screen.svg")
SOURCE = Path("benchmarks/interleaving/server.c")
WORK = {"old": 8_000, "new": 9_000}
"""Steps of the server's loop for each request, by version."""
COMMAND = ("httpbench", "run", "./old {port}", "./new {port}", "--fail-if", "rps<-3%")
WIDTH = 80
"""Width of the terminal, in characters."""
LIMIT_S = 300

THEME = TerminalTheme(
    background=(22, 27, 34),
    foreground=(230, 237, 243),
    normal=[(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)],
)

# Rich's own format loads a font from another host.
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{unique_id}-title">
<title id="{unique_id}-title">A terminal that shows a comparison of two servers by httpbench</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>
<g transform="translate({terminal_x}, 24)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> int:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run(["cc", "-O2", "-o", place / "server", SOURCE], check=True)
        for name, steps in WORK.items():
            program = place / name
            program.write_text(f'#!/bin/sh\nexec ./server 127.0.0.1 "$1" {steps} 0\n')
            program.chmod(0o755)
        env = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "XDG_DATA_HOME": folder}
        argv = [str(Path(sys.executable).parent / COMMAND[0]), *COMMAND[1:], "--quiet"]
        done = subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, timeout=LIMIT_S)
    if "BREACHED" not in done.stdout:
        print(f"The picture is unchanged, because the run found no difference:\n{done.stdout}{done.stderr}", file=sys.stderr)
        return 1
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(f"$ {shlex.join(COMMAND)}\n{done.stdout}"), encoding="utf-8")
    print(PICTURE)
    return 0


def drawn(output: str) -> str:
    """Return an SVG picture of a terminal with this output, whose colors are ANSI sequences."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(output.rstrip()))
    return console.export_svg(theme=THEME, code_format=FORMAT, unique_id="terminal", font_aspect_ratio=0.6)


if __name__ == "__main__":
    sys.exit(main())
