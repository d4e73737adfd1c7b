"""Authorization and external processing as written for Envoy, on its own descriptions. What they do is asked for in the
header x-want of each request. Prints its port."""
import sys
from concurrent import futures

import grpc
from envoy.config.core.v3 import base_pb2
from envoy.extensions.filters.http.ext_proc.v3 import processing_mode_pb2
from envoy.service.auth.v3 import external_auth_pb2 as auth
from envoy.service.auth.v3 import external_auth_pb2_grpc
from envoy.service.ext_proc.v3 import external_processor_pb2 as proc
from envoy.service.ext_proc.v3 import external_processor_pb2_grpc
from envoy.type.v3 import http_status_pb2
from google.protobuf import struct_pb2, wrappers_pb2
from google.rpc import code_pb2, status_pb2
from misbehaviour import misbehave

Append = base_pb2.HeaderValueOption


def option(key, value, action=Append.OVERWRITE_IF_EXISTS_OR_ADD):
    header = base_pb2.HeaderValue(key=key, raw_value=value.encode())
    return base_pb2.HeaderValueOption(header=header, append_action=action)


def plain(key, value, append=None):
    """As older services say it: the value as text, and whether it is appended in place of an action."""
    joins = None if append is None else wrappers_pb2.BoolValue(value=append)
    return base_pb2.HeaderValueOption(header=base_pb2.HeaderValue(key=key, value=value), append=joins)


class Authorization(external_auth_pb2_grpc.AuthorizationServicer):
    def Check(self, request, context):
        http = request.attributes.request.http
        want = http.headers.get("x-want", "")
        misbehave(want, context)
        if want == "huge":
            denied = auth.DeniedHttpResponse(body="x" * 100_000_000)
            return auth.CheckResponse(status=status_pb2.Status(code=code_pb2.PERMISSION_DENIED), denied_response=denied)
        if want == "error":
            failed = auth.DeniedHttpResponse(status=http_status_pb2.HttpStatus(code=503), body="later")
            return auth.CheckResponse(status=status_pb2.Status(code=code_pb2.UNAVAILABLE), error_response=failed)
        if want == "deny":
            denied = auth.DeniedHttpResponse(
                status=http_status_pb2.HttpStatus(code=http_status_pb2.Unauthorized),
                headers=[plain("x-reason", "no badge"), plain("location", "/login")],
                body="who are you?",
            )
            return auth.CheckResponse(status=status_pb2.Status(code=code_pb2.UNAUTHENTICATED), denied_response=denied)
        if want == "bare":
            return auth.CheckResponse(status=status_pb2.Status(code=code_pb2.PERMISSION_DENIED))
        seen = f"{http.method} {http.path} {http.host} {http.scheme} {http.protocol} {http.size} {http.body or http.raw_body.decode()}"
        ok = auth.OkHttpResponse(
            headers=[
                plain("x-user", "ada"),
                option("x-seen", seen),
                plain("x-list", "b", append=True),
                plain("x-set", "b", append=False),
                option("x-kept", "b", Append.ADD_IF_ABSENT),
                option("x-absent", "b", Append.OVERWRITE_IF_EXISTS),
                option("x-source", request.attributes.source.address.socket_address.address),
            ],
            headers_to_remove=["x-secret"],
            response_headers_to_add=[option("x-checked", "yes")],
            query_parameters_to_set=[base_pb2.QueryParameter(key="by", value="authz")],
            query_parameters_to_remove=["token"],
        )
        metadata = struct_pb2.Struct()
        metadata.update({"role": "admin"})
        return auth.CheckResponse(status=status_pb2.Status(code=code_pb2.OK), ok_response=ok, dynamic_metadata=metadata)


def common(**fields):
    return proc.CommonResponse(**fields)


def mutation(*options, remove=()):
    return proc.HeaderMutation(set_headers=list(options), remove_headers=list(remove))


class Processor(external_processor_pb2_grpc.ExternalProcessorServicer):
    def Process(self, requests, context):
        want = ""
        for request in requests:
            phase = request.WhichOneof("request")
            if phase == "request_headers":
                for header in request.request_headers.headers.headers:
                    if header.key == "x-want":
                        want = header.raw_value.decode()
            if want == "end":
                return
            if "at-response" not in want or phase.startswith("response"):
                misbehave(want.removesuffix("-at-response"), context)
            yield self.answer(phase, want, request)

    def answer(self, phase, want, request):
        if want == "lie":
            lies = {"request_headers": "response_body"}
            other = lies.get(phase, "request_headers")
            kind = proc.BodyResponse if other.endswith("body") else proc.HeadersResponse
            changed = common(header_mutation=mutation(option("x-lie", "1")))
            return proc.ProcessingResponse(**{other: kind(response=changed)})
        if want == "empty":
            return proc.ProcessingResponse()
        if want == "huge":
            body = proc.BodyMutation(body=b"x" * 100_000_000)
            return proc.ProcessingResponse(request_headers=proc.HeadersResponse(response=common(body_mutation=body, status=1)))
        if want == "reject":
            return proc.ProcessingResponse(
                immediate_response=proc.ImmediateResponse(
                    status=http_status_pb2.HttpStatus(code=http_status_pb2.TooManyRequests),
                    headers=mutation(option("x-wait", "9")),
                    body=b"slow down",
                    details="too_many",
                )
            )
        if phase == "request_headers":
            answer = proc.ProcessingResponse(
                request_headers=proc.HeadersResponse(
                    response=common(
                        header_mutation=mutation(option("x-processed", "yes"), plain("x-plain", "p"), remove=["x-secret"]),
                        clear_route_cache=True,
                    )
                )
            )
            answer.dynamic_metadata.update({"seen": "yes"})
            if want == "body":
                answer.mode_override.CopyFrom(
                    processing_mode_pb2.ProcessingMode(
                        request_body_mode=processing_mode_pb2.ProcessingMode.BUFFERED,
                        response_body_mode=processing_mode_pb2.ProcessingMode.BUFFERED,
                    )
                )
            if want == "replace":
                answer.request_headers.response.status = proc.CommonResponse.CONTINUE_AND_REPLACE
                answer.request_headers.response.body_mutation.body = b"in place"
            return answer
        if phase == "response_headers":
            changed = common(header_mutation=mutation(option("x-answered", "yes"), remove=["x-inner"]))
            return proc.ProcessingResponse(response_headers=proc.HeadersResponse(response=changed))
        body = getattr(request, phase).body
        changed = common(body_mutation=proc.BodyMutation(body=body.upper()))
        return proc.ProcessingResponse(**{phase: proc.BodyResponse(response=changed)})


def main():
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=options)
    external_auth_pb2_grpc.add_AuthorizationServicer_to_server(Authorization(), server)
    external_processor_pb2_grpc.add_ExternalProcessorServicer_to_server(Processor(), server)
    port = server.add_insecure_port(f"127.0.0.1:{sys.argv[1] if len(sys.argv) > 1 else 0}")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(0)


main()
