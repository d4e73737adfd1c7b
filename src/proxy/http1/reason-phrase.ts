// Reason phrases for the responses that Sluice writes itself (RFC 9110 §15).
import { STATUS_CODES } from 'node:http';

export const reasonOf = (status: number): string => STATUS_CODES[status] ?? 'Response';
