"""Routes for the tests of the tables World and Fortune, with one asyncpg pool per process."""

import os
from contextlib import asynccontextmanager
from operator import itemgetter
from random import randint

import asyncpg
from jinja2 import Environment
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

ROWS, ROWS_MAX = 10_000, 500
SELECT_ROW = "SELECT id, randomnumber FROM world WHERE id = $1"
UPDATE_ROW = "UPDATE world SET randomnumber = $2 WHERE id = $1"
ADDED = (0, "Additional fortune added at request time.")
PAGE = Environment(autoescape=True).from_string(
    "<!doctype html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>"
    "{% for id, message in fortunes %}<tr><td>{{ id }}</td><td>{{ message }}</td></tr>{% endfor %}</table></body></html>"
)


@asynccontextmanager
async def opened(app):
    async with asyncpg.create_pool(os.environ["DATABASE_URL"]) as pool:
        app.state.pool = pool
        app.state.cache = {number: value for number, value in await pool.fetch("SELECT id, randomnumber FROM world")}
        yield


def row_count(request, name):
    text = request.query_params.get(name, "")
    return min(max(int(text), 1), ROWS_MAX) if text.isdecimal() else 1


def as_json(row):
    number, value = row
    return {"id": number, "randomNumber": value}


async def read(connection, count):
    """Read random rows, with one query per row."""
    return [await connection.fetchrow(SELECT_ROW, randint(1, ROWS)) for _ in range(count)]


async def db(request):
    return JSONResponse(as_json(await request.app.state.pool.fetchrow(SELECT_ROW, randint(1, ROWS))))


async def queries(request):
    async with request.app.state.pool.acquire() as connection:
        rows = await read(connection, row_count(request, "queries"))
    return JSONResponse([as_json(row) for row in rows])


async def updates(request):
    async with request.app.state.pool.acquire() as connection:
        rows = await read(connection, row_count(request, "queries"))
        # Write the rows in the order of their ids, so that concurrent requests can't deadlock.
        changed = sorted((number, randint(1, ROWS)) for number, _ in rows)
        await connection.executemany(UPDATE_ROW, changed)
    return JSONResponse([as_json(row) for row in changed])


async def fortunes(request):
    found = await request.app.state.pool.fetch("SELECT id, message FROM fortune")
    rows = sorted([ADDED, *map(tuple, found)], key=itemgetter(1))
    return HTMLResponse(PAGE.render(fortunes=rows))


async def cached_queries(request):
    cache = request.app.state.cache
    ids = [randint(1, ROWS) for _ in range(row_count(request, "count"))]
    return JSONResponse([as_json((number, cache[number])) for number in ids])


ROUTES = [
    Route("/db", db),
    Route("/queries", queries),
    Route("/updates", updates),
    Route("/fortunes", fortunes),
    Route("/cached-queries", cached_queries),
]
