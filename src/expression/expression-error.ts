// A pattern or an expression that cannot be used. Its message is for the person who wrote it.

export class ExpressionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExpressionError';
  }
}
