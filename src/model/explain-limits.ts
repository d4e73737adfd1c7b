// Limits of a question to `POST /explain`.

/** Characters of the body that expressions can look at; a proxy shows them `celBodyMaxSize` bytes of one. */
export const bodyLengthMax = 256 * 1024;
/** Characters of the URL: more than the request line that a listener takes. */
export const urlLengthMax = 64 * 1024;
/** Values of headers: more than the heads that listeners take. */
export const headerValuesMax = 1_000;
