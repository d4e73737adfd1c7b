"""A gRPC service of bytes, one method for each kind of call. Prints its port, then a line for each call that a client cancelled."""
import sys
import time
from concurrent import futures

import grpc


def unary(request, context):
    """Gives back what came, and the client's metadata as its own."""
    sent = [(key, value) for key, value in context.invocation_metadata() if key in ("x-tenant", "x-blob-bin")]
    context.send_initial_metadata(sent)
    context.set_trailing_metadata([("x-length", str(len(request)))])
    return request


def server_stream(request, _context):
    for _ in range(int(request)):
        yield b"x" * 1000


def client_stream(requests, _context):
    return str(sum(len(request) for request in requests)).encode()


def both(requests, _context):
    for request in requests:
        yield request.upper()


def fail(_request, context):
    context.set_trailing_metadata([("x-reason-bin", b"\x00\xff\x01")])
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not now: \u00e4, 100 %")


def wait(_request, context):
    """Never answers; says when nobody waits any more, and with which deadline the call came."""
    if ("x-begin", "1") in context.invocation_metadata():
        context.send_initial_metadata(())
    remaining = context.time_remaining()
    while context.is_active():
        time.sleep(0.01)
    print("cancelled", "none" if remaining is None or remaining > 1e9 else round(remaining, 1), flush=True)
    return b""


def handlers():
    return {
        "Unary": grpc.unary_unary_rpc_method_handler(unary),
        "ServerStream": grpc.unary_stream_rpc_method_handler(server_stream),
        "ClientStream": grpc.stream_unary_rpc_method_handler(client_stream),
        "Both": grpc.stream_stream_rpc_method_handler(both),
        "Fail": grpc.unary_unary_rpc_method_handler(fail),
        "Wait": grpc.unary_unary_rpc_method_handler(wait),
    }


def main():
    options = [("grpc.max_receive_message_length", 32 << 20), ("grpc.max_send_message_length", 32 << 20)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16), options=options)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("echo.Echo", handlers()),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
    server.stop(0)


main()
