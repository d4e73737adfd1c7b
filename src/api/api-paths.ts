// Paths of the API and of what describes it.

/** Path of the API, under which every operation is; also that of its index. */
export const apiBase = '/api/v1';

/** Paths below that of the API. */
export const explorerPath = '/docs/';
export const documentPath = `${explorerPath}doc.json`;
