"""An application behind the proxy: a real server on loopback that returns the request it got."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from zoe_api.apps.sockets import MESSAGE_BYTES_MAX


async def echo(request: Request) -> Response:
    body = await request.body()
    headers = [[name, value] for name, value in request.headers.items()]
    target = request.scope["raw_path"].decode() + "?" + request.scope["query_string"].decode()
    told = {"method": request.method, "target": target, "headers": headers, "size": len(body)}
    return JSONResponse(told, headers={"X-Application": "yes"})


async def cookies(_: Request) -> Response:
    answer = Response("set")
    answer.headers.append("Set-Cookie", "mine=1; Domain=apps.localhost; Path=/; HttpOnly")
    answer.headers.append("Set-Cookie", "zoe-app=stolen; Path=/")
    answer.raw_headers.append((b"set-cookie", b"blank=1\t; Domain=x"))
    return answer


async def away(request: Request) -> Response:
    return RedirectResponse(f"http://{request.headers['host']}/echo?from=here")


async def doubled(request: Request) -> Response:
    """Redirect to a path of its own that reads like another host."""
    answer = Response(status_code=302)
    answer.raw_headers.append((b"location", f"http://{request.headers['host']}{request.query_params['to']}".encode()))
    return answer


async def redirect(request: Request) -> Response:
    """Redirect to the requested target, unchanged."""
    answer = Response(status_code=302)
    answer.raw_headers.append((b"location", request.query_params["to"].encode()))
    return answer


async def elsewhere(_: Request) -> Response:
    return RedirectResponse("https://elsewhere.example/")


async def nowhere(_: Request) -> Response:
    return Response(status_code=302, headers={"Location": "http://["})


async def named(_: Request) -> Response:
    answer = Response("x")
    answer.raw_headers.append((b"content-disposition", 'attachment; filename="\u65e5\u672c.txt"'.encode()))
    return answer


async def slowly(_: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        await asyncio.sleep(30)
        yield b"last"

    return StreamingResponse(pieces())


async def hangs(request: Request) -> Response:
    """Answer after the client has left, and count that."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    request.app.state.left = getattr(request.app.state, "left", 0) + 1
    return Response()


async def talk(socket: WebSocket) -> None:
    await socket.accept(subprotocol=(socket.scope["subprotocols"] or [None])[0])
    await socket.send_text(f"{socket.headers['origin']} {socket.headers['host']} {socket.headers.get('cookie')}")
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if message.get("text") == "end":
                await socket.close(4001, "as asked")
                return
            if message.get("text") == "much":
                await socket.send_bytes(bytes(MESSAGE_BYTES_MAX + 1))
                continue
            if message.get("text") == "who":
                await socket.send_text(socket.headers.get("authorization", ""))
                continue
            text = message.get("text")
            await (socket.send_bytes(message["bytes"]) if text is None else socket.send_text(text))
    except WebSocketDisconnect:
        return


EVERY = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
application = Starlette(
    routes=[
        Route("/cookies", cookies),
        Route("/away", away),
        Route("/doubled", doubled),
        Route("/redirect", redirect),
        Route("/elsewhere", elsewhere),
        Route("/nowhere", nowhere),
        Route("/named", named),
        Route("/slowly", slowly),
        Route("/hangs", hangs, methods=["GET", "POST"]),
        WebSocketRoute("/talk", talk),
        Route("/{path:path}", echo, methods=EVERY),
    ]
)
