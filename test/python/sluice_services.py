"""Authorization and external processing in Sluice's own protocols, on stubs that gRPC's compiler makes of their
descriptions. What they do is asked for in the header x-want of each request. Prints two ports: of a service that keeps a
stream for its exchange, and of one that ends it after each answer."""
import sys
import tempfile
from concurrent import futures

import grpc
from grpc_tools import protoc
from misbehaviour import misbehave

made = tempfile.TemporaryDirectory()
files = [f"{sys.argv[1]}/{name}.proto" for name in ("extauthz", "extproc")]
if protoc.main(["", f"-I{sys.argv[1]}", f"--python_out={made.name}", f"--grpc_python_out={made.name}", *files]) != 0:
    sys.exit("the descriptions cannot be compiled")
sys.path.insert(0, made.name)
import extauthz_pb2 as auth
import extauthz_pb2_grpc
import extproc_pb2 as proc
import extproc_pb2_grpc

made.cleanup()


def first(headers, key):
    return next((pair.value for pair in headers if pair.key == key), "")


class Authorizer(extauthz_pb2_grpc.AuthorizerServicer):
    def Check(self, request, context):
        want = first(request.headers, "x-want")
        misbehave(want, context)
        pair = auth.HeaderPair
        if want == "huge":
            return auth.CheckResponse(denied_status=403, denied_body=b"x" * 100_000_000)
        if want == "deny":
            headers = [pair(key="x-reason", value="no badge")]
            return auth.CheckResponse(denied_status=401, headers=headers, denied_body=b"who are you?")
        if want == "bare":
            return auth.CheckResponse()
        seen = f"{request.method} {request.path} {request.body.decode()}"
        return auth.CheckResponse(allowed=True, headers=[pair(key="x-user", value="ada"), pair(key="x-seen", value=seen)])


class Processor(extproc_pb2_grpc.ProcessorServicer):
    def __init__(self, once):
        self.once = once

    def Process(self, requests, context):
        want = ""
        pieces = []
        for request in requests:
            phase = request.WhichOneof("phase")
            if phase == "request_headers":
                want = first(request.request_headers.headers, "x-want")
            if "at-response" not in want or phase.startswith("response"):
                misbehave(want.removesuffix("-at-response"), context)
            if phase.endswith("body"):
                pieces.append(getattr(request, phase).body)
            yield self.answer(phase, want, pieces)
            if phase.endswith("body") and getattr(request, phase).end_of_stream:
                pieces = []
            if self.once:
                return

    def answer(self, phase, want, pieces):
        pair = proc.HeaderPair
        if want == "lie":
            other = "response_headers" if phase == "request_headers" else "request_headers"
            return proc.ProcessingResponse(**{other: proc.HeadersAction(set_headers=[pair(key="x-lie", value="1")])})
        if want == "empty":
            return proc.ProcessingResponse()
        if want == "huge":
            return proc.ProcessingResponse(request_headers=proc.HeadersAction(replace_body=b"x" * 100_000_000, status=1))
        if want == "reject":
            reject = proc.RejectRequest(status=429, headers=[pair(key="x-wait", value="9")], body=b"slow down")
            return proc.ProcessingResponse(reject=reject)
        if phase == "request_headers":
            action = proc.HeadersAction(set_headers=[pair(key="x-processed", value="yes")], remove_headers=["x-secret"])
            if want == "replace":
                action.status = proc.CONTINUE_AND_REPLACE
                action.replace_body = b"in place"
            return proc.ProcessingResponse(request_headers=action)
        if phase == "response_headers":
            action = proc.HeadersAction(set_headers=[pair(key="x-answered", value="yes")], remove_headers=["x-inner"])
            return proc.ProcessingResponse(response_headers=action)
        return proc.ProcessingResponse(**{phase: proc.BodyAction(replace_body=b"".join(pieces).upper())})


def serve(port, once=False):
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=options)
    extauthz_pb2_grpc.add_AuthorizerServicer_to_server(Authorizer(), server)
    extproc_pb2_grpc.add_ProcessorServicer_to_server(Processor(once), server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound


def main():
    (server, port), (other, once) = serve(sys.argv[2] if len(sys.argv) > 2 else 0), serve(0, once=True)
    print(f"{port} {once}", flush=True)
    sys.stdin.read()
    server.stop(0)
    other.stop(0)


main()
