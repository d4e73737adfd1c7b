"""Calls the service of bytes through a proxy. `kinds ADDRESS CA` makes a call of each kind and prints what came of each as
JSON; `calls ADDRESS CA COUNT` makes so many, over ever new connections, and prints how many were served and what failed."""
import json
import sys
import threading

import grpc

OPTIONS = [
    ("grpc.ssl_target_name_override", "sluice.test"),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_receive_message_length", 32 << 20),
    ("grpc.max_send_message_length", 32 << 20),
]


def channel_to(address, authority):
    with open(authority, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    return grpc.secure_channel(address, credentials, options=OPTIONS)


def failure_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call succeeded")


def kinds(address, authority):
    channel = channel_to(address, authority)
    unary = channel.unary_unary("/echo.Echo/Unary")
    found = {}
    answer, call = unary.with_call(b"hello", metadata=[("x-tenant", "a, b"), ("x-blob-bin", b"\x00\x01\xfe")], timeout=60)
    found["unary"] = answer.decode()
    found["metadata"] = {key: str(value) for key, value in call.initial_metadata() if key.startswith("x-")}
    found["trailers"] = {key: value for key, value in call.trailing_metadata() if key.startswith("x-")}
    large = bytes(10_000_000)
    found["large"] = unary(large, timeout=120) == large
    found["serverStream"] = sum(len(part) for part in channel.unary_stream("/echo.Echo/ServerStream")(b"2000", timeout=60))
    found["clientStream"] = channel.stream_unary("/echo.Echo/ClientStream")((b"y" * 1000 for _ in range(2000)), timeout=60).decode()
    found["both"] = [part.decode() for part in channel.stream_stream("/echo.Echo/Both")(iter([b"a", b"b", b"c"]), timeout=60)]
    error = failure_of(lambda: channel.unary_unary("/echo.Echo/Fail")(b"", timeout=60))
    found["fail"] = [error.code().name, error.details(), dict(error.trailing_metadata())["x-reason-bin"].hex()]
    found["unimplemented"] = failure_of(lambda: channel.unary_unary("/echo.Echo/Nothing")(b"", timeout=60)).code().name
    waiting = channel.unary_unary("/echo.Echo/Wait")
    found["deadline"] = failure_of(lambda: waiting(b"", timeout=2)).code().name
    # Cancelled when the service has begun with it: a call with a stream of answers says when.
    cancelled = channel.unary_stream("/echo.Echo/Wait")(b"", metadata=[("x-begin", "1")])
    cancelled.initial_metadata()
    cancelled.cancel()
    found["cancel"] = failure_of(lambda: next(cancelled)).code().name
    print(json.dumps(found), flush=True)


def calls(address, authority, count):
    found = {"served": 0, "failed": []}
    lock = threading.Lock()

    def some(share):
        done = 0
        while done < share:
            channel = channel_to(address, authority)
            unary = channel.unary_unary("/echo.Echo/Unary")
            for at in range(min(100, share - done)):
                try:
                    right = unary(b"call %d" % at, timeout=60) == b"call %d" % at
                    with lock:
                        found["served" if right else "failed"] = found["served"] + 1 if right else found["failed"] + ["another answer"]
                except grpc.RpcError as error:
                    with lock:
                        found["failed"].append(f"{error.code().name}: {error.details()}")
            done += 100
            channel.close()

    threads = [threading.Thread(target=some, args=(count // 5,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(found), flush=True)


def main():
    what, address, authority, *rest = sys.argv[1:]
    if what == "kinds":
        kinds(address, authority)
    else:
        calls(address, authority, int(rest[0]))


main()
