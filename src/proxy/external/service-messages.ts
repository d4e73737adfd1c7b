// The messages of external services as protocol buffers: our own, and the part of Envoy's that Sluice speaks
// (contract.md §8.5, §8.6.2; architecture.md §6.29). Field numbers are the wire format; names are ours to read.
import type protobuf from 'protobufjs';
import { protobuf as loaded } from '../on-demand.ts';

const own = `
syntax = "proto3";
package extauthz.v1;
message HeaderPair { string key = 1; string value = 2; }
message CheckRequest { string method = 1; string path = 2; repeated HeaderPair headers = 3; bytes body = 4; }
message CheckResponse { bool allowed = 1; uint32 denied_status = 2; repeated HeaderPair headers = 3; bytes denied_body = 4; }
`;

const processing = `
syntax = "proto3";
package extproc.v1;
message HeaderPair { string key = 1; string value = 2; }
message HttpHeaders { repeated HeaderPair headers = 1; bool end_of_stream = 2; }
message HttpBody { bytes body = 1; bool end_of_stream = 2; }
message ProcessingRequest {
  oneof phase { HttpHeaders request_headers = 1; HttpHeaders response_headers = 2; HttpBody request_body = 3; HttpBody response_body = 4; }
  bool observe_only = 5;
}
message HeadersAction { uint32 status = 1; repeated HeaderPair set_headers = 2; repeated string remove_headers = 3; bytes replace_body = 4; }
message BodyAction {
  uint32 status = 1; repeated HeaderPair set_headers = 2; repeated string remove_headers = 3;
  oneof body_mutation { bytes replace_body = 4; bool clear_body = 5; }
}
message RejectRequest { uint32 status = 1; repeated HeaderPair headers = 2; bytes body = 3; }
message ProcessingResponse {
  oneof action { HeadersAction request_headers = 1; HeadersAction response_headers = 2; BodyAction request_body = 3; BodyAction response_body = 4; RejectRequest reject = 5; }
}
`;

const envoy = `
syntax = "proto3";
package envoy;
message HeaderValue { string key = 1; string value = 2; bytes raw_value = 3; }
message HeaderMap { repeated HeaderValue headers = 1; }
message BoolValue { bool value = 1; }
message HeaderValueOption { HeaderValue header = 1; BoolValue append = 2; int32 append_action = 3; bool keep_empty_value = 4; }
message QueryParameter { string key = 1; string value = 2; }
message HttpStatus { int32 code = 1; }
message Status { int32 code = 1; string message = 2; }
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message SocketAddress { string address = 2; uint32 port_value = 3; }
message Address { SocketAddress socket_address = 1; }
message Peer { Address address = 1; string principal = 4; }
message HttpRequest {
  string id = 1; string method = 2; map<string, string> headers = 3; string path = 4; string host = 5; string scheme = 6;
  string query = 7; int64 size = 9; string protocol = 10; string body = 11; bytes raw_body = 12;
}
message AttributeRequest { Timestamp time = 1; HttpRequest http = 2; }
message AttributeContext { Peer source = 1; Peer destination = 2; AttributeRequest request = 4; }
message CheckRequest { AttributeContext attributes = 1; }
message DeniedHttpResponse { HttpStatus status = 1; repeated HeaderValueOption headers = 2; string body = 3; }
message OkHttpResponse {
  repeated HeaderValueOption headers = 2; bytes dynamic_metadata = 3; repeated string headers_to_remove = 5;
  repeated HeaderValueOption response_headers_to_add = 6; repeated QueryParameter query_parameters_to_set = 7;
  repeated string query_parameters_to_remove = 8;
}
message CheckResponse {
  Status status = 1;
  oneof http_response { DeniedHttpResponse denied_response = 2; OkHttpResponse ok_response = 3; DeniedHttpResponse error_response = 5; }
  bytes dynamic_metadata = 4;
}
message HttpHeaders { HeaderMap headers = 1; bool end_of_stream = 3; }
message HttpBody { bytes body = 1; bool end_of_stream = 2; }
message ProcessingRequest {
  oneof request { HttpHeaders request_headers = 2; HttpHeaders response_headers = 3; HttpBody request_body = 4; HttpBody response_body = 5; }
  bool observability_mode = 10;
}
message HeaderMutation { repeated HeaderValueOption set_headers = 1; repeated string remove_headers = 2; }
message BodyMutation { oneof mutation { bytes body = 1; bool clear_body = 2; bytes streamed_response = 3; } }
message CommonResponse { int32 status = 1; HeaderMutation header_mutation = 2; BodyMutation body_mutation = 3; bytes trailers = 4; bool clear_route_cache = 5; }
message PhaseResponse { CommonResponse response = 1; }
message GrpcStatus { uint32 status = 1; }
message ImmediateResponse { HttpStatus status = 1; HeaderMutation headers = 2; bytes body = 3; GrpcStatus grpc_status = 4; string details = 5; }
message ProcessingMode {
  int32 request_header_mode = 1; int32 response_header_mode = 2; int32 request_body_mode = 3; int32 response_body_mode = 4;
}
message ProcessingResponse {
  oneof response {
    PhaseResponse request_headers = 1; PhaseResponse response_headers = 2; PhaseResponse request_body = 3;
    PhaseResponse response_body = 4; bytes request_trailers = 5; bytes response_trailers = 6; ImmediateResponse immediate_response = 7;
  }
  bytes dynamic_metadata = 8; ProcessingMode mode_override = 9; Duration override_message_timeout = 10;
}
`;

/** One message type: bytes to plain objects and back. Absent fields have their default; of a oneof only what was sent is there. */
export interface MessageType {
  encode(value: object): Uint8Array;
  /** Throws for what is no such message. */
  decode(bytes: Uint8Array): Record<string, unknown>;
}

const roots = new Map<string, protobuf.Root>();

/** `text` is parsed when the first of its messages is asked for. */
function messageType(text: string, name: string): MessageType {
  let type: protobuf.Type | undefined;
  const found = (): protobuf.Type => {
    let root = roots.get(text);
    if (root === undefined) {
      root = loaded().parse(text, { keepCase: true }).root;
      roots.set(text, root);
    }
    type ??= root.lookupType(name);
    return type;
  };
  return {
    encode: (value) => {
      const own = found();
      return own.encode(own.fromObject(value)).finish();
    },
    decode: (bytes) => {
      const own = found();
      return own.toObject(own.decode(bytes), { longs: Number, bytes: Buffer, arrays: true, objects: true });
    },
  };
}

export const checkRequest = messageType(own, 'extauthz.v1.CheckRequest');
export const checkResponse = messageType(own, 'extauthz.v1.CheckResponse');
export const processingRequest = messageType(processing, 'extproc.v1.ProcessingRequest');
export const processingResponse = messageType(processing, 'extproc.v1.ProcessingResponse');
export const envoyCheckRequest = messageType(envoy, 'envoy.CheckRequest');
export const envoyCheckResponse = messageType(envoy, 'envoy.CheckResponse');
export const envoyProcessingRequest = messageType(envoy, 'envoy.ProcessingRequest');
export const envoyProcessingResponse = messageType(envoy, 'envoy.ProcessingResponse');
