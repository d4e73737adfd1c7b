// Ids of entities (contract.md §0.3), and references to listeners by them. A leaf: readers of commands and batches check ids
// without the rest of the model.

/** Maximum number of characters. */
export const idLengthMax = 512;

const characters = '[A-Za-z0-9._~:-]';
const oneId = `${characters}{1,${idLengthMax}}`;

export const idPattern = new RegExp(`^${oneId}$`);

/** `<listener>` or `<listener>/<section>` */
export const listenerReferencePattern = new RegExp(`^${oneId}(/${oneId})?$`);
