// What a message of gRPC is known by.

interface Fields {
  header(name: string): string | undefined;
}

/** A request or a response whose content type begins with `application/grpc`: `+proto` and `-web` too (contract.md §6.3). */
export const isGrpc = (message: Fields): boolean =>
  message.header('content-type')?.startsWith('application/grpc') === true;
