"""A Starlette application. uvicorn adds Server and Date. If DATABASE_URL is set, there are also routes for the database tests."""

import os

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def hello(request):
    return Response(b"Hello, World!", media_type="text/plain")


async def message(request):
    return JSONResponse({"message": "Hello, World!"})


ROUTES = [Route("/", hello), Route("/json", message)]

if "DATABASE_URL" in os.environ:
    import tables

    app = Starlette(routes=[*ROUTES, *tables.ROUTES], lifespan=tables.opened)
else:
    app = Starlette(routes=ROUTES)
