// Reason phrases of responses that Sluice makes (RFC 9110 §15).
import { STATUS_CODES } from 'node:http';

export const reasonOf = (status: number): string => STATUS_CODES[status] ?? 'Response';
