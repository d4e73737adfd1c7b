"""What services do that die, fail or hang where a request asks for it."""
import os
import time

import grpc


def misbehave(want, context):
    if want == "die":
        os._exit(1)
    if want == "fail":
        context.abort(grpc.StatusCode.INTERNAL, "broken")
    if want == "hang":
        while context.is_active():
            time.sleep(0.01)
