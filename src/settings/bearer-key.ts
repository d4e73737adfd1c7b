// API keys of the settings: a text that an `Authorization` field cannot carry is refused (RFC 9110 §5.5).

/** Visible ASCII; blanks within it, for those around a field value are not part of it. */
const carried = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export const bearerKeyProblem = (text: string): string | undefined =>
  carried.test(text)
    ? undefined
    : 'must be visible ASCII characters, for no request could carry it: look for a line end or a blank around it';
