/** Destination that does not exist: connections that are sent to it are closed. */
export const nowhere = { destinationId: 'service:none', weight: 1 };
