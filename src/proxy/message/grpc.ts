// Recognition of gRPC messages.

interface Fields {
  header(name: string): string | undefined;
}

/**
 * Returns whether the content type of a request or response begins with `application/grpc`: `+proto` and `-web` too
 * (contract.md §6.3).
 */
export const isGrpc = (message: Fields): boolean =>
  message.header('content-type')?.startsWith('application/grpc') === true;
