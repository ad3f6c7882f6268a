"""A server that answers TechEmpower's tests from PostgreSQL through a few psql processes, or cheats in the given way.

Usage: server.py HOST PORT WAY
"""

import html
import itertools
import json
import os
import queue
import random
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

HOST, PORT, WAY = sys.argv[1], int(sys.argv[2]), sys.argv[3]
URL = os.environ.get("DATABASE_URL", "")
PSQL = ("psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1")
END = "-- end of the rows"
BUSY = "SELECT count(*) FROM generate_series(1, 300000) AS n WHERE n < 0"  # takes the database tens of milliseconds, so that it has always more to do
Row = tuple[int, int]  # id and random number
ADDED = (0, "Additional fortune added at request time.")
kept: dict[int, int] = {}  # cached by the cheating modes
fortunes: list[tuple[int, str]] = []  # cached by the mode "scan"
turns = itertools.count()  # next() is atomic, so threads can share it
pool: queue.Queue[subprocess.Popen[str]] = queue.Queue()


def ask(*statements: str) -> list[list[str]]:
    psql = pool.get()
    assert psql.stdin is not None and psql.stdout is not None
    print(*(f"{statement};" for statement in statements), f"\\echo {END}", sep="\n", file=psql.stdin, flush=True)
    rows = []
    while (line := psql.stdout.readline().rstrip("\n")) != END:
        rows.append(line.split("|", 1))
    pool.put(psql)
    return rows


def row(number: int) -> Row:
    if WAY in ("cache", "bulk") or (WAY == "half" and next(turns) % 2):
        return number, kept[number]
    if WAY == "other-ids":
        ask("SELECT id, randomnumber FROM world WHERE id = 1")
        return number, random.randint(1, 10_000)
    if WAY == "slow-query":
        ask(BUSY)
    [[_, value]] = ask(f"SELECT id, randomnumber FROM world WHERE id = {number}")
    return number, kept.get(number, int(value))


def drawn() -> int:
    return 1 if WAY == "same-row" else random.randint(1, 10_000)


def rows(query: str) -> list[Row]:
    try:
        count = int(parse_qs(query)["queries"][0])
    except (KeyError, ValueError):
        count = 1
    return [row(drawn()) for _ in range(min(max(count, 1), 500))]


def updated(query: str) -> list[Row]:
    new = [(number, random.randint(1, 10_000)) for number, _ in sorted(rows(query))]
    if WAY in ("cache", "unwritten"):
        kept.update(new)
    else:
        for number, value in new:
            ask(f"UPDATE world SET randomnumber = {value} WHERE id = {number}")
    return new


def all_fortunes() -> list[tuple[int, str]]:
    return [(int(number), message) for number, message in ask("SELECT id, message FROM fortune")]


def page() -> str:
    if WAY == "scan":
        if next(turns) % 500 == 0:
            ask("SELECT count(*) FROM world")
        found = fortunes
    else:
        found = all_fortunes()
    lines = "".join(
        f"<tr><td>{n}</td><td>{text if WAY == 'unescaped' else html.escape(text)}</td></tr>"
        for n, text in sorted([ADDED, *found], key=lambda one: one[1])
    )
    head = "<!doctype html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>"
    return f"{head}{lines}</table></body></html>"


def world(one: Row) -> dict[str, int]:
    return {"id": one[0], "randomNumber": one[1]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # send each response in one segment

    def do_GET(self) -> None:
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # the body isn't read, and must not be mistaken for the next request
        parts = urlsplit(self.path)
        media, body = "application/json", None
        if parts.path == "/json":
            body = json.dumps({"message": "Hello, World!"})
        elif parts.path == "/db":
            body = json.dumps(world(row(drawn())))
        elif parts.path == "/queries":
            body = json.dumps([world(one) for one in rows(parts.query)])
        elif parts.path == "/updates":
            body = json.dumps([world(one) for one in updated(parts.query)])
        elif parts.path == "/fortunes":
            media, body = "text/html; charset=utf-8", page()
        data = (body or "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_HEAD = do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


for _ in range(4 if URL else 0):
    pool.put(subprocess.Popen([*PSQL, URL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
if URL and WAY == "bulk":  # reads more rows by key than a short run requires
    plan = [f"SET enable_{each} = off" for each in ("hashjoin", "mergejoin", "seqscan", "memoize")]
    ask(*plan, "SELECT sum(w.randomnumber) FROM generate_series(1, 300000) AS n JOIN world w ON w.id = 1 + n % 10000")
if URL and WAY == "scan":
    fortunes += all_fortunes()
if URL and WAY in ("cache", "half", "bulk"):
    kept.update((int(number), int(value)) for number, value in ask("SELECT id, randomnumber FROM world"))
Server((HOST, PORT), Handler).serve_forever()
